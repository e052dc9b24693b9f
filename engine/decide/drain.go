package decide

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/schedule"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Unit is what moves whole: a hard group, or one operator without a group.
type Unit struct {
	Domain  string
	Members []catalog.Key // by kind and name
}

// DrainOrder lists the units that a node owns in the order in which a drain moves
// them: by domain, then by kind and name of their first member. Listeners are no
// units.
func DrainOrder(state *catalog.State, node string) (units []Unit) {
	for d := range state.Domains() {
		s, ok := state.Schedule(d.Name)
		if !ok {
			continue
		}
		grouped := map[catalog.Key]bool{}
		var here []Unit
		for _, g := range s.Groups {
			for _, m := range g.Members {
				grouped[m] = true
			}
			if g.Host == node {
				here = append(here, Unit{d.Name, g.Members})
			}
		}
		for _, a := range s.Assignments {
			if a.Primary == node && !grouped[a.Key] {
				here = append(here, Unit{d.Name, []catalog.Key{a.Key}})
			}
		}
		slices.SortFunc(here, func(a, b Unit) int { return a.Members[0].Compare(b.Members[0]) })
		units = append(units, here...)
	}
	return units
}

// Evacuate plans to move a unit away from the node that owns it. Nothing else of
// the domain changes.
func Evacuate(state *catalog.State, u Unit, cluster Cluster) (*Assigned, *ast.Diagnostic) {
	p, missing := newScheduling(state, u.Domain, cluster)
	if missing != nil {
		return nil, missing
	}
	p.only = []int{}
	for _, key := range u.Members {
		if at, ok := p.graph.find(key); ok {
			p.only = append(p.only, at)
		}
	}
	p.in.Away = p.only
	return p.plan()
}

// Orphaned plans what happens to the work of a node that leaves the cluster for
// good: a schedule for every domain that names it. It refuses when an operator
// would be left without a node.
func Orphaned(state *catalog.State, node string, cluster Cluster) ([]*Assigned, *ast.Diagnostic) {
	cluster.Nodes = slices.DeleteFunc(slices.Clone(cluster.Nodes), func(n schedule.Node) bool { return n.ID == node })
	var all []*Assigned
	for d := range state.Domains() {
		if s, ok := state.Schedule(d.Name); !ok || !names(s, node) {
			continue
		}
		a, refused := Schedule(state, d.Name, cluster)
		if refused != nil {
			return nil, refused
		}
		for i := range a.Moves {
			if m := &a.Moves[i]; m.From == node && m.To == "" {
				return nil, about(m.Key, ast.Errorf(CodeNode, vocab.Span{},
					"no node can take %s of domain '%s' from node '%s'", m.Key, d.Name, node))
			}
		}
		all = append(all, a)
	}
	return all, nil
}

// names reports whether a schedule gives a node a part.
func names(s *catalog.Schedule, node string) bool {
	return slices.ContainsFunc(s.Assignments, func(a catalog.Assignment) bool {
		return a.Primary == node || slices.Contains(a.Replicas, node)
	})
}
