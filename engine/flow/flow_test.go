package flow

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/engine/ack"
	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// collect is an emitter that finishes rows at once.
func (w *world) collect() map[string][]int64 {
	got := map[string][]int64{}
	w.behave = func(_ context.Context, node primitives.World, name string, c *Carrier) {
		got[name] = append(got[name], values(c)...)
		c.Acks.OK(node.Clock().Now())
		c.Release()
	}
	return got
}

func TestJunctionFansOutByRoute(t *testing.T) {
	w := newSim(t, 1)
	got := w.collect()
	w.run(func(ctx context.Context) {
		w.install(decide.Revision{
			Relays:    []decide.RelayPlan{relay("all", 1), relay("even", 1), relay("odd", 1)},
			Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))},
			Junctions: []decide.JunctionPlan{{
				Name: "split", Attached: true, Inputs: []decide.InputPlan{{Relay: "all", Where: compare(typed.OpLt, column(), literal(100))}},
				Filter: compare(typed.OpNe, column(), literal(5)),
				Routes: []decide.RoutePlan{
					to("even", immediate, compare(typed.OpEq, rem(2), literal(0))),
					to("odd", each(10*time.Millisecond), compare(typed.OpEq, rem(2), literal(1))),
				},
			}},
			Emitters: []decide.EmitterPlan{emitterPlan("e", true, "even"), emitterPlan("o", true, "odd")},
		})
		log := w.push(ctx, true, 1, 2, 3, 4, 5, 6, 100, 101)
		if err := log.done.Wait(ctx); err != nil {
			t.Error(err)
		}
		if len(log.outcomes) != 1 || log.outcomes[0].Failed {
			t.Errorf("outcome %v", log)
		}
		if !slices.Equal(got["e"], []int64{2, 4, 6}) || !slices.Equal(got["o"], []int64{1, 3}) {
			t.Errorf("got %v", got)
		}
		if err := w.stop(time.Second); err != nil {
			t.Error(err)
		}
	})
}

