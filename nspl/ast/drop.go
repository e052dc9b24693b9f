package ast

import "plexus/nspl/vocab"

// Drop is DROP of an entity or of a domain.
type Drop struct {
	Head
	Kind vocab.EntityKind
	Name Name
}
