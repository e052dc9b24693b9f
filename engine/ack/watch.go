package ack

import (
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// Watch hears of the rows of a watched tree: each row once, as soon as its
// outcome is known, in as few calls as the rows agree. rows is lent for the call,
// nil for every row of the tree. It runs in the task that brought the outcome and
// must not block.
type Watch func(rows []int32, out Outcome)

// Watch returns a tree whose rows report one by one, and the set that holds one
// share of each: the roots of rows that another node forwarded. They are not
// roots of this node, and no series counts them.
func (l *Ledger) Watch(n int, now primitives.Instant, watch Watch) (*Tree, *Set) {
	invariant.That(n > 0, "I3: a tree has a root")
	t := &Tree{ledger: l, id: l.trees.Add(1) | watched, rows: n, watch: watch}
	t.word.Store(wholeShare)
	t.stamp.Store(int64(now))
	if l.Tap != nil {
		l.Tap.Observe(observe.Event{Kind: observe.RootsWatched, Domain: l.Domain, Tree: t.id, Count: n})
	}
	return t, &Set{rows: n, segments: []segment{{tree: t, count: n}}}
}

// watched is set in the number of a watched tree: its ledger and that of the
// domain's own roots count apart.
const watched = uint64(1) << 63

// Number returns the number that events of the tree carry.
func (t *Tree) Number() uint64 { return t.id }

// ended claims the report of a row that no share is left of. Both tests hold for
// ever once they hold, and whoever ends the last share of a row does so before it
// tests: one of several sees both, and the claim makes it one.
func (t *Tree) ended(p *perRow, r int32) bool {
	return p.pending[r].Load() == 0 && p.pending[r].CompareAndSwap(0, reportedRow)
}

// reportUncovered reports the rows that the last share of every row was the last
// of.
func (t *Tree) reportUncovered() {
	p := t.perRow.Load()
	if p == nil {
		t.watch(nil, Outcome{})
		return
	}
	var rows []int32
	for r := range int32(t.rows) {
		if t.ended(p, r) {
			rows = append(rows, r)
		}
	}
	t.report(rows, Outcome{})
}

// reportEnded reports which of the rows, of each of which a share was released,
// have ended.
func (t *Tree) reportEnded(rows []int32) {
	if t.word.Load() >= wholeShare {
		return // reported with the last share of every row
	}
	p := t.split()
	t.report(listed(rows, func(r int32) bool { return t.ended(p, r) }), Outcome{})
}

// failWatched decides the roots of n rows, of all when rows is nil, and reports
// those that were open.
func (t *Tree) failWatched(rows []int32, n int, why Reason) {
	var failed []int32
	if rows != nil {
		failed = listed(rows, func(r int32) bool { return t.failRoot(r, why) })
	} else {
		for r := range int32(n) {
			if t.failRoot(r, why) {
				failed = append(failed, r)
			}
		}
	}
	t.report(failed, Outcome{Failed: true, Reason: why})
}

func (t *Tree) report(rows []int32, out Outcome) {
	switch len(rows) {
	case 0:
	case t.rows:
		t.watch(nil, out)
	default:
		t.watch(rows, out)
	}
}

// listed returns the rows that f takes, in their order: a view of rows while f
// takes all.
func listed(rows []int32, f func(int32) bool) []int32 {
	taken := rows[:0:0]
	for i, r := range rows {
		switch {
		case !f(r):
		case len(taken) == i:
			taken = rows[: i+1 : i+1]
		default:
			taken = append(taken, r)
		}
	}
	return taken
}

// Standing is what a progress report says of a watched tree.
type Standing struct {
	Open   int  // rows without an outcome
	Parked bool // every share of every open row is parked
	Held   int  // open rows that a holder refreshed, or whose shares moved
}

// Standing reads the open rows. A row counts as held when something happened to
// it at or after the instant; its bit is set in held, which has room for every
// row.
func (t *Tree) Standing(since primitives.Instant, held []byte) Standing {
	s := Standing{Parked: true}
	t.open(func(row int32, progress primitives.Instant, parked bool) {
		s.Open++
		s.Parked = s.Parked && parked
		if !progress.Before(since) {
			s.Held++
			held[row/8] |= 1 << (row % 8)
		}
	})
	s.Parked = s.Parked && s.Open > 0
	return s
}
