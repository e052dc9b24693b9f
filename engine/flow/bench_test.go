package flow

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/real"
)

// sinkhole hosts emitters that finish every batch at once.
type sinkhole struct{ *world }

func (s sinkhole) StartEmitter(d *Domain, feed *Feed) (EmitterHost, error) {
	return &fakeEmitter{feed: feed, task: d.Start("emitter", func(ctx context.Context) error {
		defer feed.Lane.Close(reasonStopped)
		for {
			var v Delivery
			if _, err := primitives.Select(ctx, d.world, feed.Lane.OnTake(&v)); err != nil || v.Carrier == nil {
				return nil
			}
			feed.Lane.Took()
			v.Carrier.Acks.OK(d.now())
			v.Carrier.Release()
			feed.Lane.Done(1)
		}
	})}, nil
}

// BenchmarkHops takes acknowledged batches of one node through two relays and a
// junction, a batch a turn: what an edge of the graph costs.
func BenchmarkHops(b *testing.B) {
	node := real.NewWorld(real.Options{})
	w := &world{mem: memory.NewCheckedAllocator(memory.NewGoAllocator()), metrics: observe.NewRegistry()}
	ctx := context.Background()
	now := memory.DefaultAllocator
	w.d = NewDomain(ctx, node, "d", Deps{External: sinkhole{w}, Metrics: w.metrics, Memory: now})
	rev := decide.Revision{
		Domain: "d", Running: true,
		Relays:    []decide.RelayPlan{relay("all", 4), relay("next", 4)},
		Ingestors: []decide.IngestorPlan{ingestorPlan(to("all", each(0), nil))},
		Junctions: []decide.JunctionPlan{{Name: "j", Attached: true, Inputs: []decide.InputPlan{{Relay: "all"}}, Routes: []decide.RoutePlan{to("next", each(0), nil)}}},
		Emitters:  []decide.EmitterPlan{emitterPlan("a", true, "next"), emitterPlan("b", true, "all")},
	}
	if err := w.d.Install(ctx, &rev); err != nil {
		b.Fatal(err)
	}
	builder := array.NewRecordBuilder(now, batch.ArrowSchema(reading))
	defer builder.Release()
	for i := range int64(100) {
		builder.Field(0).(*array.Int64Builder).Append(i)
	}
	rec := builder.NewRecordBatch()
	defer rec.Release()
	done := primitives.NewSemaphore(node, 64)
	b.ReportAllocs()
	for b.Loop() {
		if err := done.Acquire(ctx, 1); err != nil {
			b.Fatal(err)
		}
		tally := ack.NewTally(w.intake.Ledger, func(o ack.Outcome) {
			if o.Failed {
				b.Error("a batch failed")
			}
			done.Release(1)
		})
		rec.Retain()
		g := &Group{Batch: rec, Acks: tally.Open(100, node.Clock().Now())}
		tally.Seal()
		if err := w.intake.Execute(ctx, g); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.d.Stop(ctx, node.Clock().Now().Add(10*time.Second)); err != nil {
		b.Error(err)
	}
	if err := node.Join(10 * time.Second); err != nil {
		b.Error(err)
	}
}
