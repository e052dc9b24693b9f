package placement

import (
	"cmp"
	"slices"

	"plexus/nspl/vocab"
)

// Key names an operator.
type Key struct {
	Kind vocab.EntityKind
	Name string
}

// String returns the form messages use.
func (k Key) String() string { return k.Kind.String() + " '" + k.Name + "'" }

// Compare orders keys by kind, in the order of the kinds, and name.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Name, o.Name))
}

// Edge leads records or state from one operator to another. Both are indices of
// the graph's keys.
type Edge struct{ From, To int }

// Graph is the operators of a domain that have an owner, and what flows between
// them. It may have cycles: one with a detached consumer is legal.
type Graph struct {
	keys []Key
	next [][]int // by operator, ascending
	prev [][]int
}

// NewGraph makes a graph of operators in the order of [Key.Compare], each once.
// Repeated edges and edges from an operator to itself are dropped.
func NewGraph(keys []Key, edges []Edge) *Graph {
	g := &Graph{keys: keys, next: make([][]int, len(keys)), prev: make([][]int, len(keys))}
	for _, e := range edges {
		if e.From != e.To {
			g.next[e.From] = append(g.next[e.From], e.To)
			g.prev[e.To] = append(g.prev[e.To], e.From)
		}
	}
	for i := range keys {
		slices.Sort(g.next[i])
		slices.Sort(g.prev[i])
		g.next[i], g.prev[i] = slices.Compact(g.next[i]), slices.Compact(g.prev[i])
	}
	return g
}

// Keys returns the operators in order.
func (g *Graph) Keys() []Key { return g.keys }

// Len counts the operators.
func (g *Graph) Len() int { return len(g.keys) }

// Upstream returns the operators that feed one directly.
func (g *Graph) Upstream(i int) []int { return g.prev[i] }

// Downstream returns the operators that one feeds directly.
func (g *Graph) Downstream(i int) []int { return g.next[i] }

// Find returns the index of an operator.
func (g *Graph) Find(k Key) (int, bool) { return slices.BinarySearchFunc(g.keys, k, Key.Compare) }

// reach returns the operators that can be reached along the edges, the start
// included.
func reach(edges [][]int, start int) set {
	seen := newSet(len(edges))
	seen.add(start)
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		for _, to := range edges[queue[0]] {
			if !seen.has(to) {
				seen.add(to)
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// path returns a shortest way from one operator to another, both included, nil if
// there is none. Of several it takes the one whose operators come first.
func (g *Graph) path(from, to int) []int {
	before := make([]int, len(g.keys))
	for i := range before {
		before[i] = -1
	}
	before[from] = from
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range g.next[queue[0]] {
			if before[next] < 0 {
				before[next] = queue[0]
				queue = append(queue, next)
			}
		}
	}
	if before[to] < 0 {
		return nil
	}
	way := []int{to}
	for at := to; at != from; {
		at = before[at]
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}

// Witness returns a way from one operator through a second to a third, nil if
// there is none.
func (g *Graph) Witness(from, through, to int) []int {
	head, tail := g.path(from, through), g.path(through, to)
	if head == nil || tail == nil {
		return nil
	}
	return append(head, tail[1:]...)
}
