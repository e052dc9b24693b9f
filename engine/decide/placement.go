package decide

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/placement"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// named returns the operators of a name: those that can be members of a
// placement, and the listener of that name, which cannot.
func (c *Candidate) named(name string) (members []catalog.Key, listens bool) {
	for _, kind := range operatorKinds {
		switch e, ok := c.get(kind, name); {
		case !ok:
		case listener(e):
			listens = true
		default:
			members = append(members, catalog.Key{Kind: kind, Name: name})
		}
	}
	return members, listens
}

// checkMembersExist is the part of V2 that concerns placements: every member is
// there.
func (c *Candidate) checkMembersExist(e *entry, x *model.Placement, f *found) {
	for _, m := range x.Members() {
		if members, listens := c.named(m.Text); len(members) > 0 || listens {
			continue
		}
		for _, kind := range operatorKinds {
			if target := (catalog.Key{Kind: kind, Name: m.Text}); c.dropped[target] {
				f.inUse(c, target)
				return
			}
		}
		for i := range c.entries {
			if c.entries[i].key.Name == m.Text {
				f.add(ast.CodeRefKind, m.Span, "%s takes runtime nodes, and '%s' is a %s", e.key, m.Text, c.entries[i].key.Kind)
				return
			}
		}
		f.add(ast.CodeRefMissing, m.Span, "%s requires missing runtime node '%s'", e.key, m.Text).WithTarget(0, m.Text).Hint = c.meantOperator(m.Text)
	}
}

// checkPlacements is V9: every member of a placement is one operator that has an
// owner, and no two rules of one strength claim a pair differently.
func (c *Candidate) checkPlacements(s scope) *Invalid {
	for e := range c.in(s) {
		x, ok := e.entity.(*model.Placement)
		if !ok {
			continue
		}
		f := foundOf(e)
		for _, m := range x.Members() {
			if invalid := c.checkMember(e, m, &f); invalid != nil {
				return invalid
			}
		}
		if len(f.list) > 0 {
			return c.report(e, f.list)
		}
	}
	regrouped := func(key catalog.Key) bool { return key.Kind == vocab.EntityPlacement || Executes(key.Kind) }
	if !c.canConflict() || !s.whole && !slices.ContainsFunc(s.touched, regrouped) {
		return nil
	}
	g := c.graph()
	if _, conflict := placement.Resolve(g.placement, c.rules(g), c.placement); conflict != nil {
		return c.conflict(conflict)
	}
	return nil
}

// canConflict reports whether two rules of one strength have different policies.
func (c *Candidate) canConflict() bool {
	policies := map[uint64]vocab.PlacementPolicy{}
	for e := range c.kind(vocab.EntityPlacement) {
		x := e.entity.(*model.Placement)
		if other, ok := policies[x.Rank]; ok && other != x.Policy.PlacementPolicy {
			return true
		}
		policies[x.Rank] = x.Policy.PlacementPolicy
	}
	return false
}

func (c *Candidate) checkMember(e *entry, m ast.Name, f *found) *Invalid {
	members, listens := c.named(m.Text)
	switch {
	case len(members) == 1:
	case len(members) > 1:
		f.add(ast.CodeRefKind, m.Span, "runtime node '%s' is ambiguous", m.Text).
			WithHint("%s and %s share the name", members[0], members[1])
	case listens:
		at, _ := c.find(catalog.Key{Kind: vocab.EntityIngestor, Name: m.Text})
		if in := c.entries[at]; in.created && !e.created {
			d := c.inUse(in.key)
			d.Message += ", which cannot hold a listener"
			return &Invalid{Found: ast.Diagnostics{d}, Statement: in.statement}
		}
		f.add(ast.CodeRefKind, m.Span, "INGESTOR '%s' listens on every node, so nothing can place it", m.Text)
	}
	return nil
}

// conflict reports two rules that disagree, as a fault of the newer one.
func (c *Candidate) conflict(conflict *placement.Conflict) *Invalid {
	entryOf := func(name string) *entry {
		at, _ := c.find(catalog.Key{Kind: vocab.EntityPlacement, Name: name})
		return c.entries[at]
	}
	e := entryOf(conflict.B.Name)
	if a := entryOf(conflict.A.Name); !e.created && a.created {
		e = a
	}
	f := found{key: e.key}
	f.add(CodePlacement, e.entity.(*model.Placement).Policy.Span, "%v", conflict).
		WithHint("the rule that is to win needs a stronger RANK: a lower number")
	return c.report(e, f.list)
}

// rules returns the placements of a candidate whose members exist, by name.
func (c *Candidate) rules(g *graph) []placement.Rule {
	side := func(names []ast.Name) (list []int) {
		for _, n := range names {
			if members, _ := c.named(n.Text); len(members) == 1 {
				at, _ := g.find(members[0])
				list = append(list, at)
			}
		}
		return list
	}
	var rules []placement.Rule
	for i := range c.entries {
		if x, ok := c.entries[i].entity.(*model.Placement); ok {
			rules = append(rules, placement.Rule{
				Name: x.Name, From: side(x.From), To: side(x.To), Policy: x.Policy.PlacementPolicy, Rank: x.Rank,
			})
		}
	}
	return rules
}

// pins reports whether an entity is a placement with a member of that key.
func (c *Candidate) pins(e model.Entity, target catalog.Key) bool {
	x, ok := e.(*model.Placement)
	if !ok || !Executes(target.Kind) || !slices.ContainsFunc(x.Members(), func(m ast.Name) bool { return m.Text == target.Name }) {
		return false
	}
	members, _ := c.named(target.Name)
	return !slices.ContainsFunc(members, func(k catalog.Key) bool { return k != target })
}
