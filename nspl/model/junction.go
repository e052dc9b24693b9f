package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Processor is what most processors have: they read relays and route what comes
// of their records into others, within one branch.
type Processor struct {
	Name     string
	Attached bool
	Inputs   ast.Inputs
	Filter   ast.Expr // nil keeps every row
	Branch   ast.BranchUse
	States   []ast.StateDep
	Routes   []ast.Route
}

// EntityName returns the name.
func (p *Processor) EntityName() string { return p.Name }

// Refs returns the inputs, the branch, the states, and what the routes name.
func (p *Processor) Refs() []Ref {
	return appendRoutes(appendStates(appendBranch(appendInputs(nil, p.Inputs), p.Branch), p.States), p.Routes)
}

func lowerProcessor(c *checker, d *ast.Processor) Processor {
	c.inputs(d.Inputs)
	c.states(d.States)
	c.routes(d.Routes)
	return Processor{
		Name: d.Name.Text, Attached: d.Attachment != ast.Detached, Inputs: d.Inputs,
		Filter: d.Filter, Branch: d.Branch, States: d.States, Routes: d.Routes,
	}
}

// Junction filters, fans out, projects and merges.
type Junction struct{ Processor }

// Kind returns the kind.
func (*Junction) Kind() vocab.EntityKind { return vocab.EntityJunction }

func lowerJunction(c *checker, d *ast.CreateJunction) *Junction {
	return &Junction{lowerProcessor(c, &d.Processor)}
}
