package simworld

import (
	"context"
	"fmt"

	"plexus/features/harness"
	"plexus/sim"
	"plexus/sim/brokers/redis"
)

// redisSystem is the model of Redis behind relays.
type redisSystem struct {
	broker *redis.Broker
	relays *harness.Relays
}

func newRedis(s *sim.Simulation) *redisSystem {
	broker := redis.New(s, s.Host("redis"))
	broker.Start()
	return &redisSystem{broker: broker, relays: relaysTo(s, broker.Host(), redis.Port, holdsFrame(redis.IsReply))}
}

func (r *redisSystem) Address(d harness.Destination) (string, error) {
	address, err := r.relays.Address(d)
	return "redis://" + address, err
}

// Create has nothing to do: the model keeps what was published.
func (r *redisSystem) Create(context.Context, harness.Destination, map[string]string) error {
	return nil
}

func (r *redisSystem) Produce(_ context.Context, d harness.Destination, _ []harness.Record) error {
	return fmt.Errorf("no source reads %s", d)
}

func (r *redisSystem) Received(_ context.Context, d harness.Destination, without int) ([]harness.Record, error) {
	return channelRecords(r.broker.Ledger(), d.Name, without), nil
}

func (r *redisSystem) AcknowledgedThrough(_ context.Context, d harness.Destination) (uint64, error) {
	return 0, fmt.Errorf("%s has no acknowledgements", d)
}

func (r *redisSystem) Break(_ context.Context, d harness.Destination, damage harness.Damage, _ string) error {
	return r.relays.Break(d, damage)
}

func (r *redisSystem) Heal(_ context.Context, d harness.Destination) error { return r.relays.Heal(d) }

func (r *redisSystem) healAll() error { return r.relays.HealAll() }

func (r *redisSystem) close() { r.relays.Close() }
