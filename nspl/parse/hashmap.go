package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// HASH MAP name KEY name FROM RESOURCE binding PATH string DECODE USING name
func (p *parser) createHashMap(c ast.Create) ast.Statement {
	s := &ast.CreateHashMap{Create: c}
	p.building(s)
	s.Name = p.newName()
	p.expect("KEY")
	s.Key = p.field()
	p.expect("FROM RESOURCE")
	p.binding(&s.Binding)
	p.expect("PATH")
	s.Path = p.string()
	p.expect("DECODE USING")
	s.Decode = p.ref(toDecoder)
	return s
}

// LOOKUP name KEY string
func (p *parser) lookup() ast.Statement {
	s := &ast.Lookup{Map: p.ref(toAny(vocab.EntityHashMap))}
	p.expect("KEY")
	s.Key = p.string()
	return s
}
