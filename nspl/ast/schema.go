package ast

import "plexus/nspl/vocab"

// CreateSchema is CREATE SCHEMA.
type CreateSchema struct {
	Create
	Fields []SchemaField
}

// SchemaField is one column.
type SchemaField struct {
	Name                Name
	Type                Type
	Optional, Sensitive bool
}

// AlterSchema is ALTER SCHEMA.
type AlterSchema struct {
	Alter
	Changes []SchemaChange
}

// FieldOp says what a change of a schema or of a wire schema does.
type FieldOp uint8

// The operations. The sensitive ones belong to schemas, the mode to wire schemas.
const (
	FieldAdd           FieldOp = iota // ADD FIELD field
	FieldDrop                         // DROP FIELD f
	FieldRename                       // RENAME FIELD f TO g
	FieldSetType                      // ALTER FIELD f SET TYPE type
	FieldSetOptional                  // ALTER FIELD f SET OPTIONAL
	FieldDropOptional                 // ALTER FIELD f DROP OPTIONAL
	FieldSetSensitive                 // ALTER FIELD f SET SENSITIVE
	FieldDropSensitive                // ALTER FIELD f DROP SENSITIVE
	WireSetMode                       // MODE STRICT | MODE LOOSE
)

// SchemaChange is one operation. Field is the new one, or has the name of the one
// that changes and, for SET TYPE, its type.
type SchemaChange struct {
	Op    FieldOp
	Field SchemaField
	To    Name // RENAME
	Span  vocab.Span
}

// Alters returns the kind of the entity.
func (*AlterSchema) Alters() vocab.EntityKind { return vocab.EntitySchema }
