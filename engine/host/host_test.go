package host

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

func all(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func twoSinks(source decide.SourcePlan) decide.Revision {
	return decide.Revision{
		Relays:    []decide.RelayPlan{{Name: "all", Schema: reading, CapacityBatches: 1}},
		Ingestors: []decide.IngestorPlan{ingestorPlan(source)},
		Emitters: []decide.EmitterPlan{emitterPlan("one", nil),
			emitterPlan("packed", &vocab.Batch{MaxMessages: 7, MaxSize: vocab.Size{Bytes: 50}})},
	}
}

func TestPipelineDeliversInOrder(t *testing.T) {
	w := newWorld(t, 1)
	w.broker.publish(1000)
	w.start(twoSinks(stream(300)))
	w.until("everything is acknowledged", func() bool { return len(w.broker.acked) == 1000 })
	if !slices.Equal(w.dest.got["one"], all(1000)) || !slices.Equal(w.dest.got["packed"], all(1000)) {
		t.Errorf("order or number of records: %d and %d", len(w.dest.got["one"]), len(w.dest.got["packed"]))
	}
	for _, body := range w.dest.bodies["packed"] {
		if len(body) > 50 {
			t.Errorf("payload of %d bytes", len(body))
		}
	}
	in, _ := w.d.DescribeIngestor("in")
	if in.Status != "running" || !in.Ready || in.Acknowledged != 1000 || in.OpenRoots != 0 {
		t.Errorf("ingestor %+v", in)
	}
	out, _ := w.d.DescribeEmitter("one")
	if out.Status != "OK" || out.Buffered != 0 || out.Retained != 0 {
		t.Errorf("emitter %+v", out)
	}
	sent := w.metrics.Counter(observe.Messages, "d", "emitter", "one", "", "sent", "all", "sink", "NATS SUBJECT")
	if sent.Value() != 1000 {
		t.Errorf("sent counter %d", sent.Value())
	}
	w.stop()
}

// Under every fault of the connectors, and kills of the node, a position is
// acknowledged only after both sinks have its record, and once the faults end
// everything arrives.
func TestNoAcknowledgedLossUnderFaults(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, seed)
			const total = 200
			w.broker.publish(total)
			faulty := true
			rate := uint64(5 + w.below(30))
			chance := func(string) bool { return faulty && w.below(rate) == 0 }
			w.broker.chance = chance
			w.dest.chance = func(kind string) bool { return kind != "refuse" && chance(kind) }
			checked := map[int]bool{}
			check := func() {
				for id := range total {
					if w.broker.acked[id] && !checked[id] {
						checked[id] = true
						for _, sink := range []string{"one", "packed"} {
							if !slices.Contains(w.dest.got[sink], id) {
								t.Fatalf("position %d was acknowledged before %s had it", id, sink)
							}
						}
					}
				}
			}
			w.start(twoSinks(stream([]uint64{1, 20, 100}[w.below(3)])))
			for range 2 + w.below(4) {
				bound := w.sim.Elapsed() + time.Duration(w.below(2000))*time.Millisecond
				w.until("a while", func() bool { check(); return w.sim.Elapsed() >= bound })
				switch w.below(3) {
				case 0:
					w.node.Kill()
					w.node.Restart()
				case 1:
					w.node.Stop()
					w.until("the node ends", func() bool { return !w.node.Running() })
					check()
					w.node.Restart()
				}
			}
			faulty = false
			w.until("everything is acknowledged", func() bool { check(); return len(w.broker.acked) == total })
			w.stop()
			check()
		})
	}
}

func TestUndecodablePayload(t *testing.T) {
	for _, policy := range []decide.ErrorLogging{decide.GeneralIgnore, decide.GeneralLog} {
		w := newWorld(t, 3)
		w.broker.publish(10)
		w.broker.payloads = map[int]string{4: `{"n":"four"}`}
		rev := twoSinks(stream(10))
		rev.Ingestors[0].GeneralError = policy
		w.start(rev)
		if policy == decide.GeneralIgnore {
			w.until("the others are acknowledged", func() bool { return len(w.broker.acked) == 10 })
			if !slices.Equal(w.dest.got["one"], []int{0, 1, 2, 3, 5, 6, 7, 8, 9}) {
				t.Errorf("neighbours %v", w.dest.got["one"])
			}
		} else {
			w.until("the batch was presented again", func() bool { return w.broker.deliver > 30 })
			if len(w.broker.acked) != 0 {
				t.Error("a batch with an undecodable payload was acknowledged under LOG")
			}
			if !strings.Contains(strings.Join(w.reports, "\n"), "payload does not decode") {
				t.Errorf("reports %v", w.reports)
			}
		}
		w.stop()
	}
}

