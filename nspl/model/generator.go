package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Generator makes rows of the state of a relay, again and again.
type Generator struct {
	Name   string
	State  ast.Name // the relay
	Each   ast.Duration
	Branch ast.BranchUse
	Routes []ast.Route
}

// Kind returns the kind.
func (*Generator) Kind() vocab.EntityKind { return vocab.EntityGenerator }

// EntityName returns the name.
func (g *Generator) EntityName() string { return g.Name }

// Refs returns the state, the branch, and what the routes name.
func (g *Generator) Refs() []Ref {
	return appendRoutes(appendBranch([]Ref{ref(vocab.EntityRelay, g.State)}, g.Branch), g.Routes)
}

func lowerGenerator(c *checker, d *ast.CreateGenerator) *Generator {
	c.positive(d.Each, "EACH")
	c.routes(d.Routes)
	return &Generator{Name: d.Name.Text, State: d.State, Each: d.Each, Branch: d.Branch, Routes: d.Routes}
}
