package model

import (
	"slices"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Placement is a rule about where runtime nodes stand to each other: those on the
// ways from each of From to each of To.
type Placement struct {
	Name     string
	From, To []ast.Name // each name once
	Policy   ast.Policy
	// Rank orders rules that disagree: 1 is strongest, 0 is no rank and weakest.
	Rank uint64
}

// Kind returns the kind.
func (*Placement) Kind() vocab.EntityKind { return vocab.EntityPlacement }

// EntityName returns the name.
func (p *Placement) EntityName() string { return p.Name }

// Refs returns nothing: the members have no kind until the whole domain is
// looked at, see [Placement.Members].
func (*Placement) Refs() []Ref { return nil }

// Members returns the runtime nodes the rule names, each once, in written order.
func (p *Placement) Members() []ast.Name { return distinct(slices.Concat(p.From, p.To)) }

// distinct keeps the first occurrence of each name.
func distinct(names []ast.Name) []ast.Name {
	var kept []ast.Name
	for _, n := range names {
		if !slices.ContainsFunc(kept, func(k ast.Name) bool { return k.Text == n.Text }) {
			kept = append(kept, n)
		}
	}
	return kept
}

func lowerPlacement(c *checker, d *ast.CreatePlacement) *Placement {
	p := &Placement{Name: d.Name.Text, From: c.side(d.From), To: c.side(d.To), Policy: d.Policy}
	if d.Rank != nil {
		c.rank(*d.Rank)
		p.Rank = d.Rank.Value
	}
	return p
}

// side is one side of a placement, each name once.
func (c *checker) side(names []ast.Name) []ast.Name {
	if len(names) > placementSideMax {
		c.invalid(names[placementSideMax].Span, "a side of a placement has at most %d names", placementSideMax)
		return nil
	}
	return distinct(names)
}

func (c *checker) rank(n ast.Uint) {
	if n.Value == 0 {
		c.invalid(n.Span, "RANK must be greater than zero")
	}
}

// alterPlacement applies the operations of a statement. What comes from the old
// rule stands where the statement names it.
func alterPlacement(c *checker, old *Placement, d *ast.AlterPlacement) *Placement {
	p := &Placement{Name: old.Name, From: old.From, To: old.To, Policy: old.Policy, Rank: old.Rank}
	for _, change := range d.Changes {
		switch change.Op {
		case ast.PlacementSetPolicy:
			p.Policy = change.Policy
		case ast.PlacementSetRank:
			c.rank(change.Rank)
			p.Rank = change.Rank.Value
		case ast.PlacementDropRank:
			if p.Rank == 0 {
				c.invalid(change.Span, "PLACEMENT '%s' has no RANK to drop", old.Name)
			}
			p.Rank = 0
		case ast.PlacementSetMembers:
			p.From, p.To = c.side(change.From), c.side(change.To)
		case ast.PlacementRename:
			p.Name = change.Name.Text
		}
	}
	return p
}
