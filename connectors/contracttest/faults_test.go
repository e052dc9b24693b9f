package contracttest

import (
	"context"
	"maps"
	"strconv"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/connectors/nats"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
	model "plexus/sim/brokers/nats"
)

// pump moves messages from one stream to another as a host would: it keeps what
// the sink left unanswered, reopens what failed, and acknowledges a batch once
// all of it was delivered.
type pump struct {
	ctx       context.Context
	w         primitives.World
	connector *nats.Connector
	client    contract.Client
	events    events
	batch     int // MAX of the source
	window    int // MAX of the sink

	src      contract.KeepAliveSource
	sink     contract.RecordSink
	rejected map[string]bool // payloads the stream refused for good
}

const pumpBackoff = 20 * time.Millisecond

func (p *pump) run() error {
	src, err := p.connector.OpenStream(p.ctx, contract.SourcePlan{
		Client: p.client,
		Names:  vocab.ExternalNames{{Role: "STREAM", Text: "in"}, {Role: "CONSUMER", Text: "c"}},
		Mode:   vocab.SourceMode{Acknowledged: true, Parallel: true, Max: uint64(p.batch), BatchTimeout: 10 * time.Millisecond, AckTimeout: time.Second},
	}, 0, env(p.w, &p.events))
	if err != nil {
		return err
	}
	p.src = src.(contract.KeepAliveSource)
	for p.ctx.Err() == nil {
		p.step()
	}
	_ = p.src.Close(context.Background())
	if p.sink != nil {
		_ = p.sink.Close(context.Background())
	}
	return nil
}

// step moves one batch, or waits a while after a failure.
func (p *pump) step() {
	if p.src.NeedsResume() {
		_ = p.src.Suspend(p.ctx)
		if _, err := p.src.Resume(p.ctx); err != nil {
			_ = primitives.Sleep(p.ctx, p.w, pumpBackoff)
			return
		}
	}
	batch, err := p.src.NextBatch(p.ctx, contract.BatchRequest{Max: p.batch, Timeout: 10 * time.Millisecond})
	if err != nil || batch.Kind != contract.Messages {
		_ = primitives.Sleep(p.ctx, p.w, pumpBackoff)
		return
	}
	if !p.publish(batch) {
		return // stopped
	}
	pos := positions(batch)
	if p.src.Acknowledge(p.ctx, pos) != nil {
		_ = p.src.Reject(p.ctx, pos, contract.Refusal{Reason: contract.RefusedByConfirmation})
		_ = p.src.Suspend(p.ctx)
	}
}

func (p *pump) publish(batch contract.Batch) bool {
	pending := make([]contract.Record, len(batch.Messages))
	for i, m := range batch.Messages {
		pending[i] = contract.Record{ID: contract.RecordID(i), Payload: append([]byte(nil), m.Payload...)}
	}
	for len(pending) > 0 {
		if p.ctx.Err() != nil {
			return false
		}
		if p.sink == nil {
			sink, err := p.connector.OpenSink(p.ctx, contract.SinkPlan{
				Client: p.client, Names: vocab.ExternalNames{{Role: "SUBJECT", Text: "out"}},
				Mode: vocab.SinkMode{Kind: vocab.SinkJetStreamAck, Window: vocab.Window{Parallel: true, Max: uint64(p.window)}, AckTimeout: 200 * time.Millisecond},
			}, env(p.w, &p.events))
			if err != nil {
				_ = primitives.Sleep(p.ctx, p.w, pumpBackoff)
				_ = p.src.KeepAlive(p.ctx, positions(batch))
				continue
			}
			p.sink = sink.(contract.RecordSink)
		}
		out := p.sink.Publish(p.ctx, pending)
		for _, r := range out.Rejected {
			p.rejected[string(batch.Messages[r.ID].Payload)] = true
		}
		pending = unanswered(pending, out)
		_ = p.src.KeepAlive(p.ctx, positions(batch))
		if out.Failure != nil {
			_ = p.sink.Close(p.ctx)
			p.sink = nil
			_ = primitives.Sleep(p.ctx, p.w, pumpBackoff)
		}
	}
	return true
}

func unanswered(pending []contract.Record, out contract.Outcome) []contract.Record {
	answered := map[contract.RecordID]bool{}
	for _, id := range out.Delivered {
		answered[id] = true
	}
	for _, r := range out.Rejected {
		answered[r.ID] = true
	}
	kept := pending[:0]
	for _, rec := range pending {
		if !answered[rec.ID] {
			kept = append(kept, rec)
		}
	}
	return kept
}

// world is a pump between two streams of one server.
type pumpWorld struct {
	sim    *sim.Simulation
	broker *model.Broker
	node   *sim.Host
	pump   *pump
}

