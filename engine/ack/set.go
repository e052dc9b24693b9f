package ack

import (
	"slices"

	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

// Set is the shares of a batch, aligned with its rows. A row may carry several
// shares, or none. A nil set carries none: detached work and sources without
// acknowledgement pay nothing.
//
// A set has one owner. It is consumed (I4) by OK, Fail, Fork, Select, Partition
// and Join.
type Set struct {
	rows     int
	segments []segment // never changed after construction: forks share it
	spent    bool
}

// segment is one share of each of count consecutive rows. Segments of one tree
// or of several may cover the same rows of the batch.
type segment struct {
	tree  *Tree
	first int // row of the batch
	count int
	// roots maps to rows of the tree, in batch order; nil covers the whole tree.
	roots []int32
}

// Rows returns the number of rows the set is aligned with.
func (s *Set) Rows() int { return s.rows }

func (s *Set) consume() []segment {
	invariant.That(!s.spent, "I4: a set is used once")
	s.spent = true
	return s.segments
}

// OK resolves every share successfully.
func (s *Set) OK(now primitives.Instant) {
	if s == nil {
		return
	}
	for _, g := range s.consume() {
		g.tree.resolve(g.roots, now)
	}
}

// Fail resolves every share as failed.
func (s *Set) Fail(now primitives.Instant, why Reason) {
	if s == nil {
		return
	}
	for _, g := range s.consume() {
		g.tree.fail(g.roots, now, why)
	}
}

// Touch is the keepalive of an owner that holds the rows by a declared policy.
func (s *Set) Touch(now primitives.Instant) {
	if s == nil {
		return
	}
	for _, g := range s.segments {
		g.tree.touch(g.roots, now)
	}
}

// Park marks every share as waiting for something only later input can bring;
// Unpark ends that.
func (s *Set) Park() { s.park(1) }

// Unpark ends a Park of the same set.
func (s *Set) Unpark() { s.park(-1) }

func (s *Set) park(n int32) {
	if s == nil {
		return
	}
	for _, g := range s.segments {
		g.tree.park(g.roots, n)
	}
}

// Fork replaces the set by n sets over the same rows, one per attached
// descendant. Forking into none resolves the shares: nobody is left to wait for.
func (s *Set) Fork(n int, now primitives.Instant) []*Set {
	out := make([]*Set, n)
	if s == nil {
		return out
	}
	segments := s.consume()
	for _, g := range segments {
		if tap := g.tree.ledger.Tap; tap != nil {
			tap.Observe(observe.Event{Kind: observe.SharesForked, Domain: g.tree.ledger.Domain, Tree: g.tree.id, Rows: g.roots, Count: n})
		}
		switch n {
		case 0:
			g.tree.resolve(g.roots, now)
		case 1: // the child takes the place of the share
		default:
			g.tree.reserve(g.roots, n-1)
			g.tree.touch(g.roots, now)
		}
		if n > 0 && planted.Active(planted.SkipChildShare) {
			g.tree.resolve(g.roots, now)
		}
	}
	for i := range out {
		out[i] = &Set{rows: s.rows, segments: segments}
	}
	return out
}

// Select keeps the listed rows, which ascend, and resolves the others
// successfully: a filter finished them.
func (s *Set) Select(rows []int32, now primitives.Instant) *Set {
	if s == nil {
		return nil
	}
	kept := &Set{rows: len(rows)}
	for _, g := range s.consume() {
		at, end := g.listed(rows)
		switch end - at {
		case g.count:
			g.first = at
			kept.segments = append(kept.segments, g)
		case 0:
			g.tree.resolve(g.roots, now)
		default:
			in, out, _ := g.cut(rows[at:end])
			if g.roots == nil {
				g.tree.narrow(in, out, now)
			} else {
				g.tree.resolve(out, now)
			}
			kept.segments = append(kept.segments, segment{tree: g.tree, first: at, count: len(in), roots: in})
		}
	}
	return kept
}

// Partition divides the set into the listed rows, which ascend, and the rest.
// Both stay open.
func (s *Set) Partition(rows []int32) (listed, rest *Set) {
	if s == nil {
		return nil, nil
	}
	listed, rest = &Set{rows: len(rows)}, &Set{rows: s.rows - len(rows)}
	for _, g := range s.consume() {
		at, end := g.listed(rows)
		skipped := g.first - at // rows of the rest before this segment
		switch end - at {
		case g.count:
			g.first = at
			listed.segments = append(listed.segments, g)
		case 0:
			g.first = skipped
			rest.segments = append(rest.segments, g)
		default:
			in, out, all := g.cut(rows[at:end])
			if g.roots == nil {
				g.tree.own(all)
			}
			listed.segments = append(listed.segments, segment{tree: g.tree, first: at, count: len(in), roots: in})
			rest.segments = append(rest.segments, segment{tree: g.tree, first: skipped, count: len(out), roots: out})
		}
	}
	return listed, rest
}

// listed returns which of the ascending rows fall into the segment.
func (g *segment) listed(rows []int32) (at, end int) {
	at, _ = slices.BinarySearch(rows, int32(g.first))
	n, _ := slices.BinarySearch(rows[at:], int32(g.first+g.count))
	return at, at + n
}

// cut divides the roots of a segment by the listed rows of the batch. in and
// out are views of all, the listed roots first.
func (g *segment) cut(rows []int32) (in, out, all []int32) {
	all = make([]int32, g.count)
	in, out = all[:len(rows):len(rows)], all[len(rows):]
	i, o := 0, 0
	for k := range g.count {
		root := int32(k)
		if g.roots != nil {
			root = g.roots[k]
		}
		if i < len(rows) && int(rows[i]) == g.first+k {
			in[i] = root
			i++
		} else {
			out[o] = root
			o++
		}
	}
	return in, out, all
}

// Join concatenates the sets of consecutive batches; rows[i] is the row count
// of sets[i], which may be nil.
func Join(sets []*Set, rows []int) *Set {
	if len(sets) == 1 {
		return sets[0]
	}
	joined := &Set{}
	for i, s := range sets {
		if s != nil {
			invariant.That(s.rows == rows[i], "I4: a set has its batch's rows")
			for _, g := range s.consume() {
				g.first += joined.rows
				joined.segments = append(joined.segments, g)
			}
		}
		joined.rows += rows[i]
	}
	if joined.segments == nil {
		return nil
	}
	return joined
}
