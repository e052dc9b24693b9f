package realworld

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/redis/go-redis/v9"

	"plexus/features/harness"
)

// redisSystem listens to channels of a Redis server directly and hands out
// addresses that lead through relays.
type redisSystem struct {
	client *redis.Client
	relays *harness.Relays

	mu       sync.Mutex
	received map[string][]harness.Record
	channels []*redis.PubSub
}

func newRedis(address string, relays *harness.Relays) *redisSystem {
	return &redisSystem{
		client:   redis.NewClient(&redis.Options{Addr: address, Protocol: 2, DisableIdentity: true}),
		relays:   relays,
		received: map[string][]harness.Record{},
	}
}

// redisAnswers recognises the integer reply of PUBLISH.
func redisAnswers(b []byte) bool { return bytes.HasPrefix(b, []byte(":")) }

func (r *redisSystem) Address(d harness.Destination) (string, error) {
	address, err := r.relays.Address(d)
	return "redis://" + address, err
}

// Create listens to the channel from now on.
func (r *redisSystem) Create(ctx context.Context, d harness.Destination, _ map[string]string) error {
	channel := r.client.Subscribe(ctx, d.Name)
	if _, err := channel.Receive(ctx); err != nil {
		return err
	}
	r.mu.Lock()
	r.channels = append(r.channels, channel)
	r.mu.Unlock()
	messages := channel.Channel(redis.WithChannelSize(1 << 16))
	go func() {
		for m := range messages {
			r.mu.Lock()
			r.received[d.Name] = append(r.received[d.Name], harness.Record{Payload: m.Payload})
			r.mu.Unlock()
		}
	}()
	return nil
}

func (r *redisSystem) Produce(ctx context.Context, d harness.Destination, records []harness.Record) error {
	for _, record := range records {
		if err := r.client.Publish(ctx, d.Name, record.Payload).Err(); err != nil {
			return err
		}
	}
	return nil
}

func (r *redisSystem) Received(_ context.Context, d harness.Destination, without int) ([]harness.Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.received[d.Name][without:]), nil
}

func (r *redisSystem) AcknowledgedThrough(_ context.Context, d harness.Destination) (uint64, error) {
	return 0, fmt.Errorf("%s has no acknowledgements", d)
}

func (r *redisSystem) Break(_ context.Context, d harness.Destination, damage harness.Damage, _ string) error {
	return r.relays.Break(d, damage)
}

func (r *redisSystem) Heal(_ context.Context, d harness.Destination) error { return r.relays.Heal(d) }

func (r *redisSystem) healAll() error { return r.relays.HealAll() }

func (r *redisSystem) close() error {
	r.relays.Close()
	for _, channel := range r.channels {
		channel.Close()
	}
	return r.client.Close()
}

var _ harness.System = (*redisSystem)(nil)
