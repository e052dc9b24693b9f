package contracttest

import (
	"context"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/connectors/nats"
	"plexus/primitives"
	"plexus/sim"
	model "plexus/sim/brokers/nats"
)

// natsModel is the model seen from outside.
type natsModel struct{ broker *model.Broker }

func (m natsModel) addr() string { return m.broker.Addr() }
func (m natsModel) stream(name string, maxMsgSize int, subjects ...string) {
	m.broker.CreateStream(model.Stream{Name: name, Subjects: subjects, MaxMsgSize: maxMsgSize})
}
func (m natsModel) consumer(stream, name string, config nats.ConsumerConfig) {
	m.broker.CreateConsumer(stream, name, config)
}
func (m natsModel) deleteConsumer(stream, name string) { m.broker.DeleteConsumer(stream, name) }
func (m natsModel) produce(subject string, headers []contract.Header, payload string) {
	m.broker.Produce(subject, headers, []byte(payload))
}
func (m natsModel) stored(stream string) []string {
	channel := m.broker.Ledger().Channel(stream)
	out := []string{}
	for seq := 1; seq <= channel.Len(); seq++ {
		out = append(out, string(channel.Message(uint64(seq)).Payload))
	}
	return out
}
func (m natsModel) pending(stream, name string) int { return m.broker.Pending(stream, name) }
func (m natsModel) dropConnections()                { m.broker.DropConnections() }
func (m natsModel) settle(ctx context.Context, w primitives.World) {
	_ = primitives.Sleep(ctx, w, 50*time.Millisecond)
}

func TestNATSModel(t *testing.T) {
	runNATS(t, func(t *testing.T) (stage, natsServer, nats.Driver) {
		s := sim.New(sim.Options{Seed: 1, Guard: true})
		t.Cleanup(s.Close)
		broker := model.New(s, s.Host("nats"))
		broker.Start()
		return simStage(s), natsModel{broker}, model.Driver{}
	})
}