func TestMessageErrorPolicies(t *testing.T) {
	errorRow := &vocab.Schema{Name: "bad", Fields: []vocab.Field{{Name: "n", Type: vocab.Scalar(vocab.I64)}, {Name: "code", Type: vocab.Scalar(vocab.String)}}}
	code := &typed.Expr{Op: typed.OpColumn, Type: vocab.Scalar(vocab.String), Column: typed.Column{Scope: typed.ScopeError, Index: 1, Name: "code"}}
	for _, action := range []decide.ErrorAction{decide.ErrorIgnore, decide.ErrorLog, decide.ErrorSendTo} {
		t.Run(policyNames[action], func(t *testing.T) {
			w := newSim(t, 2)
			got := w.collect()
			w.run(func(ctx context.Context) {
				r := to("all", immediate, nil)
				// 10 / n fails for zero.
				r.Construct.Steps[0].Expr = &typed.Expr{Op: typed.OpDiv, Type: vocab.Scalar(vocab.I64), Fallible: true, Args: []*typed.Expr{literal(10), column()}}
				r.OnError = decide.MessageErrorPlan{Action: action}
				if action == decide.ErrorSendTo {
					r.OnError.To = "bad"
					r.OnError.Construct = typed.Construction{Output: errorRow, Steps: []typed.Step{{Target: 0, Expr: column()}, {Target: 1, Expr: code}}}
				}
				w.install(decide.Revision{
					Relays:    []decide.RelayPlan{relay("all", 1), {Name: "bad", Schema: errorRow, CapacityBatches: 1}},
					Ingestors: []decide.IngestorPlan{ingestorPlan(r)},
					Emitters:  []decide.EmitterPlan{emitterPlan("good", true, "all"), emitterPlan("bad", true, "bad")},
				})
				log := w.push(ctx, true, 1, 0, 5, 0)
				if err := log.done.Wait(ctx); err != nil {
					t.Error(err)
				}
				if failed := log.outcomes[0].Failed; failed != (action == decide.ErrorLog) {
					t.Errorf("outcome %v", log)
				}
				if !slices.Equal(got["good"], []int64{10, 2}) {
					t.Errorf("good rows %v", got["good"])
				}
				if want := map[bool]int{true: 2, false: 0}[action == decide.ErrorSendTo]; len(got["bad"]) != want {
					t.Errorf("error records %v", got["bad"])
				}
				if len(w.errors) != map[bool]int{true: 1, false: 0}[action == decide.ErrorLog] {
					t.Errorf("reports %v", w.errors)
				}
				counter := w.metrics.Counter(observe.MessageErrors, "d", "ingestor", "in", "evaluation", "set", policyNames[action])
				if counter.Value()+w.metrics.Counter(observe.MessageErrors, "d", "ingestor", "in", "evaluation", "inherit", policyNames[action]).Value() != 2 {
					t.Errorf("counted %d", counter.Value())
				}
				if err := w.stop(time.Second); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// A stopped consumer fills its lane, the relay, the route and the intake, and
// nothing is lost when it goes on.
func TestBackpressureReachesTheIntake(t *testing.T) {
	for seed := range uint64(20) {
		w := newSim(t, seed)
		blocked := true
		var got []int64
		gate := func(ctx context.Context, node primitives.World) {
			for blocked {
				_ = primitives.Sleep(ctx, node, time.Millisecond)
			}
		}
		w.behave = func(ctx context.Context, node primitives.World, _ string, c *Carrier) {
			gate(ctx, node)
			got = append(got, values(c)...)
			c.Acks.OK(node.Clock().Now())
			c.Release()
		}
		w.run(func(ctx context.Context) {
			w.install(decide.Revision{
				Relays:    []decide.RelayPlan{relay("all", 2)},
				Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))},
				Emitters:  []decide.EmitterPlan{emitterPlan("slow", seed%2 == 0, "all")},
			})
			pushed := int64(0)
			// A push that waits for room for a second has met backpressure.
			for {
				bounded, cancel := primitives.WithDeadline(ctx, w.d.world, w.d.now().Add(time.Second))
				log := w.push(bounded, true, pushed)
				err := bounded.Err()
				cancel()
				if err != nil {
					if log.done.IsSet(); len(log.outcomes) != 1 || !log.outcomes[0].Failed {
						t.Errorf("a group that was not accepted: %v", log)
					}
					break
				}
				pushed++
				_ = primitives.Sleep(ctx, w.d.world, time.Millisecond)
				if pushed > 100 {
					t.Error("no backpressure")
					break
				}
			}
			// One running, one in the lane, two in the relay (the first in fan-out),
			// one in dispatch, one due behind it, one in the intake.
			if pushed < 5 || pushed > 8 {
				t.Errorf("%d groups in flight before the intake waited", pushed)
			}
			blocked = false
			if err := w.stop(time.Minute); err != nil {
				t.Error(err)
			}
			want := make([]int64, pushed)
			for i := range want {
				want[i] = int64(i)
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %v of %d", got, pushed)
			}
		})
	}
}

// A detached reader that takes nothing stops its neighbours and then the writer,
// as the manual says; nothing is dropped to go on.
func TestDetachedReaderTakesPartInBackpressure(t *testing.T) {
	w := newSim(t, 8)
	away := true
	got := map[string][]int64{}
	w.behave = func(ctx context.Context, node primitives.World, emitter string, c *Carrier) {
		for away && emitter == "away" {
			_ = primitives.Sleep(ctx, node, time.Millisecond)
		}
		got[emitter] = append(got[emitter], values(c)...)
		c.Acks.OK(node.Clock().Now())
		c.Release()
	}
	w.run(func(ctx context.Context) {
		w.install(decide.Revision{
			Relays:    []decide.RelayPlan{relay("all", 4)},
			Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))},
			Emitters:  []decide.EmitterPlan{emitterPlan("near", true, "all"), emitterPlan("away", false, "all")},
		})
		var want []int64
		for n := range int64(5) {
			w.push(ctx, false, n)
			want = append(want, n)
			_ = primitives.Sleep(ctx, w.d.world, time.Millisecond)
		}
		if r, _ := w.d.DescribeRelay("all"); !slices.Equal(got["near"], want[:3]) || r.Buffered != 3 || r.Waiting != 0 {
			t.Errorf("the neighbour has %v, the relay %+v", got["near"], r)
		}
		away = false
		if err := w.stop(time.Minute); err != nil {
			t.Error(err)
		}
		if !slices.Equal(got["near"], want) || !slices.Equal(got["away"], want) {
			t.Errorf("got %v", got)
		}
	})
}

