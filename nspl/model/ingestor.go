package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Ingestor reads a source into relays.
type Ingestor struct {
	Name         string
	Source       Source
	Decode       ast.Name       // the codec; no name where the source has none
	Timestamp    *ast.Timestamp // nil: the source's own time
	Filter       ast.Expr       // nil keeps every row
	Routes       []ast.Route
	GeneralError ast.GeneralError
}

// Source is what an ingestor reads. All but Entity, Instances, Mode and Quiesce
// belong to the entities that have them.
type Source struct {
	Entity vocab.SourceEntity
	// ByEndpoint says that the TYPE of the endpoint still has to decide which
	// entity this is, see [Ingestor.Settled]. No stored model has it.
	ByEndpoint bool
	Client     ast.Name
	Endpoint   ast.Name
	Schema     ast.Name
	Names      ast.ExternalNames
	Seed       uint64
	Instances  uint64
	MQTT       *vocab.MQTTSession
	Postgres   *ast.PostgresRead
	Query      *ast.Text
	Range      *ast.InfluxRange
	Push       *ast.PushLimits
	Iggy       *ast.IggyStart
	Every      *ast.Duration
	Cursor     *ast.Cursor
	Mode       ast.SourceMode
	Quiesce    ast.Quiesce
}

// Kind returns the kind.
func (*Ingestor) Kind() vocab.EntityKind { return vocab.EntityIngestor }

// EntityName returns the name.
func (i *Ingestor) EntityName() string { return i.Name }

// Refs returns client, endpoint or schema, the codec, and what the routes name.
func (i *Ingestor) Refs() []Ref {
	var refs []Ref
	for _, r := range []Ref{
		ref(vocab.EntityClient, i.Source.Client), ref(vocab.EntityEndpoint, i.Source.Endpoint),
		ref(vocab.EntitySchema, i.Source.Schema), ref(vocab.EntityCodec, i.Decode),
	} {
		if r.Name != "" {
			refs = append(refs, r)
		}
	}
	return appendRoutes(refs, i.Routes)
}

// Settled returns the ingestor as it reads an endpoint of a type, where the
// statement left that to the endpoint.
func (i *Ingestor) Settled(t vocab.EndpointType) *Ingestor {
	settled := *i
	settled.Source.ByEndpoint = false
	settled.Source.Entity = vocab.SourceHTTPEndpoint
	if t == vocab.EndpointWebSockets {
		settled.Source.Entity = vocab.SourceWebSocketsEndpoint
	}
	return &settled
}

func lowerIngestor(c *checker, d *ast.CreateIngestor) *Ingestor {
	s := lowerSource(c, d.Source)
	c.routes(d.Routes)
	return &Ingestor{
		Name: d.Name.Text, Source: s, Decode: d.Decode, Timestamp: d.Timestamp, Filter: d.Filter,
		Routes: d.Routes, GeneralError: d.GeneralError,
	}
}
