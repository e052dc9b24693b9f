package parse

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// WIRE JSON SCHEMA name MODE (STRICT | LOOSE) '(' name wire_type OPTIONAL?, ... ')'
func (p *parser) createWireSchema(c ast.Create) ast.Statement {
	c.Name = p.newName()
	p.expect("MODE")
	s := &ast.CreateWireSchema{Create: c, Strict: p.one("STRICT", "LOOSE") == 0}
	p.expectMark('(')
	s.Fields = fields(p, p.wireField)
	return s
}

func (p *parser) wireField() ast.WireField {
	return ast.WireField{Name: p.newName(), Type: p.wireType(), Optional: p.accept("OPTIONAL")}
}

func (p *parser) wireType() vocab.WireType {
	for t := vocab.WireString; t <= vocab.WireNull; t++ {
		if p.accept(strings.ToUpper(t.String())) {
			return t
		}
	}
	p.fail()
	return 0
}
