package ack

import (
	"sync/atomic"
	"time"

	"plexus/primitives"
)

// Tally is the batch acknowledgement of one source batch: it waits for every
// root of every tree opened under it, whatever the others do, and reports
// success only if none failed. Its owner is the source loop; outcomes arrive
// from any task.
type Tally struct {
	ledger  *Ledger
	trees   []*Tree
	pending atomic.Int64
	reason  atomic.Pointer[Reason]
	done    func(Outcome)
}

// NewTally returns a tally that its owner has yet to seal. done runs once, in
// the task that resolves last, and must not block.
func NewTally(l *Ledger, done func(Outcome)) *Tally {
	t := &Tally{ledger: l, done: done}
	t.pending.Store(1)
	return t
}

// Open opens a tree of n roots under the tally.
func (t *Tally) Open(n int, now primitives.Instant) *Set {
	t.pending.Add(1)
	tree, set := t.ledger.Open(n, now, func(out Outcome) {
		if out.Failed {
			t.Fail(out.Reason)
		}
		t.release()
	})
	t.trees = append(t.trees, tree)
	return set
}

// Fail makes the outcome a failure: a payload that became no message failed.
func (t *Tally) Fail(why Reason) { t.reason.CompareAndSwap(nil, &why) }

// Seal says that no tree follows. The outcome may be given before it returns.
func (t *Tally) Seal() { t.release() }

func (t *Tally) release() {
	if t.pending.Add(-1) != 0 {
		return
	}
	if why := t.reason.Load(); why != nil {
		t.done(Outcome{Failed: true, Reason: *why})
		return
	}
	t.done(Outcome{})
}

// Expire fails the roots without progress for the timeout and returns when to
// look again; Never when nothing is open.
func (t *Tally) Expire(now primitives.Instant, timeout time.Duration) primitives.Instant {
	next := primitives.Never
	for _, tree := range t.trees {
		next = min(next, tree.Expire(now, timeout))
	}
	return next
}

// FailOpen fails every root without an outcome: its owner waits no longer.
func (t *Tally) FailOpen(why Reason) {
	for _, tree := range t.trees {
		tree.open(func(row int32, _ primitives.Instant, _ bool) { tree.failRoot(row, why) })
	}
}

// Unparked counts the roots that hold a drain.
func (t *Tally) Unparked() int {
	n := 0
	for _, tree := range t.trees {
		n += tree.Unparked()
	}
	return n
}
