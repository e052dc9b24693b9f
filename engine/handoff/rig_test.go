package handoff

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
)

// rig is a cluster inside one process: participants with data directories of
// their own, and calls that are made directly.
type rig struct {
	t     *testing.T
	w     primitives.World
	ctx   context.Context
	nodes map[string]*rigNode

	schedule map[quiesce.Entity]rigAssignment
	index    uint64
	holds    *quiesce.Coordinator
	moves    *Coordinator
	barrier  func() // what a barrier waits for
	// before may answer a call in place of its node.
	before func(node string, op Operation, b []byte) ([]byte, error)
	calls  []string
	next   byte
}

type rigAssignment struct {
	owner      string
	transition primitives.UUID
}

// rigNode is one node: what its operators know is a number each.
type rigNode struct {
	r       *rig
	self    quiesce.Process
	values  map[string]uint64 // of the operators that run here
	holds   *quiesce.Participant
	staging *state.Staging
	store   *state.Store
	part    *Participant
	pad     int // bytes of state beside the number
	resets  int
	engaged int
}

var (
	rigSettings = quiesce.Settings{Timeout: 5 * time.Second, Lease: 10 * time.Second, Request: 2 * time.Second, Poll: 50 * time.Millisecond}
	first       = quiesce.Entity{Kind: vocab.EntityJunction, Name: "first"}
	second      = quiesce.Entity{Kind: vocab.EntityJunction, Name: "second"}
)

// must ends the simulated run, which reports it: no task may end a test.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// rigged runs a test on a simulated machine.
func rigged(t *testing.T, f func(r *rig)) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	h := s.Host("machine")
	if err := s.Do("test", func() {
		r := &rig{t: t, w: h.World(), ctx: context.Background(), nodes: map[string]*rigNode{}, schedule: map[quiesce.Entity]rigAssignment{}, index: 1}
		for _, name := range []string{"a", "b", "c"} {
			r.start(name)
		}
		r.schedule[first], r.schedule[second] = rigAssignment{owner: "a"}, rigAssignment{owner: "b"}
		r.nodes["a"].values["first"] = 11
		r.nodes["b"].values["second"] = 22
		r.holds = quiesce.NewCoordinator(r.w, rigSettings, r.nodes["c"].self, rigHolds{r})
		r.moves = NewCoordinator(r.w, SettingsOf(rigSettings), r.nodes["c"].self, r, r.holds)
		r.holds.Start(r.ctx)
		r.moves.Start(r.ctx)
		f(r)
		must(errors.Join(r.moves.Stop(r.ctx), r.holds.Stop(r.ctx)))
		for _, name := range primitives.SortedKeys(r.nodes) {
			r.nodes[name].stop()
		}
	}, 10*time.Minute); err != nil {
		t.Error(err)
	}
}

// start runs a node, or another process of one that ended.
func (r *rig) start(name string) *rigNode {
	dir := "data-" + name
	must(errors.Join(r.w.Files().MkdirAll(dir), r.w.Files().SyncDir(".")))
	r.next++
	n := &rigNode{r: r, self: quiesce.Process{Node: name, RaftID: uint64(name[0]), Counter: uint64(r.next), Epoch: [16]byte{r.next}}, values: map[string]uint64{}}
	n.holds = quiesce.NewParticipant(r.w, rigSettings, n.self, n)
	n.holds.Start(r.ctx)
	var err error
	n.staging, err = state.OpenStaging(r.w, dir, 1<<30)
	must(err)
	n.store, err = state.OpenStore(r.w, dir)
	must(err)
	n.store.Publishes("orders", []state.Identity{rigIdentity(first), rigIdentity(second)})
	component := Stored(state.WindowContents, n.store, func(_ string, e quiesce.Entity) (state.Identity, bool) { return rigIdentity(e), true },
		func(_ context.Context, _ string, e quiesce.Entity) ([]*state.Snapshot, error) {
			v, ok := n.values[e.Name]
			if !ok {
				return nil, nil
			}
			return []*state.Snapshot{n.snapshot(e, v)}, nil
		})
	reset := component.Reset
	component.Reset = func(ctx context.Context, domain string, e quiesce.Entity) error {
		n.resets++
		return reset(ctx, domain, e)
	}
	n.part, err = OpenParticipant(r.w, dir, SettingsOf(rigSettings), n.self, Deps{
		Holds: n.holds, Applied: n, Staging: n.staging, Remote: n, Components: []Component{component},
	})
	must(err)
	n.part.Start(r.ctx)
	r.nodes[name] = n
	return n
}

