package parse

import "plexus/nspl/ast"

// WINDOW PROCESSOR name inputs filter? WIDTH bound STEP bound (MAX STATE SIZE bytes)? branch_use state* route+
func (p *parser) createWindow(c ast.Create, attachment ast.Attachment) ast.Statement {
	s := &ast.CreateWindow{}
	p.processor(s, &s.Processor, c, attachment, aggregating, func() {
		p.expect("WIDTH")
		p.bound(&s.Width, true, true)
		p.expect("STEP")
		p.bound(&s.Step, s.Width.Messages != nil, s.Width.Duration != nil)
		if p.accept("MAX STATE SIZE") {
			size := p.size()
			s.MaxState = &size
		}
	})
	return s
}

// bound ::= uint MESSAGES | duration DURATION | both, in either order. Messages and
// durations say what may be expected here; the model refuses what else was written.
func (p *parser) bound(b *ast.Bound, messages, durations bool) {
	first := p.at
	for b.Messages == nil || b.Duration == nil {
		if p.kind() != tokenNumber {
			if messages && b.Messages == nil {
				p.want(p.at, "whole number")
			}
			if durations && b.Duration == nil {
				p.want(p.at, "duration")
			}
			break
		}
		if !p.boundPart(b, messages) {
			break
		}
	}
	if p.at == first {
		p.fail()
	}
	b.Span = p.since(first)
}

// boundPart takes one part of a bound, unless it was there before.
func (p *parser) boundPart(b *ast.Bound, messages bool) bool {
	if messages && b.Messages == nil {
		p.expecting(p.at+1, Expectation{Text: "MESSAGES", Class: ClassKeyword})
		if p.detailed && p.peek(1) == tokenEnd {
			p.fail() // the number may be that of either part
		}
	}
	switch counted := p.is(p.at+1, "MESSAGES"); {
	case counted && b.Messages == nil:
		n := p.uint()
		b.Messages = &n
		p.at++
		return true
	case !counted && b.Duration == nil:
		d := p.duration()
		b.Duration = &d
		p.expect("DURATION")
		return true
	}
	return false
}
