package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// SIGNALING PROTOCOL name FORMAT format fail? ON CONNECT (ACCEPT DATA)? step+
// TIMEOUT duration
func (p *parser) createSignaling(c ast.Create) ast.Statement {
	s := &ast.CreateSignaling{Create: c}
	p.building(s)
	s.Name = p.newName()
	p.expect("FORMAT")
	s.Format = p.signalingFormat()
	if s.Format == vocab.SignalingProtobuf {
		s.Protobuf = &ast.SignalingProtobuf{}
		p.signalingProtobuf(s.Protobuf)
	}
	s.Fail = p.failPrograms()
	p.expect("ON CONNECT")
	accepts := p.accept("ACCEPT DATA")
	s.AcceptData = accepts
	for {
		// Data is accepted from one place on: what comes later offers it no more.
		step, ok := p.signalingStep(!accepts)
		if !ok {
			break
		}
		accepts = accepts || step.AcceptData
		s.Steps = append(s.Steps, step)
	}
	if len(s.Steps) == 0 {
		p.fail()
	}
	p.expect("TIMEOUT")
	s.Timeout = p.duration()
	return s
}

func (p *parser) signalingFormat() vocab.SignalingFormat {
	for _, f := range vocab.SignalingFormats() {
		if p.accept(f.String()) {
			return f
		}
	}
	p.fail()
	return 0
}

// USING RESOURCE binding config SEND MESSAGE string WAIT MESSAGE string
func (p *parser) signalingProtobuf(b *ast.SignalingProtobuf) {
	p.expect("USING RESOURCE")
	p.binding(&b.Binding)
	p.config(&b.Config)
	p.expect("SEND MESSAGE")
	b.Send = p.string()
	p.expect("WAIT MESSAGE")
	b.Wait = p.string()
}

// (FAIL JAQ string, ...)?
func (p *parser) failPrograms() []ast.Text {
	if p.accept("FAIL JAQ") {
		return list(p, p.string)
	}
	return nil
}

// SEND JAQ string, ... | WAIT JAQ string, ... fail? (CAPTURE string)? (ACCEPT
// DATA)?, CAPTURE beside a single matcher only
func (p *parser) signalingStep(accepting bool) (s ast.SignalingStep, ok bool) {
	first := p.at
	switch {
	case p.accept("SEND JAQ"):
		s.Send = list(p, p.string)
	case p.accept("WAIT JAQ"):
		s.Wait = list(p, p.string)
		s.Fail = p.failPrograms()
		if len(s.Wait) == 1 && p.accept("CAPTURE") {
			s.Capture = p.newString()
		}
		s.AcceptData = accepting && p.accept("ACCEPT DATA")
	default:
		return s, false
	}
	s.Span = p.since(first)
	return s, true
}
