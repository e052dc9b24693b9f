package ack

import (
	"math/bits"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

// Forwarded is the shares of a batch that another node works on. Reports of that
// node resolve its rows one by one; while all rows share their fate nothing is
// kept per row. It has one owner.
type Forwarded struct {
	rows     int
	open     int
	parked   bool
	segments []segment
	// resolved has a bit per row, once rows have had different fates. Every
	// segment then lists its roots.
	resolved []uint64
	scratch  []int32
}

// Forward consumes the set.
func (s *Set) Forward() *Forwarded {
	return &Forwarded{rows: s.rows, open: s.rows, segments: s.consume()}
}

// Bare lists the rows without a share.
func (s *Set) Bare() []int32 {
	covered := make([]uint64, (s.rows+63)/64)
	n := 0
	for _, g := range s.segments {
		if g.count == s.rows {
			return nil
		}
		for r := g.first; r < g.first+g.count; r++ {
			if covered[r/64]&(1<<(r%64)) == 0 {
				covered[r/64] |= 1 << (r % 64)
				n++
			}
		}
	}
	if n == s.rows {
		return nil
	}
	bare := make([]int32, 0, s.rows-n)
	for r := range int32(s.rows) {
		if covered[r/64]&(1<<(r%64)) == 0 {
			bare = append(bare, r)
		}
	}
	return bare
}

// Rows returns the number of rows, Open how many are not resolved.
func (f *Forwarded) Rows() int { return f.rows }

// Open returns how many rows are not resolved.
func (f *Forwarded) Open() int { return f.open }

// Resolve ends the shares of the listed rows, which ascend; nil lists every open
// row. Rows that were resolved before, and rows that do not exist, are passed
// over. It returns how many rows it resolved.
func (f *Forwarded) Resolve(rows []int32, now primitives.Instant, out Outcome) int {
	if rows != nil {
		rows = listed(rows, f.isOpen)
	}
	n := f.open
	switch {
	case n == 0 || rows != nil && len(rows) == 0:
		return 0
	case rows != nil && len(rows) < f.open:
		f.divide()
		f.resolve(rows, now, out)
		n = len(rows)
	case f.resolved == nil:
		f.Unpark()
		for _, g := range f.segments {
			end(g.tree, g.roots, now, out)
		}
	default:
		f.resolve(f.every(), now, out)
	}
	f.open -= n
	return n
}

func end(t *Tree, roots []int32, now primitives.Instant, out Outcome) {
	if out.Failed {
		t.fail(roots, now, out.Reason)
	} else {
		t.resolve(roots, now)
	}
}

func (f *Forwarded) isOpen(row int32) bool {
	return row >= 0 && int(row) < f.rows && f.open > 0 && (f.resolved == nil || f.resolved[row/64]&(1<<(row%64)) == 0)
}

// every lists the open rows of divided shares.
func (f *Forwarded) every() []int32 {
	rows := make([]int32, 0, f.open)
	for i, word := range f.resolved {
		for left := ^word; left != 0; left &= left - 1 {
			if r := int32(i*64 + bits.TrailingZeros64(left)); int(r) < f.rows {
				rows = append(rows, r)
			}
		}
	}
	return rows
}

// divide gives each row its own share of every root.
func (f *Forwarded) divide() {
	if f.resolved != nil {
		return
	}
	f.resolved = make([]uint64, (f.rows+63)/64)
	segments := make([]segment, len(f.segments)) // forks share the old ones
	for i, g := range f.segments {
		if g.roots == nil {
			g.roots = make([]int32, g.count)
			for r := range g.roots {
				g.roots[r] = int32(r)
			}
			if f.parked {
				g.tree.park(nil, -1)
				g.tree.park(g.roots, 1)
			}
			g.tree.own(g.roots)
		}
		segments[i] = g
	}
	f.segments = segments
}

// resolve ends the shares of open rows after divide.
func (f *Forwarded) resolve(rows []int32, now primitives.Instant, out Outcome) {
	invariant.That(f.resolved != nil, "I4: rows are resolved one by one after they were divided")
	for i := range f.segments {
		g := &f.segments[i]
		if roots := f.roots(g, rows); len(roots) > 0 {
			if f.parked {
				g.tree.park(roots, -1)
			}
			end(g.tree, roots, now, out)
		}
	}
	for _, r := range rows {
		f.resolved[r/64] |= 1 << (r % 64)
	}
}

// roots returns the roots of the listed rows in a segment that lists its roots.
// They are lent until the next call.
func (f *Forwarded) roots(g *segment, rows []int32) []int32 {
	at, last := g.listed(rows)
	f.scratch = f.scratch[:0]
	for _, r := range rows[at:last] {
		f.scratch = append(f.scratch, g.roots[int(r)-g.first])
	}
	return f.scratch
}

// Touch passes on that the other node holds the listed rows by a declared
// policy; nil lists every open row.
func (f *Forwarded) Touch(rows []int32, now primitives.Instant) {
	if rows != nil {
		rows = listed(rows, f.isOpen)
	}
	f.apply(rows, func(t *Tree, roots []int32) { t.touch(roots, now) })
}

// Park says that every open row waits for something only later input can bring,
// on the other node. Parking twice is parking once.
func (f *Forwarded) Park() {
	if !f.parked {
		f.parked = true
		f.apply(nil, func(t *Tree, roots []int32) { t.park(roots, 1) })
	}
}

// Unpark ends Park.
func (f *Forwarded) Unpark() {
	if f.parked {
		f.parked = false
		f.apply(nil, func(t *Tree, roots []int32) { t.park(roots, -1) })
	}
}

// apply calls do for the roots of open rows.
func (f *Forwarded) apply(rows []int32, do func(t *Tree, roots []int32)) {
	if f.open == 0 {
		return
	}
	if f.resolved == nil && (rows == nil || len(rows) == f.rows) {
		for _, g := range f.segments {
			do(g.tree, g.roots)
		}
		return
	}
	if rows == nil {
		rows = f.every()
	}
	for i := range f.segments {
		g := &f.segments[i]
		roots := f.lent(g, rows)
		if len(roots) > 0 {
			do(g.tree, roots)
		}
	}
}

// lent is roots for a segment that may cover its whole tree.
func (f *Forwarded) lent(g *segment, rows []int32) []int32 {
	if g.roots != nil {
		return f.roots(g, rows)
	}
	at, last := g.listed(rows)
	f.scratch = f.scratch[:0]
	for _, r := range rows[at:last] {
		f.scratch = append(f.scratch, r-int32(g.first))
	}
	return f.scratch
}