func TestRejectedRecordFollowsItsPolicy(t *testing.T) {
	w := newWorld(t, 4)
	w.broker.publish(100)
	refused := 0
	w.dest.chance = func(kind string) bool {
		if kind == "refuse" && w.below(10) == 0 {
			refused++
			return true
		}
		return false
	}
	rev := twoSinks(stream(20))
	rev.Emitters = rev.Emitters[:1]
	rev.Relays = append(rev.Relays, decide.RelayPlan{Name: "bad", Schema: reading, CapacityBatches: 1})
	rev.Emitters[0].OnError = decide.MessageErrorPlan{Action: decide.ErrorSendTo, To: "bad", Construct: inherit()}
	second := emitterPlan("bad", nil)
	second.Inputs[0].Relay = "bad"
	second.OnError = decide.MessageErrorPlan{Action: decide.ErrorIgnore}
	rev.Emitters = append(rev.Emitters, second)
	w.start(rev)
	w.until("everything is acknowledged", func() bool { return len(w.broker.acked) == 100 })
	w.dest.chance = nil
	both := append(slices.Clone(w.dest.got["one"]), w.dest.got["bad"]...)
	if n := len(both) + int(w.metrics.Counter(observe.EmitterRejected, "d", "bad").Value()); n != 100 {
		t.Errorf("%d of 100 records ended in one place", n)
	}
	if counted := w.metrics.Counter(observe.EmitterRejected, "d", "one").Value() + w.metrics.Counter(observe.EmitterRejected, "d", "bad").Value(); int(counted) != refused {
		t.Errorf("counted %d of %d refusals", counted, refused)
	}
	w.stop()
}

// Five rows of one batch end in five places; each error record shows what its own
// row had built, whatever became of the others.
func TestPartialOutputOfEachStep(t *testing.T) {
	number := vocab.Scalar(vocab.I64)
	schema := func(name string, optional bool, fields ...string) (*vocab.Schema, *decide.CodecPlan) {
		s := &vocab.Schema{Name: name}
		wire := decide.WirePlan{Format: vocab.WireJSON}
		for i, f := range fields {
			s.Fields = append(s.Fields, vocab.Field{Name: f, Type: number, Optional: optional && i > 0})
			wire.Fields = append(wire.Fields, decide.WireField{Name: f, Type: vocab.WireInteger, Column: i})
		}
		return s, &decide.CodecPlan{Name: name, Schema: s, Wire: wire}
	}
	pair, pairCodec := schema("pair", false, "n", "m")
	bad, badCodec := schema("bad", true, "id", "n", "m")
	constant := func(n int64) *typed.Expr {
		return &typed.Expr{Op: typed.OpLiteral, Type: number, Literal: typed.Literal{Int: n}}
	}
	op := func(op typed.Op, of vocab.Type, args ...*typed.Expr) *typed.Expr {
		return &typed.Expr{Op: op, Type: of, Fallible: true, Args: args}
	}
	read := func(scope typed.Scope, index int, name string) *typed.Expr {
		return &typed.Expr{Op: typed.OpColumn, Type: number, Column: typed.Column{Scope: scope, Index: index, Name: name}}
	}
	boolean, str := vocab.Scalar(vocab.Bool), vocab.Scalar(vocab.String)

	w := newWorld(t, 12)
	w.broker.publish(5)
	w.dest.chance = func(kind string) bool { return kind == "refuse" && len(w.dest.heads) == 1 }
	rev := twoSinks(stream(5))
	e := &rev.Emitters[0]
	e.Inputs[0].Where = op(typed.OpGe, boolean, op(typed.OpRem, number, constant(6), column()), constant(0)) // fails for 0
	e.Codec, e.Construct = pairCodec, typed.Construction{Output: pair, Steps: []typed.Step{
		{Target: 0, Inherit: true, Expr: column()},
		{Target: 1, Expr: op(typed.OpDiv, number, constant(12), op(typed.OpSub, number, column(), constant(1)))}, // fails for 1
	}}
	e.Sink = decide.SinkPlan{Entity: vocab.SinkHTTPRequest, Mode: e.Sink.Mode, Method: text("PUT"),
		Path: op(typed.OpCase, str, op(typed.OpEq, boolean, column(), constant(2)), text("/a b"), text("/ok"))} // refused for 2
	e.OnError = decide.MessageErrorPlan{Action: decide.ErrorSendTo, To: "bad", Construct: typed.Construction{Output: bad, Steps: []typed.Step{
		{Target: 0, Expr: column()}, {Target: 1, Expr: read(typed.ScopePartialOutput, 0, "n")}, {Target: 2, Expr: read(typed.ScopePartialOutput, 1, "m")}}}}
	second := emitterPlan("bad", nil)
	second.Inputs[0].Relay, second.Codec = "bad", badCodec
	second.Construct = typed.Construction{Output: bad}
	for i, f := range bad.Fields {
		second.Construct.Steps = append(second.Construct.Steps, typed.Step{Target: i, Inherit: true, Expr: read(typed.ScopeInput, i, f.Name)})
	}
	rev.Relays = append(rev.Relays, decide.RelayPlan{Name: "bad", Schema: bad, CapacityBatches: 1})
	rev.Emitters = []decide.EmitterPlan{*e, second}
	w.start(rev)
	w.until("everything is acknowledged", func() bool { return len(w.broker.acked) == 5 })
	var got []string
	for _, body := range w.dest.bodies["bad"] {
		got = append(got, string(body))
	}
	slices.Sort(got)
	want := []string{`{"id":0}`, `{"id":1,"n":1}`, `{"id":2,"n":2,"m":12}`, `{"id":3,"n":3,"m":6}`}
	if !slices.Equal(got, want) {
		t.Errorf("error records %v, want %v", got, want)
	}
	w.stop()
}

