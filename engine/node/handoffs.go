package node

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/handoff"
	"plexus/engine/interconnect"
	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/primitives"
)

// handoffs moves the state of operators between nodes: this node's part in every
// change of owners, and the coordination of those it decides while it leads.
type handoffs struct {
	node        *Node
	participant *handoff.Participant
	coordinator *handoff.Coordinator
	staging     *state.Staging
}

var handoffOperations = []struct {
	carrier interconnect.Operation
	op      handoff.Operation
}{
	{interconnect.HandoffCapture, handoff.Capture}, {interconnect.HandoffPrepare, handoff.Prepare},
	{interconnect.HandoffConfirm, handoff.Confirm}, {interconnect.HandoffDiscard, handoff.Discard},
	{interconnect.HandoffReconcile, handoff.Reconcile}, {interconnect.StateCatalog, handoff.StateCatalog},
}

func newHandoffs(n *Node) (*handoffs, error) {
	staging, err := state.OpenStaging(n.world, n.settings.Control.Dir, n.settings.StagingBytes)
	if err != nil {
		return nil, err
	}
	h := &handoffs{node: n, staging: staging}
	settings := handoff.SettingsOf(n.holds.settings)
	self := processOf(n.process())
	h.participant, err = handoff.OpenParticipant(n.world, n.settings.Control.Dir, settings, self, handoff.Deps{
		Holds: n.holds.participant, Applied: applied{n}, Staging: staging, Remote: remoteState{n.mesh},
		Components: []handoff.Component{handoff.Cursors(n.runtime.positions.cursors, n.runtime.positions.committed)},
	})
	if err != nil {
		return nil, err
	}
	h.participant.Start(context.Background())
	h.coordinator = handoff.NewCoordinator(n.world, settings, self, h, n.holds.coordinator)
	h.coordinator.Start(context.Background())
	for _, o := range handoffOperations {
		n.mesh.Handle(o.carrier, func(ctx context.Context, from interconnect.Process, request []byte) ([]byte, error) {
			return h.participant.Handle(ctx, processOf(from), o.op, request)
		})
	}
	n.mesh.Handle(interconnect.StateFetch, h.inline)
	n.mesh.HandleStream(interconnect.StateFetchStream, h.stream)
	return h, nil
}

func (h *handoffs) stop(ctx context.Context) error {
	return errors.Join(h.coordinator.Stop(ctx), h.participant.Stop(ctx))
}

// Call implements handoff.Peers.
func (h *handoffs) Call(ctx context.Context, node string, op handoff.Operation, request []byte) ([]byte, error) {
	if node == h.node.members.self() {
		return h.participant.Handle(ctx, processOf(h.node.process()), op, request)
	}
	for _, o := range handoffOperations {
		if o.op == op {
			return h.node.mesh.Call(ctx, node, o.carrier, request)
		}
	}
	return nil, interconnect.ErrForm
}

// Process implements handoff.Peers.
func (h *handoffs) Process(node string) (quiesce.Process, bool) {
	if node == h.node.members.self() {
		return processOf(h.node.process()), true
	}
	p, ok := h.node.mesh.Peer(node)
	return processOf(p.Process), ok && !p.Process.IsZero()
}

// Barrier implements handoff.Schedules.
func (h *handoffs) Barrier(ctx context.Context) (uint64, error) {
	result, err := h.node.group.Propose(ctx, &catalogpb.Command{})
	return result.Index, err
}

// Assignment implements handoff.Schedules.
func (h *handoffs) Assignment(domain string, e quiesce.Entity) (owner string, transition primitives.UUID, ok bool) {
	a, ok := applied{h.node}.assignment(domain, e)
	return a.Primary, a.Transition.ID, ok
}

// Members implements handoff.Schedules.
func (h *handoffs) Members() (nodes []string) {
	for n := range h.node.group.State().Nodes() {
		nodes = append(nodes, n.ID)
	}
	return nodes
}

// applied is what this node has applied.
type applied struct{ node *Node }

func (a applied) Index() uint64 { return a.node.group.State().Applied }

func (a applied) Assigned(domain string, e quiesce.Entity) (primitives.UUID, bool) {
	x, ok := a.assignment(domain, e)
	return x.Transition.ID, ok
}

func (a applied) Running(domain string) bool {
	d, ok := a.node.group.State().Domain(domain)
	return ok && d.Running
}

func (a applied) assignment(domain string, e quiesce.Entity) (catalog.Assignment, bool) {
	s, ok := a.node.group.State().Schedule(domain)
	if !ok {
		return catalog.Assignment{}, false
	}
	x, ok := s.Assignment(catalog.Key{Kind: e.Kind, Name: e.Name})
	if !ok {
		return catalog.Assignment{}, false
	}
	return *x, true
}

