package node_test

import (
	"context"
	"fmt"
	"maps"
	"testing"

	"pgregory.net/rapid"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
)

// automaton is what a session with transactions should do.
type automaton struct {
	committed automatonState
	open      bool
	queued    automatonState // what the queue would leave
	pending   int
}

type automatonState struct {
	schemas map[string]bool
	running bool
}

func (s automatonState) clone() automatonState {
	return automatonState{maps.Clone(s.schemas), s.running}
}

// step says whether a statement completes, and takes its effect.
func (a *automaton) step(op, name string) bool {
	switch op {
	case "BEGIN":
		if a.open {
			return false
		}
		a.open, a.pending, a.queued = true, 0, a.committed.clone()
		return true
	case "COMMIT":
		if !a.open {
			return false
		}
		a.open, a.committed = false, a.queued
		return true
	case "REVERT":
		done := a.open
		a.open = false
		return done
	}
	target := &a.committed
	if a.open {
		target = &a.queued
	}
	next := target.clone()
	switch op {
	case "CREATE":
		if next.schemas[name] {
			return false
		}
		next.schemas[name] = true
	case "DROP":
		if !next.schemas[name] {
			return false
		}
		delete(next.schemas, name)
	case "START", "STOP":
		if next.running == (op == "START") {
			return false
		}
		next.running = op == "START"
	}
	*target = next
	if a.open {
		a.pending++
	}
	return true
}

func statement(op, name string) string {
	switch op {
	case "CREATE":
		return "CREATE SCHEMA " + name + " (x U8)"
	case "DROP":
		return "DROP SCHEMA " + name
	}
	return op
}

// Any sequence of statements does what the automaton says, and is kept.
func TestTransactionsAgainstAnAutomaton(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		type step struct{ op, name string }
		var steps []step
		for range rapid.IntRange(1, 20).Draw(r, "steps") {
			steps = append(steps, step{
				rapid.SampledFrom([]string{"BEGIN", "COMMIT", "REVERT", "CREATE", "CREATE", "CREATE", "DROP", "START", "STOP"}).Draw(r, "op"),
				rapid.SampledFrom([]string{"a", "b", "c"}).Draw(r, "name"),
			})
		}
		failure := ""
		m := newMachine(t, 1)
		defer m.sim.Close()
		m.boot()
		m.as(func(ctx context.Context, s *client.Session) {
			a := automaton{committed: automatonState{schemas: map[string]bool{}}}
			for i, x := range steps {
				want := a.step(x.op, x.name)
				reply, err := s.Execute(ctx, statement(x.op, x.name))
				if err != nil || (reply.GetDisposition() == sessionpb.Disposition_COMPLETED) != want {
					failure = fmt.Sprintf("step %d %s %s: want %t, got %v %v", i, x.op, x.name, want, reply, err)
					return
				}
				if open := reply.GetTransaction().GetState() == sessionpb.TransactionStatus_OPEN; open != a.open {
					failure = fmt.Sprintf("step %d %s: transaction open %t, want %t", i, x.op, open, a.open)
					return
				}
				if a.open && int(reply.GetTransaction().GetPending()) != a.pending {
					failure = fmt.Sprintf("step %d %s: %d pending, want %d", i, x.op, reply.GetTransaction().GetPending(), a.pending)
					return
				}
			}
			state := m.node.Group().State()
			d, _ := state.Domain("default")
			got := map[string]bool{}
			for model := range state.Models("default") {
				got[model.Name] = true
			}
			if fmt.Sprint(primitives.SortedKeys(got)) != fmt.Sprint(primitives.SortedKeys(a.committed.schemas)) || d.Running != a.committed.running {
				failure = fmt.Sprintf("committed %v running %t, want %v %t", got, d.Running, a.committed.schemas, a.committed.running)
			}
		})
		if failure != "" {
			r.Fatal(failure)
		}
	})
}
