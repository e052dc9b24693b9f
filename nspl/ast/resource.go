package ast

import "plexus/nspl/vocab"

// CreateResource is CREATE RESOURCE.
type CreateResource struct{ Create }

// UploadResource is UPLOAD RESOURCE: a client sends a directory of its own as the
// next version.
type UploadResource struct {
	Head
	Name Name
	Path Text
}

// RebindResource is REBIND RESOURCE. Without FOR it is about everything that binds
// the resource.
type RebindResource struct {
	Head
	Name Name
	To   ResourceVersion
	For  []Usage
}

// Usage names an entity that binds a resource.
type Usage struct {
	Kind vocab.EntityKind
	Name Name
	Span vocab.Span
}

// Declares returns the kind of the entity.
func (*CreateResource) Declares() vocab.EntityKind { return vocab.EntityResource }
