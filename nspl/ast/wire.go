package ast

import "plexus/nspl/vocab"

// CreateWireSchema is CREATE WIRE JSON SCHEMA.
type CreateWireSchema struct {
	Create
	Strict bool
	Fields []WireField
}

// WireField is one member of a document.
type WireField struct {
	Name     Name
	Type     vocab.WireType
	Optional bool
}