func TestHTTPRequestsAreEvaluatedOnce(t *testing.T) {
	w := newWorld(t, 5)
	w.broker.publish(3)
	rev := twoSinks(stream(10))
	rev.Emitters = rev.Emitters[:1]
	e := &rev.Emitters[0]
	e.Sink = decide.SinkPlan{Entity: vocab.SinkHTTPRequest, Mode: e.Sink.Mode, Method: text("PUT"), Path: text("/a b")}
	e.Invoke = []decide.HeaderWrite{{Name: text("X-Key"), Value: text("v")}}
	e.OnError = decide.MessageErrorPlan{Action: decide.ErrorIgnore}
	w.start(rev)
	w.until("refused paths are handled", func() bool { return len(w.broker.acked) == 3 })
	if len(w.dest.heads) != 0 {
		t.Error("a request with a malformed path was offered")
	}
	e.Sink.Path = text("/a/../b")
	w.stop()

	w = newWorld(t, 6)
	w.broker.publish(3)
	w.start(rev)
	w.until("requests are delivered", func() bool { return len(w.broker.acked) == 3 })
	for _, r := range w.dest.heads {
		if r.Method != "PUT" || r.Target != "/b" || len(r.Headers) != 1 || string(r.Body[:5]) != `{"n":` {
			t.Errorf("request %+v", r)
		}
	}
	w.stop()
}

// A stop with the destination down abandons the positions: nothing is
// acknowledged and everything arrives after the restart.
func TestStopWithTheDestinationDown(t *testing.T) {
	w := newWorld(t, 7)
	w.broker.publish(50)
	down := true
	w.dest.chance = func(kind string) bool { return down && (kind == "open" || kind == "fail") }
	w.start(twoSinks(stream(50)))
	w.pass(time.Second)
	out, _ := w.d.DescribeEmitter("one")
	if out.Status != "ERROR" || out.Transient.Err == nil || out.Retained != 50 {
		t.Errorf("emitter %+v", out)
	}
	w.node.Stop()
	w.until("the node ends", func() bool { return !w.node.Running() })
	if len(w.broker.acked) != 0 {
		t.Fatal("acknowledged what no sink has")
	}
	if !strings.Contains(strings.Join(w.reports, "\n"), "stopped with unconfirmed positions: 50") {
		t.Errorf("reports %v", w.reports)
	}
	down = false
	w.node.Restart()
	w.until("everything is acknowledged", func() bool { return len(w.broker.acked) == 50 })
	w.stop()
}

