package flow

import (
	"context"
	"slices"
	"testing"
	"time"

	"plexus/engine/decide"
	"plexus/engine/quiesce"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// line is an ingestor, a junction with a long flush interval and an emitter.
func line() decide.Revision {
	return decide.Revision{
		Relays:    []decide.RelayPlan{relay("all", 2), relay("slow", 1)},
		Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))},
		Junctions: []decide.JunctionPlan{{Name: "j", Attached: true, Inputs: []decide.InputPlan{{Relay: "all"}},
			Routes: []decide.RoutePlan{to("slow", each(time.Hour), nil)}}},
		Emitters: []decide.EmitterPlan{emitterPlan("e", true, "slow")},
	}
}

// passedGate counts the batches that a closed gate let through.
func passedGate(t *testing.T) (passed int) {
	w := newSim(t, 20)
	got := w.collect()
	w.run(func(ctx context.Context) {
		w.install(line())
		h, err := w.d.Engage(ctx, quiesce.Scope{Domain: "d", Gates: []string{"all"}, Drain: []quiesce.Entity{
			entity(vocab.EntityRelay, "all"), entity(vocab.EntityJunction, "j"), entity(vocab.EntityEmitter, "e")}})
		if err != nil {
			t.Error(err)
			return
		}
		w.push(ctx, false, 1)
		for range 20 {
			w.d.relays["all"].setGates(1) // whatever looks at the gate lets nobody in
			w.sleep(ctx, 10*time.Millisecond)
		}
		passed = len(got["e"])
		h.Release()
		_ = w.stop(time.Second)
	})
	return passed
}

// A gate turns publishers away and lets what is behind it drain; the scope's
// operators flush whatever their interval, and who waits at the gate is no work of
// the scope.
func TestHoldOfAnEntity(t *testing.T) {
	if n := passedGate(t); n > 0 {
		t.Errorf("%d batches passed a closed gate", n)
	}
	w := newSim(t, 21)
	got := w.collect()
	w.run(func(ctx context.Context) {
		w.install(line())
		before := w.push(ctx, true, 1)
		w.sleep(ctx, time.Second)
		scope := quiesce.Scope{Domain: "d", Gates: []string{"all"}, Drain: []quiesce.Entity{
			entity(vocab.EntityRelay, "all"), entity(vocab.EntityRelay, "slow"), entity(vocab.EntityJunction, "j"), entity(vocab.EntityEmitter, "e")}}
		h, err := w.d.Engage(ctx, scope)
		if err != nil {
			t.Error(err)
			return
		}
		second, err := w.d.Engage(ctx, scope)
		if err != nil {
			t.Error(err)
			return
		}
		after := w.push(ctx, true, 2)
		h.Flush(1)
		w.sleep(ctx, time.Second)
		look := h.Look()
		if len(look.Blockers) > 0 || look.Flushed != 1 || look.Obligations > 0 {
			t.Errorf("look %+v", look)
		}
		if !slices.Equal(got["e"], []int64{1}) || len(before.outcomes) != 1 || len(after.outcomes) > 0 {
			t.Errorf("got %v, outcomes %v %v", got, before, after)
		}
		// An installation behind the gate: the junction is replaced, its relay stays
		// shut, and a new one begins so.
		next := line()
		next.Junctions[0].Routes[0].To = "third"
		next.Relays = append(next.Relays, relay("third", 1))
		next.Emitters = append(next.Emitters, emitterPlan("f", true, "third"))
		w.install(next)
		h.Release()
		w.sleep(ctx, time.Second)
		if len(got["f"]) > 0 {
			t.Errorf("one of two holds opened the gate: %v", got)
		}
		second.Flush(1)
		second.Release()
		w.sleep(ctx, time.Second)
		if w.d.relays["all"].gates != 0 || w.d.junctions["j"].processor.drain.On() {
			t.Error("something is still held")
		}
		_ = w.stop(time.Second)
		if !slices.Equal(got["f"], []int64{2}) || len(after.outcomes) != 1 || after.outcomes[0].Failed {
			t.Errorf("got %v, outcome %v", got, after)
		}
	})
}

