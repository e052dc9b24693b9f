package flow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/engine/decide"
	"plexus/engine/exchange"
	"plexus/engine/observe"
	"plexus/engine/quiesce"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// A batch that no body can hold travels in parts, encoded once for all nodes and
// in order; only a row that is too large by itself fails.
func TestBatchIsHalvedToFitABody(t *testing.T) {
	m := newMesh(t, 1, "n1", "n2", "n3")
	got := m.collect()
	m.rowsMax, m.heavy = 3, 7
	m.run(func(ctx context.Context) {
		m.install(decide.Revision{
			Number:    1,
			Relays:    []decide.RelayPlan{relayOn("n1", "all", 1)},
			Ingestors: []decide.IngestorPlan{ingestorOn("n1", "in", to("all", immediate, nil))},
			Emitters:  []decide.EmitterPlan{emitterOn("n2", "e", true, "all"), emitterOn("n3", "f", true, "all")},
		}, "n1", "n2", "n3")
		log := m.nodes["n1"].push(ctx, "in", true, seq(10, 20)...)
		m.sleep(ctx, time.Second)
		if len(log.outcomes) != 1 || log.outcomes[0].Failed || !slices.Equal(got["e"], seq(10, 20)) || !slices.Equal(got["f"], seq(10, 20)) {
			t.Errorf("%v: got %v", log, got)
		}
		if m.encoded != 4 {
			t.Errorf("encoded %d times", m.encoded)
		}
		heavy := m.nodes["n1"].push(ctx, "in", true, seq(0, 10)...)
		m.sleep(ctx, time.Second)
		if len(heavy.outcomes) != 1 || heavy.outcomes[0].Reason != reasonTooLarge {
			t.Errorf("outcome %v", heavy)
		}
		want := slices.Delete(seq(0, 10), 7, 8)
		if !slices.Equal(got["e"][10:], want) || !slices.Equal(got["f"][10:], want) {
			t.Errorf("got %v", got)
		}
		if len(m.errors) != 1 || !strings.Contains(m.errors[0], "32 MiB relay body") {
			t.Errorf("reports %v", m.errors)
		}
		m.stop(time.Minute)
	})
}

// The same on the way to the owner.
func TestDispatchIsHalvedToFitABody(t *testing.T) {
	m := newMesh(t, 2, "n1", "n2")
	got := m.collect()
	m.rowsMax, m.heavy = 2, 3
	m.run(func(ctx context.Context) {
		m.install(decide.Revision{
			Number:    1,
			Relays:    []decide.RelayPlan{relayOn("n2", "all", 1)},
			Ingestors: []decide.IngestorPlan{ingestorOn("n1", "in", to("all", immediate, nil))},
			Emitters:  []decide.EmitterPlan{emitterOn("n2", "e", true, "all")},
		}, "n1", "n2")
		log := m.nodes["n1"].push(ctx, "in", true, seq(0, 9)...)
		m.sleep(ctx, time.Second)
		if len(log.outcomes) != 1 || log.outcomes[0].Reason != reasonTooLarge || !slices.Equal(got["e"], slices.Delete(seq(0, 9), 3, 4)) {
			t.Errorf("%v: got %v", log, got)
		}
		m.stop(time.Minute)
	})
}

// apart is a graph whose relay is on n2, as n1 sees it.
func apart(number uint64, owner string) decide.Revision {
	return decide.Revision{
		Number:    number,
		Relays:    []decide.RelayPlan{relayOn(owner, "all", 1)},
		Ingestors: []decide.IngestorPlan{ingestorOn("n1", "in", to("all", each(10*time.Millisecond), nil))},
		Emitters:  []decide.EmitterPlan{emitterOn("n2", "e", true, "all")},
	}
}

