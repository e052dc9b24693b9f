package parse

import "plexus/nspl/ast"

// SUBSCRIPTION name TO relay (BLOCKING | DROPPING)? (BATCH SAMPLE RATE number)? where
func (p *parser) createSubscription() ast.Statement {
	s := &ast.CreateSubscription{Name: p.name()}
	p.expect("TO")
	s.Relay = p.name()
	if !p.accept("BLOCKING") {
		s.Dropping = p.accept("DROPPING")
	}
	if p.accept("BATCH SAMPLE RATE") {
		f := p.number()
		s.SampleRate = &f
	}
	s.Where = p.where()
	return s
}

func (p *parser) deleteSubscription() ast.Statement {
	return &ast.DeleteSubscription{Name: p.name()}
}
