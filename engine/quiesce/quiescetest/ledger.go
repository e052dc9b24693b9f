package quiescetest

import (
	"context"
	"fmt"
	"time"

	"google.golang.org/protobuf/proto"

	"plexus/engine/quiesce"
	"plexus/engine/quiesce/quiescepb"
)

// grant is one hold at one process.
type grant struct {
	process quiesce.Process
	hold    uint64 // the index of its scope, unique in a test
}

// ledger stands between a participant, its requests and its engine, and finds
// gates that open although nobody asked and no lease can be over.
type ledger struct {
	n        *node
	engine   *Engine
	holds    map[string]uint64 // by identity
	released map[uint64]bool
}

func newLedger(n *node, e *Engine) *ledger {
	return &ledger{n: n, engine: e, holds: map[string]uint64{}, released: map[uint64]bool{}}
}

// certain is the part of a lease that has not passed on any clock: the fastest
// runs a third too fast.
func (l *ledger) certain() time.Duration { return l.n.c.Settings.Lease * 3 / 4 }

// handle answers a request and keeps account of what it granted.
func (l *ledger) handle(ctx context.Context, from quiesce.Process, op quiesce.Operation, b []byte) ([]byte, error) {
	var r quiescepb.Request
	if err := proto.Unmarshal(b, &r); err != nil {
		return nil, err
	}
	id := fmt.Sprint(r.GetHold())
	arrived := l.n.c.Elapsed()
	if op == quiesce.HoldRelease {
		l.released[l.holds[id]] = true
	}
	if op == quiesce.HoldEngage {
		l.holds[id] = r.GetScope().GetIndex()
		if g := (grant{l.n.self, l.holds[id]}); l.n.c.closed[g] > 0 {
			l.n.c.closed[g] = arrived
		}
	}
	answer, err := l.n.part.Handle(ctx, from, op, b)
	if err != nil {
		return nil, err
	}
	var a quiescepb.Answer
	if err := proto.Unmarshal(answer, &a); err != nil {
		return nil, err
	}
	if op == quiesce.HoldEngage && a.GetReason() == 0 {
		g := grant{l.n.self, l.holds[id]}
		l.n.c.grants[g] = max(l.n.c.grants[g], arrived+l.certain())
	}
	return answer, nil
}

// Domain implements quiesce.Local.
func (l *ledger) Domain(name string, index uint64) (quiesce.Domain, error) {
	if l.n.think.Uint64()%32 == 0 {
		return nil, quiesce.ErrNotReady
	}
	if d, err := l.engine.Domain(name, index); d == nil || err != nil {
		return nil, err
	}
	return l, nil
}

// Engage implements quiesce.Domain.
func (l *ledger) Engage(ctx context.Context, s quiesce.Scope) (quiesce.Held, error) {
	if err := l.n.pause(ctx, 50*time.Millisecond); err != nil {
		return nil, err
	}
	if l.n.think.Uint64()%32 == 0 {
		return nil, fmt.Errorf("domain '%s' cannot be held", s.Domain)
	}
	h, err := l.engine.Engage(ctx, s)
	if err != nil {
		return nil, err
	}
	l.n.c.closed[grant{l.n.self, s.Index}] = l.n.c.Elapsed()
	return &ledgered{h, l, s.Index}, nil
}

// ledgered is an engaged scope under account.
type ledgered struct {
	quiesce.Held
	l    *ledger
	hold uint64
}

// Release implements quiesce.Held.
func (h *ledgered) Release() {
	now, until := h.l.n.c.Elapsed(), h.l.n.c.grants[grant{h.l.n.self, h.hold}]
	if now < until && !h.l.released[h.hold] && !h.l.n.stopping {
		h.l.n.c.Fail("no-gate-opens-early", fmt.Sprintf("node %s opened hold %d %v before its lease can have ended", h.l.n.self.Node, h.hold, until-now))
	}
	delete(h.l.n.c.closed, grant{h.l.n.self, h.hold})
	h.Held.Release()
}
