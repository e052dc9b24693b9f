package model

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Domain is one graph with its clock: paced where Pace is set. Placement is the
// policy of directly connected runtime nodes that no rule claims.
type Domain struct {
	Name      string
	Pace      *Pace
	Placement vocab.PlacementPolicy
}

// Pace is the period and the skew of a paced domain.
type Pace struct{ Period, Skew ast.Duration }

// Kind returns the kind.
func (*Domain) Kind() vocab.EntityKind { return vocab.EntityDomain }

// EntityName returns the name.
func (d *Domain) EntityName() string { return d.Name }

// Refs returns nothing: a domain stands alone.
func (*Domain) Refs() []Ref { return nil }

func lowerDomain(c *checker, d *ast.CreateDomain) *Domain {
	if strings.Contains(d.Name.Text, ".") {
		c.invalid(d.Name.Span, "invalid domain name '%s': '.' is not allowed", d.Name.Text)
	}
	m := &Domain{Name: d.Name.Text, Placement: d.Placement.PlacementPolicy}
	if d.Pace != nil {
		c.positive(d.Pace.Period, "PERIOD")
		m.Pace = (*Pace)(d.Pace)
	}
	return m
}
