package ast

import "plexus/nspl/vocab"

// Describe is DESCRIBE. A domain is the selected one and has no name.
type Describe struct {
	Head
	Kind   vocab.EntityKind
	Name   Name
	Format Format
}
