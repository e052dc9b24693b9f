package parse

import "plexus/nspl/ast"

// JUNCTION name inputs filter? branch_use route+
func (p *parser) createJunction(c ast.Create, attachment ast.Attachment) ast.Statement {
	c.Name = p.name()
	return &ast.CreateJunction{
		Create: c, Attachment: attachment, Inputs: p.inputs(), Filter: p.filter(), Branch: p.branchUse(),
		Routes: p.routes(false),
	}
}
