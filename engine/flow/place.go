package flow

import (
	"context"
	"fmt"
	"reflect"
	"slices"

	"plexus/engine/decide"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

var (
	ownerMoved   = invariant.Sometimes("a relay's owner moved")
	relaySwapped = invariant.Sometimes("a buffered batch failed because its relay moved away")
)

// here reports whether this node executes what the placement is of.
func (d *Domain) here(p *decide.Placement) bool {
	return p.Everywhere || p.Owner == "" || (p.Owner == d.deps.Node || planted.Active(planted.RunUnowned)) && p.Owner != decide.Nobody
}

// local keeps the plans that this node executes.
func local[T any](d *Domain, plans []T, placement func(*T) *decide.Placement) (here []*T) {
	for i := range plans {
		if d.here(placement(&plans[i])) {
			here = append(here, &plans[i])
		}
	}
	return here
}

func relayPlace(p *decide.RelayPlan) *decide.Placement       { return &p.Placement }
func ingestorPlace(p *decide.IngestorPlan) *decide.Placement { return &p.Placement }
func junctionPlace(p *decide.JunctionPlan) *decide.Placement { return &p.Placement }
func emitterPlace(p *decide.EmitterPlan) *decide.Placement   { return &p.Placement }

// checkAlone refuses a revision that names other nodes on a node without a way to
// reach them: what it sent there would be lost.
func (d *Domain) checkAlone(next *decide.Revision) error {
	if d.deps.Exchange != nil {
		return nil
	}
	var elsewhere []string
	note := func(what, name string, p *decide.Placement) {
		if !d.here(p) {
			elsewhere = append(elsewhere, fmt.Sprintf("%s %s on node '%s'", what, name, p.Owner))
		}
	}
	for i := range next.Relays {
		note("relay", next.Relays[i].Name, &next.Relays[i].Placement)
	}
	for i := range next.Junctions {
		note("junction", next.Junctions[i].Name, &next.Junctions[i].Placement)
	}
	for i := range next.Emitters {
		note("emitter", next.Emitters[i].Name, &next.Emitters[i].Placement)
	}
	if elsewhere == nil {
		return nil
	}
	return &AloneError{elsewhere}
}

// reader is one operator that reads a relay.
type reader struct {
	kind, name string
	attached   bool
	node       string // "" for this one
}

// readers lists who reads each relay of the revision, in a fixed order. Operators
// that no node executes read nothing.
func (d *Domain) readersOf(rev *decide.Revision) map[string][]reader {
	all := map[string][]reader{}
	if rev == nil || !rev.Running {
		return all
	}
	add := func(r reader, p *decide.Placement, inputs []decide.InputPlan) {
		switch {
		case d.here(p):
		case p.Owner == decide.Nobody:
			return
		default:
			r.node = p.Owner
		}
		for i := range inputs {
			all[inputs[i].Relay] = append(all[inputs[i].Relay], r)
		}
	}
	for i := range rev.Junctions {
		p := &rev.Junctions[i]
		add(reader{kind: "junction", name: p.Name, attached: p.Attached}, &p.Placement, p.Inputs)
	}
	for i := range rev.Emitters {
		p := &rev.Emitters[i]
		add(reader{kind: "emitter", name: p.Name, attached: p.Attached}, &p.Placement, p.Inputs)
	}
	return all
}

// nodesOf lists the other nodes among the readers, and the attached consumers of
// each.
func nodesOf(readers []reader) map[string][]consumerID {
	var nodes map[string][]consumerID
	for _, r := range readers {
		if r.node == "" {
			continue
		}
		if nodes == nil {
			nodes = map[string][]consumerID{}
		}
		meant := nodes[r.node]
		if r.attached {
			meant = append(meant, idOf(r.kind, r.name))
			slices.Sort(meant)
			meant = slices.Compact(meant)
		}
		nodes[r.node] = meant
	}
	return nodes
}

// configure makes this end of the relay what the revision says: the relay itself,
// or a mirror of it. Producers, consumers and subscriptions stay connected. A new
// owner begins with an empty buffer; what an old one had not begun to fan out
// fails, because the next revision's consumers are elsewhere.
func (r *Relay) configure(plan *decide.RelayPlan, rev *decide.Revision, nodes map[string][]consumerID) {
	var swapped []*Carrier
	owner, mirror := "", !r.d.here(&plan.Placement)
	if mirror && plan.Owner != decide.Nobody {
		owner = plan.Owner
	}
	r.lock()
	moved := mirror != r.mirror || owner != r.owner
	if moved {
		ownerMoved.HitIf(r.revision > 0)
		r.relocate(owner, mirror, &swapped)
	}
	r.plan, r.revision, r.nodes = plan, rev.Number, nodes
	if !mirror {
		r.capacity = plan.CapacityBatches
	}
	r.admitWaiting()
	r.admitArriving()
	r.mu.Unlock()
	for _, c := range swapped {
		relaySwapped.Hit()
		c.Fail(r.now(), reasonSwapped)
		r.load.Add(-1)
	}
	if mirror {
		r.d.ended(vocab.EntityRelay, r.name)
	}
	r.rouse(true)
	r.rouse(false)
}

// relocate changes the owner, under the lock.
func (r *Relay) relocate(owner string, mirror bool, swapped *[]*Carrier) {
	if r.sender != nil {
		r.sender.recall()
	}
	if mirror && !r.mirror {
		*swapped = r.drop()
		r.capacity = copyCapacity
		for _, o := range slices.Clone(r.waiting) {
			if o.from != "" {
				r.turnAway(o)
			}
		}
	}
	if !mirror {
		for _, o := range slices.Clone(r.arriving) {
			r.turnAway(o)
		}
	}
	r.owner, r.mirror = owner, mirror
}

// route connects the relay with the other nodes that read it: those with
// operators, and those with sessions. Only an owner has any. d.routing is held.
func (r *Relay) route() {
	r.lock()
	want := map[string][]consumerID{}
	if !r.mirror && r.layout != nil && !r.closed {
		for _, node := range primitives.SortedKeys(r.nodes) {
			want[node] = r.nodes[node]
		}
		for _, node := range r.d.readers[r.name] {
			if _, ok := want[node]; !ok && node != r.d.deps.Node {
				want[node] = nil
			}
		}
	}
	r.mu.Unlock()
	for _, node := range primitives.SortedKeys(r.remotes) {
		rm := r.remotes[node]
		meant, stays := want[node]
		switch {
		case !stays:
			r.leave(rm)
		case !slices.Equal(meant, rm.meant):
			r.regard(rm, meant)
		}
		delete(want, node)
	}
	for _, node := range primitives.SortedKeys(want) {
		r.reach(node, want[node])
	}
}

// SetReaders says which other nodes have sessions that read each relay, in node
// order: all of them, each time. Every batch whose fan-out begins after it
// returned reaches them.
func (d *Domain) SetReaders(readers map[string][]string) {
	_ = d.routing.Lock(context.Background()) // held for lookups only
	defer d.routing.Unlock()
	d.readers = readers
	v := d.views.Load()
	for _, name := range primitives.SortedKeys(v.relays) {
		v.relays[name].route()
	}
}

// Owner returns the node that executes an operator of the installed revision; ""
// for none. known is false when the revision has no such operator.
func (d *Domain) Owner(kind, name string) (node string, known bool) {
	rev := d.revision.Load()
	if rev == nil {
		return "", false
	}
	var p *decide.Placement
	switch kind {
	case "relay":
		p = placementOf(rev.Relays, func(x *decide.RelayPlan) (string, *decide.Placement) { return x.Name, &x.Placement }, name)
	case "ingestor":
		p = placementOf(rev.Ingestors, func(x *decide.IngestorPlan) (string, *decide.Placement) { return x.Name, &x.Placement }, name)
	case "junction":
		p = placementOf(rev.Junctions, func(x *decide.JunctionPlan) (string, *decide.Placement) { return x.Name, &x.Placement }, name)
	case "emitter":
		p = placementOf(rev.Emitters, func(x *decide.EmitterPlan) (string, *decide.Placement) { return x.Name, &x.Placement }, name)
	}
	switch {
	case p == nil:
		return "", false
	case p.Owner == decide.Nobody:
		return "", true
	case d.here(p):
		return d.deps.Node, true
	}
	return p.Owner, true
}

func placementOf[T any](plans []T, of func(*T) (string, *decide.Placement), name string) *decide.Placement {
	for i := range plans {
		if n, p := of(&plans[i]); n == name {
			return p
		}
	}
	return nil
}

// samePlan reports whether two plans of an operator that runs here differ in
// nothing but how its place is said.
func samePlan[T any](a, b *T, placement func(*T) *decide.Placement) bool {
	left, right := *a, *b
	*placement(&left), *placement(&right) = decide.Placement{}, decide.Placement{}
	return reflect.DeepEqual(&left, &right)
}
