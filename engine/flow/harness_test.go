package flow

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
)

// reading is the schema of every relay of these tests.
var reading = &vocab.Schema{Name: "reading", Fields: []vocab.Field{{Name: "n", Type: vocab.Scalar(vocab.I64)}}}

func column() *typed.Expr {
	return &typed.Expr{Op: typed.OpColumn, Type: vocab.Scalar(vocab.I64), Column: typed.Column{Scope: typed.ScopeInput, Name: "n"}}
}

func literal(n int64) *typed.Expr {
	return &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(vocab.I64), Literal: typed.Literal{Int: n}}
}

// rem is n % m: it fails for m zero, and selects for = k.
func rem(m int64) *typed.Expr {
	return &typed.Expr{Op: typed.OpRem, Type: vocab.Scalar(vocab.I64), Fallible: true, Args: []*typed.Expr{column(), literal(m)}}
}

func compare(op typed.Op, a, b *typed.Expr) *typed.Expr {
	return &typed.Expr{Op: op, Type: vocab.Scalar(vocab.Bool), Fallible: a.Fallible || b.Fallible, Args: []*typed.Expr{a, b}}
}

func inheritAll(where *typed.Expr) typed.Construction {
	return typed.Construction{Output: reading, Steps: []typed.Step{{Target: 0, Inherit: true, Expr: column()}}, Where: where}
}

func to(name string, flush vocab.Flush, where *typed.Expr) decide.RoutePlan {
	return decide.RoutePlan{To: name, Construct: inheritAll(where), Flush: flush, OnError: decide.MessageErrorPlan{Action: decide.ErrorLog}}
}

func relay(name string, capacity int) decide.RelayPlan {
	return decide.RelayPlan{Name: name, Schema: reading, CapacityBatches: capacity}
}

func ingestorPlan(routes ...decide.RoutePlan) decide.IngestorPlan {
	return decide.IngestorPlan{Name: "in", Codec: decide.CodecPlan{Schema: reading}, TimestampField: -1, TimestampNow: true, Routes: routes}
}

func emitterPlan(name string, attached bool, relays ...string) decide.EmitterPlan {
	p := decide.EmitterPlan{Name: name, Attached: attached}
	for _, r := range relays {
		p.Inputs = append(p.Inputs, decide.InputPlan{Relay: r})
	}
	return p
}

var immediate = vocab.Flush{Immediate: true}

func each(d time.Duration) vocab.Flush { return vocab.Flush{Each: d} }

// world is one simulated node with the domain under test and fake hosts.
type world struct {
	t       *testing.T
	sim     *sim.Simulation
	host    *sim.Host
	mem     *memory.CheckedAllocator
	metrics *observe.Registry
	errors  []string

	// behave is what an emitter does with a batch; it consumes shares and batch.
	behave  func(ctx context.Context, w primitives.World, emitter string, c *Carrier)
	release func() // of collectLater
	intake  *Intake
	d       *Domain
}

func newSim(t *testing.T, seed uint64) *world {
	s := sim.New(sim.Options{Seed: seed})
	t.Cleanup(s.Close)
	return &world{t: t, sim: s, host: s.Host("node-1"), mem: memory.NewCheckedAllocator(batchtest.Soiled{}), metrics: observe.NewRegistry()}
}

// run boots the node and runs the scenario to its end.
func (w *world) run(scenario func(ctx context.Context)) {
	w.t.Helper()
	ended := false
	w.host.Start("node", func(ctx context.Context, node primitives.World) {
		w.d = NewDomain(context.Background(), node, "d", Deps{External: w, Metrics: w.metrics, Memory: w.mem, Node: "node-1",
			Report: func(_ string, o observe.Endpoint, err error) { w.errors = append(w.errors, o.Name+": "+err.Error()) }})
		scenario(ctx)
		ended = true
	})
	if err := w.sim.RunUntil(func() bool { return ended }, 10*time.Minute); err != nil {
		var f *sim.Failure
		if errors.As(err, &f) {
			w.t.Log(f.Stack, f.Waiting)
		}
		w.t.Fatal(err)
	}
	w.mem.AssertSize(w.t, 0)
	w.sim.Close()
}

func (w *world) install(rev decide.Revision) { // in a task: no Fatal
	w.t.Helper()
	rev.Domain, rev.Running = "d", true
	if err := w.d.Install(context.Background(), &rev); err != nil {
		w.t.Error(err)
	}
}

