package oracle

import (
	"fmt"

	"plexus/engine/observe"
)

// Roots replays the share events of one process of a node per root, one counter
// each, and knows nothing of whole shares, segments or words.
//
// It checks: one terminal per root; fail fast; no early success; no share
// resolved that nobody holds; and, where a domain has one instance of one source, a
// position acknowledged only after every root that was opened for it succeeded.
type Roots struct {
	fail   Fail
	single bool
	trees  map[treeID]*rootTree
	// open are the trees of a domain since its source last answered.
	open map[string][]*rootTree
	due  failing
}

type treeID struct {
	domain string
	id     uint64
}

type rootTree struct {
	id      treeID
	pending []int32
	failed  []bool
	left    int // rows without a terminal
	done    bool
}

// failing is a failed share whose roots have yet to fail.
type failing struct {
	tree *rootTree
	left int
}

// NewRoots returns an oracle for one process. single says that domains have one
// instance of one acknowledged source each.
func NewRoots(fail Fail, single bool) *Roots {
	return &Roots{fail: fail, single: single, trees: map[treeID]*rootTree{}, open: map[string][]*rootTree{}}
}

// Observe implements observe.Tap.
func (o *Roots) Observe(e observe.Event) {
	if o.due.left > 0 && e.Kind != observe.RootFailed {
		o.violated("fail-fast", o.due.tree, "%d roots did not fail with their share", o.due.left)
		o.due = failing{}
	}
	switch e.Kind {
	case observe.RootsOpened:
		o.opened(e)
	case observe.RootsWatched:
		o.watched(e)
	case observe.SharesForked:
		if t := o.tree(e); t != nil && e.Count > 0 {
			t.each(e.Rows, func(row int32) { t.pending[row] += int32(e.Count) - 1 })
		}
	case observe.SharesOK:
		if t := o.tree(e); t != nil {
			o.resolved(t, e.Rows)
		}
	case observe.SharesFailed:
		if t := o.tree(e); t != nil {
			o.due = failing{tree: t}
			t.each(e.Rows, func(row int32) {
				if !t.failed[row] {
					o.due.left++
				}
			})
			o.resolved(t, e.Rows)
		}
	case observe.RootFailed:
		if t := o.tree(e); t != nil {
			o.rootFailed(t, e)
		}
	case observe.RootsDone:
		if t := o.tree(e); t != nil {
			o.finished(t, e.Count)
		}
	case observe.PositionsAcked:
		for _, t := range o.open[e.Domain] {
			failed := 0
			for _, f := range t.failed {
				if f {
					failed++
				}
			}
			if !t.done || failed > 0 {
				o.violated("position-after-all-messages", t, "%d roots are open and %d failed of a position that is acknowledged", t.left, failed)
			}
		}
		o.forget(e.Domain)
	case observe.PositionsRejected, observe.PositionsLeft:
		o.forget(e.Domain)
	}
}

// watched takes roots of rows that another node forwarded: positions of this node
// do not wait for them.
func (o *Roots) watched(e observe.Event) *rootTree {
	t := &rootTree{id: treeID{e.Domain, e.Tree}, pending: make([]int32, e.Count), failed: make([]bool, e.Count), left: e.Count}
	for i := range t.pending {
		t.pending[i] = 1
	}
	o.trees[t.id] = t
	return t
}

func (o *Roots) opened(e observe.Event) {
	t := o.watched(e)
	if !o.single {
		return
	}
	o.open[e.Domain] = append(o.open[e.Domain], t)
}

func (o *Roots) tree(e observe.Event) *rootTree {
	t := o.trees[treeID{e.Domain, e.Tree}]
	if t == nil {
		o.fail("known-tree", fmt.Sprintf("an event of tree %d, which was never opened or is over", e.Tree))
	}
	return t
}

// each calls f for the listed rows; nil lists all.
func (t *rootTree) each(rows []int32, f func(row int32)) {
	if rows == nil {
		for row := range t.pending {
			f(int32(row))
		}
		return
	}
	for _, row := range rows {
		f(row)
	}
}

// resolved takes one share of each row.
func (o *Roots) resolved(t *rootTree, rows []int32) {
	t.each(rows, func(row int32) {
		t.pending[row]--
		if t.pending[row] < 0 {
			o.violated("one-share-one-resolution", t, "a share of root %d was resolved that nobody holds", row)
		}
		if t.pending[row] == 0 && !t.failed[row] {
			t.left--
		}
	})
	o.settle(t)
}

func (o *Roots) rootFailed(t *rootTree, e observe.Event) {
	row := int32(e.Row)
	if t.failed[row] {
		o.violated("one-terminal-per-root", t, "root %d failed twice", row)
		return
	}
	t.failed[row] = true
	if o.due.tree == t && o.due.left > 0 {
		o.due.left--
		if t.pending[row] > 0 {
			t.left-- // with its last share it was counted there
		}
	} else if t.pending[row] == 0 {
		o.violated("one-terminal-per-root", t, "root %d failed after it had succeeded", row)
	} else {
		t.left--
	}
}

// finished checks the outcome of a tree.
func (o *Roots) finished(t *rootTree, succeeded int) {
	if t.done {
		o.violated("one-terminal-per-root", t, "its roots were done twice")
		return
	}
	t.done = true
	ok := 0
	for row, pending := range t.pending {
		switch {
		case t.failed[row]:
		case pending > 0:
			o.violated("no-early-success", t, "root %d succeeded with %d shares pending", row, pending)
		default:
			ok++
		}
	}
	if ok != succeeded {
		o.violated("no-early-success", t, "%d roots are said to have succeeded, %d did", succeeded, ok)
	}
	o.settle(t)
}

// settle forgets a tree that nothing can be said of any more.
func (o *Roots) settle(t *rootTree) {
	if !t.done {
		return
	}
	for _, pending := range t.pending {
		if pending > 0 {
			return
		}
	}
	delete(o.trees, t.id)
}

func (o *Roots) forget(domain string) { o.open[domain] = o.open[domain][:0] }

func (o *Roots) violated(oracle string, t *rootTree, format string, args ...any) {
	o.fail(oracle, fmt.Sprintf("tree %d of domain %s: ", t.id.id, t.id.domain)+fmt.Sprintf(format, args...))
}

var _ observe.Tap = (*Roots)(nil)
