package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Junction reads relays and routes their records into others.
type Junction struct {
	Name     string
	Attached bool
	Inputs   ast.Inputs
	Filter   ast.Expr // nil keeps every row
	Branch   ast.BranchUse
	Routes   []ast.Route
}

// Kind returns the kind.
func (*Junction) Kind() vocab.EntityKind { return vocab.EntityJunction }

// EntityName returns the name.
func (j *Junction) EntityName() string { return j.Name }

// Refs returns the inputs, the branch, and what the routes name.
func (j *Junction) Refs() []Ref {
	return appendRoutes(appendBranch(appendInputs(nil, j.Inputs), j.Branch), j.Routes)
}

func lowerJunction(c *checker, d *ast.CreateJunction) *Junction {
	c.inputs(d.Inputs)
	c.routes(d.Routes)
	return &Junction{
		Name: d.Name.Text, Attached: d.Attachment != ast.Detached, Inputs: d.Inputs,
		Filter: d.Filter, Branch: d.Branch, Routes: d.Routes,
	}
}