func (w *world) sleep(ctx context.Context, d time.Duration) { _ = primitives.Sleep(ctx, w.d.world, d) }

// collectLater is an emitter that keeps its rows until release.
func (w *world) collectLater() func(context.Context, primitives.World, string, *Carrier) {
	released := false
	w.release = func() { released = true }
	return func(ctx context.Context, node primitives.World, _ string, c *Carrier) {
		for !released {
			_ = primitives.Sleep(ctx, node, time.Millisecond)
		}
		c.Acks.OK(node.Clock().Now())
		c.Release()
	}
}

func (w *world) stop(within time.Duration) error {
	return w.d.Stop(context.Background(), w.d.now().Add(within))
}

// fakeIngestor lets the scenario push groups through the intake.
type fakeIngestor struct{ suspended Suspension }

func (f *fakeIngestor) Suspend(s Suspension)                     { f.suspended = s }
func (f *fakeIngestor) Stop(context.Context, primitives.Instant) {}
func (f *fakeIngestor) Describe() IngestorStatus                 { return IngestorStatus{Status: "running"} }

func (w *world) StartIngestor(_ *Domain, in *Intake) (IngestorHost, error) {
	w.intake = in
	return &fakeIngestor{in.Suspended}, nil
}

type fakeEmitter struct {
	task *Task
	feed *Feed
}

func (f *fakeEmitter) Nudge()                                   { f.feed.Wake.Raise() }
func (f *fakeEmitter) Publishing() int                          { return 0 }
func (f *fakeEmitter) Update(*decide.EmitterPlan) error         { return nil }
func (f *fakeEmitter) Stop(context.Context, primitives.Instant) { f.task.Stop() }
func (f *fakeEmitter) Describe() EmitterStatus                  { return EmitterStatus{Status: "OK"} }

func (w *world) StartEmitter(d *Domain, feed *Feed) (EmitterHost, error) {
	return startFake(d, feed, func(ctx context.Context, c *Carrier) { w.behave(ctx, d.world, feed.Plan.Name, c) }), nil
}

// startFake runs an emitter that does the same with every batch.
func startFake(d *Domain, feed *Feed, behave func(ctx context.Context, c *Carrier)) *fakeEmitter {
	return &fakeEmitter{feed: feed, task: d.Start("emitter", func(ctx context.Context) error {
		defer feed.Lane.Close(reasonStopped)
		for {
			if asked, owes := feed.Drain.Owes(); owes {
				feed.Drain.Complete(asked)
			}
			var v Delivery
			fired, err := primitives.Select(ctx, d.world, feed.Lane.OnTake(&v), feed.Wake.OnRaise())
			switch {
			case err != nil:
				return nil
			case fired == 1:
				continue
			}
			feed.Lane.Took()
			if v.Carrier == nil {
				return nil
			}
			behave(ctx, v.Carrier)
			feed.Lane.Done(1)
		}
	})}
}

// push sends values through the intake as one group and returns the outcome log
// of its tally; nil for an unacknowledged group.
func (w *world) push(ctx context.Context, acked bool, values ...int64) *tallyLog {
	b := array.NewRecordBuilder(w.mem, batch.ArrowSchema(reading))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	g := &Group{Batch: b.NewRecordBatch()}
	var log *tallyLog
	if acked {
		log = &tallyLog{values: values, done: primitives.NewEvent(w.d.world)}
		log.tally = ack.NewTally(w.intake.Ledger, func(o ack.Outcome) {
			log.outcomes = append(log.outcomes, o)
			log.done.Set()
			w.intake.Load.Add(-1)
		})
		w.intake.Load.Add(1)
		g.Acks = log.tally.Open(len(values), w.d.now())
		log.tally.Seal()
	}
	_ = w.intake.Execute(ctx, g)
	return log
}

type tallyLog struct {
	values   []int64
	tally    *ack.Tally
	done     *primitives.Event
	outcomes []ack.Outcome
}

func (l *tallyLog) String() string { return fmt.Sprint(l.values, l.outcomes) }

func values(c *Carrier) []int64 {
	col := c.Batch.Column(0).(*array.Int64)
	return append([]int64(nil), col.Int64Values()...)
}
