package parse

import "plexus/nspl/ast"

func (p *parser) drop() ast.Statement {
	return &ast.Drop{Kind: p.entityKind(dropKinds), Name: p.name()}
}
