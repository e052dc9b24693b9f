package ast

import "plexus/nspl/vocab"

// Create is what every CREATE of an entity has.
type Create struct {
	Head
	IfNotExists bool
	Name        Name
}

// Declared returns the common part.
func (c *Create) Declared() *Create { return c }

// Declaration is a CREATE of an entity: of everything
// that has a canonical text.
type Declaration interface {
	Statement
	Declared() *Create
	Declares() vocab.EntityKind
}

// Declares returns the kind of the entity.
func (*CreateDomain) Declares() vocab.EntityKind       { return vocab.EntityDomain }
func (*CreateSchema) Declares() vocab.EntityKind       { return vocab.EntitySchema }
func (*CreateCodec) Declares() vocab.EntityKind        { return vocab.EntityCodec }
func (*CreateBranch) Declares() vocab.EntityKind       { return vocab.EntityBranch }
func (*CreateRelay) Declares() vocab.EntityKind        { return vocab.EntityRelay }
func (*CreateClient) Declares() vocab.EntityKind       { return vocab.EntityClient }
func (*CreateVHost) Declares() vocab.EntityKind        { return vocab.EntityVHost }
func (*CreateEndpoint) Declares() vocab.EntityKind     { return vocab.EntityEndpoint }
func (*CreatePlacement) Declares() vocab.EntityKind    { return vocab.EntityPlacement }
func (*CreateIngestor) Declares() vocab.EntityKind     { return vocab.EntityIngestor }
func (*CreateReingestor) Declares() vocab.EntityKind   { return vocab.EntityReingestor }
func (*CreateGenerator) Declares() vocab.EntityKind    { return vocab.EntityGenerator }
func (*CreateDeduplicator) Declares() vocab.EntityKind { return vocab.EntityDeduplicator }
func (*CreateReorderer) Declares() vocab.EntityKind    { return vocab.EntityReorderer }
func (*CreateCorrelator) Declares() vocab.EntityKind   { return vocab.EntityCorrelator }
func (*CreateWindow) Declares() vocab.EntityKind       { return vocab.EntityWindow }
func (*CreateInferencer) Declares() vocab.EntityKind   { return vocab.EntityInferencer }
func (*CreateWASM) Declares() vocab.EntityKind         { return vocab.EntityWASM }
func (*CreateJunction) Declares() vocab.EntityKind     { return vocab.EntityJunction }
func (*CreateEmitter) Declares() vocab.EntityKind      { return vocab.EntityEmitter }