// A minute of refused connections: the attempts follow the backoff and the
// report is one line.
func TestReconnectStorm(t *testing.T) {
	w := newWorld(t, 8)
	w.broker.publish(5)
	attempts, refusing := 0, true
	w.broker.chance = func(kind string) bool {
		if kind == "resume" && refusing {
			attempts++
			return true
		}
		return false
	}
	w.start(twoSinks(stream(5)))
	w.pass(time.Minute)
	if attempts < 500 || attempts > 620 { // 10, 20, 40, 80, then 100 ms each
		t.Errorf("%d attempts", attempts)
	}
	if len(w.reports) != 1 {
		t.Errorf("%d reports", len(w.reports))
	}
	in, _ := w.d.DescribeIngestor("in")
	if in.Ready || in.Instances[0].Transient.Err == nil {
		t.Errorf("ingestor %+v", in)
	}
	refusing = false
	w.until("everything is acknowledged", func() bool { return len(w.broker.acked) == 5 })
	w.stop()
}

// A record that makes no progress for ACK TIMEOUT returns to its source.
func TestAckTimeout(t *testing.T) {
	w := newWorld(t, 9)
	w.broker.publish(1)
	rev := twoSinks(stream(1))
	// A junction whose route waits for a relay that is full makes no progress: the
	// capacity of "all" is taken by a consumer that never ends its first batch.
	rev.Emitters = nil
	rev.Junctions = []decide.JunctionPlan{{Name: "j", Attached: true, Inputs: []decide.InputPlan{{Relay: "all"}}, Routes: []decide.RoutePlan{toRelay("next")}}}
	rev.Relays = append(rev.Relays, decide.RelayPlan{Name: "next", Schema: reading, CapacityBatches: 0})
	w.start(rev)
	w.until("the record was presented three times", func() bool { return w.broker.deliver == 3 })
	if e := w.sim.Elapsed(); e < 4*time.Second || e > 7*time.Second {
		t.Errorf("after %s", e)
	}
	if failed := w.metrics.Counter(observe.AckFailed, "d", "timeout").Value(); failed != 2 {
		t.Errorf("%d roots timed out", failed)
	}
	w.node.Kill()
	w.sim.Close()
}

