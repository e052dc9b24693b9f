package parse

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// INGESTOR name FROM source (DECODE USING codec)? (TIMESTAMP …)? filter? route+ general_error
func (p *parser) createIngestor(c ast.Create, head vocab.SourceEntity) ast.Statement {
	in := &ast.CreateIngestor{Create: c}
	p.building(in)
	in.Name = p.newName()
	p.expect("FROM")
	p.sourceOf(&in.Source, head)
	if in.Source.Entity.Capabilities().Payload != vocab.NativeArrow {
		p.expect("DECODE USING")
		in.Decode = p.ref(toDecoder)
	}
	if p.accept("TIMESTAMP") {
		in.Timestamp = p.timestamp()
	}
	in.Filter = p.filter()
	p.routes(&in.Routes, ingesting)
	in.GeneralError = p.generalError()
	return in
}

// timestamp takes what follows TIMESTAMP.
func (p *parser) timestamp() *ast.Timestamp {
	first := p.at - 1
	t := &ast.Timestamp{Now: p.one("NOW", "AT") == 0}
	if !t.Now {
		t.At = p.field()
	}
	t.Span = p.since(first)
	return t
}

// sourceForm is one way a source begins: its words, and what it may be. The word
// before the first external name tells entities of one form apart.
type sourceForm struct {
	words string
	of    []vocab.SourceEntity
}

// sourceForms are the beginnings of FROM. A form whose words begin another's
// stands behind it.
var sourceForms = func() []sourceForm {
	var forms, short []sourceForm
	add := func(e vocab.SourceEntity) {
		words := e.Capabilities().Lead
		for i := range forms {
			if forms[i].words == words {
				forms[i].of = append(forms[i].of, e)
				return
			}
		}
		forms = append(forms, sourceForm{words, []vocab.SourceEntity{e}})
	}
	for _, e := range vocab.SourceEntities() {
		switch e {
		case vocab.SourceHTTPPoll: // HTTP
			short = append(short, sourceForm{"HTTP", []vocab.SourceEntity{e}})
		case vocab.SourceWebSocketsConnection:
			add(e)
			short = append(short, sourceForm{"WEBSOCKETS", []vocab.SourceEntity{e}})
		default:
			add(e)
		}
	}
	return append(append(forms, sourceForm{"ENDPOINT", nil}), short...)
}()

// source takes what follows FROM, up to the quiesce body.
func (p *parser) source(s *ast.Source) { p.sourceOf(s, 0) }

// sourceOf takes a source of the entity that the head of the statement names, 0
// for any.
func (p *parser) sourceOf(s *ast.Source, head vocab.SourceEntity) {
	first := p.at
	p.sourceEntity(s, head)
	can := s.Entity.Capabilities()
	switch can.Subject {
	case vocab.SubjectEndpoint:
		s.Endpoint = p.ref(toEndpoint)
	case vocab.SubjectSchema:
		s.Schema = p.ref(toSchema)
	}
	p.sourceClauses(s)
	if can.InstancesRequired {
		p.expect("INSTANCES")
		n := p.uint()
		s.Instances = &n
	} else if can.InstancesMax > 1 && p.accept("INSTANCES") {
		n := p.uint()
		s.Instances = &n
	}
	if s.Entity == vocab.SourceMQTTTopic {
		s.MQTT = p.mqttSession()
	}
	switch can.Pace {
	case vocab.Polled:
		p.expect("EVERY")
		d := p.duration()
		s.Every = &d
	case vocab.CursorTail:
		p.cursor(s)
	default:
		s.Mode = p.sourceMode(s.Entity)
	}
	s.Quiesce = p.quiesce(can.Quiesce)
	s.Span = p.since(first)
}

// sourceEntity takes the words of a source, its client, and the word that tells
// which of the client's sources it is.
func (p *parser) sourceEntity(s *ast.Source, head vocab.SourceEntity) {
	first := p.at
	form := p.sourceForm(head)
	switch {
	case form.of == nil:
		s.Entity, s.ByEndpoint = vocab.SourceHTTPEndpoint, head == 0
		if head == vocab.SourceWebSocketsEndpoint {
			s.Entity = head
		}
	case form.of[0].Capabilities().Subject == vocab.SubjectClient:
		s.Client = p.ref(toClient(form.of[0].Capabilities().Client))
		s.Entity = p.sourceNoun(form.of, head)
	default:
		s.Entity = form.of[0]
	}
	if head != 0 && head != s.Entity {
		p.refuseWith(ast.Errorf(ast.CodeParse, p.since(first), "head %s does not match source %s", head, disagreeing(head.String(), s.Entity.String())).
			WithHint("the head may be left out; written, it is %s", s.Entity))
	}
}