// activate puts the state of every operator in place that a schedule assigns to
// this node, before any of them runs. Forced recoveries that are done are recorded.
func (h *handoffs) activate(ctx context.Context, domain string) error {
	committed := h.node.group.State()
	var targets []handoff.Target
	if s, ok := committed.Schedule(domain); ok {
		for i := range s.Assignments {
			a := &s.Assignments[i]
			if a.Primary != h.node.members.self() || a.Transition.ID == (primitives.UUID{}) {
				continue
			}
			t := handoff.Target{
				Entity: quiesce.Entity{Kind: a.Kind, Name: a.Name}, Transition: a.Transition.ID, From: a.Transition.From,
				Forced:    a.Transition.Cause == decide.CauseForced,
				Completed: committed.HandoffCompleted(domain, a.Transition.ID),
			}
			for _, o := range a.Transition.Outcomes {
				t.Outcomes = append(t.Outcomes, handoff.Outcome{Component: state.Component(o.Component), Staged: o.Staged})
			}
			targets = append(targets, t)
		}
	}
	done, err := h.participant.Activate(ctx, domain, targets)
	for _, id := range done {
		h.node.tasks.Go("handoff completion", func(ctx context.Context) error { return h.complete(ctx, domain, id) })
	}
	return err
}

// forget drops the records of moves in a domain that is gone.
func (h *handoffs) forget(ctx context.Context, domain string) {
	if _, err := h.participant.Activate(ctx, domain, nil); err != nil && ctx.Err() == nil {
		h.node.world.Log().Warn("records of earlier moves remain", "domain", domain, "error", err)
	}
}

// forgetDropped does so for what was dropped while this node was down.
func (h *handoffs) forgetDropped(ctx context.Context) {
	for _, domain := range h.participant.Domains() {
		if _, ok := h.node.group.State().Domain(domain); !ok {
			h.forget(ctx, domain)
		}
	}
}

// complete records that a forced recovery is done, which only the leader can. Others
// say so again at every installation until it is.
func (h *handoffs) complete(ctx context.Context, domain string, id primitives.UUID) error {
	if _, leads := h.node.group.Tenure(); !leads {
		return nil
	}
	step := &catalogpb.Step{Body: &catalogpb.Step_CompleteHandoff{CompleteHandoff: &catalogpb.CompleteHandoff{Domain: domain, Transition: id[:]}}}
	if _, err := h.node.group.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{step}}); err != nil && ctx.Err() == nil {
		h.node.world.Log().Debug("the completion of a recovery was not recorded", "domain", domain, "error", err)
	}
	return ctx.Err()
}

// A request of state is its reference behind the offset, big endian.
const fetchOffsetBytes = 8

func encodeFetch(ref state.Ref, offset uint64) ([]byte, error) {
	encoded, err := ref.Encode()
	if err != nil {
		return nil, err
	}
	return append(binary.BigEndian.AppendUint64(nil, offset), encoded...), nil
}

func decodeFetch(b []byte) (state.Ref, uint64, error) {
	if len(b) < fetchOffsetBytes {
		return state.Ref{}, 0, interconnect.ErrMalformed
	}
	ref, err := state.DecodeRef(b[fetchOffsetBytes:])
	if err != nil {
		return ref, 0, errors.Join(interconnect.ErrMalformed, err)
	}
	return ref, binary.BigEndian.Uint64(b), nil
}

// inline answers with a whole small container.
func (h *handoffs) inline(ctx context.Context, _ interconnect.Process, request []byte) ([]byte, error) {
	ref, offset, err := decodeFetch(request)
	if err != nil {
		return nil, err
	}
	var whole []byte
	err = h.participant.Serve(ctx, ref, offset, func(chunk []byte) error {
		if len(whole)+len(chunk) > state.InlineBytesMax {
			return fmt.Errorf("a container of more than %d bytes was asked for in one answer", state.InlineBytesMax)
		}
		whole = append(whole, chunk...)
		return nil
	})
	return whole, err
}

// stream sends a container in chunks.
func (h *handoffs) stream(ctx context.Context, _ interconnect.Process, s *interconnect.Stream) error {
	request, err := s.Recv()
	if err != nil {
		return err
	}
	ref, offset, err := decodeFetch(request)
	if err != nil {
		return err
	}
	return h.participant.Serve(ctx, ref, offset, func(chunk []byte) error { return s.Send(append([]byte(nil), chunk...)) })
}

// remoteState fetches containers of other nodes.
type remoteState struct{ mesh *interconnect.Mesh }

// Inline implements state.Remote.
func (r remoteState) Inline(ctx context.Context, node string, ref state.Ref) ([]byte, error) {
	request, err := encodeFetch(ref, 0)
	if err != nil {
		return nil, err
	}
	return r.mesh.Call(ctx, node, interconnect.StateFetch, request)
}

// Open implements state.Remote.
func (r remoteState) Open(ctx context.Context, node string, ref state.Ref, offset uint64) (state.Chunks, error) {
	request, err := encodeFetch(ref, offset)
	if err != nil {
		return nil, err
	}
	s, err := r.mesh.Open(ctx, node, interconnect.StateFetchStream)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(s.Send(request), s.CloseSend()); err != nil {
		s.Close()
		return nil, err
	}
	return chunks{s}, nil
}

type chunks struct{ stream *interconnect.Stream }

// Next implements state.Chunks.
func (c chunks) Next(context.Context) ([]byte, error) {
	b, err := c.stream.Recv()
	if errors.Is(err, io.EOF) {
		return nil, io.EOF
	}
	return b, err
}

// Close implements state.Chunks.
func (c chunks) Close() error {
	c.stream.Close()
	return nil
}

var (
	_ handoff.Peers     = (*handoffs)(nil)
	_ handoff.Schedules = (*handoffs)(nil)
	_ handoff.Applied   = applied{}
	_ state.Remote      = remoteState{}
)