func TestQuiesceBuffer(t *testing.T) {
	w := newWorld(t, 10)
	plan := decide.SourcePlan{Entity: vocab.SourceNATSSubject, Instances: 1,
		Quiesce: vocab.Quiesce{Body: vocab.QuiesceBuffer, MaxSize: vocab.Size{Bytes: 70}, DropOldest: true}}
	w.start(twoSinks(plan))
	w.broker.publish(5)
	w.until("live records arrive", func() bool { return len(w.dest.got["one"]) == 5 })
	var release func()
	err := w.sim.Do("hold", func() {
		var err error
		release, err = w.d.Quiesce(t.Context(), w.node.World().Clock().Now().Add(time.Second))
		if err != nil {
			t.Error(err)
		}
	}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	for id := 10; id < 30; id++ { // 8 bytes each, 70 fit 8
		w.broker.queue = append(w.broker.queue, id)
	}
	w.until("the broker is read empty", func() bool { return len(w.broker.queue) == 0 })
	in, _ := w.d.DescribeIngestor("in")
	if in.Status != "quiesced" || in.Buffered != 8 || in.Dropped != 12 {
		t.Errorf("ingestor %+v", in)
	}
	if err := w.sim.Do("release", func() { release() }, time.Minute); err != nil {
		t.Fatal(err)
	}
	w.until("held records arrive", func() bool { return len(w.dest.got["one"]) == 13 })
	if !slices.Equal(w.dest.got["one"][5:], []int{22, 23, 24, 25, 26, 27, 28, 29}) {
		t.Errorf("got %v", w.dest.got["one"])
	}
	w.quiesce()
	w.broker.queue = append(w.broker.queue, 30, 31)
	w.until("the broker is read empty again", func() bool { return len(w.broker.queue) == 0 })
	w.stop()
	w.heldIsCounted(14)
}

// Flushes do not make a destination that cannot be reached be tried earlier, and
// rows that do not encode do not make it count as reached.
func TestSinkIsReopenedOnItsBackoff(t *testing.T) {
	poison := &vocab.Batch{MaxMessages: 1, MaxSize: vocab.Size{Bytes: 1}}
	for _, batch := range []*vocab.Batch{nil, poison} {
		t.Run(fmt.Sprintf("poison rows %v", batch != nil), func(t *testing.T) {
			w := newWorld(t, 13)
			var tried []time.Duration
			w.dest.chance = func(kind string) bool {
				if kind == "open" {
					tried = append(tried, w.sim.Elapsed())
				}
				return kind == "open"
			}
			rev := twoSinks(decide.SourcePlan{Entity: vocab.SourceNATSSubject, Instances: 1})
			rev.Emitters = []decide.EmitterPlan{emitterPlan("one", batch)}
			w.start(rev)
			for id := range 20 {
				w.pass(17 * time.Millisecond)
				w.broker.queue = append(w.broker.queue, id)
			}
			for k := 1; k < len(tried); k++ {
				if gap := tried[k] - tried[k-1]; gap < min(10*time.Millisecond<<(k-1), 80*time.Millisecond) {
					t.Errorf("attempt %d came after %s", k, gap)
				}
			}
			if len(tried) < 5 || len(w.reports) != 1 {
				t.Errorf("attempts at %v, reports %v", tried, w.reports)
			}
			w.node.Kill()
			w.sim.Close()
		})
	}
}

func TestMissingConnector(t *testing.T) {
	w := newWorld(t, 11)
	w.sources = nil
	w.start(twoSinks(stream(1)))
	w.pass(time.Second)
	in, ok := w.d.DescribeIngestor("in")
	if !ok || in.Ready || in.Instances[0].Transient.Err == nil {
		t.Errorf("ingestor %+v", in)
	}
	w.stop()
}

// The domain changes under traffic and faults: what stays keeps its promise, and
// nothing gets stuck.
func TestInstallUnderTraffic(t *testing.T) {
	for seed := range uint64(30) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			w := newWorld(t, seed)
			const total = 600
			w.broker.publish(total)
			faulty := true
			chance := func(string) bool { return faulty && w.below(60) == 0 }
			w.broker.chance = chance
			w.dest.chance = func(kind string) bool { return kind != "refuse" && chance(kind) }
			check := func() {
				for id := range total {
					if w.broker.acked[id] && !slices.Contains(w.dest.got["one"], id) {
						t.Fatalf("position %d was acknowledged before the sink had it", id)
					}
				}
			}
			w.start(twoSinks(stream(20)))
			w.until("the domain runs", func() bool { return w.d != nil })
			for n := range 12 {
				rev := twoSinks(stream(20))
				rev.Domain, rev.Running, rev.Number = "d", true, uint64(n+2)
				rev.Relays[0].CapacityBatches = 1 + w.below(3)
				if w.below(2) == 0 {
					rev.Emitters = rev.Emitters[:1]
				}
				rev.Emitters[0].Flush.Each = time.Duration(1+w.below(5)) * time.Millisecond
				if w.below(2) == 0 {
					rev.Relays = append(rev.Relays, decide.RelayPlan{Name: "next", Schema: reading, CapacityBatches: 1})
					j := decide.JunctionPlan{Name: "j", Attached: w.below(2) == 0, Inputs: []decide.InputPlan{{Relay: "all"}}, Routes: []decide.RoutePlan{toRelay("next")}}
					j.Routes[0].Flush = vocab.Flush{Each: time.Duration(1+w.below(100)) * time.Millisecond}
					rev.Junctions = append(rev.Junctions, j)
				}
				if w.below(3) == 0 { // replaces the task that must not miss a record
					rev.Emitters[0].OnError.Action = decide.ErrorLog
				}
				switch w.below(6) {
				case 0:
					rev.Running = false
				case 1:
					rev.Ingestors[0].Source.Mode.Max = 7
				}
				installed := false
				w.sim.Go("install", func() {
					if err := w.d.Install(context.Background(), &rev); err != nil {
						t.Error(err)
					}
					installed = true
				})
				w.until("the revision is installed", func() bool { check(); return installed })
				w.pass(time.Duration(1+w.below(300)) * time.Millisecond)
				check()
			}
			faulty = false
			last, installed := w.rev, false
			w.sim.Go("install", func() {
				if err := w.d.Install(context.Background(), &last); err != nil {
					t.Error(err)
				}
				installed = true
			})
			w.until("everything is acknowledged", func() bool { check(); return installed && len(w.broker.acked) == total })
			w.stop()
		})
	}
}