func TestDrainReportsWhatIsLeft(t *testing.T) {
	w := newSim(t, 3)
	w.behave = func(ctx context.Context, node primitives.World, _ string, c *Carrier) {
		_ = primitives.SleepUntil(ctx, node, primitives.Never)
		c.Fail(node.Clock().Now(), ack.Dropped)
	}
	w.run(func(ctx context.Context) {
		w.install(decide.Revision{
			Relays:    []decide.RelayPlan{relay("all", 1)},
			Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))},
			Emitters:  []decide.EmitterPlan{emitterPlan("stuck", true, "all")},
		})
		log := w.push(ctx, true, 1, 2)
		_, err := w.d.Quiesce(ctx, w.d.now().Add(time.Second))
		if err == nil || !strings.Contains(err.Error(), "1 open roots") {
			t.Errorf("quiesce: %v", err)
		}
		// The terminal stop drops it, negatively.
		if err := w.stop(time.Second); err == nil {
			t.Error("stop claimed to have drained")
		}
		if len(log.outcomes) != 1 || !log.outcomes[0].Failed {
			t.Errorf("outcome %v", log)
		}
	})
}

func TestInstallKeepsWhatDidNotChange(t *testing.T) {
	w := newSim(t, 4)
	got := w.collect()
	w.run(func(ctx context.Context) {
		rev := func(limit int64, extra bool, capacity int) decide.Revision {
			r := decide.Revision{
				Relays:    []decide.RelayPlan{relay("all", capacity), relay("some", 1)},
				Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))},
				Junctions: []decide.JunctionPlan{{Name: "j", Attached: true, Inputs: []decide.InputPlan{{Relay: "all"}},
					Routes: []decide.RoutePlan{to("some", each(time.Hour), compare(typed.OpLt, column(), literal(limit)))}}},
				Emitters: []decide.EmitterPlan{emitterPlan("e", true, "some")},
			}
			if extra {
				r.Emitters = append(r.Emitters, emitterPlan("second", false, "some"))
			}
			return r
		}
		w.install(rev(10, false, 1))
		first, junction := w.d.emitters["e"], w.d.junctions["j"]
		a := w.push(ctx, true, 1, 50)
		_ = primitives.Sleep(ctx, w.d.world, time.Second) // buffered for an hour

		w.install(rev(100, true, 4)) // program, consumer and capacity, all dynamic
		if w.d.emitters["e"] != first || w.d.junctions["j"] != junction {
			t.Error("an unchanged or dynamically changed operator was replaced")
		}
		// The same definitions as other values, as they come with a snapshot.
		again, schema := rev(100, true, 4), *reading
		again.Junctions[0].Routes[0].Construct.Output = &schema
		again.Relays[0].Schema, again.Relays[1].Schema = &schema, &schema
		if w.install(again); w.d.emitters["e"] != first || w.d.junctions["j"] != junction {
			t.Error("an unchanged operator was replaced")
		}
		b := w.push(ctx, true, 2, 60)
		_ = primitives.Sleep(ctx, w.d.world, time.Second)
		if len(got["e"]) != 0 {
			t.Errorf("flushed early: %v", got)
		}
		w.install(rev(100, false, 4)) // removes a consumer that holds nothing
		if len(got["e"]) != 0 {
			t.Errorf("the drain of another consumer flushed: %v", got)
		}
		if w.d.emitters["e"] != first {
			t.Error("an unchanged emitter was replaced")
		}
		next := rev(100, false, 4)
		next.Junctions = nil
		w.install(next) // removes the junction: its drain flushes
		_ = primitives.Sleep(ctx, w.d.world, time.Millisecond)
		if !slices.Equal(got["e"], []int64{1, 2, 60}) || got["second"] != nil {
			t.Errorf("got %v", got)
		}
		if a.outcomes[0].Failed || b.outcomes[0].Failed {
			t.Errorf("outcomes %v %v", a, b)
		}
		if err := w.stop(time.Second); err != nil {
			t.Error(err)
		}
	})
}

