package parse

import "plexus/nspl/ast"

// SCHEMA name '(' field, ... ')'
func (p *parser) createSchema(c ast.Create) ast.Statement {
	c.Name = p.newName()
	s := &ast.CreateSchema{Create: c}
	p.expectMark('(')
	s.Fields = fields(p, p.schemaField)
	return s
}

func (p *parser) schemaField() ast.SchemaField {
	f := ast.SchemaField{Name: p.newName(), Type: p.typ()}
	for {
		switch {
		case !f.Optional && p.accept("OPTIONAL"):
			f.Optional = true
		case !f.Sensitive && p.accept("SENSITIVE"):
			f.Sensitive = true
		default:
			return f
		}
	}
}
