package contracttest

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/connectors/nats"
	"plexus/connectors/redis"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
	httpmodel "plexus/sim/brokers/http"
	natsmodel "plexus/sim/brokers/nats"
	redismodel "plexus/sim/brokers/redis"
)

// verb applies one verb of a model by its class, and fails on an unknown one.
func verb(t *testing.T, verbs []brokers.Verb, class string, d time.Duration, n int) {
	for _, v := range verbs {
		if v.Class == class {
			v.Apply(d, n)
			return
		}
	}
	t.Fatalf("no verb %q", class)
}

// What each verb of the NATS model means to a sink that awaits a stream, and that
// healing ends it.
func TestNATSVerbsAtASink(t *testing.T) {
	const lasting = 5 * time.Second
	for _, c := range []struct {
		class string
		d     time.Duration
		n     int
		want  string
		cause error
		// stored is how many of the two records are in the stream after the attempt.
		stored int
	}{
		{"nats/drop-connections", 0, 0, "delivered [] failed publish", nats.ErrConnectionLost, 0},
		{"nats/lose-answers", 0, 1, "delivered [2] failed publish", nil, 2},
		{"nats/silence", lasting, 0, "delivered [] failed publish", nil, 2},
		{"nats/no-responders", lasting, 0, "delivered [] failed publish", nats.ErrNoStream, 0},
		{"nats/leader-change", lasting, 0, "delivered [] failed publish", nats.ErrNoStream, 0},
		{"nats/stream-error", lasting, 0, "delivered [] failed publish", nil, 0},
		{"nats/refuse-size", 0, 1, "delivered [2] rejected 1 external/publish: stream error 10054: message size exceeds maximum allowed", nil, 1},
		{"nats/refuse-logins", lasting, 0, "delivered [1 2]", nil, 2},
	} {
		t.Run(c.class, func(t *testing.T) {
			s := sim.New(sim.Options{Seed: 5, Guard: true})
			defer s.Close()
			broker := natsmodel.New(s, s.Host("nats"))
			broker.CreateStream(natsmodel.Stream{Name: "out", Subjects: []string{"out"}})
			broker.Start()
			err := simStage(s).run(func(ctx context.Context, w primitives.World) error {
				var e events
				open := func() (contract.RecordSink, error) {
					sink, err := nats.New(natsmodel.Driver{}).OpenSink(ctx, contract.SinkPlan{
						Client: contract.Client{Type: vocab.ClientNATS, Config: []vocab.ConfigEntry{{Key: "addr", Value: broker.Addr()}}},
						Names:  vocab.ExternalNames{{Role: "SUBJECT", Text: "out"}},
						Mode:   vocab.SinkMode{Kind: vocab.SinkJetStreamAck, Window: vocab.Window{Parallel: true, Max: 9}, AckTimeout: time.Second},
					}, env(w, &e))
					if err != nil {
						return nil, err
					}
					return sink.(contract.RecordSink), nil
				}
				sink, err := open()
				if err != nil {
					return err
				}
				verb(t, broker.Verbs(), c.class, c.d, c.n)
				out := sink.Publish(ctx, records("a", "b"))
				if c.cause != nil && (out.Failure == nil || !errors.Is(out.Failure.Err, c.cause)) {
					return fmt.Errorf("failure %+v is not %w", out.Failure, c.cause)
				}
				if err := errors.Join(equal("publish", outcome(out), c.want),
					equal("stored", broker.Ledger().Channel("out").Len(), c.stored), sink.Close(ctx)); err != nil {
					return err
				}
				brokers.HealAll(broker.Verbs())
				if sink, err = open(); err != nil {
					return err
				}
				return errors.Join(equal("healed", outcome(sink.Publish(ctx, records("c"))), "delivered [1]"), sink.Close(ctx))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// What each verb means to a source in the middle of a batch: it comes again, or
// the source is told to resume.
func TestNATSVerbsAtASource(t *testing.T) {
	for _, c := range []struct {
		class string
		// again says that the two messages of the open batch are delivered anew.
		again bool
		// acknowledged says that the open batch can still be acknowledged.
		acknowledged bool
	}{
		{"nats/drop-connections", true, false},
		{"nats/ack-wait-expiry", false, true}, // a late acknowledgement still counts
		{"nats/recreate-consumers", true, true},
		{"nats/pull-expiry", false, true},
		{"nats/leader-change", true, false},
		{"nats/lose-answers", false, false},
		{"nats/forget-duplicates", false, true},
	} {
		t.Run(c.class, func(t *testing.T) {
			p := newPumpWorld(6, 10, 10)
			defer p.sim.Close()
			p.node.Stop() // only its server is wanted
			node := p.sim.Host("reader")
			done, failure := false, error(nil)
			node.Start("step", func(ctx context.Context, w primitives.World) {
				failure = sourceUnder(ctx, w, p.broker, func() { verb(t, p.broker.Verbs(), c.class, time.Second, 1) }, c.again, c.acknowledged)
				done = true
			})
			if err := errors.Join(p.sim.RunUntil(func() bool { return done }, time.Minute), failure); err != nil {
				t.Error(err)
			}
		})
	}
}

func sourceUnder(ctx context.Context, w primitives.World, broker *natsmodel.Broker, apply func(), again, acknowledged bool) error {
	var e events
	src, err := nats.New(natsmodel.Driver{}).OpenStream(ctx, contract.SourcePlan{
		Client: contract.Client{Type: vocab.ClientNATS, Config: []vocab.ConfigEntry{{Key: "addr", Value: broker.Addr()}}},
		Names:  vocab.ExternalNames{{Role: "STREAM", Text: "in"}, {Role: "CONSUMER", Text: "c"}},
		Mode:   parallel10,
	}, 0, env(w, &e))
	if err != nil {
		return err
	}
	source := src.(contract.BatchSource)
	defer source.Close(ctx)
	if _, err := source.Resume(ctx); err != nil {
		return err
	}
	broker.Produce("in", nil, []byte("a"))
	broker.Produce("in", nil, []byte("b"))
	batch, err := source.NextBatch(ctx, contract.BatchRequest{Max: 10, Timeout: 20 * time.Millisecond})
	if err != nil {
		return err
	}
	apply()
	if err := source.Acknowledge(ctx, positions(batch)); (err == nil) != acknowledged {
		return fmt.Errorf("acknowledge: %w", err)
	}
	broker.Produce("in", nil, []byte("c"))
	seen := map[string]bool{}
	for !seen["c"] || again && !(seen["a"] && seen["b"]) {
		if source.NeedsResume() {
			if _, err := source.Resume(ctx); err != nil {
				return err
			}
		}
		batch, err := source.NextBatch(ctx, contract.BatchRequest{Max: 10, Timeout: 20 * time.Millisecond})
		if err != nil {
			return err
		}
		for _, m := range batch.Messages {
			seen[string(m.Payload)] = true
		}
		if len(batch.Messages) > 0 {
			if err := source.Acknowledge(ctx, positions(batch)); err != nil {
				return err
			}
		}
	}
	if !again && seen["a"] {
		return errors.New("delivered again without a cause")
	}
	return equal("pending", broker.Pending("in", "c"), 0)
}

// A subscription keeps what nobody reads up to its limit, and reports the rest.
func TestSlowConsumer(t *testing.T) {
	s := sim.New(sim.Options{Seed: 7})
	defer s.Close()
	broker := natsmodel.New(s, s.Host("nats"))
	broker.Start()
	const over = 100
	err := simStage(s).run(func(ctx context.Context, w primitives.World) error {
		var e events
		src, err := nats.New(natsmodel.Driver{}).OpenSubject(ctx, contract.SourcePlan{
			Client: contract.Client{Type: vocab.ClientNATS, Config: []vocab.ConfigEntry{{Key: "addr", Value: broker.Addr()}}},
			Names:  vocab.ExternalNames{{Role: "SUBJECT", Text: "in"}, {Role: "QUEUE GROUP", Text: "g"}},
		}, 0, env(w, &e))
		if err != nil {
			return err
		}
		defer src.Close(ctx)
		if _, err := src.Resume(ctx); err != nil {
			return err
		}
		for range 65536 + over {
			broker.Produce("in", nil, []byte("x"))
		}
		if err := primitives.Sleep(ctx, w, time.Second); err != nil {
			return err
		}
		got, err := collect(ctx, src.(contract.BatchSource), 65536, nil)
		if err != nil {
			return err
		}
		var slow *nats.SlowConsumerError
		if len(e.reports) != 1 || !errors.As(e.reports[0], &slow) || slow.Dropped != over {
			return fmt.Errorf("reports %v", e.reports)
		}
		return equal("kept", len(got), 65536)
	})
	if err != nil {
		t.Error(err)
	}
}

// What each verb of the Redis model means to a publish of three records.
func TestRedisVerbs(t *testing.T) {
	const lasting = time.Second
	for _, c := range []struct {
		class string
		d     time.Duration
		n     int
		want  string
		code  string // of the error reply, if that is the failure
		got   int    // messages the channel has after it
	}{
		{"redis/drop-connections", 0, 0, "delivered [] failed publish", "", 0},
		{"redis/lose-answers", 0, 1, "delivered [] failed publish", "", 1},
		{"redis/failover", lasting, 0, "delivered [] failed publish", "", 0},
		{"redis/oom", lasting, 0, "delivered [] failed publish", "OOM", 0},
		{"redis/loading", lasting, 0, "delivered [] failed publish", "LOADING", 0},
		{"redis/refuse-size", 0, 1, "delivered [2 3] rejected 1 external/publish: Redis refused the size of the message", "", 2},
		{"redis/silence", lasting, 0, "delivered [1 2 3]", "", 3},
		{"redis/silence", 15 * time.Second, 0, "delivered [] failed publish", "", 1},
		{"redis/refuse-logins", lasting, 0, "delivered [1 2 3]", "", 3},
		{"redis/subscriber-gap", 0, 1, "delivered [1 2 3]", "", 3},
	} {
		t.Run(fmt.Sprint(c.class, " ", c.d), func(t *testing.T) {
			s := sim.New(sim.Options{Seed: 8, Guard: true})
			defer s.Close()
			broker := redismodel.New(s, s.Host("redis"))
			broker.Start()
			err := simStage(s).run(func(ctx context.Context, w primitives.World) error {
				r := redisSession{ctx: ctx, w: w, server: redisModel{broker}, connector: redis.New(w, redismodel.Driver{})}
				sink, err := r.open(r.client(vocab.Pool{Max: 1}), "ch")
				if err != nil {
					return err
				}
				verb(t, broker.Verbs(), c.class, c.d, c.n)
				out := sink.Publish(ctx, records("a", "b", "c"))
				var reply *redis.ReplyError
				if out.Failure != nil && errors.As(out.Failure.Err, &reply) != (c.code != "") {
					return fmt.Errorf("failure: %w", out.Failure.Err)
				}
				if reply != nil && reply.Code() != c.code {
					return fmt.Errorf("reply %s", reply.Code())
				}
				if err := errors.Join(equal("publish", outcome(out), c.want), equal("published", broker.Ledger().Channel("ch").Len(), c.got)); err != nil {
					return err
				}
				brokers.HealAll(broker.Verbs())
				return errors.Join(equal("healed", outcome(sink.Publish(ctx, records("d"))), "delivered [1]"), sink.Close(ctx))
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// A record above the server's limit is refused by itself; the connection that the
// server closes over it is replaced.
func TestRedisRefusesALargeRecord(t *testing.T) {
	s := sim.New(sim.Options{Seed: 9, Guard: true})
	defer s.Close()
	broker := redismodel.New(s, s.Host("redis"))
	broker.SetBulkMax(3)
	broker.Start()
	err := simStage(s).run(func(ctx context.Context, w primitives.World) error {
		r := redisSession{ctx: ctx, w: w, server: redisModel{broker}, connector: redis.New(w, redismodel.Driver{})}
		sink, err := r.open(r.client(vocab.Pool{Max: 1}), "ch")
		if err != nil {
			return err
		}
		return errors.Join(equal("publish", outcome(sink.Publish(ctx, records("a", "large", "c"))),
			"delivered [1 3] rejected 2 external/publish: Redis refused the size of the message"), sink.Close(ctx))
	})
	if err != nil {
		t.Error(err)
	}
}

// What each verb of the HTTP model means to a publish of two requests.
func TestHTTPVerbs(t *testing.T) {
	const lasting = time.Second
	for _, c := range []struct {
		class string
		d     time.Duration
		n     int
		want  string
		delay time.Duration
	}{
		{"http/throttle", lasting, 0, "delivered [] failed publish", time.Second},
		{"http/fail", lasting, 0, "delivered [] failed publish", 0},
		{"http/unauthorized", lasting, 0, "delivered [] failed publish", 0},
		{"http/reject", 0, 1, "delivered [2] rejected 1 external/publish: HTTP status 422", 0},
		{"http/redirect", 0, 1, "delivered [2] rejected 1 external/publish: HTTP status 302", 0},
		{"http/reset-after-body", 0, 1, "delivered [] failed publish", 0},
		{"http/truncated-head", 0, 1, "delivered [] failed publish", 0},
		{"http/oversize-head", 0, 1, "delivered [] failed publish", 0},
		{"http/interim-head", 0, 1, "delivered [1 2]", 0},
		{"http/slow-accept", lasting, 0, "delivered [1 2]", 0},
		{"http/slow-accept", 5 * time.Second, 0, "delivered [] failed publish", 0},
		{"http/late-head", lasting, 1, "delivered [1 2]", 0},
		{"http/late-head", 5 * time.Second, 1, "delivered [] failed publish", 0},
	} {
		t.Run(fmt.Sprint(c.class, " ", c.d), func(t *testing.T) {
			s := sim.New(sim.Options{Seed: 10, Guard: true})
			defer s.Close()
			broker := httpmodel.New(s, s.Host("http"))
			broker.Start()
			err := simStage(s).run(func(ctx context.Context, w primitives.World) error {
				h := httpSession{ctx: ctx, w: w, server: httpModel{broker}}
				sink, err := h.open("2000")
				if err != nil {
					return err
				}
				verb(t, broker.Verbs(), c.class, c.d, c.n)
				out := sink.Publish(ctx, requests("a", "b"))
				if err := equal("publish", outcome(out), c.want); err != nil {
					return err
				}
				if out.Failure != nil {
					if err := equal("delay", out.Failure.ReceiverDelay, c.delay); err != nil {
						return err
					}
				}
				brokers.HealAll(broker.Verbs())
				if err := primitives.Sleep(ctx, w, 10*time.Second); err != nil {
					return err
				}
				return equal("healed", outcome(sink.Publish(ctx, requests("c"))), "delivered [1]")
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
