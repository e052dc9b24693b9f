package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// SCHEMA name '(' field, ... ')'
func (p *parser) createSchema(c ast.Create) ast.Statement {
	s := &ast.CreateSchema{Create: c}
	p.building(s)
	s.Name = p.newName()
	p.expectMark('(')
	s.Fields = fields(p, p.schemaField)
	return s
}

// field ::= name type OPTIONAL? SENSITIVE?, the modifiers in any order
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

// ALTER SCHEMA name operation, ...
func (p *parser) alterSchema() ast.Statement {
	s := &ast.AlterSchema{Alter: p.alter(vocab.EntitySchema)}
	p.building(s)
	s.Changes = list(p, p.schemaChange)
	return s
}

func (p *parser) schemaChange() ast.SchemaChange {
	first := p.at
	var c ast.SchemaChange
	switch p.one("ADD FIELD", "DROP FIELD", "RENAME FIELD", "ALTER FIELD") {
	case 0:
		c.Op, c.Field = ast.FieldAdd, p.schemaField()
	case 1:
		c.Op, c.Field.Name = ast.FieldDrop, p.field()
	case 2:
		c.Op, c.Field.Name = ast.FieldRename, p.field()
		p.expect("TO")
		c.To = p.newName()
	case 3:
		c.Field.Name = p.field()
		c.Op = ast.FieldSetType + ast.FieldOp(p.one("SET TYPE", "SET OPTIONAL", "DROP OPTIONAL", "SET SENSITIVE", "DROP SENSITIVE"))
		if c.Op == ast.FieldSetType {
			c.Field.Type = p.typ()
		}
	}
	c.Span = p.since(first)
	return c
}
