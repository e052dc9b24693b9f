package host

import (
	"context"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/engine/decide"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// steadySource presents 1,000 records a second of 128 bytes.
type steadySource struct {
	world primitives.World
	from  primitives.Instant
	sent  int
	acked *int
	body  []byte
}

func (s *steadySource) NeedsResume() bool             { return s.from == 0 }
func (s *steadySource) Suspend(context.Context) error { s.from = 0; return nil }
func (s *steadySource) Close(context.Context) error   { return nil }
func (s *steadySource) Resume(context.Context) (contract.Resumed, error) {
	s.from, s.sent = s.world.Clock().Now(), 0
	return contract.Resumed{}, nil
}

func (s *steadySource) NextBatch(ctx context.Context, req contract.BatchRequest) (contract.Batch, error) {
	at := s.from.Add(time.Duration(s.sent+1) * time.Millisecond).Add(req.Timeout)
	if err := primitives.SleepUntil(ctx, s.world, at); err != nil {
		return contract.Batch{}, err
	}
	n := min(int(s.world.Clock().Now().Sub(s.from)/time.Millisecond)-s.sent, req.Max)
	messages := make([]contract.Message, n)
	for i := range messages {
		messages[i].Payload = s.body
	}
	s.sent += n
	return contract.Batch{Messages: messages}, nil
}

func (s *steadySource) Acknowledge(_ context.Context, p []contract.Position) error {
	*s.acked += len(p)
	return nil
}
func (s *steadySource) Reject(context.Context, []contract.Position, contract.Refusal) error {
	return nil
}

// blackHole takes everything.
type blackHole struct{}

func (blackHole) Finish(context.Context, primitives.Instant) error { return nil }
func (blackHole) KeepsClient() bool                                { return true }
func (blackHole) Close(context.Context) error                      { return nil }
func (blackHole) Publish(_ context.Context, records []contract.Record) contract.Outcome {
	out := contract.Outcome{Delivered: make([]contract.RecordID, len(records))}
	for i := range records {
		out.Delivered[i] = records[i].ID
	}
	return out
}

// BenchmarkSimulatedPipeline runs 60 simulated seconds of an acknowledged stream
// through a junction into three emitters and reports the real time per record.
func BenchmarkSimulatedPipeline(b *testing.B) {
	body := append([]byte(`{"n":12345,"pad":"`), make([]byte, 108)...)
	for i := 18; i < len(body); i++ {
		body[i] = 'x'
	}
	body = append(body, `"}`...)
	b.ReportAllocs()
	for b.Loop() {
		w := newWorld(&testing.T{}, 1)
		acked := 0
		w.sources[vocab.SourceNATSStream] = func(_ context.Context, _ contract.SourcePlan, _ int, env contract.Env) (contract.Source, error) {
			return &steadySource{world: env.World, acked: &acked, body: body}, nil
		}
		w.sinks = map[vocab.SinkEntity]contract.SinkOpener{vocab.SinkNATSSubject: func(context.Context, contract.SinkPlan, contract.Env) (contract.Sink, error) {
			return blackHole{}, nil
		}}
		source := stream(1000)
		source.Mode.BatchTimeout = 50 * time.Millisecond
		rev := twoSinks(source)
		flush := vocab.Flush{Each: 100 * time.Millisecond, MaxBatch: vocab.Size{Bytes: 1 << 20}}
		rev.Relays = append(rev.Relays, decide.RelayPlan{Name: "next", Schema: reading, CapacityBatches: 4})
		rev.Junctions = []decide.JunctionPlan{{Name: "j", Attached: true, Inputs: []decide.InputPlan{{Relay: "all"}}, Routes: []decide.RoutePlan{toRelay("next")}}}
		rev.Emitters = append(rev.Emitters, emitterPlan("three", nil))
		rev.Emitters[2].Inputs[0].Relay = "next"
		for i := range rev.Emitters {
			rev.Emitters[i].Flush = flush
		}
		w.start(rev)
		if err := w.sim.Run(time.Minute); err != nil {
			b.Fatal(err)
		}
		w.sim.Close()
		b.ReportMetric(float64(acked), "records/op")
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/60_000, "ns/record")
}
