package parse

import "plexus/nspl/ast"

// REORDERER name inputs filter? BY expr, ... MAX TIME duration branch_use state* route+
func (p *parser) createReorderer(c ast.Create, attachment ast.Attachment) ast.Statement {
	s := &ast.CreateReorderer{}
	p.processor(s, &s.Processor, c, attachment, transforming, func() {
		p.expect("BY")
		p.keys(&s.Keys)
		p.expect("MAX TIME")
		s.MaxTime = p.duration()
	})
	return s
}
