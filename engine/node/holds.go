package node

import (
	"context"
	"errors"

	"plexus/engine/interconnect"
	"plexus/engine/quiesce"
	"plexus/primitives"
)

// holds lets this node be held still by whoever leads, and hold the cluster still
// while it leads itself. It exists once the node is a member.
type holds struct {
	node        *Node
	settings    quiesce.Settings
	participant *quiesce.Participant
	coordinator *quiesce.Coordinator
}

// holdOperations are the requests of coordinators, by what carries them.
var holdOperations = []struct {
	carrier interconnect.Operation
	op      quiesce.Operation
}{
	{interconnect.HoldEngage, quiesce.HoldEngage}, {interconnect.HoldRelease, quiesce.HoldRelease},
	{interconnect.FlushRequest, quiesce.FlushRequest}, {interconnect.DomainDrainStatus, quiesce.DrainStatus},
}

func newHolds(n *Node) *holds {
	settings := quiesce.Defaults()
	settings.Timeout, settings.Lease = n.settings.QuiesceTimeout, n.settings.GateLease
	h := &holds{node: n, settings: settings}
	self := processOf(n.process())
	h.participant = quiesce.NewParticipant(n.world, settings, self, locals{n.runtime})
	h.participant.Start(context.Background())
	h.coordinator = quiesce.NewCoordinator(n.world, settings, self, h)
	h.coordinator.Start(context.Background())
	for _, o := range holdOperations {
		n.mesh.Handle(o.carrier, func(ctx context.Context, from interconnect.Process, request []byte) ([]byte, error) {
			return h.participant.Handle(ctx, processOf(from), o.op, request)
		})
	}
	return h
}

// follow tells the participant which processes are gone for good: it need not
// remember what they ended.
func (h *holds) follow(ctx context.Context) error {
	f := h.node.mesh.Follow(interconnect.Reach)
	defer h.node.mesh.Unfollow(f)
	known := map[string]interconnect.Process{}
	for {
		now := map[string]interconnect.Process{}
		for _, p := range h.node.mesh.Peers() {
			now[p.Node] = p.Process
		}
		for _, node := range primitives.SortedKeys(known) {
			if before := known[node]; !before.IsZero() && now[node] != before {
				h.participant.Departed(processOf(before))
			}
		}
		known = now
		if err := f.Wait(ctx); err != nil {
			return err
		}
	}
}

func (h *holds) stop(ctx context.Context) error {
	return errors.Join(h.coordinator.Stop(ctx), h.participant.Stop(ctx))
}

// Call implements quiesce.Peers.
func (h *holds) Call(ctx context.Context, node string, op quiesce.Operation, request []byte) ([]byte, error) {
	if node == h.node.members.self() {
		return h.participant.Handle(ctx, processOf(h.node.process()), op, request)
	}
	for _, o := range holdOperations {
		if o.op == op {
			return h.node.mesh.Call(ctx, node, o.carrier, request)
		}
	}
	return nil, interconnect.ErrForm
}

// Live implements quiesce.Peers.
func (h *holds) Live() []string { return h.node.members.live() }

func processOf(p interconnect.Process) quiesce.Process {
	return quiesce.Process{Node: p.Node, RaftID: p.RaftID, Counter: p.Counter, Epoch: p.Epoch}
}

// held returns a domain as holds see it. A node that has not installed what the scope
// was computed from cannot hold it.
func (r *runtime) held(name string, index uint64) (quiesce.Domain, error) {
	state := r.node.group.State()
	d, ok := state.Domain(name)
	x := r.view.Load().domains[name]
	switch {
	case state.Applied < index:
		return nil, quiesce.ErrNotReady
	case !ok || !d.Running:
		return nil, nil
	case x.flow == nil || x.prepared < min(d.Runtime, index) && x.failure == nil:
		return nil, quiesce.ErrNotReady
	}
	return x.flow, nil
}

// locals are the domains of this node as holds see them.
type locals struct{ *runtime }

// Domain implements quiesce.Local.
func (l locals) Domain(name string, index uint64) (quiesce.Domain, error) { return l.held(name, index) }

var (
	_ quiesce.Peers = (*holds)(nil)
	_ quiesce.Local = locals{}
)
