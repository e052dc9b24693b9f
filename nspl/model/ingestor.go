package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Ingestor reads a source into relays.
type Ingestor struct {
	Name         string
	Source       Source
	Decode       ast.Name       // the codec
	Timestamp    *ast.Timestamp // nil: the source's own time
	Filter       ast.Expr       // nil keeps every row
	Routes       []ast.Route
	GeneralError ast.GeneralError
}

// Source is what an ingestor reads. Client, Endpoint, Names, Seed and Cursor
// belong to the entities that have them.
type Source struct {
	Entity    vocab.SourceEntity
	Client    ast.Name
	Endpoint  ast.Name
	Names     ast.ExternalNames
	Seed      uint64
	Instances uint64
	Cursor    *ast.Cursor
	Mode      ast.SourceMode
	Quiesce   ast.Quiesce
}

// Kind returns the kind.
func (*Ingestor) Kind() vocab.EntityKind { return vocab.EntityIngestor }

// EntityName returns the name.
func (i *Ingestor) EntityName() string { return i.Name }

// Refs returns client or endpoint, the codec, and what the routes name.
func (i *Ingestor) Refs() []Ref {
	var refs []Ref
	if i.Source.Client.Text != "" {
		refs = append(refs, ref(vocab.EntityClient, i.Source.Client))
	}
	if i.Source.Endpoint.Text != "" {
		refs = append(refs, ref(vocab.EntityEndpoint, i.Source.Endpoint))
	}
	refs = append(refs, ref(vocab.EntityCodec, i.Decode))
	return appendRoutes(refs, i.Routes)
}

func lowerIngestor(c *checker, d *ast.CreateIngestor) *Ingestor {
	s := lowerSource(c, d.Source)
	c.routes(d.Routes)
	return &Ingestor{
		Name: d.Name.Text, Source: s, Decode: d.Decode, Timestamp: d.Timestamp, Filter: d.Filter,
		Routes: d.Routes, GeneralError: d.GeneralError,
	}
}

func lowerSource(c *checker, s ast.Source) Source {
	can := s.Entity.Capabilities()
	m := Source{
		Entity: s.Entity, Client: s.Client, Endpoint: s.Endpoint, Names: s.Names, Seed: s.Seed.Value, Instances: 1,
		Cursor: s.Cursor, Mode: s.Mode, Quiesce: s.Quiesce,
	}
	c.externalNames(s.Names, can.Names)
	if s.Instances != nil {
		c.bounds(*s.Instances, "INSTANCES", 1, can.InstancesMax)
		m.Instances = s.Instances.Value
	}
	if s.Cursor != nil {
		c.bounds(s.Cursor.MaxRows, "MAX ROWS", 1, cursorRowsMax)
		c.positive(s.Cursor.Every, "EVERY")
	}
	c.sourceMode(s)
	switch s.Quiesce.Body {
	case vocab.QuiesceBuffer, vocab.QuiesceEndpointBuffer:
		c.size(s.Quiesce.MaxSize, "BUFFER MAX SIZE")
	case vocab.QuiesceReject:
		c.positive(s.Quiesce.RetryAfter, "REJECT RETRY AFTER")
	}
	return m
}

func (c *checker) sourceMode(s ast.Source) {
	mode := s.Mode
	switch mode.Kind {
	case vocab.AckParallel:
		c.window(&mode.Max)
		c.positive(mode.BatchTimeout, "BATCH TIMEOUT")
	case vocab.AckSequential:
	default:
		return
	}
	c.atLeast(mode.AckTimeout, "ACK TIMEOUT", ackTimeoutMin)
	if s.Cursor != nil && mode.AckTimeout.Nanos > uint64(cursorAckTimeoutMax) {
		c.invalid(mode.AckTimeout.Span, "ACK TIMEOUT of %s must be at most %v", s.Entity, cursorAckTimeoutMax)
	}
	c.retry(mode.Retry)
}
