package oracle

import (
	"fmt"

	"plexus/engine/observe"
	"plexus/sim"
)

// Owners checks that no operator executes on two nodes under one schedule, and
// that a process executes nothing before it has applied what was committed when it
// was started (CP-5).
type Owners struct {
	fail   Fail
	states *States
	// running are the nodes that execute an operator, by name.
	running map[operatorID]map[string]execution
}

type operatorID struct{ domain, kind, name string }

// execution is one node's run of an operator.
type execution struct {
	process  *sim.Process
	schedule uint64
	shared   bool // every node executes it
}

// NewOwners returns an oracle over every process of a cluster.
func NewOwners(fail Fail, states *States) *Owners {
	return &Owners{fail: fail, states: states, running: map[operatorID]map[string]execution{}}
}

// Process returns the tap of one process of a node, to be taken when it starts.
func (o *Owners) Process(node Replica, p *sim.Process) observe.Tap {
	return &ownerTap{owners: o, node: node, process: p, floor: o.states.Committed()}
}

type ownerTap struct {
	owners  *Owners
	node    Replica
	process *sim.Process
	floor   uint64 // committed before it started
	behind  bool   // it has applied that
}

// Observe implements observe.Tap.
func (t *ownerTap) Observe(e observe.Event) {
	id := operatorID{e.Domain, e.Text, e.Name}
	switch e.Kind {
	case observe.ExecutionStarted:
		t.started(id, execution{t.process, e.ID, e.Count > 0})
	case observe.ExecutionEnded:
		delete(t.owners.running[id], t.node.Name())
	}
}

func (t *ownerTap) started(id operatorID, x execution) {
	o := t.owners
	if !t.behind && t.node.Process() != nil {
		if applied := t.node.State().Applied; applied < t.floor {
			o.fail("admitted-before-executing", fmt.Sprintf("%s executes %s %s at index %d; %d was applied elsewhere before it started",
				t.node.Name(), id.kind, id.name, applied, t.floor))
		}
		t.behind = true
	}
	if o.running[id] == nil {
		o.running[id] = map[string]execution{}
	}
	for _, r := range o.states.replicas() {
		other, executes := o.running[id][r.Name()]
		if executes && r.Name() != t.node.Name() && !other.process.Dead() && other.schedule == x.schedule && !x.shared {
			o.fail("single-owner", fmt.Sprintf("%s and %s execute %s %s of domain %s under one schedule",
				t.node.Name(), r.Name(), id.kind, id.name, id.domain))
		}
	}
	o.running[id][t.node.Name()] = x
}