func TestSubscriptions(t *testing.T) {
	w := newSim(t, 5)
	w.collect()
	w.run(func(ctx context.Context) {
		rev := decide.Revision{
			Relays:    []decide.RelayPlan{relay("all", 1)},
			Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))},
		}
		w.install(rev)
		blocking, dropping := NewFrameQueue(w.d.world), NewFrameQueue(w.d.world)
		s, err := w.d.Subscribe(ctx, "all", SubscribeOptions{Name: "b", Queue: blocking, Where: compare(typed.OpEq, rem(2), literal(0))})
		if err != nil {
			t.Error(err)
			return
		}
		if _, err = w.d.Subscribe(ctx, "all", SubscribeOptions{Name: "d", Queue: dropping, Dropping: true}); err != nil {
			t.Error(err)
			return
		}
		if _, err = w.d.Subscribe(ctx, "none", SubscribeOptions{}); err == nil {
			t.Error("subscribed to a relay that does not exist")
		}
		reader := primitives.NewGroup(ctx, w.d.world)
		var even []int64
		reader.Go("session", func(ctx context.Context) error {
			for len(even) < 20 {
				f, err := blocking.Recv(ctx)
				if err != nil {
					return err
				}
				even = append(even, values(&Carrier{Batch: f.Batch})...)
				f.release()
			}
			return nil
		})
		for i := range int64(40) {
			log := w.push(ctx, true, i)
			_ = log.done.Wait(ctx) // a subscription delays no acknowledgement
			_ = primitives.Sleep(ctx, w.d.world, time.Millisecond)
		}
		if err := reader.Wait(ctx); err != nil {
			t.Error(err)
		}
		s.Close()
		if len(even) != 20 || even[19] != 38 {
			t.Errorf("filtered rows %v", even)
		}
		rows, lost := 0, 0
		for dropping.Len() > 0 {
			f, _ := dropping.TryRecv()
			rows += int(f.Batch.NumRows())
			f.release()
		}
		w.push(ctx, false, 100)
		_ = primitives.Sleep(ctx, w.d.world, time.Millisecond)
		for dropping.Len() > 0 {
			f, _ := dropping.TryRecv()
			lost += f.Count
			if f.Kind == FrameRows {
				rows++
				f.release()
			}
		}
		if rows != 17 || lost != 24 {
			t.Errorf("dropping: %d rows, %d lost", rows, lost)
		}
		rev.Relays = nil
		rev.Ingestors = nil
		w.install(rev)
		if f, ok := dropping.TryRecv(); !ok || f.Kind != FrameEnded || f.End != RelayRemoved {
			t.Errorf("last frame %v %v", f, ok)
		}
		if err := w.stop(time.Second); err != nil {
			t.Error(err)
		}
	})
}

