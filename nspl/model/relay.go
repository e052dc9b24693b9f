package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Relay is a bounded buffer of records.
type Relay struct {
	Name     string
	Schema   ast.Name
	Branch   ast.BranchUse
	Capacity uint64 // batches
	// Materialized keeps the newest record of each branch as state to read.
	Materialized bool
}

// Kind returns the kind.
func (*Relay) Kind() vocab.EntityKind { return vocab.EntityRelay }

// EntityName returns the name.
func (r *Relay) EntityName() string { return r.Name }

// Refs returns the schema and the branch.
func (r *Relay) Refs() []Ref {
	return appendBranch([]Ref{ref(vocab.EntitySchema, r.Schema)}, r.Branch)
}

// capacityBatchesDefault keeps one batch between producer and consumers: enough
// to overlap their work, little enough that backpressure is felt at once.
const capacityBatchesDefault = 1

func lowerRelay(c *checker, d *ast.CreateRelay) *Relay {
	if n := d.Name.Text; n == "message" || n == "branch" {
		c.invalid(d.Name.Span, "invalid relay name: '%s' is reserved", n)
	}
	r := &Relay{Name: d.Name.Text, Schema: d.Schema, Branch: d.Branch, Capacity: capacityBatchesDefault, Materialized: d.Materialized}
	if d.Capacity != nil {
		c.bounds(*d.Capacity, "CAPACITY", 1, capacityBatchesMax)
		r.Capacity = d.Capacity.Value
	}
	return r
}