// A numbered flush reaches every operator of the domain once; what comes later
// follows its own interval again.
func TestFlushGeneration(t *testing.T) {
	w := newSim(t, 22)
	got := w.collect()
	w.run(func(ctx context.Context) {
		w.install(line())
		h, err := w.d.Engage(ctx, quiesce.Scope{Domain: "d", Sources: []quiesce.Entity{entity(vocab.EntityIngestor, "other")}})
		if err != nil {
			t.Error(err)
			return
		}
		w.push(ctx, false, 1)
		w.sleep(ctx, time.Second)
		if len(got["e"]) > 0 {
			t.Errorf("flushed early: %v", got)
		}
		h.Flush(7)
		if look := h.Look(); look.Obligations == 0 {
			t.Errorf("nobody has to flush: %+v", look)
		}
		w.sleep(ctx, 10*time.Millisecond)
		if look := h.Look(); look.Flushed != 7 || look.Obligations > 0 || !slices.Equal(got["e"], []int64{1}) {
			t.Errorf("look %+v, got %v", look, got)
		}
		w.push(ctx, false, 2)
		w.sleep(ctx, time.Second)
		if !slices.Equal(got["e"], []int64{1}) {
			t.Errorf("a generation that is over flushes: %v", got)
		}
		h.Release()
		_ = w.stop(time.Second)
	})
}

// The scope's counts see work wherever it is, and what it does not cover never.
func TestLookSeesWork(t *testing.T) {
	w := newSim(t, 23)
	w.behave = w.collectLater()
	w.run(func(ctx context.Context) {
		rev := line()
		rev.Junctions[0].Routes[0].Flush = immediate
		w.install(rev)
		whole, err := w.d.Engage(ctx, quiesce.Scope{Domain: "d", Whole: true})
		if err != nil {
			t.Error(err)
			return
		}
		part, err := w.d.Engage(ctx, quiesce.Scope{Domain: "d", Drain: []quiesce.Entity{entity(vocab.EntityJunction, "j")}})
		if err != nil {
			t.Error(err)
			return
		}
		before := whole.Look()
		for i := range int64(8) {
			w.push(ctx, i%2 == 0, i)
			w.sleep(ctx, time.Millisecond)
		}
		look := whole.Look()
		kinds := map[quiesce.Work]bool{}
		for _, b := range look.Blockers {
			kinds[b.Work] = true
		}
		for _, k := range []quiesce.Work{quiesce.Roots, quiesce.RelayBatches, quiesce.NodeBatches, quiesce.EmitterRows} {
			if !kinds[k] {
				t.Errorf("no %d among %+v", k, look.Blockers)
			}
		}
		if look.Admitted <= before.Admitted {
			t.Errorf("admitted %d after %d", look.Admitted, before.Admitted)
		}
		for _, b := range part.Look().Blockers {
			if b.Entity != entity(vocab.EntityJunction, "j") {
				t.Errorf("a look at the junction sees %+v", b)
			}
		}
		w.release()
		w.sleep(ctx, time.Second)
		whole.Flush(1)
		w.sleep(ctx, 10*time.Millisecond)
		if l := whole.Look(); len(l.Blockers) > 0 || l.Flushed != 1 {
			t.Errorf("look %+v", l)
		}
		part.Release()
		whole.Release()
		_ = w.stop(time.Second)
	})
}

// Sources are suspended as far as the strictest hold asks, from their first
// instant, and flow again after the last.
func TestHoldOfSources(t *testing.T) {
	w := newSim(t, 24)
	w.collect()
	w.run(func(ctx context.Context) {
		w.install(line())
		state := func() Suspension { return w.d.ingestors["in"].host.(*fakeIngestor).suspended }
		engage := func(s quiesce.Scope) quiesce.Held {
			s.Domain = "d"
			h, err := w.d.Engage(ctx, s)
			if err != nil {
				t.Error(err)
			}
			return h
		}
		in := []quiesce.Entity{entity(vocab.EntityIngestor, "in")}
		other := engage(quiesce.Scope{Sources: []quiesce.Entity{entity(vocab.EntityJunction, "in")}})
		if state() != Flowing {
			t.Error("a hold of something else suspends")
		}
		declared := engage(quiesce.Scope{Sources: in})
		whole := engage(quiesce.Scope{Whole: true, Force: true})
		if state() != Shut {
			t.Errorf("suspension %d", state())
		}
		declared.Release()
		next := line()
		next.Ingestors[0].Filter = compare(typed.OpLt, column(), literal(10))
		w.install(next) // another source in its place
		if state() != Shut || w.intake.Suspended != Shut {
			t.Errorf("a source that started under a hold: %d, %d", state(), w.intake.Suspended)
		}
		third := engage(quiesce.Scope{Sources: in})
		whole.Release()
		if state() != Suspended {
			t.Errorf("suspension %d", state())
		}
		third.Release()
		if state() != Flowing {
			t.Errorf("suspension %d", state())
		}
		other.Release()
		_ = w.stop(time.Second)
		if _, err := w.d.Engage(ctx, quiesce.Scope{Domain: "d", Whole: true}); err == nil {
			t.Error("engaged a domain that ended")
		}
	})
}
