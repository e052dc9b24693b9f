package parse

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// wireCreation returns the reader of WIRE format SCHEMA name MODE (STRICT | LOOSE)
// '(' name wire_type OPTIONAL?, ... ')'.
func wireCreation(format vocab.WireFormat) func(*parser, ast.Create) ast.Statement {
	return func(p *parser, c ast.Create) ast.Statement {
		s := &ast.CreateWireSchema{Create: c, Format: format}
		p.building(s)
		s.Name = p.newName()
		s.Strict = p.wireMode()
		p.expectMark('(')
		s.Fields = fields(p, func() ast.WireField { return p.wireField(format) })
		return s
	}
}

// MODE (STRICT | LOOSE)
func (p *parser) wireMode() bool {
	p.expect("MODE")
	return p.one("STRICT", "LOOSE") == 0
}

func (p *parser) wireField(format vocab.WireFormat) ast.WireField {
	return ast.WireField{Name: p.newName(), Type: p.wireType(format), Optional: p.accept("OPTIONAL")}
}

func (p *parser) wireType(format vocab.WireFormat) vocab.WireType {
	for _, t := range format.Types() {
		if p.accept(strings.ToUpper(t.String())) {
			return t
		}
	}
	p.fail()
	return 0
}

// wireAlteration returns the reader of ALTER WIRE format SCHEMA name operation, ...
func wireAlteration(format vocab.WireFormat) func(*parser) ast.Statement {
	return func(p *parser) ast.Statement {
		s := &ast.AlterWireSchema{Alter: p.alter(format.Kind()), Format: format}
		p.building(s)
		s.Changes = list(p, func() ast.WireChange { return p.wireChange(format) })
		return s
	}
}

func (p *parser) wireChange(format vocab.WireFormat) ast.WireChange {
	first := p.at
	var c ast.WireChange
	switch p.one("MODE STRICT", "MODE LOOSE", "ADD FIELD", "DROP FIELD", "RENAME FIELD", "ALTER FIELD") {
	case 0:
		c.Op, c.Strict = ast.WireSetMode, true
	case 1:
		c.Op = ast.WireSetMode
	case 2:
		c.Op, c.Field = ast.FieldAdd, p.wireField(format)
	case 3:
		c.Op, c.Field.Name = ast.FieldDrop, p.field()
	case 4:
		c.Op, c.Field.Name = ast.FieldRename, p.field()
		p.expect("TO")
		c.To = p.newName()
	case 5:
		c.Field.Name = p.field()
		c.Op = ast.FieldSetType + ast.FieldOp(p.one("SET TYPE", "SET OPTIONAL", "DROP OPTIONAL"))
		if c.Op == ast.FieldSetType {
			c.Field.Type = p.wireType(format)
		}
	}
	c.Span = p.since(first)
	return c
}
