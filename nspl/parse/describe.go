package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// DESCRIBE DOMAIN | DESCRIBE kind name | DESCRIBE RELAY name pick? | DESCRIBE
// RESOURCE name (VERSION uint)? | DESCRIBE TRANSACTION string? (OPERATION uint)? |
// DESCRIBE RELOCATION relocation | DESCRIBE BACKUP string, each with FORMAT
func (p *parser) describe() ast.Statement {
	switch {
	case p.accept("TRANSACTION"):
		return p.describeTransaction()
	case p.accept("RELOCATION"):
		return &ast.DescribeRelocation{Relocation: p.relocation(), Format: p.format()}
	case p.accept("BACKUP"):
		return &ast.DescribeBackup{Path: p.path(), Format: p.format()}
	}
	d := &ast.Describe{Kind: p.entityKind(describeKinds)}
	if d.Kind != vocab.EntityDomain {
		d.Name = p.ref(toAny(d.Kind))
	}
	switch {
	case d.Kind == vocab.EntityRelay && p.accept("WHERE"):
		p.expectMark('(')
		d.Pick = list(p, p.keyValue)
		p.expectMark(')')
	case d.Kind == vocab.EntityResource && p.accept("VERSION"):
		n := p.version(d.Name)
		d.Version = &n
	}
	d.Format = p.format()
	return d
}

func (p *parser) describeTransaction() ast.Statement {
	d := &ast.DescribeTransaction{}
	if p.kind() == tokenString {
		id := p.string()
		d.ID = &id
	} else {
		p.want(p.at, "string")
	}
	if p.accept("OPERATION") {
		n := p.uint()
		d.Operation = &n
	}
	d.Format = p.format()
	return d
}
