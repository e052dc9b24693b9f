package contracttest

import (
	"context"
	"strings"
	"testing"
	"time"

	"plexus/connectors/redis"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
	httpmodel "plexus/sim/brokers/http"
	redismodel "plexus/sim/brokers/redis"
)

// BenchmarkPump moves 1,000 messages of 128 bytes per virtual second from stream
// to stream, which is what models, frames and connectors cost without an engine.
func BenchmarkPump(b *testing.B) {
	payload := []byte(strings.Repeat("x", 128))
	b.ReportAllocs()
	p := newPumpWorld(1, 100, 100)
	defer p.sim.Close()
	w := p.sim.Driver().World()
	p.sim.Go("producer", func() {
		ticker := primitives.NewTicker(w, 10*time.Millisecond)
		for ticker.Next(b.Context()) == nil {
			for range 10 {
				p.broker.Produce("in", nil, payload)
			}
		}
	})
	const messagesPerSecond = 1000
	b.ResetTimer()
	for range b.N {
		if err := p.sim.Run(time.Second); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messagesPerSecond, "ns/message")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "virtual-s/s")
}

// BenchmarkHTTPRequests sends requests of 128 bytes, each on a connection of its
// own.
func BenchmarkHTTPRequests(b *testing.B) {
	b.ReportAllocs()
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	broker := httpmodel.New(s, s.Host("http"))
	broker.Start()
	reqs := requests(strings.Repeat("x", 128))
	err := simStageWithin(s, benchBound(b)).run(func(ctx context.Context, w primitives.World) error {
		h := httpSession{ctx: ctx, w: w, server: httpModel{broker}}
		sink, err := h.open("2000")
		if err != nil {
			return err
		}
		b.ResetTimer()
		for range b.N {
			if out := sink.Publish(ctx, reqs); out.Failure != nil {
				return out.Failure.Err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

// BenchmarkRedisPublish publishes records of 128 bytes one after another.
func BenchmarkRedisPublish(b *testing.B) {
	b.ReportAllocs()
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	broker := redismodel.New(s, s.Host("redis"))
	broker.Start()
	recs := records(strings.Repeat("x", 128))
	err := simStageWithin(s, benchBound(b)).run(func(ctx context.Context, w primitives.World) error {
		r := redisSession{ctx: ctx, w: w, server: redisModel{broker}, connector: redis.New(w, redismodel.Driver{})}
		sink, err := r.open(r.client(vocab.Pool{Max: 1}), "ch")
		if err != nil {
			return err
		}
		b.ResetTimer()
		for range b.N {
			if out := sink.Publish(ctx, recs); out.Failure != nil {
				return out.Failure.Err
			}
		}
		return sink.Close(ctx)
	})
	if err != nil {
		b.Fatal(err)
	}
}

// benchBound is more virtual time than the operations of a benchmark take.
func benchBound(b *testing.B) time.Duration {
	return stepBound + time.Duration(b.N)*100*time.Millisecond
}
