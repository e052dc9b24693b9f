package oracle

import (
	"fmt"

	"plexus/engine/catalog"
	"plexus/nspl/vocab"
)

// Batches follows changes that create two definitions each: no node may ever show
// one without the other (CP-3), one that was committed is on every node that has
// applied what was committed by then (CP-1), and one that was refused or given up
// is nowhere (CP-2).
type Batches struct {
	fail    Fail
	states  *States
	batches []batch
}

// batch is one change.
type batch struct {
	domain string
	fate   Fate
	floor  uint64 // nodes that applied this must show it; of committed ones
}

// Fate is what became of a batch.
type Fate uint8

// The fates.
const (
	Undecided Fate = iota // it may be committed, now or later
	Committed
	Refused // for good: nothing of it is there, now or later
)

// NewBatches returns an oracle over the replicas of states.
func NewBatches(fail Fail, states *States) *Batches { return &Batches{fail: fail, states: states} }

// Begin numbers a new batch.
func (o *Batches) Begin(domain string) int {
	o.batches = append(o.batches, batch{domain: domain})
	return len(o.batches) - 1
}

// Names returns the two definitions of a batch.
func (o *Batches) Names(number int) (a, b string) {
	return fmt.Sprintf("a%d", number), fmt.Sprintf("b%d", number)
}

// End says what became of a batch. One that was decided stays so.
func (o *Batches) End(number int, fate Fate) {
	b := &o.batches[number]
	if b.fate != Undecided {
		if fate != Undecided && fate != b.fate {
			o.fail("one-outcome", fmt.Sprintf("batch %d had two outcomes", number))
		}
		return
	}
	b.fate = fate
	if fate == Committed {
		b.floor = o.states.Committed()
	}
}

// Count returns how many batches met a fate.
func (o *Batches) Count(fate Fate) int {
	n := 0
	for i := range o.batches {
		if o.batches[i].fate == fate {
			n++
		}
	}
	return n
}

// look checks every batch on every node.
func (o *Batches) look() {
	for _, r := range o.states.replicas() {
		if r.Process() == nil {
			continue
		}
		state := r.State()
		for number := range o.batches {
			o.check(r.Name(), state, number)
		}
	}
}

func (o *Batches) check(node string, state *catalog.State, number int) {
	b := &o.batches[number]
	first, second := o.Names(number)
	has := func(name string) bool {
		_, ok := state.Model(b.domain, catalog.Key{Kind: vocab.EntitySchema, Name: name})
		return ok
	}
	one, two := has(first), has(second)
	switch {
	case one != two:
		o.fail("whole-or-nothing", fmt.Sprintf("%s shows half of batch %d", node, number))
	case one && b.fate == Refused:
		o.fail("refused-changes-nothing", fmt.Sprintf("%s shows batch %d, which was refused", node, number))
	case !one && b.fate == Committed && state.Applied >= b.floor:
		o.fail("completed-is-applied", fmt.Sprintf("%s does not show batch %d, which was committed", node, number))
	}
}

// Oracle asks while the run goes on, and in the end.
func (o *Batches) Oracle() Oracle {
	return Oracle{
		Name:       "whole-or-nothing",
		Continuous: func() error { o.look(); return nil },
		Quiet: func() error {
			o.look()
			if o.Count(Committed) == 0 {
				return fmt.Errorf("none of %d batches was committed", len(o.batches))
			}
			return nil
		},
	}
}