// A node that does not own the relay refuses: shares fail at once, the schedule is
// read again, and rows without a share wait for the owner to be found.
func TestRefusedDispatch(t *testing.T) {
	m := newMesh(t, 3, "n1", "n2", "n3")
	got := m.collect()
	m.run(func(ctx context.Context) {
		m.install(apart(5, "n2"), "n1")
		m.install(apart(5, "n3"), "n2", "n3") // what n1 knows is wrong
		failed := m.nodes["n1"].push(ctx, "in", true, 1, 2)
		m.nodes["n1"].push(ctx, "in", false, 3, 4) // of the same batch
		m.nodes["n1"].push(ctx, "in", false, 5)
		m.sleep(ctx, time.Second)
		if len(failed.outcomes) != 1 || !failed.outcomes[0].Failed || m.nodes["n1"].stale == 0 || len(got["e"]) > 0 {
			t.Errorf("outcome %v, asked to look again %d times, got %v", failed, m.nodes["n1"].stale, got)
		}
		m.install(apart(6, "n3"), "n1")
		m.sleep(ctx, time.Second)
		if !slices.Equal(got["e"], []int64{3, 4, 5}) {
			t.Errorf("got %v", got)
		}
		m.stop(time.Minute)
	})
}

// A dispatch waits at a closed gate for five minutes and no longer. Rows without
// a share wait on.
func TestFiveMinutes(t *testing.T) {
	m := newMesh(t, 4, "n1", "n2")
	got := m.collect()
	m.run(func(ctx context.Context) {
		m.install(apart(1, "n2"), "n1", "n2")
		h, err := m.nodes["n2"].d.Engage(ctx, quiesce.Scope{Domain: "d", Gates: []string{"all"}})
		if err != nil {
			t.Error(err)
			return
		}
		log := m.nodes["n1"].push(ctx, "in", true, 1, 2)
		m.nodes["n1"].push(ctx, "in", false, 3)
		m.sleep(ctx, 5*time.Minute-time.Second)
		if len(log.outcomes) > 0 {
			t.Errorf("ended early: %v", log)
		}
		m.sleep(ctx, 2*time.Second)
		if len(log.outcomes) != 1 || !log.outcomes[0].Failed {
			t.Errorf("outcome %v", log)
		}
		m.sleep(ctx, 3*time.Minute)
		if len(got["e"]) > 0 {
			t.Errorf("passed a closed gate: %v", got)
		}
		h.Release()
		m.sleep(ctx, time.Second)
		if !slices.Equal(got["e"], []int64{3}) {
			t.Errorf("got %v", got)
		}
		m.stop(time.Minute)
	})
}

// A copy is finished by nobody but the consumers that it was meant for.
func TestCopyMeetsAnotherRevision(t *testing.T) {
	plan := func(number uint64, e, f string) decide.Revision {
		return decide.Revision{
			Number:    number,
			Relays:    []decide.RelayPlan{relayOn("n1", "all", 1)},
			Ingestors: []decide.IngestorPlan{ingestorOn("n1", "in", to("all", immediate, nil))},
			Emitters:  []decide.EmitterPlan{emitterOn("n2", "aside", false, "all"), emitterOn(e, "e", true, "all"), emitterOn(f, "f", true, "all")},
		}
	}
	t.Run("nobody is left", func(t *testing.T) {
		m := newMesh(t, 5, "n1", "n2")
		got := m.collect()
		m.run(func(ctx context.Context) {
			m.install(plan(1, "n2", "n2"), "n1")
			m.install(plan(2, "n1", "n1"), "n2")
			log := m.nodes["n1"].push(ctx, "in", true, 1)
			m.nodes["n1"].push(ctx, "in", false, 2)
			m.sleep(ctx, time.Second)
			if len(log.outcomes) != 1 || !log.outcomes[0].Failed || !slices.Equal(got["aside"], []int64{1, 2}) || len(got["e"]) > 0 {
				t.Errorf("outcome %v, got %v", log, got)
			}
			m.stop(time.Minute)
		})
	})
	t.Run("one is left", func(t *testing.T) {
		m := newMesh(t, 6, "n1", "n2")
		got := m.collect()
		m.run(func(ctx context.Context) {
			m.install(plan(1, "n2", "n2"), "n1")
			m.install(plan(2, "n1", "n2"), "n2")
			log := m.nodes["n1"].push(ctx, "in", true, 1)
			m.sleep(ctx, time.Second)
			if len(log.outcomes) != 1 || !log.outcomes[0].Failed || !slices.Equal(got["f"], []int64{1}) || len(got["e"]) > 0 {
				t.Errorf("outcome %v, got %v", log, got)
			}
			m.stop(time.Minute)
		})
	})
	t.Run("one is still to come", func(t *testing.T) {
		m := newMesh(t, 7, "n1", "n2")
		got := m.collect()
		m.run(func(ctx context.Context) {
			m.install(plan(1, "n1", "n2"), "n2")
			m.install(plan(2, "n2", "n2"), "n1")
			log := m.nodes["n1"].push(ctx, "in", true, 1)
			m.sleep(ctx, time.Second)
			if len(log.outcomes) > 0 || len(got) > 0 {
				t.Errorf("outcome %v, got %v", log, got)
			}
			m.install(plan(2, "n2", "n2"), "n2")
			m.sleep(ctx, time.Second)
			if len(log.outcomes) != 1 || log.outcomes[0].Failed || !slices.Equal(got["e"], []int64{1}) || !slices.Equal(got["f"], []int64{1}) {
				t.Errorf("outcome %v, got %v", log, got)
			}
			m.stop(time.Minute)
		})
	})
}