// A subscription that comes while its relay is on its way out is told so.
func TestSubscriptionToARelayThatGoesAway(t *testing.T) {
	w := newSim(t, 6)
	w.collect()
	w.run(func(ctx context.Context) {
		w.install(decide.Revision{Relays: []decide.RelayPlan{relay("all", 1)}})
		w.d.relays["all"].endSubscriptions(RelayChanged)
		frames := NewFrameQueue(w.d.world)
		if _, err := w.d.Subscribe(ctx, "all", SubscribeOptions{Name: "late", Queue: frames}); err != nil {
			t.Error(err)
		}
		_ = primitives.Sleep(ctx, w.d.world, time.Millisecond)
		if f, ok := frames.TryRecv(); !ok || f.Kind != FrameEnded || f.End != RelayChanged {
			t.Errorf("frame %+v %v", f, ok)
		}
		if err := w.stop(time.Second); err != nil {
			t.Error(err)
		}
	})
}

// Rows that wait for their flush interval are refreshed however busy their task
// is.
func TestKeepaliveOfABusyTask(t *testing.T) {
	w := newSim(t, 7)
	w.collect()
	w.run(func(ctx context.Context) {
		w.install(decide.Revision{
			Relays:    []decide.RelayPlan{relay("all", 1), relay("slow", 1)},
			Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))},
			Junctions: []decide.JunctionPlan{{Name: "j", Attached: true, Inputs: []decide.InputPlan{{Relay: "all"}},
				Routes: []decide.RoutePlan{to("slow", each(time.Minute), nil)}}},
		})
		log := w.push(ctx, true, 1)
		_ = primitives.Sleep(ctx, w.d.world, 10*time.Millisecond)
		p := w.d.junctions["j"].processor
		ended := primitives.NewEvent(w.d.world)
		end := w.d.now().Add(5 * time.Second)
		var work func() // never lets the task wait
		work = func() {
			_ = primitives.Sleep(ctx, w.d.world, 10*time.Millisecond)
			log.tally.Expire(w.d.now(), ackTimeoutMin)
			if w.d.now() >= end {
				ended.Set()
				return
			}
			p.commands.TrySend(work)
		}
		p.commands.TrySend(work)
		if err := ended.Wait(ctx); err != nil {
			t.Error(err)
		}
		if len(log.outcomes) > 0 {
			t.Errorf("a row held by its flush interval: %v", log)
		}
		if err := w.stop(time.Second); err != nil {
			t.Error(err)
		}
	})
}

// Random graphs of speeds and failures: an acknowledged group reached every
// attached path completely, and every tally ends once.
func TestNoAcknowledgedLoss(t *testing.T) {
	for seed := range uint64(60) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newSim(t, seed)
			draw := w.sim.Stream("behaviour")
			below := func(n uint64) int { return int(draw.Below(n)) }
			seen := map[string]map[int64]bool{"a": {}, "b": {}, "c": {}}
			w.behave = func(ctx context.Context, node primitives.World, name string, c *Carrier) {
				_ = primitives.Sleep(ctx, node, time.Duration(below(3000))*time.Microsecond)
				now := node.Clock().Now()
				if below(10) == 0 && c.Rows() > 0 {
					bad, good := c.Acks.Partition([]int32{0})
					for _, v := range values(c)[1:] {
						seen[name][v] = true
					}
					good.OK(now)
					bad.Fail(now, ack.Reason{Class: ack.ClassMessage, Text: "refused"})
				} else {
					for _, v := range values(c) {
						seen[name][v] = true
					}
					c.Acks.OK(now)
				}
				c.Release()
			}
			var logs []*tallyLog
			w.run(func(ctx context.Context) {
				capacity := 1 + below(3)
				w.install(decide.Revision{
					Relays:    []decide.RelayPlan{relay("all", capacity), relay("low", 1)},
					Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil), to("low", each(5*time.Millisecond), compare(typed.OpLt, rem(10), literal(3))))},
					Junctions: []decide.JunctionPlan{{Name: "j", Attached: true, Inputs: []decide.InputPlan{{Relay: "all"}},
						Collect: &decide.CollectPlan{For: 3 * time.Millisecond},
						Routes:  []decide.RoutePlan{to("low", each(2*time.Millisecond), compare(typed.OpGe, rem(10), literal(3)))}}},
					Emitters: []decide.EmitterPlan{emitterPlan("a", true, "all", "low"), emitterPlan("b", true, "low"), emitterPlan("c", false, "all")},
				})
				n := int64(0)
				for range 20 {
					var vs []int64
					for range 1 + below(40) {
						vs = append(vs, n)
						n++
					}
					logs = append(logs, w.push(ctx, true, vs...))
					if below(3) == 0 {
						_ = primitives.Sleep(ctx, w.d.world, time.Duration(below(2000))*time.Microsecond)
					}
				}
				// Half of the runs drain, the others are cut off.
				bound := time.Minute
				if seed%2 == 1 {
					bound = time.Duration(below(5)) * time.Millisecond
				}
				_ = w.stop(bound)
			})
			acked := 0
			for _, log := range logs {
				if len(log.outcomes) != 1 {
					t.Fatalf("%d outcomes of %v", len(log.outcomes), log)
				}
				if log.outcomes[0].Failed {
					continue
				}
				acked++
				for _, v := range log.values {
					if !seen["a"][v] || !seen["b"][v] {
						t.Fatalf("%d was acknowledged and did not arrive", v)
					}
				}
			}
			if seed%2 == 0 && acked == 0 {
				t.Error("nothing was acknowledged")
			}
		})
	}
}

