package realworld

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"plexus/features/harness"
	"plexus/real"
)

// start runs a provider and returns relays to it.
func start(t *testing.T, p Provider, answers func([]byte) bool) (string, *harness.Relays) {
	if reason := p.Missing(); reason != "" {
		t.Skip(reason)
	}
	address, stop, err := p.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	w := real.NewWorld(real.Options{Log: slog.NewTextHandler(io.Discard, nil)})
	return address, harness.NewRelays(w, loopback, netip.MustParseAddrPort(address), answers)
}

func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !holds(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%s does not happen", what)
		}
	}
}

func texts(t *testing.T, s harness.System, d harness.Destination) string {
	t.Helper()
	records, err := s.Received(context.Background(), d, 0)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, record := range records {
		all = append(all, record.Payload)
	}
	return strings.Join(all, " ")
}

func TestNATSStreams(t *testing.T) {
	address, relays := start(t, Local(t.TempDir())["nats"], natsAnswers)
	system, err := newNATS(address, relays)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { system.close() })
	ctx := context.Background()
	d := harness.Destination{Kind: "nats", Noun: "stream", Name: "orders"}
	if err := system.Create(ctx, d, map[string]string{"ack_wait": "2s"}); err != nil {
		t.Fatal(err)
	}
	if err := system.Produce(ctx, d, []harness.Record{{Payload: "one"}, {Payload: "two"}, {Payload: "three"}}); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, system, d); got != "one two three" {
		t.Error(got)
	}
	if err := system.Produce(ctx, d, []harness.Record{{Payload: "four"}}); err != nil {
		t.Fatal(err)
	}
	if got := texts(t, system, d); got != "one two three four" {
		t.Error(got)
	}

	// A client that comes by the destination's address acknowledges all but the third.
	through, err := system.Address(d)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := nats.Connect(through, nats.NoReconnect())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(conn.Close)
	stream, err := jetstream.New(conn)
	if err != nil {
		t.Fatal(err)
	}
	consumer, err := stream.Consumer(ctx, "orders", natsConsumer)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := consumer.Fetch(4)
	if err != nil {
		t.Fatal(err)
	}
	for m := range batch.Messages() {
		if string(m.Data()) == "three" {
			continue
		}
		if err := m.DoubleAck(ctx); err != nil {
			t.Fatal(err)
		}
	}
	acknowledged, err := system.AcknowledgedThrough(ctx, d)
	if err != nil || acknowledged != 2 {
		t.Errorf("acknowledged through %d, %v", acknowledged, err)
	}

	// Its publish takes effect while the answer is lost, once.
	if err := system.Break(ctx, d, harness.LoseAnswer, ""); err != nil {
		t.Fatal(err)
	}
	bounded, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	if _, err := stream.Publish(bounded, "orders", []byte("five"), jetstream.WithRetryAttempts(0)); err == nil {
		t.Error("the answer arrived")
	}
	eventually(t, "the publish", func() bool { return strings.HasSuffix(texts(t, system, d), "five") })
}

func TestRedisChannels(t *testing.T) {
	address, relays := start(t, Local(t.TempDir())["redis"], redisAnswers)
	system := newRedis(address, relays)
	t.Cleanup(func() { system.close() })
	ctx := context.Background()
	d := harness.Destination{Kind: "redis", Noun: "channel", Name: "orders"}
	if err := system.Create(ctx, d, nil); err != nil {
		t.Fatal(err)
	}
	if err := system.Produce(ctx, d, []harness.Record{{Payload: "one"}, {Payload: "two"}}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the delivery", func() bool { return texts(t, system, d) == "one two" })
}
