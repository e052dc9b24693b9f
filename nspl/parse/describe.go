package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// DESCRIBE DOMAIN | DESCRIBE kind name, each with FORMAT
func (p *parser) describe() ast.Statement {
	d := &ast.Describe{Kind: p.entityKind(describeKinds)}
	if d.Kind != vocab.EntityDomain {
		d.Name = p.name()
	}
	d.Format = p.format()
	return d
}
