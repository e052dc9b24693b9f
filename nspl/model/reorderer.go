package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Reorderer releases rows in the order of keys.
type Reorderer struct {
	Processor
	Keys    []ast.Expr
	MaxTime ast.Duration
}

// Kind returns the kind.
func (*Reorderer) Kind() vocab.EntityKind { return vocab.EntityReorderer }

func lowerReorderer(c *checker, d *ast.CreateReorderer) *Reorderer {
	m := &Reorderer{lowerProcessor(c, &d.Processor), d.Keys, d.MaxTime}
	c.positive(d.MaxTime, "MAX TIME")
	return m
}
