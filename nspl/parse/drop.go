package parse

import "plexus/nspl/ast"

// DROP kind name | DROP NODE node
func (p *parser) drop() ast.Statement {
	if p.accept("NODE") {
		return &ast.NodeControl{Verb: ast.NodeDrop, Node: p.node()}
	}
	kind := p.entityKind(dropKinds)
	return &ast.Drop{Kind: kind, Name: p.ref(toAny(kind))}
}
