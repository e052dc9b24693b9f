package handofftest

import (
	"context"
	"encoding/binary"
	"fmt"

	"plexus/engine/handoff"
	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/primitives"
)

// largeBytes does not fit one message.
const largeBytes = state.InlineBytesMax + 100_000

// content is the state of an operator: its value, over and over, so that every
// byte of it is known.
func content(e quiesce.Entity, value uint64) []state.Section {
	size := 64
	if e == Entities[len(Entities)-1] {
		size = largeBytes
	}
	b := make([]byte, 0, size+8)
	for len(b) < size {
		b = binary.LittleEndian.AppendUint64(b, value)
	}
	return []state.Section{{Kind: state.SectionBytes, Bytes: b[:len(b)/2]}, {Kind: state.SectionBytes, Bytes: b[len(b)/2:]}}
}

// value reads a state back and notices every byte that is not its own.
func value(s *state.Snapshot) (v uint64, err error) {
	var b []byte
	for _, section := range s.Sections {
		b = append(b, section.Bytes...)
	}
	if len(b) < 8 {
		return 0, fmt.Errorf("%d bytes are no state", len(b))
	}
	v = binary.LittleEndian.Uint64(b)
	for i := 0; i+8 <= len(b); i += 8 {
		if binary.LittleEndian.Uint64(b[i:]) != v {
			return 0, fmt.Errorf("byte %d of %s is not what was sent", i, s.Placement)
		}
	}
	return v, nil
}

// snapshot is an operator's state of now.
func (n *node) snapshot(e quiesce.Entity, v uint64, fence uint64) *state.Snapshot {
	p := state.Placement{Identity: n.applied.identity(e)}
	return &state.Snapshot{Placement: p, Revision: n.store.Next(p, fence), Fence: fence, Sections: content(e, v)}
}

// component is the state of operators as handoffs see it.
func (n *node) component() handoff.Component {
	return handoff.Stored(state.WindowContents, n.store,
		func(_ string, e quiesce.Entity) (state.Identity, bool) {
			_, ok := n.applied.Assigned[e]
			return n.applied.identity(e), ok
		},
		func(_ context.Context, _ string, e quiesce.Entity) ([]*state.Snapshot, error) {
			op := n.running[e]
			if op == nil {
				return nil, fmt.Errorf("%s does not run here", e.Name)
			}
			if op.busy || !n.engine.gated(e) {
				n.c.Fail("capture-needs-its-hold", fmt.Sprintf("%s is captured while it runs", e.Name))
			}
			n.c.captures[capture{n.name, e}] = captured{n.self, op.value}
			if op.value == 0 {
				return nil, nil // it has no state yet
			}
			return []*state.Snapshot{n.snapshot(e, op.value, op.assigned.Index)}, nil
		})
}

// load reads the value an operator starts with.
func (n *node) load(e quiesce.Entity) (uint64, error) {
	list := n.store.List(n.applied.identity(e))
	if len(list) == 0 {
		return 0, nil
	}
	c, err := n.store.Open(list[0])
	if err != nil {
		return 0, err
	}
	s, err := c.Snapshot()
	if err != nil {
		_ = c.Close()
		return 0, err
	}
	if err := c.Close(); err != nil {
		return 0, err
	}
	v, err := value(s)
	if err != nil {
		n.c.Fail("state-is-what-was-sent", err.Error())
	}
	return v, nil
}

// engine is what holds stop: operators that are named by one do not run.
type engine struct {
	n    *node
	held []*held
}

// Domain implements quiesce.Local.
func (x *engine) Domain(name string, index uint64) (quiesce.Domain, error) {
	if x.n.applied.Index < index {
		return nil, quiesce.ErrNotReady
	}
	return x, nil
}

// Engage implements quiesce.Domain.
func (x *engine) Engage(_ context.Context, s quiesce.Scope) (quiesce.Held, error) {
	h := &held{x: x, scope: s}
	x.held = append(x.held, h)
	return h, nil
}

func (x *engine) gated(e quiesce.Entity) bool {
	for _, h := range x.held {
		if h.covers(e) {
			return true
		}
	}
	return false
}

type held struct {
	x     *engine
	scope quiesce.Scope
	flush uint64
}

func (h *held) covers(e quiesce.Entity) bool {
	for _, d := range h.scope.Drain {
		if d == e {
			return true
		}
	}
	return false
}

func (h *held) Flush(generation uint64) { h.flush = generation }

func (h *held) Look() quiesce.Look {
	l := quiesce.Look{Flushed: h.flush}
	for _, e := range Entities {
		op := h.x.n.running[e]
		if op == nil || !h.covers(e) {
			continue
		}
		l.Admitted += op.value
		if op.busy {
			l.Blockers = append(l.Blockers, quiesce.Blocker{Entity: e, Work: quiesce.NodeBatches, Count: 1})
		}
	}
	return l
}

func (h *held) Freeze(context.Context) error { return nil }

func (h *held) Release() {
	for i, o := range h.x.held {
		if o == h {
			h.x.held = append(h.x.held[:i:i], h.x.held[i+1:]...)
			return
		}
	}
}

// schedules is the leader's view.
type schedules struct {
	n      *node
	tenure uint64
}

func (s schedules) Barrier(ctx context.Context) (uint64, error) {
	if err := s.n.pause(ctx, 100*1e6); err != nil {
		return 0, err
	}
	if s.n.c.Catalog.tenure != s.tenure {
		return 0, handoff.ErrNotCommitted
	}
	index := s.n.c.Catalog.Schedule.Index
	for s.n.applied.Index < index {
		if err := s.n.pause(ctx, 50*1e6); err != nil {
			return 0, err
		}
	}
	return index, nil
}

func (s schedules) Assignment(_ string, e quiesce.Entity) (string, primitives.UUID, bool) {
	a, ok := s.n.applied.Assigned[e]
	return a.Owner, a.Transition, ok
}

func (s schedules) Members() []string { return s.n.c.names }

// view is what a node has applied.
type view struct{ n *node }

func (v view) Index() uint64 { return v.n.applied.Index }

func (v view) Assigned(_ string, e quiesce.Entity) (primitives.UUID, bool) {
	a, ok := v.n.applied.Assigned[e]
	return a.Transition, ok
}

func (v view) Running(string) bool { return true }
