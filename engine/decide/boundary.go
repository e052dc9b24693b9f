package decide

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/nspl/vocab"
)

// Boundary is what a hold has to cover so that a set of operators comes to rest
// and can move.
type Boundary struct {
	// Gates are the relays that admit nothing meanwhile, by name. A relay whose
	// every producer is in the set needs no gate: its producers come to rest.
	Gates []string
	// Sources are the ingestors of the set: they stop polling.
	Sources []catalog.Key
	// Drain are the operators of the set and the relays that feed it: what has to be
	// empty. By kind and name.
	Drain []catalog.Key
}

// Empty reports whether nothing needs to be held.
func (b Boundary) Empty() bool { return len(b.Drain) == 0 }

// boundary returns the boundary of a set of operators, ascending.
func (g *graph) boundary(set []int) (b Boundary) {
	if len(set) == 0 {
		return b
	}
	var drain []int
	for i := range g.operators {
		moves := slices.Contains(set, i)
		relay := g.operators[i].Kind == vocab.EntityRelay
		feeds := relay && slices.ContainsFunc(g.placement.Downstream(i), func(to int) bool { return slices.Contains(set, to) })
		if !moves && !feeds {
			continue
		}
		drain = append(drain, i)
		switch {
		case g.operators[i].Kind == vocab.EntityIngestor:
			b.Sources = append(b.Sources, g.key(i))
		case relay && slices.ContainsFunc(g.operators[i].Upstream, func(from int) bool { return !slices.Contains(set, from) }):
			b.Gates = append(b.Gates, g.operators[i].Name)
		}
	}
	b.Drain = g.keys(drain)
	return b
}
