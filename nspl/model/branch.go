package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Branch says by which key a stream is divided, and how long a concrete branch
// lives without input.
type Branch struct {
	Name   string
	Schema ast.Name // of the key
	TTL    ast.Duration
	// MaxInstances bounds the concrete branches; beyond it the least recently used
	// one is evicted. 0 is no bound.
	MaxInstances uint64
}

// Kind returns the kind.
func (*Branch) Kind() vocab.EntityKind { return vocab.EntityBranch }

// EntityName returns the name.
func (b *Branch) EntityName() string { return b.Name }

// Refs returns the key schema.
func (b *Branch) Refs() []Ref { return []Ref{ref(vocab.EntitySchema, b.Schema)} }

func lowerBranch(c *checker, d *ast.CreateBranch) *Branch {
	c.positive(d.TTL, "TTL")
	b := &Branch{Name: d.Name.Text, Schema: d.Schema, TTL: d.TTL}
	if d.MaxInstances != nil {
		if d.MaxInstances.Value == 0 {
			c.invalid(d.MaxInstances.Span, "MAX INSTANCES must be greater than zero")
		}
		b.MaxInstances = d.MaxInstances.Value
	}
	return b
}
