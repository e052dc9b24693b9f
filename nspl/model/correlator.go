package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Correlator pairs rows of two sides.
type Correlator struct {
	Name            string
	Attached        bool
	Left, Right     ast.Inputs
	Where           ast.Expr
	Latest          bool // the newest match, not the earliest
	MaxTime         ast.Duration
	OnLeft, OnRight ast.CorrelationTimeout
	Branch          ast.BranchUse
	States          []ast.StateDep
	Routes          []ast.Route
}

// Kind returns the kind.
func (*Correlator) Kind() vocab.EntityKind { return vocab.EntityCorrelator }

// EntityName returns the name.
func (x *Correlator) EntityName() string { return x.Name }

// Refs returns the inputs of both sides, the relays of rows without a match, the
// branch, the states, and what the routes name.
func (x *Correlator) Refs() []Ref {
	refs := appendInputs(appendInputs(nil, x.Left), x.Right)
	for _, t := range []ast.CorrelationTimeout{x.OnLeft, x.OnRight} {
		if t.To != nil {
			refs = append(refs, ref(vocab.EntityRelay, *t.To))
		}
	}
	return appendRoutes(appendStates(appendBranch(refs, x.Branch), x.States), x.Routes)
}

func lowerCorrelator(c *checker, d *ast.CreateCorrelator) *Correlator {
	c.inputs(d.Left, d.Right)
	c.positive(d.MaxTime, "MAX TIME")
	c.states(d.States)
	c.routes(d.Routes)
	return &Correlator{
		Name: d.Name.Text, Attached: d.Attachment != ast.Detached, Left: d.Left, Right: d.Right, Where: d.Where,
		Latest: d.Latest, MaxTime: d.MaxTime, OnLeft: d.OnLeft, OnRight: d.OnRight,
		Branch: d.Branch, States: d.States, Routes: d.Routes,
	}
}
