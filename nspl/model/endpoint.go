package model

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Endpoint is a path on a vhost that takes requests or connections. Signaling is
// nil where a session begins with data.
type Endpoint struct {
	Name      string
	VHost     ast.Name
	Path      string
	Type      vocab.EndpointType
	Signaling *ast.Name
}

// Kind returns the kind.
func (*Endpoint) Kind() vocab.EntityKind { return vocab.EntityEndpoint }

// EntityName returns the name.
func (e *Endpoint) EntityName() string { return e.Name }

// Refs returns the vhost and the signaling protocol.
func (e *Endpoint) Refs() []Ref {
	refs := []Ref{ref(vocab.EntityVHost, e.VHost)}
	if e.Signaling != nil {
		refs = append(refs, ref(vocab.EntitySignaling, *e.Signaling))
	}
	return refs
}

func lowerEndpoint(c *checker, d *ast.CreateEndpoint) *Endpoint {
	switch p := d.Path.Text; {
	case !strings.HasPrefix(p, "/"):
		c.invalid(d.Path.Span, "PATH '%s' must start with '/'", p)
	case strings.ContainsAny(p, "?#"):
		c.invalid(d.Path.Span, "PATH '%s' must have no query and no fragment", p)
	case strings.Contains(p+"/", "/../"):
		c.invalid(d.Path.Span, "PATH '%s' must have no '..' segment", p)
	case strings.ContainsFunc(p, func(r rune) bool { return r <= ' ' || r == 0x7f }):
		c.invalid(d.Path.Span, "PATH must hold no white space and no control character")
	}
	if d.Signaling != nil && d.Type != vocab.EndpointWebSockets {
		c.invalid(d.Signaling.Span, "SIGNALING PROTOCOL needs TYPE %s, not TYPE %s", vocab.EndpointWebSockets, d.Type)
	}
	return &Endpoint{Name: d.Name.Text, VHost: d.VHost, Path: d.Path.Text, Type: d.Type, Signaling: d.Signaling}
}
