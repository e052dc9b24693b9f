package parse

import "plexus/nspl/ast"

// DROP kind name | DROP NODE node
func (p *parser) drop() ast.Statement {
	if p.accept("NODE") {
		return &ast.NodeControl{Verb: ast.NodeDrop, Node: p.node()}
	}
	return &ast.Drop{Kind: p.entityKind(dropKinds), Name: p.name()}
}
