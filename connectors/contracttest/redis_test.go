package contracttest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/connectors/redis"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// redisServer is what a suite needs of a server, from outside.
type redisServer interface {
	addr() string
	password(text string)
	// published returns the payloads that reached the channel's subscribers.
	published(channel string) []string
	dropConnections()
	connections() int
	settle(ctx context.Context, w primitives.World)
}

type redisSession struct {
	ctx       context.Context
	w         primitives.World
	server    redisServer
	connector *redis.Connector
	events    events
}

func (s *redisSession) client(pool vocab.Pool, config ...vocab.ConfigEntry) contract.Client {
	return contract.Client{Name: "cache", Type: vocab.ClientRedis, Pool: &pool,
		Config: append([]vocab.ConfigEntry{{Key: "addr", Value: s.server.addr()}}, config...)}
}

func (s *redisSession) open(client contract.Client, channel string) (contract.RecordSink, error) {
	sink, err := s.connector.OpenSink(s.ctx, contract.SinkPlan{
		Entity: vocab.SinkRedisChannel, Client: client, Names: vocab.ExternalNames{{Role: "CHANNEL", Text: channel}},
	}, env(s.w, &s.events))
	if err != nil {
		return nil, err
	}
	return sink.(contract.RecordSink), nil
}

type redisStep struct {
	name string
	run  func(s *redisSession) error
}

var redisSteps = []redisStep{
	{"records are published in order", func(s *redisSession) error {
		sink, err := s.open(s.client(vocab.Pool{Max: 1}), "ch")
		if err != nil {
			return err
		}
		out := outcome(sink.Publish(s.ctx, records("a", "", "\x00\r\n\xff")))
		s.server.settle(s.ctx, s.w)
		return errors.Join(equal("publish", out, "delivered [1 2 3]"),
			equal("published", fmt.Sprintf("%q", s.server.published("ch")), `["a" "" "\x00\r\n\xff"]`), sink.Close(s.ctx))
	}},
	{"emitters of a client share its pool", func(s *redisSession) error {
		client := s.client(vocab.Pool{Max: 1})
		first, err := s.open(client, "a")
		if err != nil {
			return err
		}
		second, err := s.open(client, "b")
		if err != nil {
			return err
		}
		group := primitives.NewGroup(s.ctx, s.w)
		for _, sink := range []contract.RecordSink{first, second} {
			group.Go("publish", func(ctx context.Context) error {
				for range 20 {
					if err := equal("publish", outcome(sink.Publish(ctx, records("x"))), "delivered [1]"); err != nil {
						return err
					}
				}
				return nil
			})
		}
		return errors.Join(group.Wait(s.ctx), equal("connections", s.server.connections(), 1),
			equal("ended waits", s.events.waitEnded, s.events.waits), first.Close(s.ctx), second.Close(s.ctx))
	}},
	{"the minimum of a pool is opened and restored", func(s *redisSession) error {
		sink, err := s.open(s.client(vocab.Pool{Min: 3, Max: 4}), "ch")
		if err != nil {
			return err
		}
		s.server.settle(s.ctx, s.w)
		if err := equal("opened", s.server.connections(), 3); err != nil {
			return err
		}
		s.server.dropConnections()
		s.server.settle(s.ctx, s.w)
		for range 4 { // each finds one broken connection until all are replaced
			sink.Publish(s.ctx, records("x"))
		}
		s.server.settle(s.ctx, s.w)
		return errors.Join(equal("restored", s.server.connections(), 3),
			equal("publish", outcome(sink.Publish(s.ctx, records("y"))), "delivered [1]"), sink.Close(s.ctx))
	}},
	{"a lost connection fails the publish, the next has another", func(s *redisSession) error {
		sink, err := s.open(s.client(vocab.Pool{Max: 1}), "ch")
		if err != nil {
			return err
		}
		s.server.dropConnections()
		s.server.settle(s.ctx, s.w)
		out := sink.Publish(s.ctx, records("a", "b"))
		if err := equal("publish", outcome(out), "delivered [] failed publish"); err != nil {
			return err
		}
		if !errors.Is(out.Failure.Err, redis.ErrConnectionLost) {
			return fmt.Errorf("failure: %w", out.Failure.Err)
		}
		return errors.Join(equal("publish", outcome(sink.Publish(s.ctx, records("a", "b"))), "delivered [1 2]"), sink.Close(s.ctx))
	}},
	{"refused credentials fail the open", func(s *redisSession) error {
		s.server.password("right")
		defer s.server.password("")
		var reply *redis.ReplyError
		if _, err := s.open(s.client(vocab.Pool{Max: 1}), "ch"); !errors.As(err, &reply) {
			return fmt.Errorf("without a password: %w", err)
		}
		wrong := s.client(vocab.Pool{Max: 1}, vocab.ConfigEntry{Key: "password", Value: "wrong"})
		if _, err := s.open(wrong, "ch"); !errors.As(err, &reply) || reply.Code() != "WRONGPASS" {
			return fmt.Errorf("wrong password: %w", err)
		}
		right := s.client(vocab.Pool{Max: 1}, vocab.ConfigEntry{Key: "password", Value: "right"})
		sink, err := s.open(right, "ch")
		if err != nil {
			return err
		}
		return errors.Join(equal("publish", outcome(sink.Publish(s.ctx, records("a"))), "delivered [1]"), sink.Close(s.ctx))
	}},
	{"an unreachable server keeps its cause", func(s *redisSession) error {
		return unreachable(func(host string) error {
			client := s.client(vocab.Pool{Max: 1})
			client.Config = []vocab.ConfigEntry{{Key: "addr", Value: "redis://u:p@" + host}}
			_, err := s.open(client, "ch")
			return err
		})
	}},
	{"cancellation ends a borrow that waits", func(s *redisSession) error {
		client := s.client(vocab.Pool{Max: 1})
		sink, err := s.open(client, "ch")
		if err != nil {
			return err
		}
		ctx, cancel := primitives.WithCancel(s.ctx, s.w)
		cancel()
		return errors.Join(equal("publish", outcome(sink.Publish(ctx, records("a"))), "delivered [] failed publish"), sink.Close(s.ctx))
	}},
	{"the last user closes the pool", func(s *redisSession) error {
		sink, err := s.open(s.client(vocab.Pool{Min: 2, Max: 2}), "ch")
		if err != nil {
			return err
		}
		err = sink.Close(s.ctx)
		s.server.settle(s.ctx, s.w)
		return errors.Join(err, equal("connections", s.server.connections(), 0))
	}},
}

func runRedis(t *testing.T, open func(t *testing.T) (stage, redisServer, redis.Driver)) {
	for _, step := range redisSteps {
		t.Run(strings.ReplaceAll(step.name, " ", "-"), func(t *testing.T) {
			st, server, driver := open(t)
			err := st.run(func(ctx context.Context, w primitives.World) error {
				return step.run(&redisSession{ctx: ctx, w: w, server: server, connector: redis.New(w, driver)})
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// settleTime is long enough for a loopback or a quiet simulated network.
const settleTime = 50 * time.Millisecond
