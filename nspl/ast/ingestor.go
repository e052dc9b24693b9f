package ast

import "plexus/nspl/vocab"

// CreateIngestor is CREATE INGESTOR, with or without the connector in its head.
type CreateIngestor struct {
	Create
	Source       Source
	Decode       Name
	Timestamp    *Timestamp
	Filter       Expr
	Routes       []Route
	GeneralError GeneralError
}

// Source is FROM of an ingestor up to its quiesce body. Which fields it has
// follows from the entity.
type Source struct {
	Entity    vocab.SourceEntity
	Client    Name
	Endpoint  Name
	Names     ExternalNames
	Seed      Uint
	Instances *Uint
	Cursor    *Cursor
	Mode      SourceMode
	Quiesce   Quiesce
	Span      vocab.Span
}

// Timestamp is TIMESTAMP NOW, or TIMESTAMP AT field.
type Timestamp struct {
	Now bool
	At  Name
}
