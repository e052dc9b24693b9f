package handoff

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/primitives"
)

// ask makes one call as the coordinator.
func (r *rig) ask(node string, op Operation, q *request) (*answer, *Refusal) {
	a, err := r.moves.call(r.ctx, node, op, q)
	must(err)
	return a, a.Refused
}

// held engages the hold of a plan and returns the binding of its first move.
func (r *rig) held() (*quiesce.Hold, Binding, uint64) {
	p := r.plan()
	p.Hold.Freeze = true
	h, err := r.holds.Hold(r.ctx, p.Hold)
	must(err)
	freeze, _, _ := h.Freeze("a")
	return h, Binding{
		Coordinator: r.nodes["c"].self, Sequence: h.ID().Sequence, Transition: p.Moves[0].Transition, Domain: "orders", Entity: first,
		Source: r.nodes["a"].self, Destination: r.nodes["b"].self, Base: p.Base, Target: p.Target,
	}, freeze
}

// prepared captures and prepares a binding.
func (r *rig) prepared(b Binding, freeze uint64) []Origin {
	a, refusal := r.ask("a", Capture, &request{Binding: b, Freeze: freeze, Within: time.Second})
	if refusal != nil {
		panic(refusal)
	}
	var origins []Origin
	for _, ref := range a.Refs {
		origins = append(origins, Origin{ref, "a"})
	}
	if _, refusal := r.ask("b", Prepare, &request{Binding: b, Within: time.Second, Origins: origins}); refusal != nil {
		panic(refusal)
	}
	return origins
}

func (r *rig) refuses(what string, want Reason, node string, op Operation, q *request) {
	if _, refusal := r.ask(node, op, q); refusal == nil || refusal.Reason != want {
		r.t.Errorf("%s: %v, want %v", what, refusal, want)
	}
}