func (n *rigNode) stop() { must(errors.Join(n.part.Stop(n.r.ctx), n.holds.Stop(n.r.ctx))) }

func (r *rig) restart(name string) *rigNode {
	r.nodes[name].stop()
	return r.start(name)
}

func rigIdentity(e quiesce.Entity) state.Identity {
	return state.Identity{Domain: "orders", Entity: e.Kind.Snake(), Name: e.Name, Component: state.WindowContents}
}

func (n *rigNode) snapshot(e quiesce.Entity, v uint64) *state.Snapshot {
	p := state.Placement{Identity: rigIdentity(e)}
	s := &state.Snapshot{Placement: p, Revision: n.store.Next(p, 1), Fence: 1, Sections: []state.Section{{Kind: state.SectionBytes, Bytes: fmt.Append(nil, v)}}}
	for left := n.pad; left > 0; left -= state.SectionBytesMax {
		b := make([]byte, min(left, state.SectionBytesMax))
		for i := range b {
			b[i] = byte(i >> 8)
		}
		s.Sections = append(s.Sections, state.Section{Kind: state.SectionRecords, Bytes: b})
	}
	return s
}

// value is what a node keeps of an operator.
func (n *rigNode) value(e quiesce.Entity) (v uint64) {
	c, err := n.store.Open(state.Placement{Identity: rigIdentity(e)})
	if err != nil {
		return 0
	}
	s, err := c.Snapshot()
	must(errors.Join(err, c.Close()))
	_, err = fmt.Sscan(string(s.Sections[0].Bytes), &v)
	must(err)
	return v
}

// quiesce.Local, Domain and Held: nothing is ever in the way.
func (n *rigNode) Domain(string, uint64) (quiesce.Domain, error) { return n, nil }
func (n *rigNode) Engage(context.Context, quiesce.Scope) (quiesce.Held, error) {
	n.engaged++
	return &rigHeld{n: n}, nil
}

type rigHeld struct {
	n          *rigNode
	generation uint64
}

func (h *rigHeld) Flush(generation uint64)      { h.generation = generation }
func (h *rigHeld) Look() quiesce.Look           { return quiesce.Look{Flushed: h.generation} }
func (h *rigHeld) Freeze(context.Context) error { return nil }
func (h *rigHeld) Release()                     { h.n.engaged-- }

// Applied.
func (n *rigNode) Index() uint64 { return n.r.index }
func (n *rigNode) Assigned(_ string, e quiesce.Entity) (primitives.UUID, bool) {
	a, ok := n.r.schedule[e]
	return a.transition, ok
}
func (n *rigNode) Running(string) bool { return true }

// state.Remote.
func (n *rigNode) Inline(ctx context.Context, node string, ref state.Ref) (b []byte, err error) {
	err = n.r.nodes[node].part.Serve(ctx, ref, 0, func(chunk []byte) error {
		b = append(b, chunk...)
		return nil
	})
	return b, err
}

func (n *rigNode) Open(ctx context.Context, node string, ref state.Ref, offset uint64) (state.Chunks, error) {
	c := new(rigChunks)
	return c, n.r.nodes[node].part.Serve(ctx, ref, offset, func(chunk []byte) error {
		c.list = append(c.list, chunk)
		return nil
	})
}

type rigChunks struct{ list [][]byte }

