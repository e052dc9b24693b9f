package ast

import "plexus/nspl/vocab"

// CreateHashMap is CREATE HASH MAP.
type CreateHashMap struct {
	Create
	Key Name
	Binding
	Path   Text
	Decode Name
}

// Lookup is LOOKUP: the record of one key of a hash map.
type Lookup struct {
	Head
	Map Name
	Key Text
}

// Declares returns the kind of the entity.
func (*CreateHashMap) Declares() vocab.EntityKind { return vocab.EntityHashMap }
