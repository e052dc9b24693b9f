package realworld

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"plexus/features/harness"
	"plexus/primitives"
)

// natsConsumer is the durable consumer every stream of a scenario gets.
const natsConsumer = "plexus"

// natsSystem looks at a NATS server directly and hands out addresses that lead
// through relays.
type natsSystem struct {
	conn   *nats.Conn
	stream jetstream.JetStream
	relays *harness.Relays

	mu       sync.Mutex
	received map[string][]harness.Record // core subjects listened to
}

func newNATS(address string, relays *harness.Relays) (*natsSystem, error) {
	conn, err := nats.Connect("nats://"+address, nats.Name("harness"), nats.Timeout(10*time.Second))
	if err != nil {
		return nil, err
	}
	stream, err := jetstream.New(conn)
	if err != nil {
		conn.Close()
		return nil, err
	}
	return &natsSystem{conn: conn, stream: stream, relays: relays, received: map[string][]harness.Record{}}, nil
}

// natsAnswers recognises a publish acknowledgement among what the server sends.
func natsAnswers(b []byte) bool {
	return bytes.Contains(b, []byte("MSG ")) && bytes.Contains(b, []byte(`"seq":`))
}

func (n *natsSystem) Address(d harness.Destination) (string, error) {
	address, err := n.relays.Address(d)
	return "nats://" + address, err
}

// Create makes a stream of the subject with the same name and its consumer, or
// listens to a core subject. Options: ack_wait, max_deliver, max_ack_pending.
func (n *natsSystem) Create(ctx context.Context, d harness.Destination, options map[string]string) error {
	if d.Noun == "subject" {
		_, err := n.conn.Subscribe(d.Name, func(m *nats.Msg) {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.received[d.Name] = append(n.received[d.Name], harness.Record{Payload: string(m.Data), Headers: natsHeaders(m.Header)})
		})
		if err != nil {
			return err
		}
		return n.conn.Flush()
	}
	if _, err := n.stream.CreateStream(ctx, jetstream.StreamConfig{
		Name: d.Name, Subjects: []string{d.Name}, Storage: jetstream.MemoryStorage,
	}); err != nil {
		return err
	}
	consumer := jetstream.ConsumerConfig{Durable: natsConsumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: 30 * time.Second}
	for _, name := range primitives.SortedKeys(options) {
		var err error
		switch name {
		case "ack_wait":
			consumer.AckWait, err = time.ParseDuration(options[name])
		case "max_deliver":
			consumer.MaxDeliver, err = strconv.Atoi(options[name])
		case "max_ack_pending":
			consumer.MaxAckPending, err = strconv.Atoi(options[name])
		default:
			err = fmt.Errorf("a stream has no option %q", name)
		}
		if err != nil {
			return err
		}
	}
	_, err := n.stream.CreateConsumer(ctx, d.Name, consumer)
	return err
}

// publishWindow is how many publishes wait for their acknowledgement at once.
const publishWindow = 512

func (n *natsSystem) Produce(ctx context.Context, d harness.Destination, records []harness.Record) error {
	if d.Noun == "subject" {
		for _, record := range records {
			if err := n.conn.PublishMsg(natsMessage(d.Name, record)); err != nil {
				return err
			}
		}
		return n.conn.Flush()
	}
	for window := range slices.Chunk(records, publishWindow) {
		var pending []jetstream.PubAckFuture
		for _, record := range window {
			future, err := n.stream.PublishMsgAsync(natsMessage(d.Name, record))
			if err != nil {
				return err
			}
			pending = append(pending, future)
		}
		for _, future := range pending {
			select {
			case <-future.Ok():
			case err := <-future.Err():
				return err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
	}
	return nil
}

// Received reads a whole stream, or returns what the subject's listener saw.
func (n *natsSystem) Received(ctx context.Context, d harness.Destination, without int) ([]harness.Record, error) {
	if d.Noun == "subject" {
		n.mu.Lock()
		defer n.mu.Unlock()
		return slices.Clone(n.received[d.Name][without:]), nil
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	stream, err := n.stream.Stream(ctx, d.Name)
	if err != nil {
		return nil, err
	}
	have := n.received[d.String()]
	last := stream.CachedInfo().State.LastSeq
	if uint64(len(have)) >= last {
		return slices.Clone(have[without:]), nil
	}
	reader, err := stream.OrderedConsumer(ctx, jetstream.OrderedConsumerConfig{
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: uint64(len(have)) + 1,
	})
	if err != nil {
		return nil, err
	}
	for uint64(len(have)) < last {
		batch, err := reader.Fetch(int(min(last-uint64(len(have)), 4096)), jetstream.FetchMaxWait(5*time.Second))
		if err != nil {
			return nil, err
		}
		before := len(have)
		for m := range batch.Messages() {
			have = append(have, harness.Record{Payload: string(m.Data()), Headers: natsHeaders(m.Headers())})
		}
		if err := batch.Error(); err != nil {
			return nil, err
		}
		if len(have) == before {
			return nil, errors.New("the stream ended early")
		}
	}
	n.received[d.String()] = have
	return slices.Clone(have[without:]), nil
}

func (n *natsSystem) AcknowledgedThrough(ctx context.Context, d harness.Destination) (uint64, error) {
	consumer, err := n.stream.Consumer(ctx, d.Name, natsConsumer)
	if err != nil {
		return 0, err
	}
	info, err := consumer.Info(ctx)
	if err != nil {
		return 0, err
	}
	return info.AckFloor.Stream, nil
}

func (n *natsSystem) Break(_ context.Context, d harness.Destination, damage harness.Damage, _ string) error {
	return n.relays.Break(d, damage)
}

func (n *natsSystem) Heal(_ context.Context, d harness.Destination) error { return n.relays.Heal(d) }

func (n *natsSystem) healAll() error { return n.relays.HealAll() }

func (n *natsSystem) close() error {
	n.relays.Close()
	n.conn.Close()
	return nil
}

func natsMessage(subject string, r harness.Record) *nats.Msg {
	m := nats.NewMsg(subject)
	m.Data = []byte(r.Payload)
	return m
}

func natsHeaders(h nats.Header) []string {
	var lines []string
	for _, name := range primitives.SortedKeys(h) {
		for _, value := range h[name] {
			lines = append(lines, name+": "+value)
		}
	}
	return lines
}

var _ harness.System = (*natsSystem)(nil)
