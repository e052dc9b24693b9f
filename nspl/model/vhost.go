package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// VHost is a set of host names that endpoints are published on. TLS is nil without
// encryption.
type VHost struct {
	Name      string
	Hostnames []string
	TLS       *ast.Binding
}

// Kind returns the kind.
func (*VHost) Kind() vocab.EntityKind { return vocab.EntityVHost }

// EntityName returns the name.
func (v *VHost) EntityName() string { return v.Name }

// Refs returns the resource of WITH TLS.
func (v *VHost) Refs() []Ref { return appendBound(nil, v.TLS) }

// Bound returns the certificates.
func (v *VHost) Bound() *ast.Binding { return v.TLS }

func lowerVHost(c *checker, d *ast.CreateVHost) *VHost {
	v := &VHost{Name: d.Name.Text, Hostnames: make([]string, len(d.Hostnames)), TLS: d.TLS}
	var names nameSet
	for i, h := range d.Hostnames {
		c.unique(&names, ast.Name(h), "duplicate hostname '%s'")
		v.Hostnames[i] = h.Text
	}
	return v
}
