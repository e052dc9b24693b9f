package handoff

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/primitives"
)

func TestAMoveCarriesTheState(t *testing.T) {
	rigged(t, func(r *rig) {
		p := r.plan()
		p.Moves = append(p.Moves, Move{Transition: primitives.NewUUIDv4(r.w.Entropy()), Entity: second, From: "b", To: "c"})
		if _, err := r.nodes["b"].store.Publish(r.nodes["b"].snapshot(first, 99)); err != nil { // of an earlier ownership
			t.Error(err)
		}
		must(r.moves.Move(r.ctx, p, &rigEffect{r: r, p: p}))
		r.settle()
		if a, b := r.nodes["b"].value(first), r.nodes["c"].value(second); a != 11 || b != 22 {
			t.Errorf("moved %d and %d", a, b)
		}
		if left := r.left(); len(left) > 0 {
			// The manifest goes when the schedule is applied again.
			t.Errorf("left: %v", left)
		}
	})
}

// The state of an operator may be large: 64 MiB cross in chunks.
func TestALargeStateMoves(t *testing.T) {
	rigged(t, func(r *rig) {
		r.nodes["a"].pad = 64 << 20
		p := r.plan()
		must(r.moves.Move(r.ctx, p, &rigEffect{r: r, p: p}))
		r.settle()
		if v := r.nodes["b"].value(first); v != 11 {
			t.Errorf("moved %d", v)
		}
		if left := r.left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// Every failure before the commit changes nothing and leaves nothing (14.2).
func TestFailuresBeforeTheCommitLeaveNothing(t *testing.T) {
	boom := errors.New("boom")
	for _, c := range []struct {
		what string
		make func(r *rig, p *Plan, x *rigEffect)
		want string
	}{
		{"the destination refuses", func(r *rig, p *Plan, _ *rigEffect) {
			r.before = func(node string, op Operation, _ []byte) ([]byte, error) {
				if op == Prepare {
					return encodeAnswer(&answer{Refused: &Refusal{Failed, "no room"}})
				}
				return nil, nil
			}
		}, "hand over junction 'first' from node 'a' to node 'b': failed: no room"},
		{"the destination has no room", func(r *rig, _ *Plan, _ *rigEffect) {
			r.nodes["a"].pad = 100_000
			var err error
			r.nodes["b"].staging, err = state.OpenStaging(r.w, "data-b", 1000)
			must(err)
			r.nodes["b"].part.staging = r.nodes["b"].staging
		}, "staging-max-bytes is 1000 bytes: 0 are used and 100"},
		{"the destination restarts after it prepared", func(r *rig, _ *Plan, _ *rigEffect) {
			r.before = func(node string, op Operation, _ []byte) ([]byte, error) {
				if op == Confirm {
					r.before = nil
					r.restart("b")
				}
				return nil, nil
			}
		}, "destination node 'b' changed process during the handoff"},
		{"the source restarts during the hold", func(r *rig, _ *Plan, _ *rigEffect) {
			r.before = func(node string, op Operation, _ []byte) ([]byte, error) {
				if op == Capture {
					r.before = nil
					r.restart("a")
				}
				return nil, nil
			}
		}, "source node 'a' changed process during the handoff"},
		{"the source does not answer", func(r *rig, _ *Plan, _ *rigEffect) {
			r.before = func(node string, op Operation, _ []byte) ([]byte, error) {
				if op == Capture {
					return nil, boom
				}
				return nil, nil
			}
		}, "it was not prepared within the lease of its gate"},
		{"the commit is refused", func(_ *rig, _ *Plan, x *rigEffect) { x.commit = ErrNotCommitted }, ErrNotCommitted.Error()},
		{"a node is not reached", func(_ *rig, p *Plan, _ *rigEffect) { p.Moves[0].To = "nobody" }, "destination node 'nobody' is not reached"},
		{"the answer of the preparation is lost", func(r *rig, _ *Plan, _ *rigEffect) {
			r.before = func(node string, op Operation, b []byte) ([]byte, error) {
				if op == Prepare {
					if _, err := r.nodes[node].part.Handle(r.ctx, r.nodes["c"].self, op, b); err != nil {
						return nil, err
					}
					return nil, boom
				}
				return nil, nil
			}
		}, "it was not prepared within the lease of its gate"},
	} {
		rigged(t, func(r *rig) {
			p := r.plan()
			x := &rigEffect{r: r, p: p}
			c.make(r, &p, x)
			err := r.moves.Move(r.ctx, p, x)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %q", c.what, err, c.want)
			}
			r.settle()
			if r.schedule[first].owner != "a" || r.index != 1 {
				t.Errorf("%s: the schedule changed", c.what)
			}
			if left := r.left(); len(left) > 0 {
				t.Errorf("%s: left %v after %v", c.what, left, r.calls)
			}
			// A later attempt succeeds.
			r.before = nil
			if p = r.plan(); c.what == "the destination has no room" {
				return
			}
			if r.nodes["a"].values["first"] = 12; r.moves.Move(r.ctx, p, &rigEffect{r: r, p: p}) != nil || r.nodes["b"].value(first) != 12 {
				t.Errorf("%s: a later attempt fails", c.what)
			}
		})
	}
}

// An unknown outcome keeps what the new owner may need, and the gate.
func TestAnUnknownCommitKeepsThePreparation(t *testing.T) {
	for _, committed := range []bool{true, false} {
		rigged(t, func(r *rig) {
			p := r.plan()
			lost := errors.New("the answer was lost")
			x := &rigEffect{r: r, p: p, lost: lost}
			if !committed {
				x.commit = lost
			}
			var uncertain *UncertainError
			if err := r.moves.Move(r.ctx, p, x); !errors.As(err, &uncertain) || !errors.Is(err, lost) {
				t.Errorf("%v", err)
			}
			if r.nodes["a"].engaged != 1 {
				t.Error("the gate is open")
			}
			must(primitives.Sleep(r.ctx, r.w, rigSettings.Lease+2*rigSettings.Request))
			if r.nodes["a"].engaged != 0 {
				t.Error("the gate is closed after its lease")
			}
			if missing, err := r.moves.Pass(r.ctx, r); missing || err != nil {
				t.Errorf("%t %v", missing, err)
			}
			target := Target{Entity: first, Transition: p.Moves[0].Transition, From: "a"}
			if !committed {
				if left := r.left(); len(left) > 0 {
					t.Errorf("left: %v", left)
				}
				return
			}
			if _, err := r.nodes["b"].part.Activate(r.ctx, "orders", []Target{target}); err != nil || r.nodes["b"].value(first) != 11 {
				t.Errorf("%v, %d", err, r.nodes["b"].value(first))
			}
		})
	}
}

func TestActivationFailuresKeepTheGateUntilItsLease(t *testing.T) {
	rigged(t, func(r *rig) {
		p := r.plan()
		var activation *ActivationError
		if err := r.moves.Move(r.ctx, p, &rigEffect{r: r, p: p, ready: errors.New("no")}); !errors.As(err, &activation) {
			t.Errorf("%v", err)
		}
		must(primitives.Sleep(r.ctx, r.w, rigSettings.Lease/2))
		if r.nodes["a"].engaged != 1 {
			t.Error("the gate opened before its lease ended")
		}
		must(primitives.Sleep(r.ctx, r.w, rigSettings.Lease))
		if r.nodes["a"].engaged != 0 {
			t.Error("the gate is closed after its lease")
		}
		target := Target{Entity: first, Transition: p.Moves[0].Transition, From: "a"}
		if _, err := r.nodes["b"].part.Activate(r.ctx, "orders", []Target{target}); err != nil || r.nodes["b"].value(first) != 11 {
			t.Errorf("%v, %d", err, r.nodes["b"].value(first))
		}
	})
}

// A drain that does not end releases everything and names the blocker.
func TestADrainThatFailsMovesNothing(t *testing.T) {
	rigged(t, func(r *rig) {
		p := r.plan()
		p.Hold.Scope.Index = 1
		blocked := r.nodes["a"]
		blocked.holds = quiesce.NewParticipant(r.w, rigSettings, blocked.self, blockedDomain{blocked})
		blocked.holds.Start(r.ctx)
		began := r.w.Clock().Now()
		err := r.moves.Move(r.ctx, p, &rigEffect{r: r, p: p})
		var drain *quiesce.DrainError
		if !errors.As(err, &drain) || err.Error() != "timed out draining domain 'orders' after 5s: junction 'first' is working on 2 batches" {
			t.Errorf("%v", err)
		}
		if took := r.w.Clock().Now().Sub(began); took < rigSettings.Timeout || took > rigSettings.Timeout+time.Second {
			t.Errorf("after %v", took)
		}
		r.settle()
		if left := r.left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// blockedDomain is one whose work does not end.
type blockedDomain struct{ n *rigNode }

func (d blockedDomain) Domain(string, uint64) (quiesce.Domain, error) { return d, nil }
func (d blockedDomain) Engage(context.Context, quiesce.Scope) (quiesce.Held, error) {
	d.n.engaged++
	return &blockedHeld{rigHeld{n: d.n}}, nil
}

type blockedHeld struct{ rigHeld }

func (h *blockedHeld) Look() quiesce.Look {
	l := h.rigHeld.Look()
	l.Blockers = []quiesce.Blocker{{Entity: first, Work: quiesce.NodeBatches, Count: 2}}
	return l
}
