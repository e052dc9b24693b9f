package parse

import "plexus/nspl/ast"

// CODEC name FROM WIRE JSON SCHEMA name TO SCHEMA name (ENCODE name AS RFC3339, ...)?
func (p *parser) createCodec(c ast.Create) ast.Statement {
	s := &ast.CreateCodec{Create: c}
	p.building(s)
	s.Name = p.newName()
	p.expect("FROM WIRE JSON SCHEMA")
	s.Wire = p.ref(toWireJSON)
	p.expect("TO SCHEMA")
	s.Schema = p.ref(toSchema)
	if p.accept("ENCODE") {
		s.RFC3339 = list(p, func() ast.Name {
			n := p.field()
			p.expect("AS RFC3339")
			return n
		})
	}
	return s
}
