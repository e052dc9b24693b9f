package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Deduplicator suppresses rows whose keys were seen within a time.
type Deduplicator struct {
	Processor
	Keys    []ast.Expr
	MaxTime ast.Duration
}

// Kind returns the kind.
func (*Deduplicator) Kind() vocab.EntityKind { return vocab.EntityDeduplicator }

func lowerDeduplicator(c *checker, d *ast.CreateDeduplicator) *Deduplicator {
	m := &Deduplicator{lowerProcessor(c, &d.Processor), d.Keys, d.MaxTime}
	c.positive(d.MaxTime, "MAX TIME")
	return m
}
