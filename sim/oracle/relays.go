package oracle

import (
	"fmt"

	"plexus/engine/observe"
)

// Relays checks the buffers of one process: a relay never holds more batches than
// its capacity, admits none while a hold lets nobody in, and fans them out in the
// order of admission, each once, except those that fail before their turn.
type Relays struct {
	fail     Fail
	capacity map[string]int
	next     map[relayID]uint64          // sequence of the next dispatch
	gone     map[relayID]map[uint64]bool // sequences that failed before theirs
	gates    map[relayID]int             // holds that let nobody in
}

type relayID struct{ domain, name string }

// NewRelays returns an oracle for relays with these capacities; relays it does
// not know may hold what they want.
func NewRelays(fail Fail, capacity map[string]int) *Relays {
	return &Relays{fail: fail, capacity: capacity, next: map[relayID]uint64{}, gone: map[relayID]map[uint64]bool{}, gates: map[relayID]int{}}
}

// Observe implements observe.Tap.
func (o *Relays) Observe(e observe.Event) {
	switch e.Kind {
	case observe.RelayGated:
		o.gates[relayID{e.Domain, e.Name}] = e.Count
	case observe.RelayAdmitted:
		if holds := o.gates[relayID{e.Domain, e.Name}]; holds > 0 {
			o.fail("gates-hold", fmt.Sprintf("relay %s admits a batch while %d holds let nobody in", e.Name, holds))
		}
		if limit, known := o.capacity[e.Name]; known && e.Depth > limit {
			o.fail("capacity-bound", fmt.Sprintf("relay %s holds %d batches, its capacity is %d", e.Name, e.Depth, limit))
		}
		if e.ID == 1 { // a domain that started anew
			o.next[relayID{e.Domain, e.Name}] = 1
			o.gone[relayID{e.Domain, e.Name}] = map[uint64]bool{}
		}
	case observe.RelayDropped: // its owner moved, or the domain stopped
		if gone := o.gone[relayID{e.Domain, e.Name}]; gone != nil {
			gone[e.ID] = true
		}
	case observe.RelayDispatched:
		id := relayID{e.Domain, e.Name}
		want := o.next[id]
		for ; o.gone[id][want]; want++ {
			delete(o.gone[id], want)
		}
		if e.ID != want {
			o.fail("relay-order", fmt.Sprintf("relay %s dispatched batch %d, expected %d", e.Name, e.ID, want))
		}
		o.next[id] = e.ID + 1
	}
}

var _ observe.Tap = (*Relays)(nil)

// Taps hands every event to each of a list.
type Taps []observe.Tap

// Observe implements observe.Tap.
func (t Taps) Observe(e observe.Event) {
	for _, tap := range t {
		tap.Observe(e)
	}
}
