package parse

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// INGESTOR name FROM source DECODE USING codec (TIMESTAMP …)? filter? route+ general_error
func (p *parser) createIngestor(c ast.Create, head vocab.SourceEntity) ast.Statement {
	in := &ast.CreateIngestor{Create: c}
	p.building(in)
	in.Name = p.newName()
	p.expect("FROM")
	p.source(&in.Source)
	if head != 0 && head != in.Source.Entity {
		p.refuse(ast.CodeParse, in.Source.Span, "head %s does not match source %s", head, in.Source.Entity)
	}
	p.expect("DECODE USING")
	in.Decode = p.ref(toDecoder)
	if p.accept("TIMESTAMP") {
		in.Timestamp = p.timestamp()
	}
	in.Filter = p.filter()
	p.routes(&in.Routes, ingesting)
	in.GeneralError = p.generalError()
	return in
}

func (p *parser) timestamp() *ast.Timestamp {
	if p.one("NOW", "AT") == 0 {
		return &ast.Timestamp{Now: true}
	}
	return &ast.Timestamp{At: p.field()}
}

// source takes what follows FROM, up to the quiesce body.
func (p *parser) source(s *ast.Source) {
	first := p.at
	switch p.one("HTTP ENDPOINT", "ENDPOINT", "NATS", "RANDOM SEED") {
	case 0, 1:
		s.Entity = vocab.SourceHTTPEndpoint
		s.Endpoint = p.ref(toEndpoint)
		s.Mode = p.sourceMode(s.Entity)
	case 2:
		p.clientSource(s, vocab.ClientNATS)
	case 3:
		s.Entity = vocab.SourceRandomSequence
		s.Seed = p.uint()
		p.cursor(s)
	}
	s.Quiesce = p.quiesce(s.Entity.Capabilities().Quiesce)
	s.Span = p.since(first)
}

// clientSource takes client, external names, instances and mode of a source that
// connects: which source it is, the word before its first external name says.
func (p *parser) clientSource(s *ast.Source, client vocab.ClientType) {
	s.Client = p.ref(toClient(client))
	for _, e := range vocab.SourceEntities() {
		if c := e.Capabilities(); c.Client == client && p.accept(c.Names[0].Role) {
			s.Entity = e
			break
		}
	}
	if s.Entity == 0 {
		p.fail()
	}
	can := s.Entity.Capabilities()
	s.Names = p.externalNames(can.Names)
	if can.InstancesRequired {
		p.expect("INSTANCES")
		n := p.uint()
		s.Instances = &n
	} else if can.InstancesMax > 1 && p.accept("INSTANCES") {
		n := p.uint()
		s.Instances = &n
	}
	s.Mode = p.sourceMode(s.Entity)
}

// externalNames takes the names of an entity; the words before the first one have
// been taken.
func (p *parser) externalNames(rules []vocab.NameRule) ast.ExternalNames {
	names := make(ast.ExternalNames, len(rules))
	for i, rule := range rules {
		if i > 0 {
			p.expect(rule.Role)
		}
		names[i] = ast.ExternalName{Role: rule.Role, Text: p.external()}
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
		p.expect("BATCH TIMEOUT")
		m.BatchTimeout = p.duration()
	}
	if m.Kind == vocab.AckSequential || m.Kind == vocab.AckParallel {
		p.expect("ACK TIMEOUT")
		m.AckTimeout = p.duration()
		m.Retry = p.retry()
	}
	m.Span = p.since(first)
	return m
}

func (p *parser) sourceModeKind(modes []vocab.SourceModeKind) vocab.SourceModeKind {
	if p.is(p.at, "NO") && p.is(p.at+1, "ACK") {
		// NO ACK is NO_ACK; what follows is the same.
		p.at += 2
		for _, kind := range []vocab.SourceModeKind{vocab.NoAckSequential, vocab.NoAckParallel} {
			if word := kind.String()[len("NO_ACK "):]; slices.Contains(modes, kind) && p.accept(word) {
				return kind
			}
		}
		p.fail()
	}
	for _, kind := range modes {
		if p.accept(kind.String()) {
			return kind
		}
	}
	p.fail()
	return 0
}
