package oracle

import (
	"fmt"
	"time"

	"plexus/engine/catalog"
	"plexus/sim"
)

// Replica is what a cluster-wide oracle may look at of a node.
type Replica interface {
	Name() string
	// Process is the process that serves, nil while none does.
	Process() *sim.Process
	// State is the replicated state that it applied.
	State() *catalog.State
}

// States compares the replicated states of nodes: the same index has the same
// bytes everywhere (CP-4), nobody writes under the lease of another, one process
// never goes back, and a later process of a
// node begins to execute only behind what had been applied anywhere before it was
// started (CP-5).
type States struct {
	fail     Fail
	replicas func() []Replica
	digests  map[uint64][32]byte
	shared   int // indexes that two nodes were seen at
	at       map[*sim.Process]uint64
	highest  uint64 // applied by anybody
	latest   int64  // time that anybody applied
}

// NewStates returns an oracle over the nodes that replicas lists.
func NewStates(fail Fail, replicas func() []Replica) *States {
	return &States{fail: fail, replicas: replicas, digests: map[uint64][32]byte{}, at: map[*sim.Process]uint64{}}
}

// look compares what every node has applied now.
func (o *States) look(digests bool) {
	for _, r := range o.replicas() {
		p := r.Process()
		if p == nil {
			continue
		}
		state := r.State()
		if state.Applied < o.at[p] {
			o.fail("state-never-goes-back", fmt.Sprintf("%s is at index %d and was at %d", r.Name(), state.Applied, o.at[p]))
		}
		o.at[p] = state.Applied
		if err := state.Respected(); err != nil {
			o.fail("leases-are-respected", fmt.Sprintf("%s at index %d: %v", r.Name(), state.Applied, err))
		}
		o.highest, o.latest = max(o.highest, state.Applied), max(o.latest, state.HighWater)
		if digests {
			o.compare(r.Name(), state)
		}
	}
}

func (o *States) compare(name string, state *catalog.State) {
	if state.Applied == 0 {
		return // a joining node applied nothing yet
	}
	if err := state.Coherent(); err != nil {
		o.fail("coherent-state", fmt.Sprintf("%s at index %d: %v", name, state.Applied, err))
	}
	digest, err := state.Digest()
	if err != nil {
		o.fail("same-index-same-state", err.Error())
		return
	}
	before, seen := o.digests[state.Applied]
	if !seen {
		o.digests[state.Applied] = digest
		return
	}
	o.shared++
	if before != digest {
		o.fail("same-index-same-state", fmt.Sprintf("%s has another state at index %d than was seen there", name, state.Applied))
	}
}

// Oracle asks while the run goes on, and in the end, when every node must have
// applied the same.
func (o *States) Oracle() Oracle {
	looks := 0
	return Oracle{
		Name: "same-index-same-state",
		Continuous: func() error {
			looks++
			o.look(looks%lookEvery == 0)
			return nil
		},
		Quiet: func() error {
			o.look(true)
			for _, r := range o.replicas() {
				if r.Process() != nil && r.State().Applied < o.highest {
					return fmt.Errorf("%s applied %d, another node %d, and nothing changes any more", r.Name(), r.State().Applied, o.highest)
				}
			}
			return nil
		},
	}
}

// lookEvery is how many looks share one comparison of whole states.
const lookEvery = 5

// Now returns the latest time that leaders stamped, as far as any node was seen to
// have applied it.
func (o *States) Now() time.Time {
	o.look(false)
	return time.Unix(0, o.latest)
}

// Committed returns the highest index that any node has applied: at least that is
// committed.
func (o *States) Committed() uint64 {
	o.look(false)
	return o.highest
}