func newPumpWorld(seed uint64, batch, window int) *pumpWorld {
	s := sim.New(sim.Options{Seed: seed})
	broker := model.New(s, s.Host("nats"))
	broker.CreateStream(model.Stream{Name: "in", Subjects: []string{"in"}})
	broker.CreateStream(model.Stream{Name: "out", Subjects: []string{"out"}})
	broker.CreateConsumer("in", "c", nats.ConsumerConfig{Explicit: true, AckWait: 2 * time.Second})
	broker.Start()
	p := &pumpWorld{sim: s, broker: broker, node: s.Host("node")}
	p.node.Start("pump", func(ctx context.Context, w primitives.World) {
		p.pump = &pump{ctx: ctx, w: w, batch: batch, window: window, rejected: map[string]bool{}, connector: nats.New(model.Driver{}), client: contract.Client{
			Type: vocab.ClientNATS, Config: []vocab.ConfigEntry{{Key: "addr", Value: broker.Addr()}},
		}}
		if err := p.pump.run(); err != nil {
			s.Fail("pump", err.Error())
		}
	})
	return p
}

// produce publishes n numbered messages over a time.
func (p *pumpWorld) produce(n int, every time.Duration) {
	w := p.sim.Driver().World()
	p.sim.Go("producer", func() {
		for i := range n {
			p.broker.Produce("in", nil, []byte(strconv.Itoa(i)))
			_ = primitives.Sleep(context.Background(), w, every)
		}
	})
}

// settled counts the messages that are in the second stream or were refused by it.
func (p *pumpWorld) settled() int {
	out := p.broker.Ledger().Channel("out")
	if p.pump == nil {
		return 0 // not started yet
	}
	seen := maps.Clone(p.pump.rejected)
	for seq := 1; seq <= out.Len(); seq++ {
		seen[string(out.Message(uint64(seq)).Payload)] = true
	}
	return len(seen)
}

// Everything produced arrives or is refused, whatever goes wrong on the way, once
// it stops going wrong.
func TestNothingIsLostUnderFaults(t *testing.T) {
	const messages = 200
	for seed := range uint64(60) {
		p := newPumpWorld(seed, 10, 5)
		draw := p.sim.Stream("faults")
		verbs := p.broker.Verbs()
		p.produce(messages, 20*time.Millisecond)
		for at := 100 * time.Millisecond; at < 4*time.Second; at += 150 * time.Millisecond {
			v := verbs[draw.Below(uint64(len(verbs)))]
			d, n := time.Duration(draw.Below(500))*time.Millisecond, int(draw.Below(5))
			p.sim.After(at, func() { v.Apply(d, n) })
		}
		p.sim.After(2*time.Second, func() {
			if draw.Below(2) == 0 {
				p.broker.Host().Crash()
				p.sim.After(300*time.Millisecond, func() { p.broker.Host().Restart() })
			}
		})
		err := p.sim.Run(5 * time.Second)
		brokers.HealAll(verbs)
		if err == nil {
			err = p.sim.RunUntil(func() bool {
				return p.broker.Pending("in", "c") == 0 && p.settled() == messages
			}, 2*time.Minute)
		}
		if err != nil {
			t.Errorf("seed %d: %v; %d pending, %d settled", seed, err, p.broker.Pending("in", "c"), p.settled())
		}
		p.node.Stop()
		if err := p.sim.Run(time.Minute); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		p.sim.Close()
	}
}

// resent returns how many messages were stored again although their answer was
// not lost, when nothing goes wrong but answers.
func resent(t *testing.T) int {
	const messages = 100
	again := 0
	for seed := range uint64(10) {
		p := newPumpWorld(seed, 10, 5)
		p.produce(messages, 5*time.Millisecond)
		lost := 0
		p.broker.Ledger().Observe(func(e brokers.Event) {
			if e.Kind == brokers.AnswerLost && e.Channel.Name == "out" {
				lost++
			}
		})
		for at := 50 * time.Millisecond; at < 400*time.Millisecond; at += 100 * time.Millisecond {
			p.sim.After(at, func() { p.broker.LoseAnswers(1) })
		}
		err := p.sim.RunUntil(func() bool { return p.settled() == messages && p.broker.Pending("in", "c") == 0 }, time.Minute)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		if lost == 0 {
			t.Fatalf("seed %d lost no answer", seed)
		}
		again += p.broker.Ledger().Channel("out").Len() - messages - lost
		p.node.Stop()
		if err := p.sim.Run(time.Second); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		p.sim.Close()
	}
	return again
}

// What was confirmed is never sent again.
func TestConfirmedIsNotSentAgain(t *testing.T) {
	if n := resent(t); n != 0 {
		t.Errorf("%d confirmed messages were sent again", n)
	}
}
