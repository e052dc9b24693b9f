package decide

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// checkRoutes is V6: what V5 left of routes.
func checkRoutes(c *Candidate, e *entry, f *found) {
	if s := model.ShapeOf(e.entity); s != nil {
		c.checkErrorRelays(e, s, f)
	}
}

// checkDelivery is V7: modes and clauses against what the connectors declare.
func checkDelivery(c *Candidate, e *entry, f *found) {
	switch x := e.entity.(type) {
	case *model.Endpoint:
		c.checkEndpoint(e, x, f)
	case *model.Ingestor:
		can := x.Source.Entity.Capabilities()
		if mode := x.Source.Mode; can.Pace != vocab.Polled && !can.Allows(mode.Kind) {
			f.add(ast.CodeInvalid, mode.Span, "%s has no MODE %s", x.Source.Entity, mode.Kind)
		}
		c.checkSource(e, x, f)
		if quiesce := x.Source.Quiesce; !can.CanQuiesce(quiesce.Body) {
			f.add(ast.CodeInvalid, quiesce.Span, "%s cannot do this ON QUIESCE", x.Source.Entity)
		}
	case *model.Emitter:
		c.checkSink(x, f)
		if mode := x.Sink.Mode; !x.Sink.Entity.Capabilities().Allows(mode.Kind) {
			f.add(ast.CodeInvalid, mode.Span, "%s does not have this MODE", x.Sink.Entity)
		}
	}
}

// checkEndpoint keeps host and path of an endpoint its own within the domain.
func (c *Candidate) checkEndpoint(e *entry, x *model.Endpoint, f *found) {
	for at := range c.kind(vocab.EntityEndpoint) {
		other := at.entity.(*model.Endpoint)
		if e.later(at) && other.VHost.Text == x.VHost.Text && other.Path == x.Path {
			f.add(ast.CodeInvalid, x.VHost.Span, "ENDPOINT '%s' already publishes PATH '%s' on VHOST '%s'",
				other.Name, x.Path, x.VHost.Text)
		}
	}
}