// A relay of another schema is another relay: nothing is admitted, and who wrote
// it says so.
func TestSchemasDiffer(t *testing.T) {
	m := newMesh(t, 8, "n1", "n2")
	got := m.collect()
	m.run(func(ctx context.Context) {
		m.install(apart(1, "n2"), "n1")
		other := apart(1, "n2")
		other.Relays[0].Schema = &vocab.Schema{Name: "wide", Fields: append(slices.Clone(reading.Fields), vocab.Field{Name: "m", Type: vocab.Scalar(vocab.I64)})}
		other.Emitters = nil
		m.install(other, "n2")
		log := m.nodes["n1"].push(ctx, "in", true, 1)
		m.nodes["n1"].push(ctx, "in", false, 2)
		m.sleep(ctx, time.Second)
		if len(log.outcomes) != 1 || !log.outcomes[0].Failed || len(got) > 0 || len(m.errors) == 0 || !strings.Contains(m.errors[0], "relay d.all to the owner on n2") {
			t.Errorf("outcome %v, got %v, reports %q", log, got, m.errors)
		}
		m.stop(time.Minute)
	})
}

// A domain that stopped finishes nothing that still arrives.
func TestStoppedDomainRefuses(t *testing.T) {
	m := newMesh(t, 9, "n1", "n2")
	got := m.collect()
	m.run(func(ctx context.Context) {
		m.install(apart(1, "n2"), "n1", "n2")
		stopped := apart(2, "n2")
		stopped.Domain = "d"
		if err := m.nodes["n2"].d.Install(ctx, &stopped); err != nil {
			t.Error(err)
		}
		log := m.nodes["n1"].push(ctx, "in", true, 1)
		m.sleep(ctx, time.Second)
		if len(log.outcomes) != 1 || !log.outcomes[0].Failed || len(got) > 0 {
			t.Errorf("outcome %v, got %v", log, got)
		}
		m.stop(time.Minute)
	})
}

