package parse

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// cutWord splits a phrase behind its first word.
func cutWord(phrase string) (word, rest string, more bool) { return strings.Cut(phrase, " ") }

// offered takes the words of a phrase. Where the statement would be refused for
// them they are taken all the same, so that the refusal can say why, but they are
// not among what is expected.
func (p *parser) offered(fits bool, phrase string) bool {
	if fits {
		return p.accept(phrase)
	}
	at := p.at
	for word, rest, more := cutWord(phrase); p.is(at, word); word, rest, more = cutWord(rest) {
		if at++; !more {
			p.at = at
			return true
		}
	}
	return false
}

// sourceClauses takes what stands between the subject of a source and its
// instances or its mode: external names and the clauses of the entity.
func (p *parser) sourceClauses(s *ast.Source) {
	s.Names = p.externalNames(s.Entity.Capabilities().Names)
	switch s.Entity {
	case vocab.SourceRandomSequence:
		s.Seed = p.uint()
	case vocab.SourcePostgresTable:
		s.Postgres = &ast.PostgresRead{}
		p.postgresRead(s.Postgres)
	case vocab.SourceElasticsearchIndex:
		if p.accept("QUERY") {
			query := p.string()
			s.Query = &query
		}
	case vocab.SourceInfluxDBMeasurement:
		p.expect("RANGE FROM")
		s.Range = &ast.InfluxRange{From: p.string()}
		p.expect("STEP")
		s.Range.Step = p.duration()
		p.expect("LAG")
		s.Range.Lag = p.duration()
	case vocab.SourceHTTPPush:
		p.expect("MAX PENDING")
		s.Push = &ast.PushLimits{Pending: p.uint()}
		p.expect("MAX SIZE")
		s.Push.Size = p.size()
	case vocab.SourceIggyTopic:
		s.Iggy = &ast.IggyStart{}
		p.iggyStart(s.Iggy)
	}
}

// mqttSession ::= (SESSION (CLEAN | PERSISTENT))? (QOS (0 | 1))?
func (p *parser) mqttSession() *ast.MQTTSession {
	first := p.at
	m := &ast.MQTTSession{}
	if p.accept("SESSION") {
		persistent := p.one("CLEAN", "PERSISTENT") == 1
		m.Persistent = &persistent
	}
	if p.accept("QOS") {
		qos := p.qos("0", "1")
		m.QoS = &qos
	}
	if p.at == first {
		return nil
	}
	m.Span = p.since(first)
	return m
}

// qos takes one of the given numbers.
func (p *parser) qos(levels ...string) ast.Uint {
	for _, level := range levels {
		if p.kind() == tokenNumber && p.text(p.at) == level {
			p.at++
			return ast.Uint{Value: uint64(level[0] - '0'), Span: p.span(p.at - 1)}
		}
		p.expecting(p.at, Expectation{Text: level, Class: ClassKeyword})
	}
	p.fail()
	return ast.Uint{}
}

// postgresRead ::= (COLUMNS '(' external, ... ')')? READ (BY CURSOR … | AND DELETE … | AND MARK …)
func (p *parser) postgresRead(r *ast.PostgresRead) {
	if p.accept("COLUMNS") {
		r.Columns = p.externals()
	}
	first := p.at
	r.Action = []ast.PostgresAction{ast.ReadByCursor, ast.ReadAndDelete, ast.ReadAndMark}[p.one("READ BY CURSOR", "READ AND DELETE", "READ AND MARK")]
	if r.Action != ast.ReadAndDelete {
		r.Column = p.external()
	}
	if r.Action == ast.ReadByCursor {
		if p.accept("AFTER") {
			after := p.string()
			r.After = &after
		}
		if !p.accept("KEY") {
			r.Span = p.since(first)
			return
		}
	} else {
		p.expect("KEY")
	}
	key := p.external()
	r.Key = &key
	r.Span = p.since(first)
}

// externals ::= '(' external, ... ')'
func (p *parser) externals() []ast.Text {
	p.expectMark('(')
	names := list(p, p.external)
	p.expectMark(')')
	return names
}

// iggyStart ::= (PARTITIONS '(' uint, ... ')')? START … (STORE OFFSET AS string)?
func (p *parser) iggyStart(s *ast.IggyStart) {
	first := p.at
	if p.accept("PARTITIONS") {
		p.expectMark('(')
		s.Partitions = list(p, p.uint)
		p.expectMark(')')
	}
	s.Origin = []ast.IggyOrigin{ast.IggyFirst, ast.IggyLast, ast.IggyOffset, ast.IggyAt}[p.one("START FIRST", "START LAST", "START OFFSET", "START AT")]
	switch s.Origin {
	case ast.IggyOffset:
		s.Offset = p.uint()
	case ast.IggyAt:
		s.At = p.string()
	}
	if p.accept("STORE OFFSET AS") {
		name := p.string()
		s.Store = &name
	}
	s.Span = p.since(first)
}
