package contracttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/connectors/nats"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// natsServer is what a suite needs of a server, from outside.
type natsServer interface {
	addr() string
	stream(name string, maxMsgSize int, subjects ...string)
	consumer(stream, name string, config nats.ConsumerConfig)
	deleteConsumer(stream, name string)
	produce(subject string, headers []contract.Header, payload string)
	// stored returns the payloads in a stream.
	stored(stream string) []string
	// pending returns how many messages a consumer has not finished with.
	pending(stream, name string) int
	dropConnections()
	// settle lets what is on its way arrive.
	settle(ctx context.Context, w primitives.World)
}

// natsStep is one step, on streams of its own.
type natsStep struct {
	name string
	run  func(s *natsSession) error
}

// natsSession is a step in progress.
type natsSession struct {
	ctx       context.Context
	w         primitives.World
	server    natsServer
	connector *nats.Connector
	events    events
	unique    string // a prefix for names of this step
}

func (s *natsSession) client() contract.Client {
	return contract.Client{Name: "bus", Type: vocab.ClientNATS, Config: []vocab.ConfigEntry{{Key: "addr", Value: s.server.addr()}}}
}

func (s *natsSession) sink(subject string, mode vocab.SinkMode) (contract.RecordSink, error) {
	sink, err := s.connector.OpenSink(s.ctx, contract.SinkPlan{
		Entity: vocab.SinkNATSSubject, Client: s.client(), Mode: mode,
		Names: vocab.ExternalNames{{Role: "SUBJECT", Text: subject}},
	}, env(s.w, &s.events))
	if err != nil {
		return nil, err
	}
	return sink.(contract.RecordSink), nil
}

func (s *natsSession) awaited(subject string, window uint64) (contract.RecordSink, error) {
	return s.sink(subject, vocab.SinkMode{
		Kind: vocab.SinkJetStreamAck, Window: vocab.Window{Parallel: window > 1, Max: window}, AckTimeout: 2 * time.Second,
	})
}

func (s *natsSession) streamSource(stream, consumer string, mode vocab.SourceMode) (contract.KeepAliveSource, error) {
	src, err := s.connector.OpenStream(s.ctx, contract.SourcePlan{
		Entity: vocab.SourceNATSStream, Client: s.client(), Mode: mode,
		Names: vocab.ExternalNames{{Role: "STREAM", Text: stream}, {Role: "CONSUMER", Text: consumer}},
	}, 0, env(s.w, &s.events))
	if err != nil {
		return nil, err
	}
	_, err = src.Resume(s.ctx)
	if err != nil {
		return nil, errors.Join(err, src.Close(s.ctx))
	}
	return src.(contract.KeepAliveSource), nil
}

var parallel10 = vocab.SourceMode{
	Acknowledged: true, Parallel: true, Max: 10, BatchTimeout: 20 * time.Millisecond, AckTimeout: 2 * time.Second,
}

// pair makes a stream with an explicit consumer, and opens a source on it.
func (s *natsSession) pair(config nats.ConsumerConfig) (stream string, src contract.KeepAliveSource, err error) {
	stream = s.unique
	s.server.stream(stream, 0, stream+".>")
	config.Explicit = true
	s.server.consumer(stream, "c", config)
	src, err = s.streamSource(stream, "c", parallel10)
	return stream, src, err
}

