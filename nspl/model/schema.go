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
		s.Fields[i] = column(f)
	}
	return s
}

func column(f ast.SchemaField) vocab.Field {
	return vocab.Field{Name: f.Name.Text, Type: f.Type.Type, Optional: f.Optional, Sensitive: f.Sensitive}
}

// alterSchema applies the operations of a statement to the old schema, which is a
// copy.
func alterSchema(c *checker, s *Schema, d *ast.AlterSchema) *Schema {
	fields := fieldChanger[vocab.Field]{c: c, list: s.Fields, what: "SCHEMA '" + s.Name + "'",
		name: func(f *vocab.Field) *string { return &f.Name }}
	for _, change := range d.Changes {
		switch change.Op {
		case ast.FieldAdd:
			fields.add(change.Field.Name, column(change.Field))
		case ast.FieldDrop:
			fields.drop(change.Field.Name, change.Span)
		case ast.FieldRename:
			fields.rename(change.Field.Name, change.To)
		default:
			if f := fields.find(change.Field.Name); f != nil {
				alterColumn(c, f, &change)
			}
		}
	}
	s.Fields = fields.list
	c.fields(len(s.Fields), d.Name)
	return s
}

func alterColumn(c *checker, f *vocab.Field, change *ast.SchemaChange) {
	switch change.Op {
	case ast.FieldSetType:
		f.Type = change.Field.Type.Type
	case ast.FieldSetOptional, ast.FieldDropOptional:
		c.flag(&f.Optional, change.Op == ast.FieldSetOptional, change.Field.Name, "OPTIONAL")
	case ast.FieldSetSensitive, ast.FieldDropSensitive:
		c.flag(&f.Sensitive, change.Op == ast.FieldSetSensitive, change.Field.Name, "SENSITIVE")
	}
}

// flag sets or drops a modifier of a field. What is not there cannot be dropped.
func (c *checker) flag(at *bool, set bool, field ast.Name, word string) {
	if !set && !*at {
		c.invalid(field.Span, "field '%s' is not %s", field.Text, word)
	}
	*at = set
}

// fieldChanger applies the operations that all kinds of schemas have.
type fieldChanger[F any] struct {
	c    *checker
	list []F
	what string
	name func(*F) *string
}

func (l *fieldChanger[F]) index(name string) int {
	for i := range l.list {
		if *l.name(&l.list[i]) == name {
			return i
		}
	}
	return -1
}

// find returns a field that is there, or reports it and returns nil.
func (l *fieldChanger[F]) find(n ast.Name) *F {
	i := l.index(n.Text)
	if i >= 0 {
		return &l.list[i]
	}
	d := ast.Errorf(ast.CodeInvalid, n.Span, "%s has no field '%s'", l.what, n.Text)
	var names []string
	for i := range l.list {
		names = append(names, *l.name(&l.list[i]))
	}
	l.c.add(d.WithHint("%s", among("its fields are", n.Text, names)))
	return nil
}

func (l *fieldChanger[F]) add(n ast.Name, f F) {
	if l.index(n.Text) >= 0 {
		l.c.invalid(n.Span, "%s already has a field '%s'", l.what, n.Text)
		return
	}
	l.list = append(l.list, f)
}

func (l *fieldChanger[F]) drop(n ast.Name, span vocab.Span) {
	if l.find(n) == nil {
		return
	}
	if len(l.list) == 1 {
		l.c.add(ast.Errorf(ast.CodeInvalid, span, "'%s' is the last field of %s", n.Text, l.what).
			WithHint("ADD FIELD another before, or DROP it as a whole"))
		return
	}
	i := l.index(n.Text)
	l.list = append(l.list[:i], l.list[i+1:]...)
}

func (l *fieldChanger[F]) rename(from, to ast.Name) {
	f := l.find(from)
	if f == nil {
		return
	}
	if from.Text != to.Text && l.index(to.Text) >= 0 {
		l.c.invalid(to.Span, "%s already has a field '%s'", l.what, to.Text)
		return
	}
	*l.name(f) = to.Text
}
