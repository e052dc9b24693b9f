package host

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/connectors/contract"
	"plexus/engine/batch/batchtest"
	"plexus/engine/decide"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/engine/state"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
)

var reading = &vocab.Schema{Name: "reading", Fields: []vocab.Field{{Name: "n", Type: vocab.Scalar(vocab.I64)}}}

var readingCodec = decide.CodecPlan{Name: "reading_codec", Schema: reading,
	Wire: decide.WirePlan{Format: vocab.WireJSON, Fields: []decide.WireField{{Name: "n", Type: vocab.WireInteger, Column: 0}}}}

func column() *typed.Expr {
	return &typed.Expr{Op: typed.OpColumn, Type: vocab.Scalar(vocab.I64), Column: typed.Column{Scope: typed.ScopeInput, Name: "n"}}
}

func text(s string) *typed.Expr {
	return &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(vocab.String), Literal: typed.Literal{Str: s}}
}

func inherit() typed.Construction {
	return typed.Construction{Output: reading, Steps: []typed.Step{{Target: 0, Inherit: true, Expr: column()}}}
}

func toRelay(name string) decide.RoutePlan {
	return decide.RoutePlan{To: name, Construct: inherit(), Flush: vocab.Flush{Immediate: true}, OnError: decide.MessageErrorPlan{Action: decide.ErrorLog}}
}

func stream(max uint64) decide.SourcePlan {
	mode := vocab.SourceMode{Acknowledged: true, Parallel: max > 1, Max: max, BatchTimeout: 5 * time.Millisecond,
		AckTimeout: 2 * time.Second, Retry: vocab.Retry{Backoff: 10 * time.Millisecond, Max: 100 * time.Millisecond}}
	return decide.SourcePlan{Entity: vocab.SourceNATSStream, Instances: 1, Mode: mode}
}

func ingestorPlan(source decide.SourcePlan) decide.IngestorPlan {
	return decide.IngestorPlan{Name: "in", Source: source, Codec: readingCodec, TimestampField: -1, Routes: []decide.RoutePlan{toRelay("all")}, GeneralError: decide.GeneralLog}
}

func emitterPlan(name string, batch *vocab.Batch) decide.EmitterPlan {
	return decide.EmitterPlan{Name: name, Attached: true, Inputs: []decide.InputPlan{{Relay: "all"}}, Codec: &readingCodec, Construct: inherit(), Batch: batch,
		Flush: vocab.Flush{Each: 3 * time.Millisecond, MaxBatch: vocab.Size{Bytes: 1 << 20}}, OnError: decide.MessageErrorPlan{Action: decide.ErrorIgnore}, GeneralError: decide.GeneralLog,
		Sink: decide.SinkPlan{Entity: vocab.SinkNATSSubject, Mode: vocab.SinkMode{Retry: vocab.Retry{Backoff: 10 * time.Millisecond, Max: 80 * time.Millisecond}}}}
}

// world is one simulated node beside a broker and a destination that outlive
// its process.
type world struct {
	t      *testing.T
	sim    *sim.Simulation
	node   *sim.Host
	mem    *memory.CheckedAllocator
	draw   *sim.Stream
	broker *fakeBroker
	dest   *fakeDestination

	metrics   *observe.Registry
	d         *flow.Domain
	endpoints *Endpoints
	cursors   map[state.Key]contract.State
	saveErr   func() error
	reports   []string
	rev       decide.Revision
	sources   map[vocab.SourceEntity]contract.SourceOpener
	sinks     map[vocab.SinkEntity]contract.SinkOpener
}

func newWorld(t *testing.T, seed uint64) *world {
	s := sim.New(sim.Options{Seed: seed})
	t.Cleanup(s.Close)
	w := &world{t: t, sim: s, node: s.Host("node-1"), draw: s.Stream("test"), cursors: map[state.Key]contract.State{}}
	w.broker = &fakeBroker{w: w, acked: map[int]bool{}}
	w.dest = &fakeDestination{w: w, got: map[string][]int{}, bodies: map[string][][]byte{}}
	w.sources = map[vocab.SourceEntity]contract.SourceOpener{vocab.SourceNATSStream: w.broker.open, vocab.SourceNATSSubject: w.broker.open}
	w.sinks = map[vocab.SinkEntity]contract.SinkOpener{vocab.SinkNATSSubject: w.dest.open, vocab.SinkHTTPRequest: w.dest.open}
	return w
}

func (w *world) below(n uint64) int { return int(w.draw.Below(n)) }

// start boots the node; it runs until it is stopped or killed.
func (w *world) start(rev decide.Revision) {
	rev.Domain, rev.Running, rev.Number = "d", true, 1
	w.rev = rev
	w.node.Start("node", w.main)
}

