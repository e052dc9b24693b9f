package parse

import "plexus/nspl/ast"

// JUNCTION name inputs filter? branch_use route+
func (p *parser) createJunction(c ast.Create, attachment ast.Attachment) ast.Statement {
	s := &ast.CreateJunction{Create: c, Attachment: attachment}
	p.building(s)
	s.Name = p.newName()
	p.inputs(&s.Inputs)
	s.Filter = p.filter()
	p.branchUse(&s.Branch)
	p.routes(&s.Routes, false)
	return s
}