// disagreeing names what a head does not match: the connector, or connector and
// noun where they share it.
func disagreeing(head, written string) string {
	connector, _, _ := cutWord(written)
	if other, _, _ := cutWord(head); other == connector {
		return written
	}
	return connector
}

// sourceForm takes the words a source begins with. What disagrees with the head is
// not among what is expected, yet taken, so that it can be named.
func (p *parser) sourceForm(head vocab.SourceEntity) sourceForm {
	for _, form := range sourceForms {
		if p.offered(head == 0 || form.fits(head), form.words) {
			return form
		}
	}
	p.fail()
	return sourceForm{}
}

// sourceNoun takes the word before the first external name, which tells the
// sources of one client apart.
func (p *parser) sourceNoun(of []vocab.SourceEntity, head vocab.SourceEntity) vocab.SourceEntity {
	for _, e := range of {
		names := e.Capabilities().Names
		if len(names) == 0 {
			return e
		}
		if p.offered(head == 0 || head == e || len(of) == 1, names[0].Role) {
			return e
		}
	}
	p.fail()
	return 0
}

func (f sourceForm) fits(head vocab.SourceEntity) bool {
	if f.of == nil {
		return head == vocab.SourceHTTPEndpoint || head == vocab.SourceWebSocketsEndpoint
	}
	for _, e := range f.of {
		if e == head {
			return true
		}
	}
	return false
}

// externalNames takes the names of an entity; the words before the first one have
// been taken.
func (p *parser) externalNames(rules []vocab.NameRule) ast.ExternalNames {
	var names ast.ExternalNames
	for i, rule := range rules {
		switch {
		case i == 0:
		case rule.Or == "":
			p.expect(rule.Role)
		case p.one(rule.Role, rule.Or) == 1:
			continue
		}
		name := ast.ExternalName{Role: rule.Role}
		if rule.Quoted {
			name.Text = p.string()
		} else {
			name.Text = p.external()
		}
		names = append(names, name)
	}
	return names
}

// cursor ::= MAX ROWS uint EVERY duration MODE …
func (p *parser) cursor(s *ast.Source) {
	p.expect("MAX ROWS")
	c := &ast.Cursor{MaxRows: p.uint()}
	p.expect("EVERY")
	c.Every = p.duration()
	s.Cursor = c
	s.Mode = p.sourceMode(s.Entity)
}

// sourceMode takes MODE with one of the modes an entity has.
func (p *parser) sourceMode(e vocab.SourceEntity) ast.SourceMode {
	p.expect("MODE")
	first := p.at
	m := ast.SourceMode{Kind: p.sourceModeKind(e.Capabilities().Modes)}
	if m.Kind == vocab.AckParallel {
		p.expect("MAX")
		m.Max = p.uint()
		if e.Capabilities().Payload != vocab.NativeArrow {
			p.expect("BATCH TIMEOUT")
			m.BatchTimeout = p.duration()
		}
	}
	if m.Kind == vocab.AckSequential || m.Kind == vocab.AckParallel {
		p.expect("ACK TIMEOUT")
		m.AckTimeout = p.duration()
		m.Retry = p.retry()
	}
	m.Span = p.since(first)
	return m
}

// sourceModeKind takes the words of a mode; NO ACK is NO_ACK.
func (p *parser) sourceModeKind(modes []vocab.SourceModeKind) vocab.SourceModeKind {
	for _, kind := range modes {
		if p.accept(kind.String()) {
			return kind
		}
	}
	if p.is(p.at, "NO") && p.is(p.at+1, "ACK") {
		p.at += 2
		for _, kind := range modes {
			if words := kind.String(); kind == vocab.NoAckSequential || kind == vocab.NoAckParallel {
				if p.accept(words[len("NO_ACK "):]) {
					return kind
				}
			}
		}
	}
	p.fail()
	return 0
}
