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
func (w *WireSchema) Kind() vocab.EntityKind { return w.Format.Kind() }

// EntityName returns the name.
func (w *WireSchema) EntityName() string { return w.Name }

// Refs returns nothing.
func (*WireSchema) Refs() []Ref { return nil }

func lowerWireSchema(c *checker, d *ast.CreateWireSchema) *WireSchema {
	w := &WireSchema{Name: d.Name.Text, Format: d.Format, Strict: d.Strict, Fields: make([]WireField, len(d.Fields))}
	c.fields(len(d.Fields), d.Name)
	var names nameSet
	for i, f := range d.Fields {
		c.unique(&names, f.Name, "duplicate field '%s'")
		w.Fields[i] = member(f)
	}
	return w
}

func member(f ast.WireField) WireField {
	return WireField{Name: f.Name.Text, Type: f.Type, Optional: f.Optional}
}

// alterWireSchema applies the operations of a statement to the old schema, which
// is a copy.
func alterWireSchema(c *checker, w *WireSchema, d *ast.AlterWireSchema) *WireSchema {
	fields := fieldChanger[WireField]{c: c, list: w.Fields, what: w.Kind().String() + " '" + w.Name + "'",
		name: func(f *WireField) *string { return &f.Name }}
	for _, change := range d.Changes {
		switch change.Op {
		case ast.WireSetMode:
			w.Strict = change.Strict
		case ast.FieldAdd:
			fields.add(change.Field.Name, member(change.Field))
		case ast.FieldDrop:
			fields.drop(change.Field.Name, change.Span)
		case ast.FieldRename:
			fields.rename(change.Field.Name, change.To)
		case ast.FieldSetType:
			if f := fields.find(change.Field.Name); f != nil {
				f.Type = change.Field.Type
			}
		default:
			if f := fields.find(change.Field.Name); f != nil {
				c.flag(&f.Optional, change.Op == ast.FieldSetOptional, change.Field.Name, "OPTIONAL")
			}
		}
	}
	w.Fields = fields.list
	c.fields(len(w.Fields), d.Name)
	return w
}
