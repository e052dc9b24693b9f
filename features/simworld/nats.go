package simworld

import (
	"bytes"
	"context"
	"fmt"
	"net/netip"
	"strconv"
	"time"

	connector "plexus/connectors/nats"
	"plexus/features/harness"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
	"plexus/sim/brokers/nats"
)

// natsConsumer is the durable consumer every stream of a scenario gets.
const natsConsumer = "plexus"

// natsSystem is the model of NATS behind relays.
type natsSystem struct {
	broker *nats.Broker
	relays *harness.Relays
}

func newNATS(s *sim.Simulation) *natsSystem {
	broker := nats.New(s, s.Host("nats"))
	broker.Start()
	return &natsSystem{broker: broker, relays: relaysTo(s, broker.Host(), nats.Port, holdsFrame(nats.IsAnswer))}
}

// relaysTo puts a machine with relays in front of a system.
func relaysTo(s *sim.Simulation, target *sim.Host, port uint16, answers func([]byte) bool) *harness.Relays {
	hop := s.Host(target.Name() + "-relay")
	return harness.NewRelays(hop.World(), hop.Addr(), netip.AddrPortFrom(target.Addr(), port), answers)
}

// holdsFrame looks for a frame among the bytes of a chunk, which the models write
// in whole frames.
func holdsFrame(is func(brokers.In) bool) func([]byte) bool {
	return func(chunk []byte) bool {
		frames := brokers.NewFrames(bytes.NewReader(chunk))
		if frames.Fill() != nil {
			return false
		}
		for {
			frame, ok, err := frames.Next()
			if !ok || err != nil {
				return false
			}
			if is(frame) {
				return true
			}
		}
	}
}

func (n *natsSystem) Address(d harness.Destination) (string, error) {
	address, err := n.relays.Address(d)
	return "nats://" + address, err
}

func (n *natsSystem) Create(_ context.Context, d harness.Destination, options map[string]string) error {
	if d.Noun == "subject" {
		return nil
	}
	n.broker.CreateStream(nats.Stream{Name: d.Name, Subjects: []string{d.Name}})
	config := connector.ConsumerConfig{Explicit: true}
	for _, name := range primitives.SortedKeys(options) {
		var err error
		switch name {
		case "ack_wait":
			config.AckWait, err = time.ParseDuration(options[name])
		case "max_deliver":
			config.MaxDeliver, err = strconv.Atoi(options[name])
		case "max_ack_pending":
			config.MaxAckPending, err = strconv.Atoi(options[name])
		default:
			err = fmt.Errorf("a stream has no option %q", name)
		}
		if err != nil {
			return err
		}
	}
	n.broker.CreateConsumer(d.Name, natsConsumer, config)
	return nil
}

func (n *natsSystem) Produce(_ context.Context, d harness.Destination, records []harness.Record) error {
	for _, record := range records {
		n.broker.Produce(d.Name, nil, []byte(record.Payload))
	}
	return nil
}

func (n *natsSystem) Received(_ context.Context, d harness.Destination, without int) ([]harness.Record, error) {
	return channelRecords(n.broker.Ledger(), d.Name, without), nil
}

// channelRecords reads a channel of a ledger, without its first so many messages.
func channelRecords(ledger *brokers.Ledger, name string, without int) []harness.Record {
	channel := ledger.Channel(name)
	records := make([]harness.Record, channel.Len()-without)
	for i := range records {
		message := channel.Message(uint64(without+i) + 1)
		records[i].Payload = string(message.Payload)
		for _, header := range message.Headers {
			records[i].Headers = append(records[i].Headers, header.Name+": "+header.Value)
		}
	}
	return records
}

func (n *natsSystem) AcknowledgedThrough(_ context.Context, d harness.Destination) (uint64, error) {
	channel := n.broker.Ledger().Channel(d.Name)
	acknowledged := make([]bool, channel.Len()+1)
	for _, event := range n.broker.Ledger().Events() {
		if event.Kind == brokers.Acknowledged && event.Channel == channel {
			acknowledged[event.Seq] = true
		}
	}
	through := uint64(0)
	for through+1 < uint64(len(acknowledged)) && acknowledged[through+1] {
		through++
	}
	return through, nil
}

func (n *natsSystem) Break(_ context.Context, d harness.Destination, damage harness.Damage, _ string) error {
	return n.relays.Break(d, damage)
}

func (n *natsSystem) Heal(_ context.Context, d harness.Destination) error { return n.relays.Heal(d) }

func (n *natsSystem) healAll() error { return n.relays.HealAll() }

func (n *natsSystem) close() { n.relays.Close() }
