package parse

import "plexus/nspl/ast"

// SUBSCRIPTION name TO relay (BLOCKING | DROPPING)? (BATCH SAMPLE RATE number)? where
func (p *parser) createSubscription() ast.Statement {
	s := &ast.CreateSubscription{Name: p.newName()}
	p.building(s)
	p.expect("TO")
	s.Relay = p.ref(toRelay)
	if !p.accept("BLOCKING") {
		s.Dropping = p.accept("DROPPING")
	}
	if p.accept("BATCH SAMPLE RATE") {
		if f := p.number(); f.Value != 1 {
			s.SampleRate = &f
		}
	}
	s.Where = p.where(ClauseSubscription)
	return s
}

func (p *parser) deleteSubscription() ast.Statement {
	return &ast.DeleteSubscription{Name: p.nameOf(ClassSubscription, nil)}
}
