package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// HashMap is a table of records that expressions look up by one field.
type HashMap struct {
	Name    string
	Key     ast.Name
	Binding ast.Binding
	Path    string // inside of the resource
	Decode  ast.Name
}

// Kind returns the kind.
func (*HashMap) Kind() vocab.EntityKind { return vocab.EntityHashMap }

// EntityName returns the name.
func (h *HashMap) EntityName() string { return h.Name }

// Refs returns the resource and the codec.
func (h *HashMap) Refs() []Ref {
	return append(appendBound(nil, &h.Binding), ref(vocab.EntityCodec, h.Decode))
}

// Bound returns the resource of the file.
func (h *HashMap) Bound() *ast.Binding { return &h.Binding }

func lowerHashMap(c *checker, d *ast.CreateHashMap) *HashMap {
	c.resourcePath(d.Path, d.Path.Text, "PATH")
	return &HashMap{Name: d.Name.Text, Key: d.Key, Binding: d.Binding, Path: d.Path.Text, Decode: d.Decode}
}
