package parse

import "plexus/nspl/ast"

// DEDUPLICATOR name inputs filter? DEDUPLICATE ON expr, ... MAX TIME duration branch_use state* route+
func (p *parser) createDeduplicator(c ast.Create, attachment ast.Attachment) ast.Statement {
	s := &ast.CreateDeduplicator{}
	p.processor(s, &s.Processor, c, attachment, transforming, func() {
		p.expect("DEDUPLICATE ON")
		p.keys(&s.Keys)
		p.expect("MAX TIME")
		s.MaxTime = p.duration()
	})
	return s
}

// keys ::= expr, ...
func (p *parser) keys(keys *[]ast.Expr) {
	for more := true; more; more = p.another() {
		*keys = append(*keys, p.exprIn(ClauseKeys))
	}
}
