package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Codec joins a wire schema to an internal schema.
type Codec struct {
	Name    string
	Wire    ast.Name
	Schema  ast.Name
	RFC3339 []ast.Name // fields written as RFC 3339 text
}

// Kind returns the kind.
func (*Codec) Kind() vocab.EntityKind { return vocab.EntityCodec }

// EntityName returns the name.
func (c *Codec) EntityName() string { return c.Name }

// Refs returns both schemas.
func (c *Codec) Refs() []Ref {
	return []Ref{ref(vocab.EntityWireJSON, c.Wire), ref(vocab.EntitySchema, c.Schema)}
}

func lowerCodec(c *checker, d *ast.CreateCodec) *Codec {
	var names nameSet
	for _, f := range d.RFC3339 {
		c.unique(&names, f, "field '%s' has two ENCODE rules")
	}
	return &Codec{Name: d.Name.Text, Wire: d.Wire, Schema: d.Schema, RFC3339: d.RFC3339}
}
