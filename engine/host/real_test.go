package host

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/connectors/contract"
	"plexus/engine/batch/batchtest"
	"plexus/engine/decide"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/real"
)

// countedSource has a fixed number of records, as fast as they are taken.
type countedSource struct {
	world       primitives.World
	left, acked int
	connected   bool
	done        *primitives.Event
	total       int
}

func (s *countedSource) NeedsResume() bool             { return !s.connected }
func (s *countedSource) Suspend(context.Context) error { s.connected = false; return nil }
func (s *countedSource) Close(context.Context) error   { return nil }
func (s *countedSource) Resume(context.Context) (contract.Resumed, error) {
	s.connected = true
	return contract.Resumed{}, nil
}

func (s *countedSource) NextBatch(ctx context.Context, req contract.BatchRequest) (contract.Batch, error) {
	if s.left == 0 {
		return contract.Batch{}, primitives.SleepUntil(ctx, s.world, primitives.Never)
	}
	n := min(req.Max, s.left)
	s.left -= n
	out := contract.Batch{Messages: make([]contract.Message, n)}
	for i := range out.Messages {
		out.Messages[i].Payload = []byte(`{"n":1}`)
	}
	return out, nil
}

func (s *countedSource) Acknowledge(_ context.Context, p []contract.Position) error {
	if s.acked += len(p); s.acked == s.total {
		s.done.Set()
	}
	return nil
}

func (s *countedSource) Reject(_ context.Context, p []contract.Position, _ contract.Refusal) error {
	s.left += len(p)
	return nil
}

// flaky leaves every third publish half answered, slowly enough for keepalives.
type flaky struct {
	blackHole
	world primitives.World
	calls int
}

func (f *flaky) Publish(ctx context.Context, records []contract.Record) contract.Outcome {
	f.calls++
	if f.calls%3 == 0 {
		_ = primitives.Sleep(ctx, f.world, 120*time.Millisecond)
		records = records[:len(records)/2]
	}
	return f.blackHole.Publish(ctx, records)
}

// The hosts on goroutines: what the simulator cannot show is a data race between
// an emitter, its keepalive helper, its source and whoever describes them.
func TestOnTheRealWorld(t *testing.T) {
	node := real.NewWorld(real.Options{})
	mem := memory.NewCheckedAllocator(batchtest.Soiled{})
	const total = 5000
	source := &countedSource{world: node, left: total, total: total, done: primitives.NewEvent(node)}
	h := New(node, contract.Connectors{
		Sources: map[vocab.SourceEntity]contract.SourceOpener{vocab.SourceNATSStream: func(context.Context, contract.SourcePlan, int, contract.Env) (contract.Source, error) {
			return source, nil
		}},
		Sinks: map[vocab.SinkEntity]contract.SinkOpener{vocab.SinkNATSSubject: func(context.Context, contract.SinkPlan, contract.Env) (contract.Sink, error) {
			return &flaky{world: node}, nil
		}},
	}, nil, nil, "node-1")
	ctx := context.Background()
	d := flow.NewDomain(ctx, node, "d", flow.Deps{External: h, Metrics: observe.NewRegistry(), Memory: mem})
	rev := twoSinks(stream(700))
	rev.Domain, rev.Running = "d", true
	if err := d.Install(ctx, &rev); err != nil {
		t.Fatal(err)
	}
	next := rev
	next.Emitters = append([]decide.EmitterPlan(nil), rev.Emitters...)
	next.Emitters[0].Flush.Each = time.Millisecond
	for round := 0; !source.done.IsSet(); round++ {
		if in, ok := d.DescribeIngestor("in"); !ok || in.Status == "stopped" {
			t.Fatal("the ingestor is gone")
		}
		_, _ = d.DescribeEmitter("packed")
		_ = d.Counts()
		if err := d.Install(ctx, []*decide.Revision{&rev, &next}[round%2]); err != nil {
			t.Fatal(err)
		}
		_ = primitives.Sleep(ctx, node, 20*time.Millisecond)
	}
	if err := d.Stop(ctx, node.Clock().Now().Add(10*time.Second)); err != nil {
		t.Error(err)
	}
	mem.AssertSize(t, 0)
	if err := node.Join(10 * time.Second); err != nil {
		t.Error(err)
	}
}
