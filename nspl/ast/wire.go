package ast

import "plexus/nspl/vocab"

// CreateWireSchema is CREATE WIRE … SCHEMA.
type CreateWireSchema struct {
	Create
	Format vocab.WireFormat
	Strict bool
	Fields []WireField
}

// WireField is one member of a document.
type WireField struct {
	Name     Name
	Type     vocab.WireType
	Optional bool
}

// AlterWireSchema is ALTER WIRE … SCHEMA.
type AlterWireSchema struct {
	Alter
	Format  vocab.WireFormat
	Changes []WireChange
}

// WireChange is one operation, as [SchemaChange] is. Strict belongs to MODE.
type WireChange struct {
	Op     FieldOp
	Field  WireField
	To     Name
	Strict bool
	Span   vocab.Span
}

// Declares returns the kind of the entity, one per format.
func (s *CreateWireSchema) Declares() vocab.EntityKind { return s.Format.Kind() }

// Alters returns the kind of the entity.
func (s *AlterWireSchema) Alters() vocab.EntityKind { return s.Format.Kind() }
