package control

import (
	"maps"
	"slices"

	"plexus/engine/catalog"
)

// difference returns the effects of replacing a state by a later one, as if the
// commands between them had been one command.
func difference(before, after *catalog.State) catalog.Effects {
	var e catalog.Effects
	domains := map[string]bool{}
	for d := range before.Domains() {
		next, ok := after.Domain(d.Name)
		domains[d.Name] = !ok || next.Runtime != d.Runtime || next.Definition != d.Definition
	}
	for d := range after.Domains() {
		if _, ok := before.Domain(d.Name); !ok {
			domains[d.Name] = true
		}
	}
	nodes := map[string]bool{}
	for n := range before.Nodes() {
		next, ok := after.Node(n.ID)
		nodes[n.ID] = !ok || *next != *n
	}
	for n := range after.Nodes() {
		if _, ok := before.Node(n.ID); !ok {
			nodes[n.ID] = true
		}
	}
	for _, name := range slices.Sorted(maps.Keys(domains)) {
		if domains[name] {
			e.Domains = append(e.Domains, name)
			e.Models = append(e.Models, models(before, after, name)...)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		if nodes[name] {
			e.Nodes = append(e.Nodes, name)
		}
	}
	return e
}

// models lists the definitions of a domain that differ, in the order of their
// keys, as one command tells them.
func models(before, after *catalog.State, domain string) (out []catalog.ModelEffect) {
	for m := range before.Models(domain) {
		next, ok := after.Model(domain, m.Key)
		if !ok || next.Revision != m.Revision {
			out = append(out, catalog.ModelEffect{Domain: domain, Key: m.Key, Created: ok, Dropped: true, Index: after.Applied})
		}
	}
	for m := range after.Models(domain) {
		if _, ok := before.Model(domain, m.Key); !ok {
			out = append(out, catalog.ModelEffect{Domain: domain, Key: m.Key, Created: true, Index: after.Applied})
		}
	}
	slices.SortFunc(out, func(a, b catalog.ModelEffect) int {
		return a.Key.Compare(b.Key)
	})
	return out
}