// Capture needs the engaged hold and exactly its freeze (H3).
func TestCaptureNeedsExactlyItsFreeze(t *testing.T) {
	rigged(t, func(r *rig) {
		h, b, freeze := r.held()
		r.refuses("another freeze", NotHeld, "a", Capture, &request{Binding: b, Freeze: freeze + 1, Within: time.Second})
		r.refuses("no freeze", NotHeld, "a", Capture, &request{Binding: b, Within: time.Second})
		other := b
		other.Sequence++
		r.refuses("another hold", NotHeld, "a", Capture, &request{Binding: other, Freeze: freeze, Within: time.Second})
		other = b
		other.Source.Counter++
		r.refuses("another process", OtherProcess, "a", Capture, &request{Binding: other, Freeze: freeze, Within: time.Second})
		other = b
		other.Coordinator = r.nodes["b"].self
		r.refuses("another coordinator", Malformed, "a", Capture, &request{Binding: other, Freeze: freeze, Within: time.Second})
		must(h.Release(r.ctx))
		r.refuses("after the release", NotHeld, "a", Capture, &request{Binding: b, Freeze: freeze, Within: time.Second})
		r.refuses("a preparation after the release", NotHeld, "b", Prepare, &request{Binding: b, Within: time.Second})
		if left := r.left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// What was captured is there for its time, or until it is discarded.
func TestCapturesEnd(t *testing.T) {
	rigged(t, func(r *rig) {
		_, b, freeze := r.held()
		first, refusal := r.ask("a", Capture, &request{Binding: b, Freeze: freeze, Within: time.Second})
		again, _ := r.ask("a", Capture, &request{Binding: b, Freeze: freeze, Within: time.Second})
		if refusal != nil || len(first.Refs) != 1 || len(again.Refs) != 1 || first.Refs[0] != again.Refs[0] {
			t.Errorf("%v %v %v", refusal, first, again)
		}
		var got []byte
		must(r.nodes["a"].part.Serve(r.ctx, first.Refs[0], 0, func(b []byte) error { got = append(got, b...); return nil }))
		if uint64(len(got)) != first.Refs[0].Length {
			t.Errorf("%d bytes are served", len(got))
		}
		must(primitives.Sleep(r.ctx, r.w, 2*time.Second))
		if r.nodes["a"].staging.Used() != 0 {
			t.Error("it is kept for ever")
		}
	})
}

// A preparation is confirmed, listed and discarded by its whole identity (H1, H4).
func TestPreparationsHaveOneIdentity(t *testing.T) {
	rigged(t, func(r *rig) {
		h, b, freeze := r.held()
		origins := r.prepared(b, freeze)
		if _, refusal := r.ask("b", Prepare, &request{Binding: b, Within: time.Second, Origins: origins}); refusal != nil {
			t.Errorf("a repeated request: %v", refusal)
		}
		r.refuses("other containers", Malformed, "b", Prepare, &request{Binding: b, Within: time.Second})
		if _, refusal := r.ask("b", Confirm, &request{Binding: b}); refusal != nil {
			t.Errorf("confirm: %v", refusal)
		}
		for what, change := range map[string]func(*Binding){ //plexus:orderfree each for itself
			"coordinator": func(b *Binding) { b.Coordinator.Counter++ }, "hold": func(b *Binding) { b.Sequence++ },
			"transition": func(b *Binding) { b.Transition[3]++ }, "entity": func(b *Binding) { b.Entity = second },
			"source": func(b *Binding) { b.Source.Epoch[0]++ }, "base": func(b *Binding) { b.Base++ }, "target": func(b *Binding) { b.Target[0]++ },
		} {
			other := b
			change(&other)
			r.refuses("confirm with another "+what, NoPreparation, "b", Confirm, &request{Binding: other})
			if _, refusal := r.ask("b", Discard, &request{Binding: other}); refusal != nil {
				t.Errorf("discard with another %s: %v", what, refusal)
			}
		}
		listed, _ := r.ask("b", Reconcile, &request{Index: 1})
		if len(listed.Listed) != 1 || listed.Listed[0] != (Listed{b, true, false}) {
			t.Errorf("listed %+v", listed.Listed)
		}
		r.refuses("an index that is not applied", NotReady, "b", Reconcile, &request{Index: 2})
		must(h.Release(r.ctx))
		for range 2 {
			if _, refusal := r.ask("b", Discard, &request{Binding: b}); refusal != nil {
				t.Errorf("discard: %v", refusal)
			}
		}
		if _, refusal := r.ask("a", Discard, &request{Binding: b}); refusal != nil {
			t.Errorf("discard of the capture: %v", refusal)
		}
		r.settle()
		if left := r.left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

// A discard that comes before the request to prepare wins.
func TestADiscardWinsOverALatePreparation(t *testing.T) {
	rigged(t, func(r *rig) {
		_, b, freeze := r.held()
		if _, refusal := r.ask("b", Discard, &request{Binding: b}); refusal != nil {
			t.Error(refusal)
		}
		a, _ := r.ask("a", Capture, &request{Binding: b, Freeze: freeze, Within: time.Second})
		r.refuses("late", Discarded, "b", Prepare, &request{Binding: b, Within: time.Second, Origins: []Origin{{a.Refs[0], "a"}}})
	})
}

// A discard ends a preparation that is under way.
func TestADiscardEndsAPreparationUnderWay(t *testing.T) {
	rigged(t, func(r *rig) {
		_, b, freeze := r.held()
		a, _ := r.ask("a", Capture, &request{Binding: b, Freeze: freeze, Within: time.Minute})
		r.nodes["b"].part.remote = stuckRemote{r}
		g := primitives.NewGroup(r.ctx, r.w)
		g.Go("prepare", func(context.Context) error {
			_, refusal := r.ask("b", Prepare, &request{Binding: b, Within: time.Minute, Origins: []Origin{{a.Refs[0], "a"}}})
			if refusal == nil || refusal.Reason != Failed {
				t.Errorf("%v", refusal)
			}
			return nil
		})
		must(primitives.Sleep(r.ctx, r.w, time.Second))
		if _, refusal := r.ask("b", Discard, &request{Binding: b}); refusal != nil {
			t.Error(refusal)
		}
		must(g.Wait(r.ctx))
		if r.nodes["b"].staging.Used() != 0 {
			t.Error("bytes are staged")
		}
	})
}

// stuckRemote never answers.
type stuckRemote struct{ r *rig }

func (s stuckRemote) Inline(ctx context.Context, _ string, _ state.Ref) ([]byte, error) {
	return nil, primitives.SleepUntil(ctx, s.r.w, primitives.Never)
}
func (s stuckRemote) Open(ctx context.Context, _ string, _ state.Ref, _ uint64) (state.Chunks, error) {
	return nil, primitives.SleepUntil(ctx, s.r.w, primitives.Never)
}

// A committed preparation is not discarded, activates once, and survives restarts
// until it did (H5).
func TestActivationHappensOnce(t *testing.T) {
	rigged(t, func(r *rig) {
		h, b, freeze := r.held()
		r.prepared(b, freeze)
		r.schedule[first] = rigAssignment{"b", b.Transition}
		must(h.Release(r.ctx))
		r.refuses("discard of what is committed", Committed, "b", Discard, &request{Binding: b})
		n := r.restart("b")
		targets := []Target{{Entity: first, Transition: b.Transition, From: "a"}}
		for range 2 {
			if _, err := n.part.Activate(r.ctx, "orders", targets); err != nil {
				panic(err)
			}
		}
		if n.value(first) != 11 || n.resets != 1 {
			t.Errorf("%d after %d resets", n.value(first), n.resets)
		}
		// The owner goes on; nothing restores the old state over it.
		must(second2(n.store.Publish(n.snapshot(first, 12))))
		n = r.restart("b")
		if _, err := n.part.Activate(r.ctx, "orders", targets); err != nil || n.value(first) != 12 {
			t.Errorf("%v, %d", err, n.value(first))
		}
		if _, err := n.part.Activate(r.ctx, "orders", nil); err != nil {
			t.Error(err)
		}
		if list, err := r.w.Files().List("data-b/" + activatedDir); err != nil || len(list) != 0 {
			t.Errorf("marks %v %v", list, err)
		}
	})
}

func second2[T any](_ T, err error) error { return err }

// A preparation that is missing, of something else or damaged fails the
// activation and touches no checkpoint (H5).
func TestActivationNeedsItsPreparation(t *testing.T) {
	rigged(t, func(r *rig) {
		h, b, freeze := r.held()
		r.prepared(b, freeze)
		must(h.Release(r.ctx))
		n := r.nodes["b"]
		must(second2(n.store.Publish(n.snapshot(first, 5))))
		fails := func(what string, target Target, want any) {
			if _, err := n.part.Activate(r.ctx, "orders", []Target{target}); err == nil || !errors.As(err, want) {
				t.Errorf("%s: %v", what, err)
			}
			if n.value(first) != 5 || n.resets != 0 {
				t.Errorf("%s: a checkpoint was touched", what)
			}
		}
		missing := new(*MissingError)
		fails("missing", Target{Entity: first, Transition: primitives.UUID{9}, From: "a"}, missing)
		fails("of another operator", Target{Entity: second, Transition: b.Transition, From: "a"}, missing)
		fails("from another node", Target{Entity: first, Transition: b.Transition, From: "c"}, missing)
		forced := Target{Entity: first, Transition: b.Transition, From: "a", Forced: true}
		forced.Outcomes = []Outcome{{Component: state.WindowContents}}
		fails("committed as a reset", forced, missing)
		forced.Outcomes = []Outcome{{Component: state.WindowContents, Staged: [32]byte{1}}}
		fails("committed as another", forced, missing)
		forced.Outcomes = []Outcome{{Component: state.GuestState}}
		fails("an unknown component", forced, missing)
		name := containerName(n.part.shelf.directory(b.Transition), 0)
		file, err := r.w.Files().Open(name)
		must(err)
		size, err := file.Size()
		must(err)
		must(second2(file.WriteAt([]byte{'x'}, size-1)))
		must(file.Close())
		damage := new(*state.ContainerError)
		fails("damaged", Target{Entity: first, Transition: b.Transition, From: "a"}, damage)
		if *damage == nil || (*damage).File != name {
			t.Errorf("named %v", *damage)
		}
	})
}

// An unfinished or damaged preparation is not one after a restart.
func TestOnlyWholePreparationsSurvive(t *testing.T) {
	rigged(t, func(r *rig) {
		h, b, freeze := r.held()
		r.prepared(b, freeze)
		must(h.Release(r.ctx))
		n := r.nodes["b"]
		dir := n.part.shelf.directory(b.Transition)
		if n = r.restart("b"); n.part.find(b.Transition) == nil {
			t.Error("a whole one is gone")
		}
		file, err := r.w.Files().Open(dir + "/" + manifestName)
		must(err)
		must(second2(file.WriteAt([]byte{'x'}, 20)))
		must(file.Close())
		if n = r.restart("b"); n.part.find(b.Transition) != nil {
			t.Error("a damaged one counts")
		}
		must(errors.Join(r.w.Files().MkdirAll(dir)))
		if n = r.restart("b"); n.part.find(b.Transition) != nil {
			t.Error("an unfinished one counts")
		}
		r.settle()
		if left := r.left(); len(left) > 0 {
			t.Errorf("left: %v", left)
		}
	})
}

func TestRecoveryStagesTheBest(t *testing.T) {
	rigged(t, func(r *rig) {
		a, b, c := r.nodes["a"], r.nodes["b"], r.nodes["c"]
		must(second2(b.store.Publish(b.snapshot(first, 7))))
		must(second2(c.store.Publish(c.snapshot(first, 6))))
		must(second2(c.store.Publish(c.snapshot(first, 9)))) // a higher revision
		recovery := Recovery{
			Domain: "orders", Base: 1, Survivors: []string{"b", "c"}, Losses: []Loss{
				{Transition: primitives.UUID{1}, Entity: first, From: "a", To: "b", Components: []state.Component{state.WindowContents}},
				{Transition: primitives.UUID{2}, Entity: second, From: "a", To: "c", Components: []state.Component{state.WindowContents}},
			},
		}
		recovered, err := r.moves.Recover(r.ctx, recovery, func(context.Context, []Recovered) error { return nil })
		if err != nil || len(recovered) != 2 || recovered[0].Outcomes[0].Reset() || !recovered[1].Outcomes[0].Reset() {
			panic(fmt.Sprint(recovered, err))
		}
		must(second2(c.store.Publish(c.snapshot(second, 4)))) // of the past: the schedule says reset
		for i, n := range []*rigNode{b, c} {
			target := Target{Entity: recovery.Losses[i].Entity, Transition: recovery.Losses[i].Transition, From: "a", Forced: true, Outcomes: recovered[i].Outcomes}
			for range 2 {
				done, err := n.part.Activate(r.ctx, "orders", []Target{target})
				if err != nil || len(done) != 1 || done[0] != target.Transition {
					t.Errorf("%v %v", done, err)
				}
			}
			target.Completed = true
			if done, err := n.part.Activate(r.ctx, "orders", []Target{target}); err != nil || len(done) != 0 {
				t.Errorf("completed: %v %v", done, err)
			}
		}
		if b.value(first) != 9 || c.value(second) != 0 {
			t.Errorf("%d and %d", b.value(first), c.value(second))
		}
		// One that does not answer may have the best: nothing is decided without it.
		r.before = func(node string, op Operation, _ []byte) ([]byte, error) {
			if node == "a" && op == StateCatalog {
				return nil, errors.New("no answer")
			}
			return nil, nil
		}
		recovery.Survivors = append(recovery.Survivors, "a")
		if _, err := r.moves.Recover(r.ctx, recovery, nil); err == nil {
			t.Error("it was decided")
		}
		_ = a
	})
}

// What an earlier leader left is kept while it can still be committed, and goes
// otherwise.
func TestReconciliationJudges(t *testing.T) {
	rigged(t, func(r *rig) {
		h, b, freeze := r.held()
		r.prepared(b, freeze)
		pass := func(what string, kept bool) {
			if missing, err := r.later().Pass(r.ctx, r); missing || err != nil {
				t.Errorf("%s: %t %v", what, missing, err)
			}
			if got := r.nodes["b"].part.find(b.Transition) != nil; got != kept {
				t.Errorf("%s: kept %t", what, got)
			}
		}
		pass("its hold is engaged and everyone lives", true)
		must(h.Release(r.ctx))
		r.schedule[first] = rigAssignment{"b", b.Transition}
		pass("it is committed", true)
		r.schedule[first] = rigAssignment{owner: "a"}
		pass("its hold is over", false)
	})
	for what, end := range map[string]func(r *rig){ //plexus:orderfree each for itself
		"the coordinator is another process": func(r *rig) { r.nodes["c"].self.Counter++ },
		"the source is another process":      func(r *rig) { r.nodes["a"].self.Counter++ },
		"the source is no owner any more":    func(r *rig) { r.schedule[first] = rigAssignment{owner: "c"} },
		"the operator is gone":               func(r *rig) { delete(r.schedule, first) },
	} {
		rigged(t, func(r *rig) {
			_, b, freeze := r.held()
			r.prepared(b, freeze)
			end(r)
			if missing, err := r.later().Pass(r.ctx, r); missing || err != nil {
				t.Errorf("%s: %t %v", what, missing, err)
			}
			if r.nodes["b"].part.find(b.Transition) != nil {
				t.Errorf("%s: it was kept", what)
			}
		})
	}
}

// What a coordinator has left itself is of no use to anybody: it goes in the same
// tenure, and what is committed meanwhile stays.
func TestACoordinatorReconcilesWhatItLeft(t *testing.T) {
	lost := errors.New("the answer was lost")
	recovery := func(r *rig) Recovery {
		must(second2(r.nodes["b"].store.Publish(r.nodes["b"].snapshot(first, 7))))
		return Recovery{Domain: "orders", Base: 1, Survivors: []string{"b"}, Losses: []Loss{
			{Transition: primitives.UUID{1}, Entity: first, From: "a", To: "b", Components: []state.Component{state.WindowContents}},
		}}
	}
	for what, move := range map[string]func(r *rig) error{ //plexus:orderfree each for itself
		"a move in doubt": func(r *rig) error {
			p := r.plan()
			return r.moves.Move(r.ctx, p, &rigEffect{r: r, p: p, commit: lost})
		},
		"a recovery in doubt": func(r *rig) error {
			_, err := r.moves.Recover(r.ctx, recovery(r), func(context.Context, []Recovered) error { return lost })
			return err
		},
		"a destination that did not answer": func(r *rig) error {
			r.before = func(node string, op Operation, b []byte) ([]byte, error) {
				if op == Discard || op == Prepare {
					if op == Prepare {
						_, _ = r.nodes[node].part.Handle(r.ctx, r.nodes["c"].self, op, b)
					}
					return nil, lost
				}
				return nil, nil
			}
			p := r.plan()
			err := r.moves.Move(r.ctx, p, &rigEffect{r: r, p: p})
			must(primitives.Sleep(r.ctx, r.w, rigSettings.Lease+time.Second))
			r.before = nil
			return err
		},
	} {
		rigged(t, func(r *rig) {
			g := primitives.NewGroup(r.ctx, r.w)
			g.Go("reconcile", func(ctx context.Context) error {
				return r.moves.Reconcile(ctx, r, primitives.NewNotice(r.w))
			})
			must(primitives.Sleep(r.ctx, r.w, time.Minute)) // both passes of the tenure are done
			if err := move(r); !errors.Is(err, lost) && what != "a destination that did not answer" {
				t.Errorf("%s: %v", what, err)
			}
			must(primitives.Sleep(r.ctx, r.w, rigSettings.Lease+5*time.Second))
			if left := r.left(); len(left) > 0 {
				t.Errorf("%s: left %v", what, left)
			}
			g.Cancel(errors.New("over"))
			_ = g.Wait(r.ctx)
		})
	}
	// The last proposal may be decided between the barrier and the look.
	rigged(t, func(r *rig) {
		_, err := r.moves.Recover(r.ctx, recovery(r), func(context.Context, []Recovered) error { return lost })
		if uncertain := (*UncertainError)(nil); !errors.As(err, &uncertain) {
			t.Error(err)
		}
		must(primitives.Sleep(r.ctx, r.w, time.Second))
		barriers := 0
		r.barrier = func() {
			if barriers++; barriers == 2 {
				r.schedule[first] = rigAssignment{"b", primitives.UUID{1}}
			}
		}
		if missing, err := r.moves.Pass(r.ctx, r); missing || err != nil || barriers != 2 {
			t.Errorf("%t %v after %d barriers", missing, err, barriers)
		}
		if r.nodes["b"].part.find(primitives.UUID{1}) == nil {
			t.Error("a committed preparation was discarded")
		}
	})
	// Another leader has nothing to wait for: no gate is held for a lost owner.
	rigged(t, func(r *rig) {
		_, _ = r.moves.Recover(r.ctx, recovery(r), func(context.Context, []Recovered) error { return lost })
		if missing, err := r.later().Pass(r.ctx, r); missing || err != nil {
			t.Errorf("%t %v", missing, err)
		}
		if left := r.left(); len(left) > 0 {
			t.Errorf("left %v", left)
		}
	})
}

// Reconciliation repeats itself until every node was reached, and once more when
// the gates of its beginning have opened.
func TestReconciliationHasASecondPass(t *testing.T) {
	rigged(t, func(r *rig) {
		passes, broken := 0, true
		r.before = func(node string, op Operation, _ []byte) ([]byte, error) {
			if op == Reconcile && node == "a" {
				passes++
				if broken {
					return nil, errors.New("not reached")
				}
			}
			return nil, nil
		}
		changed := primitives.NewNotice(r.w)
		g := primitives.NewGroup(r.ctx, r.w)
		g.Go("reconcile", func(ctx context.Context) error { return r.moves.Reconcile(ctx, r, changed) })
		must(primitives.Sleep(r.ctx, r.w, 3*time.Second))
		if broken = false; passes < 2 {
			t.Errorf("%d passes over a node that is not reached", passes)
		}
		must(primitives.Sleep(r.ctx, r.w, 4*time.Second))
		passes = 0
		must(primitives.Sleep(r.ctx, r.w, time.Minute))
		if passes != 1 {
			t.Errorf("%d second passes", passes)
		}
		changed.Raise()
		must(primitives.Sleep(r.ctx, r.w, time.Minute))
		if passes != 3 {
			t.Errorf("%d passes after a change", passes-1)
		}
		g.Cancel(errors.New("over"))
		_ = g.Wait(r.ctx)
	})
}

func TestTombstonesAreBounded(t *testing.T) {
	s := newTombstones()
	of := func(i int) Binding { return Binding{Transition: primitives.UUID{byte(i), byte(i >> 8)}} }
	for i := range tombstonesMax + 10 {
		s.add(of(i))
		s.add(of(i))
	}
	if len(s.set) != tombstonesMax || s.has(of(9)) || !s.has(of(10)) {
		t.Errorf("%d are remembered", len(s.set))
	}
	again := of(10)
	again.Sequence++
	if s.has(again) {
		t.Error("an attempt under another hold counts as discarded")
	}
}
