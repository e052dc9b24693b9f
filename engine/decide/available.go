package decide

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// The language declares more than this build executes. What is declared is
// checked, stored and shown; a domain runs only while it holds nothing that would
// have to be pretended.

// runningKinds are the operators that a node of this build executes.
var runningKinds = []vocab.EntityKind{vocab.EntityRelay, vocab.EntityIngestor, vocab.EntityJunction, vocab.EntityEmitter}

// runningSources and runningSinks are those with a connector.
var (
	runningSources = []vocab.SourceEntity{
		vocab.SourceHTTPEndpoint, vocab.SourceNATSSubject, vocab.SourceNATSStream, vocab.SourceRandomSequence,
	}
	runningSinks = []vocab.SinkEntity{vocab.SinkNATSSubject, vocab.SinkRedisChannel, vocab.SinkHTTPRequest}
)

// Available reports what keeps a valid candidate from being executed: one fault
// for each thing that this build can declare and not run.
func (c *Candidate) Available() *Invalid { return c.available(everything) }

// AvailableChange is Available of a domain that runs: what the batch does not touch
// is available.
func (c *Candidate) AvailableChange() *Invalid { return c.available(c.scope()) }

func (c *Candidate) available(s scope) *Invalid {
	if c.pace != nil {
		return &Invalid{Found: ast.Diagnostics{ast.Errorf(ast.CodeUnavailable, vocab.Span{}, "not available yet: paced domains")}, Statement: -1}
	}
	for e := range c.in(s) {
		f := foundOf(e)
		what := missing(e.entity)
		if what == "" {
			what = c.withoutKernel(e)
		}
		if what != "" {
			f.add(ast.CodeUnavailable, vocab.Span{}, "not available yet: %s", what)
		}
		if len(f.list) > 0 {
			return c.report(e, f.list)
		}
	}
	return nil
}

// missing names the part of an entity that no node executes, "" if all is there.
func missing(e model.Entity) string {
	if Executes(e.Kind()) && !slices.Contains(runningKinds, e.Kind()) {
		return e.Kind().Words()
	}
	if b := model.Bound(e); b != nil {
		return "content of resources, which " + e.Kind().Words() + " '" + e.EntityName() + "' needs"
	}
	switch x := e.(type) {
	case *model.Codec:
		if x.Format != vocab.FormatWireJSON {
			return x.Format.String() + " codecs"
		}
	case *model.Endpoint:
		if x.Type != vocab.EndpointHTTP {
			return "endpoints of TYPE " + x.Type.String()
		}
	case *model.Signaling:
		return "signaling protocols"
	case *model.Relay:
		switch {
		case x.Branch.By != nil:
			return "branched relays"
		case x.Materialized:
			return "materialized state"
		}
	case *model.Client:
		return missingOfClient(x)
	case *model.Ingestor:
		if !slices.Contains(runningSources, x.Source.Entity) {
			return "source " + x.Source.Entity.String()
		}
	case *model.Emitter:
		if !slices.Contains(runningSinks, x.Sink.Entity) {
			return "sink " + x.Sink.Entity.String()
		}
	}
	return ""
}

// missingOfClient names what a client asks for and no connector does.
func missingOfClient(x *model.Client) string {
	if x.Mount != nil {
		return "mounted resources of clients"
	}
	if x.Type != vocab.ClientRedis {
		return ""
	}
	if _, err := vocab.ParseRedis(x.Config); err != nil {
		return "unix:// addresses of client TYPE REDIS" // its other faults are refused before
	}
	return ""
}