func (c *rigChunks) Next(context.Context) ([]byte, error) {
	if len(c.list) == 0 {
		return nil, io.EOF
	}
	b := c.list[0]
	c.list = c.list[1:]
	return b, nil
}
func (c *rigChunks) Close() error { return nil }

// rigHolds are the peers of holds.
type rigHolds struct{ r *rig }

func (h rigHolds) Call(ctx context.Context, node string, op quiesce.Operation, b []byte) ([]byte, error) {
	return h.r.nodes[node].holds.Handle(ctx, h.r.nodes["c"].self, op, b)
}
func (h rigHolds) Live() []string { return []string{"a", "b", "c"} }

// Peers of handoffs; the coordinator is node c.
func (r *rig) Call(ctx context.Context, node string, op Operation, b []byte) ([]byte, error) {
	r.calls = append(r.calls, node+" "+op.String())
	if r.before != nil {
		if answer, err := r.before(node, op, b); answer != nil || err != nil {
			return answer, err
		}
	}
	return r.nodes[node].part.Handle(ctx, r.nodes["c"].self, op, b)
}

func (r *rig) Process(node string) (quiesce.Process, bool) {
	n, ok := r.nodes[node]
	if !ok {
		return quiesce.Process{}, false
	}
	return n.self, true
}

// Schedules.
func (r *rig) Barrier(context.Context) (uint64, error) {
	if r.barrier != nil {
		r.barrier()
	}
	return r.index, nil
}
func (r *rig) Assignment(_ string, e quiesce.Entity) (string, primitives.UUID, bool) {
	a, ok := r.schedule[e]
	return a.owner, a.transition, ok
}
func (r *rig) Members() []string { return primitives.SortedKeys(r.nodes) }

// later is the coordinator of a leader after node c.
func (r *rig) later() *Coordinator {
	return NewCoordinator(r.w, SettingsOf(rigSettings), r.nodes["a"].self, r, r.holds)
}

// plan moves the first operator from a to b.
func (r *rig) plan() Plan {
	return Plan{
		Domain: "orders", Base: r.index, Target: [32]byte{byte(r.index)},
		Moves: []Move{{Transition: primitives.NewUUIDv4(r.w.Entropy()), Entity: first, From: "a", To: "b"}},
		Hold:  quiesce.Plan{Scope: quiesce.Scope{Domain: "orders", Purpose: quiesce.ForHandoff, Drain: []quiesce.Entity{first}}},
	}
}

// effect commits what a plan says.
type rigEffect struct {
	r      *rig
	p      Plan
	commit error // before anything happens
	lost   error // after it happened
	ready  error
	then   func()
}

func (x *rigEffect) Commit(context.Context) error {
	if x.then != nil {
		x.then()
	}
	if x.commit != nil {
		return x.commit
	}
	x.r.index++
	for _, m := range x.p.Moves {
		x.r.schedule[m.Entity] = rigAssignment{m.To, m.Transition}
	}
	return x.lost
}

func (x *rigEffect) Ready(ctx context.Context) error {
	if x.ready != nil {
		return x.ready
	}
	for _, m := range x.p.Moves {
		if _, err := x.r.nodes[m.To].part.Activate(ctx, "orders", []Target{{Entity: m.Entity, Transition: m.Transition, From: m.From}}); err != nil {
			return err
		}
	}
	return nil
}

// left lists what is not cleaned up anywhere.
func (r *rig) left() (left []string) {
	for _, name := range primitives.SortedKeys(r.nodes) {
		n := r.nodes[name]
		if used := n.staging.Used(); used > 0 {
			left = append(left, fmt.Sprintf("%s: %d bytes staged", name, used))
		}
		list, err := r.w.Files().List("data-" + name + "/" + preparationsDir)
		must(err)
		for range list {
			left = append(left, name+": a preparation")
		}
		if n.engaged > 0 {
			left = append(left, fmt.Sprintf("%s: %d engaged", name, n.engaged))
		}
	}
	return left
}

// settle waits until nothing is under way.
func (r *rig) settle() { must(primitives.Sleep(r.ctx, r.w, 3*time.Second)) }