func (w *world) main(ctx context.Context, node primitives.World) {
	w.mem, w.metrics = memory.NewCheckedAllocator(batchtest.Soiled{}), observe.NewRegistry()
	w.endpoints = NewEndpoints(node)
	h := New(node, contract.Connectors{Sources: w.sources,
		Sinks: w.sinks}, w, w.endpoints, "node-1")
	d := flow.NewDomain(context.Background(), node, "d", flow.Deps{External: h, Metrics: w.metrics, Memory: w.mem, Tap: newOracle(func(what string) { w.t.Error(what) }),
		Report: func(_ string, o observe.Endpoint, err error) { w.reports = append(w.reports, o.Name+": "+err.Error()) }})
	if err := d.Install(context.Background(), &w.rev); err != nil {
		w.t.Error(err)
	}
	w.d = d
	_ = primitives.SleepUntil(ctx, node, primitives.Never) // until a stop is asked for
	_ = d.Stop(context.Background(), node.Clock().Now().Add(5*time.Second))
	if n := w.mem.CurrentAlloc(); n != 0 {
		w.t.Errorf("%d bytes of Arrow memory left after the stop", n)
	}
}

// stop ends the node gracefully and the simulation with it.
func (w *world) stop() {
	w.t.Helper()
	w.node.Stop()
	w.until("the node ends", func() bool { return !w.node.Running() })
	w.sim.Close()
}

func (w *world) until(what string, cond func() bool) {
	w.t.Helper()
	if err := w.sim.RunUntil(cond, 10*time.Minute); err != nil {
		var f *sim.Failure
		if errors.As(err, &f) {
			w.t.Log(f.Stack, f.Waiting)
		}
		w.sim.Close()
		w.t.Fatalf("until %s: %v; reports %v", what, err, w.reports)
	}
}

// pass lets virtual time pass.
func (w *world) pass(d time.Duration) {
	w.t.Helper()
	if err := w.sim.Do("time passes", func() { w.sim.Sleep(d, "test") }, 2*d); err != nil {
		w.t.Fatal(err)
	}
}

// Load implements Cursors.
func (w *world) Load(_ context.Context, key state.Key) (contract.State, bool, error) {
	s, ok := w.cursors[key]
	return s, ok, nil
}

// Save implements Cursors.
func (w *world) Save(_ context.Context, key state.Key, s contract.State) error {
	if w.saveErr != nil {
		if err := w.saveErr(); err != nil {
			return err
		}
	}
	w.cursors[key] = s
	return nil
}

// fakeBroker presents messages until they are acknowledged. Positions die with
// their connection.
type fakeBroker struct {
	w        *world
	queue    []int        // not leased
	acked    map[int]bool // recorded by the broker
	conn     *fakeSource  // the current one
	payloads map[int]string
	// chance returns whether a fault of the kind strikes now.
	chance  func(kind string) bool
	deliver int // deliveries so far
}

var errBroken = errors.New("connection broken")

func (b *fakeBroker) strike(kind string) bool { return b.chance != nil && b.chance(kind) }

func (b *fakeBroker) publish(n int) {
	for i := range n {
		b.queue = append(b.queue, i)
	}
}

func (b *fakeBroker) open(_ context.Context, _ contract.SourcePlan, _ int, env contract.Env) (contract.Source, error) {
	return &fakeSource{b: b, world: env.World}, nil
}

type fakeSource struct {
	b         *fakeBroker
	world     primitives.World
	connected bool
	leased    []int
}

func (s *fakeSource) NeedsResume() bool { return !s.connected }

func (s *fakeSource) lose() {
	s.connected = false
	s.b.queue = append(s.leased, s.b.queue...)
	s.leased = nil
}

func (s *fakeSource) Suspend(context.Context) error { s.lose(); return nil }

func (s *fakeSource) Resume(ctx context.Context) (contract.Resumed, error) {
	if err := primitives.Sleep(ctx, s.world, time.Millisecond); err != nil {
		return contract.Resumed{}, err
	}
	if s.b.strike("resume") {
		return contract.Resumed{}, &contract.SourceError{Entity: vocab.SourceNATSStream, Operation: contract.SourceResume, Err: errBroken}
	}
	if old := s.b.conn; old != nil && old != s {
		old.lose() // the broker notices that the old process is gone
	}
	s.b.conn, s.connected = s, true
	return contract.Resumed{}, nil
}

func (s *fakeSource) Close(context.Context) error {
	s.lose()
	return nil
}

func (s *fakeSource) NextBatch(ctx context.Context, req contract.BatchRequest) (contract.Batch, error) {
	for len(s.b.queue) == 0 {
		if err := primitives.Sleep(ctx, s.world, 2*time.Millisecond); err != nil {
			return contract.Batch{}, err
		}
	}
	switch {
	case s.b.strike("read"):
		return contract.Batch{}, errBroken
	case s.b.strike("cut"):
		s.lose()
		return contract.Batch{Kind: contract.ResumeRequired, Err: errBroken}, nil
	}
	n := min(req.Max, len(s.b.queue))
	var out contract.Batch
	for _, id := range s.b.queue[:n] {
		body := fmt.Sprintf(`{"n":%d}`, id)
		if p, ok := s.b.payloads[id]; ok {
			body = p
		}
		out.Messages = append(out.Messages, contract.Message{Payload: []byte(body), Position: contract.Position{Offset: uint64(id)}})
	}
	s.leased = append(s.leased, s.b.queue[:n]...)
	s.b.queue = s.b.queue[n:]
	s.b.deliver += n
	return out, nil
}

