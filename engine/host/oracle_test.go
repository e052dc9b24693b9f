package host

import (
	"fmt"

	"plexus/engine/observe"
)

// oracle holds the numbered invariants of the data plane against the tap of one
// process run.
type oracle struct {
	fail     func(string)
	open     map[uint64]int               // roots by tree
	failed   map[uint64]map[int]bool      // failed roots by tree
	done     map[uint64]bool              // trees
	acked    map[string]uint64            // last batch acknowledged, by ingestor
	progress map[string]uint64            // last batch reported, by ingestor
	payloads map[string]map[uint64]uint64 // hash of unresolved payloads, by emitter
	resolved map[string]map[uint64]bool
	admitted map[string]uint64 // by relay
	handed   map[string]uint64
}

func newOracle(fail func(string)) *oracle {
	return &oracle{fail: fail, open: map[uint64]int{}, failed: map[uint64]map[int]bool{}, done: map[uint64]bool{},
		acked: map[string]uint64{}, progress: map[string]uint64{}, payloads: map[string]map[uint64]uint64{}, resolved: map[string]map[uint64]bool{},
		admitted: map[string]uint64{}, handed: map[string]uint64{}}
}

// Observe implements observe.Tap.
func (o *oracle) Observe(e observe.Event) {
	that := func(ok bool, invariant int, what string) {
		if !ok {
			o.fail(fmt.Sprintf("invariant %d: %s: %+v", invariant, what, e))
		}
	}
	switch e.Kind {
	case observe.RootsOpened:
		o.open[e.Tree], o.failed[e.Tree] = e.Count, map[int]bool{}
	case observe.RootFailed:
		that(!o.failed[e.Tree][e.Row] && !o.done[e.Tree], 3, "a root has one outcome")
		o.failed[e.Tree][e.Row] = true
	case observe.RootsDone:
		that(!o.done[e.Tree] && e.Count+len(o.failed[e.Tree]) == o.open[e.Tree], 3, "every root of a tree has one outcome")
		o.done[e.Tree] = true
	case observe.PositionsAcked:
		o.acked[e.Name] = e.ID
	case observe.SourceProgress:
		that(o.acked[e.Name] == e.ID && o.progress[e.Name] < e.ID, 10, "progress follows the confirmation")
		o.progress[e.Name] = e.ID
	case observe.SinkOffered:
		if o.payloads[e.Name] == nil {
			o.payloads[e.Name], o.resolved[e.Name] = map[uint64]uint64{}, map[uint64]bool{}
		}
		that(!o.resolved[e.Name][e.ID], 42, "a resolved payload is never offered")
		hash, again := o.payloads[e.Name][e.ID]
		that(!again || hash == e.Hash, 41, "a retry offers the same bytes")
		if !again {
			o.payloads[e.Name][e.ID] = e.Hash
		}
	case observe.SinkDelivered, observe.SinkRejected, observe.PayloadDropped:
		that(!o.resolved[e.Name][e.ID], 42, "a payload is resolved once")
		delete(o.payloads[e.Name], e.ID)
		if o.resolved[e.Name] == nil {
			o.resolved[e.Name] = map[uint64]bool{}
		}
		o.resolved[e.Name][e.ID] = true
	case observe.RelayAdmitted:
		that(e.ID == o.admitted[e.Name]+1 || e.ID == 1, 19, "admissions are numbered")
		o.admitted[e.Name] = e.ID
	case observe.RelayDispatched:
		that(e.ID <= o.admitted[e.Name], 19, "fan-out follows admission")
		that(e.ID > o.handed[e.Name] || e.ID == 1, 19, "fan-out keeps the order of admission")
		o.handed[e.Name] = e.ID
	}
}