// A consumer that is stuck holds up neither the removal nor the replacement of
// its siblings, and cannot be removed itself.
func TestChangeBesideAStuckConsumer(t *testing.T) {
	for seed := range uint64(10) {
		w := newSim(t, seed)
		var got []int64
		w.behave = func(ctx context.Context, node primitives.World, name string, c *Carrier) {
			if name == "stuck" {
				_ = primitives.SleepUntil(ctx, node, primitives.Never)
				c.Fail(node.Clock().Now(), ack.Dropped)
				return
			}
			got = append(got, values(c)...)
			c.Acks.OK(node.Clock().Now())
			c.Release()
		}
		w.run(func(ctx context.Context) {
			w.d.deps.DrainTimeout = time.Second
			rev := func(action decide.ErrorAction, emitters ...string) decide.Revision {
				r := decide.Revision{Domain: "d", Running: true,
					Relays: []decide.RelayPlan{relay("all", 8)}, Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", immediate, nil))}}
				for _, name := range emitters {
					r.Emitters = append(r.Emitters, emitterPlan(name, true, "all"))
				}
				r.Emitters[0].OnError.Action = action
				return r
			}
			first := rev(decide.ErrorIgnore, "fine", "stuck")
			w.install(first)
			for i := range int64(6) { // one worked on, one in the lane, the rest in the relay
				w.push(ctx, false, i)
				_ = primitives.Sleep(ctx, w.d.world, time.Millisecond)
			}
			w.install(rev(decide.ErrorLog, "fine", "stuck")) // replaces the healthy one
			gone := rev(decide.ErrorIgnore, "fine")
			if err := w.d.Install(ctx, &gone); err == nil || !strings.Contains(err.Error(), "rows in emitters") {
				t.Errorf("removal of the stuck consumer: %v", err)
			}
			w.push(ctx, false, 6)
			_ = primitives.Sleep(ctx, w.d.world, time.Millisecond)
			stuck := rev(decide.ErrorIgnore, "stuck")
			w.install(stuck)
			if err := w.stop(time.Second); err == nil {
				t.Error("the stop claimed to have drained")
			}
			// The stuck consumer takes one batch and leaves one in its lane: the third
			// is handed to the healthy one only.
			if !slices.Equal(got, []int64{0, 1, 2}) {
				t.Errorf("got %v", got)
			}
		})
	}
}
