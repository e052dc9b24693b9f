package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// EMITTER name inputs TO sink body batch? flush message_error general_error
func (p *parser) createEmitter(c ast.Create, attachment ast.Attachment, head vocab.SinkEntity) ast.Statement {
	c.Name = p.name()
	e := &ast.CreateEmitter{Create: c, Attachment: attachment, Inputs: p.inputs()}
	p.expect("TO")
	e.Sink = p.sink()
	if head != 0 && head != e.Sink.Entity {
		p.refuse(ast.CodeParse, e.Sink.Span, "head %s does not match sink %s", head, e.Sink.Entity)
	}
	e.Body = p.body(e.Sink.Entity)
	if first := p.at; p.accept("BATCH MAX MESSAGES") {
		b := &ast.Batch{MaxMessages: p.uint()}
		p.expect("MAX SIZE")
		b.MaxSize = p.size()
		b.Span = p.since(first)
		e.Batch = b
	}
	e.Flush = p.flush()
	e.OnError = p.messageError()
	e.GeneralError = p.generalError()
	return e
}

// sink takes what follows TO, up to the mode.
func (p *parser) sink() ast.Sink {
	first := p.at
	var s ast.Sink
	switch p.one("NATS", "REDIS PUBSUB", "HTTP") {
	case 0:
		s.Entity = vocab.SinkNATSSubject
		p.clientSink(&s)
	case 1:
		s.Entity = vocab.SinkRedisChannel
		p.clientSink(&s)
	case 2:
		s.Entity = vocab.SinkHTTPRequest
		s.Client = p.name()
		p.expect("METHOD")
		s.Method = p.expr()
		p.expect("PATH")
		s.Path = p.expr()
	}
	s.Mode = p.sinkMode(s.Entity)
	s.Span = p.since(first)
	return s
}

// clientSink takes client and external names.
func (p *parser) clientSink(s *ast.Sink) {
	s.Client = p.name()
	rules := s.Entity.Capabilities().Names
	p.expect(rules[0].Role)
	s.Names = p.externalNames(rules)
}

// sinkMode takes MODE with one of the modes an entity has.
func (p *parser) sinkMode(e vocab.SinkEntity) ast.SinkMode {
	p.expect("MODE")
	first := p.at
	m := ast.SinkMode{Kind: p.sinkModeKind(e.Capabilities().Modes)}
	if m.Kind == vocab.SinkAckWindow || m.Kind == vocab.SinkJetStreamAck {
		m.Window = p.ackWindow()
		p.expect("ACK TIMEOUT")
		m.AckTimeout = p.duration()
	}
	m.Retry = p.retry()
	m.Span = p.since(first)
	return m
}

func (p *parser) sinkModeKind(modes []vocab.SinkModeKind) vocab.SinkModeKind {
	for _, kind := range modes {
		switch kind {
		case vocab.SinkNoAck:
			if p.noAck() {
				return kind
			}
		case vocab.SinkJetStreamAck:
			if p.accept("JETSTREAM ACK") {
				return kind
			}
		case vocab.SinkAckWindow, vocab.SinkAckRequest:
			if p.accept("ACK") {
				return kind
			}
		}
	}
	p.fail()
	return 0
}

// body ::= ENCODE USING name construction invoke? | WITHOUT BODY where invoke?
func (p *parser) body(e vocab.SinkEntity) ast.Body {
	var b ast.Body
	if e.Capabilities().Codec == vocab.CodecOrWithoutBody && p.accept("WITHOUT BODY") {
		b.Construction.Where = p.where()
	} else {
		p.expect("ENCODE USING")
		codec := p.name()
		b.Codec = &codec
		b.Construction = p.construction()
	}
	if p.accept("INVOKE") {
		b.Invoke = list(p, p.headerWrite)
	}
	return b
}

// headerWrite ::= write_header '(' expr ',' expr ')'
func (p *parser) headerWrite() ast.HeaderWrite {
	first := p.at
	if !p.is(p.at, "WRITE_HEADER") {
		p.want(p.at, "write_header")
		p.fail()
	}
	p.at++
	p.expectMark('(')
	w := ast.HeaderWrite{Name: p.bracketed()}
	p.expectMark(',')
	w.Value = p.bracketed()
	p.expectMark(')')
	w.Span = p.since(first)
	return w
}
