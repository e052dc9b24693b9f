package ast

import "plexus/nspl/vocab"

// Describe is DESCRIBE. A domain is the selected one and has no name. Pick belongs
// to relays: the key of one branch. Version belongs to resources.
type Describe struct {
	Head
	Kind    vocab.EntityKind
	Name    Name
	Pick    []KeyValue
	Version *Uint
	Format  Format
}
