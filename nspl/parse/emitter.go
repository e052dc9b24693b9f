package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// EMITTER name inputs states TO sink body batch? flush message_error general_error
func (p *parser) createEmitter(c ast.Create, attachment ast.Attachment, head vocab.SinkEntity) ast.Statement {
	e := &ast.CreateEmitter{Create: c, Attachment: attachment}
	p.building(e)
	e.Name = p.newName()
	p.inputs(&e.Inputs)
	p.states(&e.States)
	p.expect("TO")
	p.sinkOf(&e.Sink, head)
	p.body(&e.Body, e.Sink.Entity)
	if first := p.at; p.offered(e.Sink.Entity.Capabilities().Batch != vocab.BatchForbidden, "BATCH MAX MESSAGES") {
		e.Batch = &ast.Batch{}
		p.batch(e.Batch, first)
	}
	e.Flush = p.flush()
	p.messageError(&e.OnError)
	e.GeneralError = p.generalError()
	return e
}

// batch takes what follows BATCH MAX MESSAGES, which begins at a token.
func (p *parser) batch(b *ast.Batch, first int) {
	b.MaxMessages = p.uint()
	p.expect("MAX SIZE")
	b.MaxSize = p.size()
	b.Span = p.since(first)
}

// sinkForm is one way a sink begins: its words, and what it may be.
type sinkForm struct {
	words string
	of    []vocab.SinkEntity
}

var sinkForms = func() []sinkForm {
	var forms []sinkForm
	for _, e := range vocab.SinkEntities() {
		if last := len(forms) - 1; last >= 0 && forms[last].words == e.Capabilities().Lead {
			forms[last].of = append(forms[last].of, e)
		} else {
			forms = append(forms, sinkForm{e.Capabilities().Lead, []vocab.SinkEntity{e}})
		}
	}
	return forms
}()

// sink takes what follows TO, up to the mode.
func (p *parser) sink(s *ast.Sink) { p.sinkOf(s, 0) }

// sinkOf takes a sink of the entity that the head of the statement names, 0 for
// any.
func (p *parser) sinkOf(s *ast.Sink, head vocab.SinkEntity) {
	first := p.at
	form := p.sinkForm(head)
	switch can := form.of[0].Capabilities(); {
	case can.Subject == vocab.SubjectSchema:
		s.Entity = form.of[0]
		s.Schema = p.ref(toSchema)
	case form.of[0] == vocab.SinkIcebergTable:
		s.Entity = form.of[0]
		s.Backend = p.backend()
		s.Client = p.ref(toClient(s.Backend.Type))
	default:
		s.Client = p.ref(toClient(can.Client))
		s.Entity = p.sinkNoun(form.of, head)
	}
	if head != 0 && head != s.Entity {
		p.refuseWith(ast.Errorf(ast.CodeParse, p.since(first), "head %s does not match sink %s", head, disagreeing(head.String(), s.Entity.String())).
			WithHint("the head may be left out; written, it is %s", s.Entity))
	}
	if names := s.Entity.Capabilities().Names; len(names) > 0 {
		p.expect(names[0].Role)
		s.Names = p.externalNames(names)
	}
	p.sinkClauses(s)
	s.Mode = p.sinkMode(s.Entity)
	s.Span = p.since(first)
}

// sinkForm takes the words a sink begins with. What disagrees with the head is not
// among what is expected, yet taken, so that it can be named.
func (p *parser) sinkForm(head vocab.SinkEntity) sinkForm {
	for _, form := range sinkForms {
		fits := head == 0
		for _, e := range form.of {
			fits = fits || e == head
		}
		if p.offered(fits, form.words) {
			return form
		}
	}
	p.fail()
	return sinkForm{}
}

// sinkNoun takes the word that tells the sinks of one client apart.
func (p *parser) sinkNoun(of []vocab.SinkEntity, head vocab.SinkEntity) vocab.SinkEntity {
	if len(of) == 1 {
		return of[0]
	}
	for _, e := range of {
		_, noun, _ := cutWord(e.String())
		if p.offered(head == 0 || head == e, noun) {
			return e
		}
	}
	p.fail()
	return 0
}

// sinkMode takes MODE with one of the modes an entity has.
func (p *parser) sinkMode(e vocab.SinkEntity) ast.SinkMode {
	p.expect("MODE")
	first := p.at
	m := ast.SinkMode{Kind: p.sinkModeKind(e.Capabilities().Modes)}
	if m.Kind.Windowed() {
		m.Window = p.ackWindow()
		p.expect("ACK TIMEOUT")
		m.AckTimeout = p.duration()
	}
	m.Retry = p.retry()
	m.Span = p.since(first)
	return m
}

func (p *parser) sinkModeKind(modes []vocab.SinkModeKind) vocab.SinkModeKind {
	if modes[0] == vocab.SinkQoS0 {
		p.expect("QOS")
		kind := vocab.SinkQoS0 + vocab.SinkModeKind(p.qos("0", "1", "2").Value)
		if kind.Windowed() {
			p.expect("ACK")
		}
		return kind
	}
	for _, kind := range modes {
		if kind == vocab.SinkNoAck && p.noAck() || kind != vocab.SinkNoAck && p.accept(kind.String()) {
			return kind
		}
	}
	p.fail()
	return 0
}

// body takes what an entity sends: ENCODE USING name construction invoke?, WITHOUT
// BODY where invoke?, a construction, or no more than WHERE.
func (p *parser) body(b *ast.Body, e vocab.SinkEntity) {
	first := p.at
	switch rule := e.Capabilities().Codec; {
	case rule == vocab.CodecNative:
		p.construction(&b.Construction)
	case rule == vocab.CodecDirect, rule == vocab.CodecOrWithoutBody && p.accept("WITHOUT BODY"):
		b.Construction.Where = p.where(ClauseWhere)
	default:
		p.expect("ENCODE USING")
		codec := p.ref(toEncoder)
		b.Codec = &codec
		p.construction(&b.Construction)
	}
	b.Span = p.since(first)
	if p.offered(e.Capabilities().Headers != vocab.HeadersNone, "INVOKE") {
		b.Invoke = list(p, p.headerWrite)
	}
}

// headerWrite ::= write_header '(' expr ',' expr ')'
func (p *parser) headerWrite() ast.HeaderWrite {
	first := p.at
	if !p.is(p.at, "WRITE_HEADER") {
		p.expecting(p.at, Expectation{Text: "write_header", Class: ClassKeyword})
		p.fail()
	}
	p.mark(p.at, p.at+1, RoleFunction)
	p.at++
	p.expectMark('(')
	w := ast.HeaderWrite{Name: p.bracketedIn(ClauseInvoke)}
	p.expectMark(',')
	w.Value = p.bracketedIn(ClauseInvoke)
	p.expectMark(')')
	w.Span = p.since(first)
	return w
}