var natsSteps = []natsStep{
	{"core subject delivers in order with headers", func(s *natsSession) error {
		subject := s.unique + ".in"
		src, err := s.connector.OpenSubject(s.ctx, contract.SourcePlan{
			Entity: vocab.SourceNATSSubject, Client: s.client(),
			Names: vocab.ExternalNames{{Role: "SUBJECT", Text: s.unique + ".*"}, {Role: "QUEUE GROUP", Text: "g"}},
		}, 0, env(s.w, &s.events))
		if err != nil {
			return err
		}
		defer src.Close(s.ctx)
		if _, err := src.Resume(s.ctx); err != nil {
			return err
		}
		sink, err := s.sink(subject, vocab.SinkMode{Kind: vocab.SinkNoAck})
		if err != nil {
			return err
		}
		defer sink.Close(s.ctx)
		recs := records("a", "b", "c")
		recs[1].Headers = []contract.Header{{Name: "Zeta", Value: " 1\r\n2 "}, {Name: "alpha", Value: "x"}, {Name: "Zeta", Value: "3"}}
		if err := equal("publish", outcome(sink.Publish(s.ctx, recs)), "delivered [1 2 3]"); err != nil {
			return err
		}
		var headers []contract.Header
		got, err := collect(s.ctx, src.(contract.BatchSource), 3, func(b contract.Batch) error {
			for _, m := range b.Messages {
				headers = append(headers, m.Headers...)
			}
			return nil
		})
		return errors.Join(err, equal("payloads", got, "[a b c]"),
			equal("headers", headers, "[{Zeta 1  2} {Zeta 3} {alpha x}]"))
	}},
	{"a queue group shares a subject", func(s *natsSession) error {
		open := func() (contract.BatchSource, error) {
			src, err := s.connector.OpenSubject(s.ctx, contract.SourcePlan{
				Entity: vocab.SourceNATSSubject, Client: s.client(),
				Names: vocab.ExternalNames{{Role: "SUBJECT", Text: s.unique}, {Role: "QUEUE GROUP", Text: "g"}},
			}, 0, env(s.w, &s.events))
			if err != nil {
				return nil, err
			}
			_, err = src.Resume(s.ctx)
			return src.(contract.BatchSource), err
		}
		first, err := open()
		if err != nil {
			return err
		}
		defer first.Close(s.ctx)
		second, err := open()
		if err != nil {
			return err
		}
		defer second.Close(s.ctx)
		const n = 40
		for i := range n {
			s.server.produce(s.unique, nil, fmt.Sprint(i))
		}
		s.server.settle(s.ctx, s.w)
		count := func(src contract.BatchSource) (int, error) {
			b, err := src.NextBatch(s.ctx, contract.BatchRequest{Max: n})
			return len(b.Messages), err
		}
		a, err1 := count(first)
		b, err2 := count(second)
		if a+b != n || a == 0 || b == 0 {
			return fmt.Errorf("shares %d and %d of %d", a, b, n)
		}
		return errors.Join(err1, err2)
	}},
	{"a stream acknowledges publishes", func(s *natsSession) error {
		s.server.stream(s.unique, 0, s.unique+".>")
		sink, err := s.awaited(s.unique+".x", 2)
		if err != nil {
			return err
		}
		defer sink.Close(s.ctx)
		return errors.Join(
			equal("publish", outcome(sink.Publish(s.ctx, records("a", "b", "c", "d", "e"))), "delivered [1 2 3 4 5]"),
			equal("stored", s.server.stored(s.unique), "[a b c d e]"))
	}},
	{"a repeated message id is stored once", func(s *natsSession) error {
		s.server.stream(s.unique, 0, s.unique)
		sink, err := s.awaited(s.unique, 10)
		if err != nil {
			return err
		}
		defer sink.Close(s.ctx)
		recs := records("a", "a")
		for i := range recs {
			recs[i].Headers = []contract.Header{{Name: "Nats-Msg-Id", Value: "1"}}
		}
		return errors.Join(
			equal("publish", outcome(sink.Publish(s.ctx, recs)), "delivered [1 2]"),
			equal("stored", s.server.stored(s.unique), "[a]"))
	}},
	{"a subject without a stream fails the publish", func(s *natsSession) error {
		sink, err := s.awaited(s.unique, 10)
		if err != nil {
			return err
		}
		defer sink.Close(s.ctx)
		out := sink.Publish(s.ctx, records("a"))
		if err := equal("publish", outcome(out), "delivered [] failed publish"); err != nil {
			return err
		}
		if !errors.Is(out.Failure.Err, nats.ErrNoStream) {
			return fmt.Errorf("failure %w is not ErrNoStream", out.Failure.Err)
		}
		return nil
	}},
	{"oversize records are rejected before writing", func(s *natsSession) error {
		s.server.stream(s.unique, 100, s.unique)
		sink, err := s.awaited(s.unique, 10)
		if err != nil {
			return err
		}
		defer sink.Close(s.ctx)
		large := strings.Repeat("x", 1<<20+1)
		return errors.Join(
			equal("publish", outcome(sink.Publish(s.ctx, records(large, strings.Repeat("y", 200), "ok"))),
				"delivered [3]"+
					" rejected 1 external/publish: message of 1048577 bytes exceeds the server's max_payload of 1048576"+
					" rejected 2 external/publish: stream error 10054: message size exceeds maximum allowed"),
			equal("stored", s.server.stored(s.unique), "[ok]"))
	}},
	{"the measure of a message is the server's own", func(s *natsSession) error {
		sink, err := s.sink(s.unique, vocab.SinkMode{Kind: vocab.SinkNoAck})
		if err != nil {
			return err
		}
		defer sink.Close(s.ctx)
		// "NATS/1.0", "A: é" and "B: 1" with their line ends, and the empty line.
		headers := []contract.Header{{Name: "B", Value: " 1 "}, {Name: "A", Value: "é"}}
		const block = 10 + 7 + 6 + 2
		recs := records(strings.Repeat("x", 1<<20-block), strings.Repeat("x", 1<<20-block+1))
		recs[0].Headers, recs[1].Headers = headers, headers
		return equal("publish", outcome(sink.Publish(s.ctx, recs)), "delivered [1]"+
			" rejected 2 external/publish: message of 1048577 bytes exceeds the server's max_payload of 1048576")
	}},
	{"a header that cannot be carried rejects its record", func(s *natsSession) error {
		sink, err := s.sink(s.unique, vocab.SinkMode{Kind: vocab.SinkNoAck})
		if err != nil {
			return err
		}
		defer sink.Close(s.ctx)
		recs := records("a", "b")
		recs[0].Headers = []contract.Header{{Name: "not a name", Value: "v"}}
		return equal("publish", outcome(sink.Publish(s.ctx, recs)),
			"delivered [2] rejected 1 validation/invoke: header name must be printable ASCII without a colon")
	}},
	{"a batch is what is there, up to the maximum", func(s *natsSession) error {
		stream, src, err := s.pair(nats.ConsumerConfig{})
		if err != nil {
			return err
		}
		defer src.Close(s.ctx)
		for i := range 12 {
			s.server.produce(stream+".x", nil, fmt.Sprint(i))
		}
		sizes := []int{}
		for range 2 {
			batch, err := src.NextBatch(s.ctx, contract.BatchRequest{Max: 10, Timeout: 20 * time.Millisecond})
			if err != nil {
				return err
			}
			sizes = append(sizes, len(batch.Messages))
			if err := src.Acknowledge(s.ctx, positions(batch)); err != nil {
				return err
			}
		}
		return errors.Join(equal("sizes", sizes, "[10 2]"), equal("pending", s.server.pending(stream, "c"), 0))
	}},
	{"an empty stream is waited on until cancellation", func(s *natsSession) error {
		_, src, err := s.pair(nats.ConsumerConfig{})
		if err != nil {
			return err
		}
		defer src.Close(s.ctx)
		ctx, cancel := primitives.WithDeadline(s.ctx, s.w, s.w.Clock().Now().Add(300*time.Millisecond))
		defer cancel()
		return within(s.w, 600*time.Millisecond, func() error {
			if _, err := src.NextBatch(ctx, contract.BatchRequest{Max: 10, Timeout: 20 * time.Millisecond}); err == nil {
				return errors.New("a batch from nowhere")
			}
			return nil
		})
	}},
	{"a message that arrives is not waited with", func(s *natsSession) error {
		stream, src, err := s.pair(nats.ConsumerConfig{})
		if err != nil {
			return err
		}
		defer src.Close(s.ctx)
		group := primitives.NewGroup(s.ctx, s.w)
		group.Go("produce", func(ctx context.Context) error {
			err := primitives.Sleep(ctx, s.w, 100*time.Millisecond)
			s.server.produce(stream+".x", nil, "a")
			return err
		})
		err = within(s.w, 500*time.Millisecond, func() error {
			got, err := collect(s.ctx, src, 1, func(b contract.Batch) error { return src.Acknowledge(s.ctx, positions(b)) })
			return errors.Join(err, equal("payloads", got, "[a]"))
		})
		return errors.Join(err, group.Wait(s.ctx))
	}},
	{"rejected messages come back after the delay", func(s *natsSession) error {
		stream, src, err := s.pair(nats.ConsumerConfig{})
		if err != nil {
			return err
		}
		defer src.Close(s.ctx)
		s.server.produce(stream+".x", nil, "a")
		s.server.produce(stream+".x", nil, "b")
		batch, err := src.NextBatch(s.ctx, contract.BatchRequest{Max: 10, Timeout: 20 * time.Millisecond})
		if err != nil {
			return err
		}
		const delay = 300 * time.Millisecond
		start := s.w.Clock().Now()
		if err := src.Reject(s.ctx, positions(batch), contract.Refusal{Delay: delay}); err != nil {
			return err
		}
		got, err := collect(s.ctx, src, 2, func(b contract.Batch) error { return src.Acknowledge(s.ctx, positions(b)) })
		if waited := s.w.Clock().Now().Sub(start); waited < delay*9/10 {
			return fmt.Errorf("came back after %v", waited)
		}
		return errors.Join(err, equal("payloads", got, "[a b]"), equal("pending", s.server.pending(stream, "c"), 0))
	}},
	{"an expired wait redelivers, progress prevents it", func(s *natsSession) error {
		stream, src, err := s.pair(nats.ConsumerConfig{AckWait: time.Second})
		if err != nil {
			return err
		}
		defer src.Close(s.ctx)
		s.server.produce(stream+".x", nil, "kept")
		s.server.produce(stream+".x", nil, "lapsed")
		batch, err := src.NextBatch(s.ctx, contract.BatchRequest{Max: 10, Timeout: 20 * time.Millisecond})
		if err != nil {
			return err
		}
		pos := positions(batch)
		for range 8 {
			if err := primitives.Sleep(s.ctx, s.w, src.KeepAliveEvery()/2); err != nil {
				return err
			}
			if err := src.KeepAlive(s.ctx, pos[:1]); err != nil {
				return err
			}
		}
		// The first is still ours: it can be acknowledged and does not come again.
		if err := src.Acknowledge(s.ctx, pos[:1]); err != nil {
			return err
		}
		got, err := collect(s.ctx, src, 1, func(b contract.Batch) error { return src.Acknowledge(s.ctx, positions(b)) })
		return errors.Join(err, equal("payloads", got, "[lapsed]"), equal("pending", s.server.pending(stream, "c"), 0))
	}},
	{"the last delivery is counted", func(s *natsSession) error {
		stream, src, err := s.pair(nats.ConsumerConfig{MaxDeliver: 2})
		if err != nil {
			return err
		}
		defer src.Close(s.ctx)
		s.server.produce(stream+".x", nil, "a")
		for range 2 {
			_, err := collect(s.ctx, src, 1, func(b contract.Batch) error {
				return src.Reject(s.ctx, positions(b), contract.Refusal{})
			})
			if err != nil {
				return err
			}
		}
		return equal("last deliveries", s.events.last, 1)
	}},
	{"what does not exist or does not suit is named", func(s *natsSession) error {
		stream := s.unique
		_, err := s.streamSource(stream, "c", parallel10)
		var missing *contract.MissingExternalError
		if !errors.As(err, &missing) || missing.Role != "stream" {
			return fmt.Errorf("no stream: %w", err)
		}
		s.server.stream(stream, 0, stream)
		_, err = s.streamSource(stream, "c", parallel10)
		if !errors.As(err, &missing) || missing.Role != "consumer" {
			return fmt.Errorf("no consumer: %w", err)
		}
		var unsuitable *contract.UnsuitableExternalError
		s.server.consumer(stream, "small", nats.ConsumerConfig{Explicit: true, MaxAckPending: 3})
		if _, err = s.streamSource(stream, "small", parallel10); !errors.As(err, &unsuitable) {
			return fmt.Errorf("small: %w", err)
		}
		return equal("difference", unsuitable, "consumer 'small' allows max_ack_pending 3, fewer than the 10 messages of the mode")
	}},
	{"a lost connection ends positions and the source resumes", func(s *natsSession) error {
		stream, src, err := s.pair(nats.ConsumerConfig{AckWait: time.Second})
		if err != nil {
			return err
		}
		defer src.Close(s.ctx)
		s.server.produce(stream+".x", nil, "a")
		batch, err := src.NextBatch(s.ctx, contract.BatchRequest{Max: 10, Timeout: 20 * time.Millisecond})
		if err != nil {
			return err
		}
		pos := positions(batch)
		s.server.dropConnections()
		if err := src.Acknowledge(s.ctx, pos); !errors.Is(err, nats.ErrConnectionLost) {
			return fmt.Errorf("acknowledged on a lost connection: %w", err)
		}
		again, err := src.NextBatch(s.ctx, contract.BatchRequest{Max: 10, Timeout: 20 * time.Millisecond})
		if err != nil || again.Kind != contract.ResumeRequired || !src.NeedsResume() {
			return fmt.Errorf("after the loss: kind %d, %w", again.Kind, err)
		}
		if err := src.Suspend(s.ctx); err != nil {
			return err
		}
		if _, err := src.Resume(s.ctx); err != nil {
			return err
		}
		if err := src.Acknowledge(s.ctx, pos); !errors.Is(err, nats.ErrConnectionLost) {
			return fmt.Errorf("acknowledged a position of another connection: %w", err)
		}
		got, err := collect(s.ctx, src, 1, func(b contract.Batch) error { return src.Acknowledge(s.ctx, positions(b)) })
		return errors.Join(err, equal("payloads", got, "[a]"), equal("pending", s.server.pending(stream, "c"), 0))
	}},
	{"a deleted consumer asks for a resume", func(s *natsSession) error {
		stream, src, err := s.pair(nats.ConsumerConfig{})
		if err != nil {
			return err
		}
		defer src.Close(s.ctx)
		group := primitives.NewGroup(s.ctx, s.w)
		group.Go("delete", func(ctx context.Context) error {
			err := primitives.Sleep(ctx, s.w, 100*time.Millisecond)
			s.server.deleteConsumer(stream, "c")
			return err
		})
		batch, err := src.NextBatch(s.ctx, contract.BatchRequest{Max: 10, Timeout: 20 * time.Millisecond})
		if err != nil || batch.Kind != contract.ResumeRequired || !errors.Is(batch.Err, nats.ErrPullEnded) {
			return fmt.Errorf("kind %d, %w, %w", batch.Kind, batch.Err, err)
		}
		return group.Wait(s.ctx)
	}},
	{"an unreachable server keeps its cause", func(s *natsSession) error {
		return unreachable(func(host string) error {
			client := contract.Client{Type: vocab.ClientNATS, Config: []vocab.ConfigEntry{{Key: "addr", Value: "nats://u:p@" + host}}}
			src, err := s.connector.OpenSubject(s.ctx, contract.SourcePlan{Client: client}, 0, env(s.w, &s.events))
			if err != nil {
				return err
			}
			_, err = src.Resume(s.ctx)
			return err
		})
	}},
	{"the second server is tried after the first", func(s *natsSession) error {
		client := contract.Client{Type: vocab.ClientNATS, Config: []vocab.ConfigEntry{{Key: "addr", Value: "nats://127.0.0.1:1," + s.server.addr()}}}
		sink, err := s.connector.OpenSink(s.ctx, contract.SinkPlan{Client: client}, env(s.w, &s.events))
		if err != nil {
			return err
		}
		return sink.Close(s.ctx)
	}},
	{"cancellation ends a connect", func(s *natsSession) error {
		ctx, cancel := primitives.WithCancel(s.ctx, s.w)
		cancel()
		_, err := s.connector.OpenSink(ctx, contract.SinkPlan{Client: s.client()}, env(s.w, &s.events))
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("connected: %w", err)
		}
		return nil
	}},
	{"a lost connection fails a publish and delivers nothing", func(s *natsSession) error {
		s.server.stream(s.unique, 0, s.unique)
		sink, err := s.awaited(s.unique, 10)
		if err != nil {
			return err
		}
		defer sink.Close(s.ctx)
		s.server.dropConnections()
		s.server.settle(s.ctx, s.w)
		out := sink.Publish(s.ctx, records("a", "b"))
		if err := equal("publish", outcome(out), "delivered [] failed publish"); err != nil {
			return err
		}
		if !errors.Is(out.Failure.Err, nats.ErrConnectionLost) {
			return fmt.Errorf("failure: %w", out.Failure.Err)
		}
		return nil
	}},
}

func runNATS(t *testing.T, open func(t *testing.T) (stage, natsServer, nats.Driver)) {
	for i, step := range natsSteps {
		t.Run(strings.ReplaceAll(step.name, " ", "-"), func(t *testing.T) {
			st, server, driver := open(t)
			err := st.run(func(ctx context.Context, w primitives.World) error {
				return step.run(&natsSession{
					ctx: ctx, w: w, server: server, connector: nats.New(driver), unique: fmt.Sprintf("s%d", i),
				})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
