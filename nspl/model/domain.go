package model

import (
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Domain is an unpaced domain. Placement is the policy of directly connected
// runtime nodes that no rule claims.
type Domain struct {
	Name      string
	Placement vocab.PlacementPolicy
}

// Kind returns the kind.
func (*Domain) Kind() vocab.EntityKind { return vocab.EntityDomain }

// EntityName returns the name.
func (d *Domain) EntityName() string { return d.Name }

// Refs returns nothing: a domain stands alone.
func (*Domain) Refs() []Ref { return nil }

func lowerDomain(c *checker, d *ast.CreateDomain) *Domain {
	if d.Pace != nil {
		c.add(ast.Errorf(ast.CodeUnavailable, d.Span, "PACED domains are not available yet").
			WithHint("CREATE UNPACED DOMAIN %s", d.Name.Text))
	}
	if strings.Contains(d.Name.Text, ".") {
		c.invalid(d.Name.Span, "invalid domain name '%s': '.' is not allowed", d.Name.Text)
	}
	return &Domain{Name: d.Name.Text, Placement: d.Placement.PlacementPolicy}
}
