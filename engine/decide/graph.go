package decide

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/placement"
	"plexus/engine/schedule"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// Executes reports whether entities of a kind are operators: vertices of the
// graph, which the schedule assigns to nodes. The language calls them runtime
// nodes.
func Executes(kind vocab.EntityKind) bool { return slices.Contains(operatorKinds, kind) }

// operatorKinds are the kinds that execute, in order.
var operatorKinds = []vocab.EntityKind{
	vocab.EntityRelay, vocab.EntityHashMap, vocab.EntityIngestor, vocab.EntityReingestor, vocab.EntityGenerator, vocab.EntityJunction,
	vocab.EntityDeduplicator, vocab.EntityReorderer, vocab.EntityCorrelator, vocab.EntityWindow, vocab.EntityInferencer,
	vocab.EntityWASM, vocab.EntityEmitter,
}

// listener reports whether every live voter executes the entity.
func listener(e model.Entity) bool {
	in, ok := e.(*model.Ingestor)
	return ok && in.Source.Entity.Capabilities().Listener
}

// stateful reports whether the entity owns a persisted component, so that the
// schedule gives it replicas.
func stateful(e model.Entity) bool {
	switch x := e.(type) {
	case *model.Ingestor:
		// What every node executes has no state to place: each batch lives where it
		// arrived.
		return x.Source.Entity.Capabilities().Position == vocab.HostState && !listener(e)
	case *model.Relay:
		return x.Materialized
	case *model.Deduplicator, *model.Window, *model.WASM:
		return true
	}
	return false
}

// flows returns the relays that an operator reads and writes. What its message
// errors are sent to counts as written.
func flows(e model.Entity) (reads, writes []ast.Name) {
	if s := model.ShapeOf(e); s != nil {
		return s.Inputs(), s.Outputs()
	}
	return nil, nil
}

// states returns the relays whose materialized state an operator reads.
func states(e model.Entity) []ast.Name {
	if s := model.ShapeOf(e); s != nil {
		return s.StateNames()
	}
	return nil
}

// graph is the operators of a candidate with what flows between them. Indices are
// those of both forms of it.
type graph struct {
	// placement relates the operators that have an owner; listeners stand apart in
	// it.
	placement *placement.Graph
	operators []schedule.Operator // by kind and name
}

func (c *Candidate) graph() *graph {
	g := &graph{}
	var keys []placement.Key
	var entities []model.Entity
	for i := range c.entries {
		if e := c.entries[i]; Executes(e.key.Kind) {
			keys = append(keys, placement.Key(e.key))
			entities = append(entities, e.entity)
			g.operators = append(g.operators, schedule.Operator{
				Key: placement.Key(e.key), Everywhere: listener(e.entity), Stateful: stateful(e.entity),
			})
		}
	}
	all := placement.NewGraph(keys, nil)
	var edges, owned []placement.Edge
	add := func(from, to int) {
		edges = append(edges, placement.Edge{From: from, To: to})
		if !g.operators[from].Everywhere {
			owned = append(owned, placement.Edge{From: from, To: to})
		}
	}
	relay := func(n ast.Name) (int, bool) {
		return all.Find(placement.Key{Kind: vocab.EntityRelay, Name: n.Text})
	}
	for i, e := range entities {
		reads, writes := flows(e)
		for _, n := range slices.Concat(reads, states(e)) {
			if r, ok := relay(n); ok {
				add(r, i)
			}
		}
		for _, n := range writes {
			if r, ok := relay(n); ok {
				add(i, r)
			}
		}
	}
	all = placement.NewGraph(keys, edges)
	g.placement = placement.NewGraph(keys, owned)
	g.measure(all)
	return g
}

// measure fills in what flows where and how far each operator is from a source.
// What no source feeds is farthest.
func (g *graph) measure(all *placement.Graph) {
	var queue []int
	for i := range g.operators {
		g.operators[i].Upstream = all.Upstream(i)
		g.operators[i].Depth = len(g.operators)
		if len(all.Upstream(i)) == 0 {
			g.operators[i].Depth = 0
			queue = append(queue, i)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, next := range all.Downstream(queue[0]) {
			if depth := g.operators[queue[0]].Depth + 1; depth < g.operators[next].Depth {
				g.operators[next].Depth = depth
				queue = append(queue, next)
			}
		}
	}
}

func (g *graph) key(i int) catalog.Key { return catalog.Key(g.operators[i].Key) }

// keys names operators.
func (g *graph) keys(list []int) []catalog.Key {
	keys := make([]catalog.Key, len(list))
	for i, at := range list {
		keys[i] = g.key(at)
	}
	return keys
}

func (g *graph) find(key catalog.Key) (int, bool) { return g.placement.Find(placement.Key(key)) }