// A node reads a relay of another one through a subscription: every batch once,
// beside its consumers there, and on when the owner moves.
func TestSubscriptionOnAnotherNode(t *testing.T) {
	m := newMesh(t, 10, "n1", "n2", "n3")
	m.collect()
	m.run(func(ctx context.Context) {
		m.install(apart(1, "n2"), "n1", "n2", "n3")
		queue := NewFrameQueue(m.world)
		s, err := m.nodes["n3"].d.Subscribe(ctx, "all", SubscribeOptions{Name: "s", Queue: queue})
		if err != nil {
			t.Error(err)
			return
		}
		// One on the owner, too: it needs nobody until the owner moves.
		near := NewFrameQueue(m.world)
		n, err := m.nodes["n2"].d.Subscribe(ctx, "all", SubscribeOptions{Name: "n", Queue: near})
		if err != nil {
			t.Error(err)
			return
		}
		read := func(q *primitives.Queue[Frame]) (all []int64) {
			for f, ok := q.TryRecv(); ok; f, ok = q.TryRecv() {
				if f.Kind != FrameRows {
					t.Errorf("frame %+v", f)
					continue
				}
				all = append(all, values(&Carrier{Batch: f.Batch})...)
				f.release()
			}
			return all
		}
		push := func(v int64) {
			log := m.nodes["n1"].push(ctx, "in", true, v)
			m.sleep(ctx, 100*time.Millisecond)
			if len(log.outcomes) != 1 || log.outcomes[0].Failed {
				t.Errorf("outcome %v", log)
			}
		}
		if r, here := m.nodes["n2"].d.DescribeRelay("all"); !here || !slices.Equal(r.Nodes, []string{"n3"}) || r.Attached != 1 {
			t.Errorf("relay %+v", r)
		}
		if _, here := m.nodes["n3"].d.DescribeRelay("all"); here {
			t.Error("a mirror was described as the relay")
		}
		if owner, known := m.nodes["n3"].d.Owner("relay", "all"); owner != "n2" || !known {
			t.Errorf("owner %q %v", owner, known)
		}
		push(1)
		if a, b := read(queue), read(near); !slices.Equal(a, []int64{1}) || !slices.Equal(b, []int64{1}) {
			t.Errorf("got %v, %v", a, b)
		}
		release := m.hold(ctx, quiesce.Scope{Gates: []string{"all"}})
		m.install(apart(2, "n1"), "n1", "n2", "n3")
		release()
		push(2)
		push(3)
		if a, b := read(queue), read(near); !slices.Equal(a, []int64{2, 3}) || !slices.Equal(b, []int64{2, 3}) {
			t.Errorf("got %v, %v", a, b)
		}
		s.Close()
		n.Close()
		m.sleep(ctx, time.Second)
		push(4)
		if r, _ := m.nodes["n1"].d.DescribeRelay("all"); queue.Len()+near.Len() > 0 || len(r.Nodes) != 1 { // n2 has the emitter
			t.Errorf("after the end: %d frames, relay %+v", queue.Len()+near.Len(), r)
		}
		m.stop(time.Minute)
	})
}

// A blocking subscription on another node holds back the relay, not the
// acknowledgements; the end of its node lets it go on.
func TestRemoteSubscriptionHoldsTheRelayBack(t *testing.T) {
	m := newMesh(t, 11, "n1", "n2", "n3")
	got := m.collect()
	m.run(func(ctx context.Context) {
		m.install(apart(1, "n2"), "n1", "n2", "n3")
		queue := primitives.NewQueue[Frame](m.world, 1)
		if _, err := m.nodes["n3"].d.Subscribe(ctx, "all", SubscribeOptions{Name: "s", Queue: queue}); err != nil {
			t.Error(err)
			return
		}
		pushed := int64(0)
		for ; pushed < 50; pushed++ {
			var log *tallyLog
			if !m.within(ctx, 2*time.Second, func(ctx context.Context) {
				log = m.nodes["n1"].push(ctx, "in", true, pushed)
				_ = log.done.Wait(ctx)
			}) {
				break
			}
		}
		if pushed < 3 || pushed > 10 {
			t.Errorf("%d batches passed a session that reads nothing", pushed)
		}
		m.nodes["n3"].crash()
		m.sleep(ctx, 30*time.Second)
		if len(got["e"]) < int(pushed) {
			t.Errorf("got %v", got)
		}
		for f, ok := queue.TryRecv(); ok; f, ok = queue.TryRecv() {
			f.release()
		}
		m.stop(time.Minute)
	})
}

// What the tap shows of every run: a relay within its capacity, a mirror with one
// copy, every copy and every dispatch once and in order.
func TestTapsOfRelaysAcrossNodes(t *testing.T) {
	for seed := range uint64(5) {
		m := newMesh(t, seed, "n1", "n2", "n3")
		m.collect()
		type end struct {
			node string
			kind observe.EventKind
			name string
		}
		next := map[end]uint64{}
		sent, admitted := 0, 0
		m.tap = func(p *peer, e observe.Event) {
			at := end{p.name, e.Kind, e.Name}
			switch e.Kind {
			case observe.RelayAdmitted, observe.CopyAdmitted, observe.RelayDispatched, observe.CopyDispatched:
				if next[at]++; e.ID != next[at] {
					t.Errorf("%v: event %d, expected %d", at, e.ID, next[at])
				}
				if e.Kind == observe.RelayAdmitted && e.Peer != "" {
					admitted++
				}
				if limit := map[observe.EventKind]int{observe.RelayAdmitted: 2, observe.CopyAdmitted: copyCapacity}[e.Kind]; e.Depth > limit && limit > 0 {
					t.Errorf("%v holds %d", at, e.Depth)
				}
			case observe.DispatchSent:
				sent++
			}
		}
		m.run(func(ctx context.Context) {
			m.install(chain(1, 2), "n1", "n2", "n3")
			var last *tallyLog
			for i := range int64(30) {
				last = m.nodes["n1"].push(ctx, "in", true, i)
			}
			_ = last.done.Wait(ctx)
			m.stop(time.Minute)
		})
		if sent == 0 || sent != admitted {
			t.Errorf("%d dispatches were sent, %d admitted", sent, admitted)
		}
	}
}

