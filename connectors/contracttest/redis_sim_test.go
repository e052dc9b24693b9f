package contracttest

import (
	"context"
	"testing"

	"plexus/connectors/redis"
	"plexus/primitives"
	"plexus/sim"
	model "plexus/sim/brokers/redis"
)

type redisModel struct{ broker *model.Broker }

func (m redisModel) addr() string         { return m.broker.Addr() }
func (m redisModel) password(text string) { m.broker.RequirePassword("", text) }
func (m redisModel) published(channel string) []string {
	c := m.broker.Ledger().Channel(channel)
	out := []string{}
	for seq := 1; seq <= c.Len(); seq++ {
		out = append(out, string(c.Message(uint64(seq)).Payload))
	}
	return out
}
func (m redisModel) dropConnections() { m.broker.DropConnections() }
func (m redisModel) connections() int { return m.broker.Sessions() }
func (m redisModel) settle(ctx context.Context, w primitives.World) {
	_ = primitives.Sleep(ctx, w, settleTime)
}

func TestRedisModel(t *testing.T) {
	runRedis(t, func(t *testing.T) (stage, redisServer, redis.Driver) {
		s := sim.New(sim.Options{Seed: 3, Guard: true})
		t.Cleanup(s.Close)
		broker := model.New(s, s.Host("redis"))
		broker.Start()
		return simStage(s), redisModel{broker}, model.Driver{}
	})
}
