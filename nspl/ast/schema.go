package ast

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
