package parse

import "plexus/nspl/ast"

// REINGESTOR name inputs filter? state* route+
func (p *parser) createReingestor(c ast.Create, attachment ast.Attachment) ast.Statement {
	s := &ast.CreateReingestor{Create: c, Attachment: attachment}
	p.building(s)
	s.Name = p.newName()
	p.inputs(&s.Inputs)
	s.Filter = p.filter()
	p.states(&s.States)
	p.routes(&s.Routes, ingesting)
	return s
}
