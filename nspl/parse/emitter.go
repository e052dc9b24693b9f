package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// EMITTER name inputs TO sink body batch? flush message_error general_error
func (p *parser) createEmitter(c ast.Create, attachment ast.Attachment, head vocab.SinkEntity) ast.Statement {
	e := &ast.CreateEmitter{Create: c, Attachment: attachment}
	p.building(e)
	e.Name = p.newName()
	p.inputs(&e.Inputs)
	p.expect("TO")
	p.sink(&e.Sink)
	if head != 0 && head != e.Sink.Entity {
		p.refuse(ast.CodeParse, e.Sink.Span, "head %s does not match sink %s", head, e.Sink.Entity)
	}
	p.body(&e.Body, e.Sink.Entity)
	if first := p.at; p.accept("BATCH MAX MESSAGES") {
		b := &ast.Batch{MaxMessages: p.uint()}
		p.expect("MAX SIZE")
		b.MaxSize = p.size()
		b.Span = p.since(first)
		e.Batch = b
	}
	e.Flush = p.flush()
	p.messageError(&e.OnError)
	e.GeneralError = p.generalError()
	return e
}

// sink takes what follows TO, up to the mode.
func (p *parser) sink(s *ast.Sink) {
	first := p.at
	switch p.one("NATS", "REDIS PUBSUB", "HTTP") {
	case 0:
		s.Entity = vocab.SinkNATSSubject
		p.clientSink(s)
	case 1:
		s.Entity = vocab.SinkRedisChannel
		p.clientSink(s)
	case 2:
		s.Entity = vocab.SinkHTTPRequest
		s.Client = p.ref(toClient(vocab.ClientHTTP))
		p.expect("METHOD")
		s.Method = p.exprIn(ClauseRequest)
		p.expect("PATH")
		s.Path = p.exprIn(ClauseRequest)
	}
	s.Mode = p.sinkMode(s.Entity)
	s.Span = p.since(first)
}

// clientSink takes client and external names.
func (p *parser) clientSink(s *ast.Sink) {
	can := s.Entity.Capabilities()
	s.Client = p.ref(toClient(can.Client))
	rules := can.Names
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
func (p *parser) body(b *ast.Body, e vocab.SinkEntity) {
	if e.Capabilities().Codec == vocab.CodecOrWithoutBody && p.accept("WITHOUT BODY") {
		b.Construction.Where = p.where(ClauseWhere)
	} else {
		p.expect("ENCODE USING")
		codec := p.ref(toEncoder)
		b.Codec = &codec
		p.construction(&b.Construction)
	}
	if p.accept("INVOKE") {
		b.Invoke = list(p, p.headerWrite)
	}
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
	w := ast.HeaderWrite{Name: p.bracketedIn(ClauseInvoke)}
	p.expectMark(',')
	w.Value = p.bracketedIn(ClauseInvoke)
	p.expectMark(')')
	w.Span = p.since(first)
	return w
}
