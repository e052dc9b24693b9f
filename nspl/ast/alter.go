package ast

import "plexus/nspl/vocab"

// Alter is what every ALTER of an entity has.
type Alter struct {
	Head
	Name Name
}

// Altered returns the common part.
func (a *Alter) Altered() *Alter { return a }

// Alteration is an ALTER of an entity: operations that apply from left to right.
type Alteration interface {
	Statement
	Altered() *Alter
	Alters() vocab.EntityKind
}

// Alters returns the kind of the entity.
func (*AlterPlacement) Alters() vocab.EntityKind { return vocab.EntityPlacement }
func (*AlterRelay) Alters() vocab.EntityKind     { return vocab.EntityRelay }

// Alters returns the kind of the node.
func (a *AlterNode) Alters() vocab.EntityKind { return a.Kind }
