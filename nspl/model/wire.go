package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// WireSchema is the shape of an external document.
type WireSchema struct {
	Name   string
	Format vocab.WireFormat
	Strict bool
	Fields []WireField
}

// WireField is one member of a document.
type WireField struct {
	Name     string
	Type     vocab.WireType
	Optional bool
}

// Kind returns the kind, one per format.
func (*WireSchema) Kind() vocab.EntityKind { return vocab.EntityWireJSON }

// EntityName returns the name.
func (w *WireSchema) EntityName() string { return w.Name }

// Refs returns nothing.
func (*WireSchema) Refs() []Ref { return nil }

func lowerWireSchema(c *checker, d *ast.CreateWireSchema) *WireSchema {
	w := &WireSchema{Name: d.Name.Text, Format: vocab.WireJSON, Strict: d.Strict, Fields: make([]WireField, len(d.Fields))}
	c.fields(len(d.Fields), d.Name)
	var names nameSet
	for i, f := range d.Fields {
		c.unique(&names, f.Name, "duplicate field '%s'")
		w.Fields[i] = WireField{Name: f.Name.Text, Type: f.Type, Optional: f.Optional}
	}
	return w
}
