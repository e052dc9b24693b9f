package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Reingestor takes the rows of one branch into others: each route keeps, makes or
// drops the key.
type Reingestor struct {
	Name     string
	Attached bool
	Inputs   ast.Inputs
	Filter   ast.Expr // nil keeps every row
	States   []ast.StateDep
	Routes   []ast.Route
}

// Kind returns the kind.
func (*Reingestor) Kind() vocab.EntityKind { return vocab.EntityReingestor }

// EntityName returns the name.
func (r *Reingestor) EntityName() string { return r.Name }

// Refs returns the inputs, the states, and what the routes name.
func (r *Reingestor) Refs() []Ref {
	return appendRoutes(appendStates(appendInputs(nil, r.Inputs), r.States), r.Routes)
}

func lowerReingestor(c *checker, d *ast.CreateReingestor) *Reingestor {
	c.inputs(d.Inputs)
	c.states(d.States)
	c.routes(d.Routes)
	return &Reingestor{
		Name: d.Name.Text, Attached: d.Attachment != ast.Detached, Inputs: d.Inputs,
		Filter: d.Filter, States: d.States, Routes: d.Routes,
	}
}