// A node that is alone refuses what it could not reach.
func TestRevisionNeedsAnExchange(t *testing.T) {
	w := newSim(t, 1)
	w.collect()
	w.run(func(ctx context.Context) {
		rev := apart(1, "n2")
		rev.Domain, rev.Running = "d", true
		err := w.d.Install(ctx, &rev)
		if err == nil || !strings.Contains(err.Error(), "relay all on node 'n2'") {
			t.Errorf("install: %v", err)
		}
		if err := w.stop(time.Second); err != nil {
			t.Error(err)
		}
	})
}

// A delivery that says nothing sensible is refused, whatever it is for.
func TestMalformedNote(t *testing.T) {
	m := newMesh(t, 12, "n1")
	m.run(func(ctx context.Context) {
		d := m.nodes["n1"].d
		if _, err := d.Layout(exchange.ToOwner, "all", []byte{0x80}); err != error(errMalformed) {
			t.Errorf("layout: %v", err)
		}
		if err := d.Accept(ctx, exchange.Process{}, exchange.Channel{}, &exchange.Batch{}, nil); err != error(errMalformed) {
			t.Errorf("accept: %v", err)
		}
		if _, err := d.Layout(exchange.ToOwner, "all", note{revision: 3}.encode()); err != error(errNotReady) {
			t.Errorf("layout of a revision to come: %v", err)
		}
		m.install(decide.Revision{Number: 3}, "n1")
		if _, err := d.Layout(exchange.ToOwner, "all", note{revision: 3}.encode()); err == nil || !strings.Contains(fmt.Sprint(err), "rejected") {
			t.Errorf("layout of a relay that is not there: %v", err)
		}
		m.stop(time.Second)
	})
}

// Every operator is executed by one node at a time under a schedule, and the tap
// says where.
func TestTapsOfExecution(t *testing.T) {
	m := newMesh(t, 13, "n1", "n2")
	m.collect()
	var said []string
	m.tap = func(p *peer, e observe.Event) {
		switch e.Kind {
		case observe.ExecutionStarted:
			said = append(said, fmt.Sprintf("%s+%s %s@%d", p.name, e.Text, e.Name, e.ID))
		case observe.ExecutionEnded:
			said = append(said, fmt.Sprintf("%s-%s %s", p.name, e.Text, e.Name))
		}
	}
	m.run(func(ctx context.Context) {
		step := func(rev decide.Revision, want ...string) {
			said = nil
			for _, n := range []string{"n1", "n2"} {
				if err := m.nodes[n].d.Install(ctx, &rev); err != nil {
					t.Error(err)
				}
			}
			slices.Sort(said)
			slices.Sort(want)
			if !slices.Equal(said, want) {
				t.Errorf("revision %d: %q, want %q", rev.Number, said, want)
			}
		}
		rev := apart(1, "n2")
		rev.Domain, rev.Running, rev.Schedule = "d", true, 1
		step(rev, "n2+relay all@1", "n1+ingestor in@1", "n2+emitter e@1")
		rev.Number = 2
		step(rev)
		moved := apart(3, "n1")
		moved.Domain, moved.Running, moved.Schedule = "d", true, 3
		step(moved, "n1+ingestor in@3", "n1+relay all@3", "n2-relay all", "n2+emitter e@3")
		moved.Running = false
		moved.Number = 4
		step(moved, "n1-ingestor in", "n1-relay all", "n2-emitter e")
		moved.Running = true
		moved.Number, moved.Schedule = 5, 5
		step(moved, "n1+ingestor in@5", "n1+relay all@5", "n2+emitter e@5")
		said = nil
		m.stop(time.Second)
		slices.Sort(said)
		if want := []string{"n1-ingestor in", "n1-relay all", "n2-emitter e"}; !slices.Equal(said, want) {
			t.Errorf("at the end: %q", said)
		}
	})
}
