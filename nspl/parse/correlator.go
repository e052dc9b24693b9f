package parse

import "plexus/nspl/ast"

// CORRELATOR name LEFT inputs RIGHT inputs CORRELATE WHERE expr MATCH (EARLIEST | LATEST) MAX TIME duration
// ON CORRELATION TIMEOUT timeout ',' timeout branch_use state* route+
func (p *parser) createCorrelator(c ast.Create, attachment ast.Attachment) ast.Statement {
	s := &ast.CreateCorrelator{Create: c, Attachment: attachment}
	p.building(s)
	s.Name = p.newName()
	p.expect("LEFT FROM")
	p.inputList(&s.Left)
	p.expect("RIGHT FROM")
	p.inputList(&s.Right)
	p.expect("CORRELATE WHERE")
	s.Where = p.exprIn(ClauseCorrelate)
	p.expect("MATCH")
	s.Latest = p.one("EARLIEST", "LATEST") == 1
	p.expect("MAX TIME")
	s.MaxTime = p.duration()
	p.expect("ON CORRELATION TIMEOUT")
	s.OnLeft = p.correlationTimeout()
	p.expectMark(',')
	s.OnRight = p.correlationTimeout()
	p.branchUse(&s.Branch)
	p.states(&s.States)
	p.routes(&s.Routes, setOnly)
	return s
}

// correlationTimeout ::= DROP | SEND TO name
func (p *parser) correlationTimeout() ast.CorrelationTimeout {
	first := p.at
	var t ast.CorrelationTimeout
	if p.one("DROP", "SEND TO") == 1 {
		to := p.ref(toRelay)
		t.To = &to
	}
	t.Span = p.since(first)
	return t
}
