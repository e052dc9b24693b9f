package model

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Endpoint is a path on a vhost that takes HTTP requests.
type Endpoint struct {
	Name  string
	VHost ast.Name
	Path  string
}

// Kind returns the kind.
func (*Endpoint) Kind() vocab.EntityKind { return vocab.EntityEndpoint }

// EntityName returns the name.
func (e *Endpoint) EntityName() string { return e.Name }

// Refs returns the vhost.
func (e *Endpoint) Refs() []Ref { return []Ref{ref(vocab.EntityVHost, e.VHost)} }

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
	return &Endpoint{Name: d.Name.Text, VHost: d.VHost, Path: d.Path.Text}
}
