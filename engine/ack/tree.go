package ack

import (
	"sync/atomic"
	"time"

	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

// Class groups failure reasons for the metric of failed roots.
type Class uint8

// The classes.
const (
	ClassMessage Class = iota
	ClassInternal
	ClassTimeout
	ClassSilence
	ClassDispatch
	ClassEviction
	ClassTeardown
	classes
)

var classNames = [classes]string{"message", "internal", "timeout", "silence", "dispatch", "eviction", "teardown"}

// Classes is their number.
const Classes = uint64(classes)

// String returns the label value.
func (c Class) String() string { return classNames[c] }

// Reason says why a share failed. Text is constant or made of definitions'
// names: it holds no value of a record.
type Reason struct {
	Class Class
	Text  string
}

// The reasons this package gives itself.
var (
	Dropped  = Reason{ClassTeardown, "dropped"}
	TimedOut = Reason{ClassTimeout, "acknowledgement timed out"}
)

// Outcome is how a tree, a tally or a watched row ended.
type Outcome struct {
	Failed bool
	Reason Reason // the first one
}

// Ledger is where the trees of one domain report.
type Ledger struct {
	Domain string
	Tap    observe.Tap

	active *observe.Gauge
	failed [classes]*observe.Counter
	trees  atomic.Uint64
}

// NewLedger resolves the series of a domain.
func NewLedger(domain string, r *observe.Registry, tap observe.Tap) *Ledger {
	l := &Ledger{Domain: domain, Tap: tap, active: r.Gauge(observe.AckRootsActive, domain)}
	for c := range classes {
		l.failed[c] = r.Counter(observe.AckFailed, domain, c.String())
	}
	return l
}

// A tree's word holds two counts that change together: shares that cover every
// row (high half) and rows with shares of their own (low half). It is zero
// exactly when no row is pending.
const wholeShare = int64(1) << 32

// failedRow marks a row's counter once its root has failed, reportedRow once the
// watch of its tree heard of its success.
const (
	failedRow   = int32(1) << 30
	reportedRow = int32(1) << 29
)

// Tree holds the roots of one ingest group: row i of the group is root i. Any
// task that holds a set of it may resolve shares.
type Tree struct {
	ledger *Ledger
	id     uint64
	rows   int
	done   func(Outcome) // runs once, must not block; nil in a watched tree
	watch  Watch         // nil in a tree of the domain's own roots

	word     atomic.Int64
	stamp    atomic.Int64 // last progress of shares that cover every row
	perRow   atomic.Pointer[perRow]
	failures atomic.Int32 // roots that failed
	reason   atomic.Pointer[Reason]
	finished atomic.Bool
	parked   atomic.Int32 // parked shares that cover every row
}

// perRow exists once rows of a tree have had different fates.
type perRow struct {
	pending []atomic.Int32
	parked  []atomic.Int32
	stamp   []atomic.Int64
}

// Open returns a tree of n roots and the set that holds one share of each. done
// runs once, in the task that resolves the last share, and must not block.
func (l *Ledger) Open(n int, now primitives.Instant, done func(Outcome)) (*Tree, *Set) {
	invariant.That(n > 0, "I3: a tree has a root")
	t := &Tree{ledger: l, id: l.trees.Add(1), rows: n, done: done}
	t.word.Store(wholeShare)
	t.stamp.Store(int64(now))
	l.active.Add(n)
	if l.Tap != nil {
		l.Tap.Observe(observe.Event{Kind: observe.RootsOpened, Domain: l.Domain, Tree: t.id, Count: n})
	}
	return t, &Set{rows: n, segments: []segment{{tree: t, count: n}}}
}

// split returns the per-row counters, creating them at the first divergence.
func (t *Tree) split() *perRow {
	if p := t.perRow.Load(); p != nil {
		return p
	}
	p := &perRow{
		pending: make([]atomic.Int32, t.rows),
		parked:  make([]atomic.Int32, t.rows),
		stamp:   make([]atomic.Int64, t.rows),
	}
	if t.perRow.CompareAndSwap(nil, p) {
		return p
	}
	return t.perRow.Load()
}

// reserve adds n shares for the given rows, all of them when rows is nil. The
// caller holds a share of each, so no count is zero before (I5) and no row
// becomes pending by it.
func (t *Tree) reserve(rows []int32, n int) {
	if rows == nil {
		t.word.Add(int64(n) * wholeShare)
		return
	}
	p := t.split()
	for _, r := range rows {
		p.pending[r].Add(int32(n))
	}
}

// narrow turns one whole share into a share of each row of in: the rows of out
// are done with it.
func (t *Tree) narrow(in, out []int32, now primitives.Instant) {
	if t.ledger.Tap != nil {
		t.ledger.Tap.Observe(observe.Event{Kind: observe.SharesOK, Domain: t.ledger.Domain, Tree: t.id, Rows: out})
	}
	t.touch(out, now)
	t.own(in)
}

// own turns one whole share into a share of each listed row.
func (t *Tree) own(rows []int32) {
	p := t.split()
	opened := int64(0)
	for _, r := range rows {
		if p.pending[r].Add(1) == 1 {
			opened++
		}
	}
	t.word.Add(opened)
	t.dropWhole()
}

// dropWhole ends one share of every row.
func (t *Tree) dropWhole() {
	word := t.word.Add(-wholeShare)
	if t.watch != nil && word < wholeShare {
		t.reportUncovered()
	}
	t.settle(word)
}

// resolve ends one share of each listed row, of all of them when rows is nil.
func (t *Tree) resolve(rows []int32, now primitives.Instant) {
	if t.ledger.Tap != nil {
		t.ledger.Tap.Observe(observe.Event{Kind: observe.SharesOK, Domain: t.ledger.Domain, Tree: t.id, Rows: rows})
	}
	if rows == nil {
		t.stamp.Store(int64(now))
		t.dropWhole()
		return
	}
	t.release(rows, now)
}

// release takes one share of each row and closes rows whose last one it was.
func (t *Tree) release(rows []int32, now primitives.Instant) {
	p := t.split()
	closed := int64(0)
	for _, r := range rows {
		p.stamp[r].Store(int64(now))
		left := p.pending[r].Add(-1)
		if left == 0 {
			closed++
		}
		// Below zero, or below the mark of a row that was reported.
		invariant.That(left&^failedRow >= 0 && left&(reportedRow>>1) == 0 || planted.Enabled, "I1: a share resolved twice")
	}
	if closed > 0 {
		if t.watch != nil {
			t.reportEnded(rows)
		}
		t.settle(t.word.Add(-closed))
	}
}

// fail decides the roots of the listed rows, then ends the share of each.
func (t *Tree) fail(rows []int32, now primitives.Instant, why Reason) {
	if t.ledger.Tap != nil {
		t.ledger.Tap.Observe(observe.Event{Kind: observe.SharesFailed, Domain: t.ledger.Domain, Tree: t.id, Rows: rows, Text: why.Text})
	}
	if rows == nil {
		if t.watch != nil {
			t.failWatched(nil, t.rows, why)
		} else {
			for r := range t.rows {
				t.failRoot(int32(r), why)
			}
		}
		t.dropWhole()
		return
	}
	if t.watch != nil {
		t.failWatched(rows, len(rows), why)
	} else {
		for _, r := range rows {
			t.failRoot(r, why)
		}
	}
	t.release(rows, now)
}

// failRoot decides one root (I2) and reports whether it was open. The failure is
// counted before the row leaves the word, so whoever sees the word at zero sees
// the failure too.
func (t *Tree) failRoot(r int32, why Reason) bool {
	t.reason.CompareAndSwap(nil, &why)
	p := t.split()
	old := p.pending[r].Or(failedRow)
	if old&(failedRow|reportedRow) != 0 {
		return false
	}
	if t.watch == nil {
		t.ledger.active.Add(-1)
		t.ledger.failed[why.Class].Add(1)
	}
	if t.ledger.Tap != nil {
		t.ledger.Tap.Observe(observe.Event{Kind: observe.RootFailed, Domain: t.ledger.Domain, Tree: t.id, Row: int(r), Text: why.Text})
	}
	failures := t.failures.Add(1)
	if old > 0 {
		t.settle(t.word.Add(-1))
	}
	if int(failures) == t.rows {
		t.finish()
	}
	return true
}

// settle finishes the tree when a change of the word left nothing pending.
func (t *Tree) settle(word int64) {
	invariant.That(word >= 0 || planted.Enabled, "I1: a share resolved twice")
	if word == 0 {
		t.finish()
	}
}

// finish reports the outcome once (I3).
func (t *Tree) finish() {
	if !t.finished.CompareAndSwap(false, true) {
		return
	}
	failures := int(t.failures.Load())
	if t.watch == nil {
		t.ledger.active.Add(failures - t.rows)
	}
	if t.ledger.Tap != nil {
		t.ledger.Tap.Observe(observe.Event{Kind: observe.RootsDone, Domain: t.ledger.Domain, Tree: t.id, Count: t.rows - failures})
	}
	if t.done == nil {
		return
	}
	out := Outcome{Failed: failures > 0}
	if out.Failed {
		out.Reason = *t.reason.Load()
	}
	t.done(out)
}

// touch records a keepalive of a holder.
func (t *Tree) touch(rows []int32, now primitives.Instant) {
	if rows == nil {
		t.stamp.Store(int64(now))
		return
	}
	p := t.split()
	for _, r := range rows {
		p.stamp[r].Store(int64(now))
	}
}

// park adds n, which may be negative, to the parked shares of the rows.
func (t *Tree) park(rows []int32, n int32) {
	if rows == nil {
		t.parked.Add(n)
		return
	}
	p := t.split()
	for _, r := range rows {
		p.parked[r].Add(n)
	}
}

// Finished reports whether the outcome was given.
func (t *Tree) Finished() bool { return t.finished.Load() }

// open calls f for every root that has no outcome yet, with its last progress
// and whether all its shares are parked.
func (t *Tree) open(f func(row int32, progress primitives.Instant, parked bool)) {
	if t.finished.Load() {
		return
	}
	whole := int32(t.word.Load() >> 32)
	stamp, wholeParked := t.stamp.Load(), t.parked.Load()
	p := t.perRow.Load()
	for r := range t.rows {
		pending, parked, last := whole, wholeParked, stamp
		if p != nil {
			own := p.pending[r].Load()
			if own&(failedRow|reportedRow) != 0 {
				continue
			}
			pending += own
			parked += p.parked[r].Load()
			last = max(last, p.stamp[r].Load())
		}
		if pending > 0 {
			f(int32(r), primitives.Instant(last), parked == pending)
		}
	}
}

// Unparked counts the roots that hold a drain: open ones with a share that is
// not parked.
func (t *Tree) Unparked() int {
	n := 0
	t.open(func(_ int32, _ primitives.Instant, parked bool) {
		if !parked {
			n++
		}
	})
	return n
}

// Expire fails every root that made no progress for the timeout and returns the
// instant at which the next one would expire; Never when none is open.
func (t *Tree) Expire(now primitives.Instant, timeout time.Duration) (next primitives.Instant) {
	next = primitives.Never
	t.open(func(row int32, progress primitives.Instant, _ bool) {
		if due := progress.Add(timeout); due > now {
			next = min(next, due)
			return
		}
		t.failRoot(row, TimedOut)
	})
	return next
}
