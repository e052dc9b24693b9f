package parse

import "plexus/nspl/ast"

// JUNCTION name inputs filter? branch_use state* route+
func (p *parser) createJunction(c ast.Create, attachment ast.Attachment) ast.Statement {
	s := &ast.CreateJunction{}
	p.processor(s, &s.Processor, c, attachment, transforming, nil)
	return s
}

// processor takes what most processors have, with the clauses of a kind between
// filter and branch.
func (p *parser) processor(s ast.Statement, x *ast.Processor, c ast.Create, attachment ast.Attachment, form routeForm, specific func()) {
	x.Create, x.Attachment = c, attachment
	p.building(s)
	x.Name = p.newName()
	p.inputs(&x.Inputs)
	x.Filter = p.filter()
	if specific != nil {
		specific()
	}
	p.branchUse(&x.Branch)
	p.states(&x.States)
	p.routes(&x.Routes, form)
}