func (s *fakeSource) Acknowledge(ctx context.Context, positions []contract.Position) error {
	if err := primitives.Sleep(ctx, s.world, time.Millisecond); err != nil {
		return err
	}
	if s.b.strike("ack") {
		if s.b.strike("ack recorded") {
			s.record(positions)
		}
		return errBroken
	}
	s.record(positions)
	return nil
}

func (s *fakeSource) record(positions []contract.Position) {
	for _, p := range positions {
		s.b.acked[int(p.Offset)] = true
		s.leased = slices.DeleteFunc(s.leased, func(id int) bool { return id == int(p.Offset) })
	}
}

func (s *fakeSource) Reject(_ context.Context, positions []contract.Position, _ contract.Refusal) error {
	if s.b.strike("reject") {
		return errBroken
	}
	var back []int
	for _, p := range positions {
		if slices.Contains(s.leased, int(p.Offset)) {
			back = append(back, int(p.Offset))
			s.leased = slices.DeleteFunc(s.leased, func(id int) bool { return id == int(p.Offset) })
		}
	}
	s.b.queue = append(back, s.b.queue...)
	return nil
}

// fakeDestination takes records and, when told to, fails in the ways a broker
// can.
type fakeDestination struct {
	w      *world
	got    map[string][]int    // by emitter, in order of arrival
	bodies map[string][][]byte // every payload, by emitter
	chance func(kind string) bool
	heads  []contract.HTTPRequest
}

func (d *fakeDestination) strike(kind string) bool { return d.chance != nil && d.chance(kind) }

func (d *fakeDestination) open(ctx context.Context, plan contract.SinkPlan, env contract.Env) (contract.Sink, error) {
	if err := primitives.Sleep(ctx, env.World, time.Millisecond); err != nil {
		return nil, err
	}
	if d.strike("open") {
		return nil, &contract.SinkError{Entity: vocab.SinkNATSSubject, Operation: contract.SinkOpen, Err: errBroken}
	}
	s := &fakeSink{d: d, world: env.World, name: env.Identity.Name}
	if plan.Entity == vocab.SinkHTTPRequest {
		return &fakeHTTPSink{s}, nil
	}
	return s, nil
}

type fakeSink struct {
	d     *fakeDestination
	world primitives.World
	name  string
}

func (s *fakeSink) Finish(context.Context, primitives.Instant) error { return nil }
func (s *fakeSink) KeepsClient() bool                                { return false }
func (s *fakeSink) Close(context.Context) error                      { return nil }

func (s *fakeSink) Publish(ctx context.Context, records []contract.Record) contract.Outcome {
	var out contract.Outcome
	for _, r := range records {
		if err := primitives.Sleep(ctx, s.world, 100*time.Microsecond); err != nil {
			out.Failure = &contract.AttemptFailure{Err: err}
			return out
		}
		switch {
		case s.d.strike("fail"):
			if s.d.strike("fail taken") {
				s.take(r.Payload)
			}
			out.Failure = &contract.AttemptFailure{Err: errBroken, ReceiverDelay: time.Duration(s.d.w.below(2)) * 200 * time.Millisecond}
			return out
		case s.d.strike("silent"):
			continue
		case s.d.strike("refuse"):
			out.Rejected = append(out.Rejected, contract.Rejection{ID: r.ID, Code: contract.CodeExternal, Operation: contract.OperationPublish, Message: "refused"})
			continue
		}
		s.take(r.Payload)
		out.Delivered = append(out.Delivered, r.ID)
	}
	return out
}

func (s *fakeSink) take(body []byte) {
	s.d.bodies[s.name] = append(s.d.bodies[s.name], bytes.Clone(body))
	type doc struct{ N int }
	var docs []doc
	if body[0] == '[' {
		if err := json.Unmarshal(body, &docs); err != nil {
			s.d.w.t.Error(err)
		}
	} else {
		var one doc
		if err := json.Unmarshal(body, &one); err != nil {
			s.d.w.t.Error(err)
		}
		docs = []doc{one}
	}
	for _, x := range docs {
		s.d.got[s.name] = append(s.d.got[s.name], x.N)
	}
}

type fakeHTTPSink struct{ *fakeSink }

func (s *fakeHTTPSink) KeepsClient() bool { return true }

func (s *fakeHTTPSink) Publish(_ context.Context, requests []contract.HTTPRequest) contract.Outcome {
	var out contract.Outcome
	for _, r := range requests {
		s.d.heads = append(s.d.heads, r)
		if s.d.strike("refuse") {
			out.Rejected = append(out.Rejected, contract.Rejection{ID: r.ID, Code: contract.CodeExternal, Operation: contract.OperationPublish, Message: "refused"})
			continue
		}
		out.Delivered = append(out.Delivered, r.ID)
	}
	return out
}

var (
	_ contract.BatchSource     = (*fakeSource)(nil)
	_ contract.RecordSink      = (*fakeSink)(nil)
	_ contract.HTTPRequestSink = (*fakeHTTPSink)(nil)
)
