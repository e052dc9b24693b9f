package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Schema is an internal schema.
type Schema struct{ vocab.Schema }

// Kind returns the kind.
func (*Schema) Kind() vocab.EntityKind { return vocab.EntitySchema }

// EntityName returns the name.
func (s *Schema) EntityName() string { return s.Name }

// Refs returns nothing: types are builtin.
func (*Schema) Refs() []Ref { return nil }

func lowerSchema(c *checker, d *ast.CreateSchema) *Schema {
	s := &Schema{vocab.Schema{Name: d.Name.Text, Fields: make([]vocab.Field, len(d.Fields))}}
	c.fields(len(d.Fields), d.Name)
	var names nameSet
	for i, f := range d.Fields {
		c.unique(&names, f.Name, "duplicate field '%s'")
		s.Fields[i] = vocab.Field{Name: f.Name.Text, Type: f.Type.Type, Optional: f.Optional, Sensitive: f.Sensitive}
	}
	return s
}
