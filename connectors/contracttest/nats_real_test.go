package contracttest

import (
	"context"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	natsgo "github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"plexus/connectors/contract"
	"plexus/connectors/nats"
	"plexus/primitives"
	driver "plexus/real/drivers/nats"
)

// natsReal is an embedded server seen through a client of its own.
type natsReal struct {
	t      *testing.T
	server *server.Server
	relay  *relay
	nc     *natsgo.Conn
	js     jetstream.JetStream
}

func startNATS(t *testing.T) *natsReal {
	srv, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: -1, JetStream: true, StoreDir: t.TempDir(), NoLog: true, NoSigs: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Start()
	t.Cleanup(func() {
		srv.Shutdown()
		srv.WaitForShutdown()
	})
	if !srv.ReadyForConnections(10 * time.Second) {
		t.Fatal("nats-server did not start")
	}
	nc, err := natsgo.Connect(srv.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return &natsReal{t: t, server: srv, nc: nc, js: js, relay: newRelay(t, srv.Addr().String())}
}

func (r *natsReal) must(err error) {
	if err != nil {
		r.t.Error(err)
	}
}

func (r *natsReal) addr() string { return "nats://" + r.relay.addr() }

func (r *natsReal) stream(name string, maxMsgSize int, subjects ...string) {
	_, err := r.js.CreateStream(r.t.Context(), jetstream.StreamConfig{
		Name: name, Subjects: subjects, MaxMsgSize: int32(maxMsgSize), Storage: jetstream.MemoryStorage,
	})
	r.must(err)
}

func (r *natsReal) consumer(stream, name string, config nats.ConsumerConfig) {
	policy := jetstream.AckNonePolicy
	if config.Explicit {
		policy = jetstream.AckExplicitPolicy
	}
	_, err := r.js.CreateConsumer(r.t.Context(), stream, jetstream.ConsumerConfig{
		Durable: name, AckPolicy: policy, AckWait: config.AckWait, MaxAckPending: config.MaxAckPending,
		MaxDeliver: unlimited(config.MaxDeliver),
	})
	r.must(err)
}

// unlimited is JetStream's spelling of no bound.
func unlimited(n int) int {
	if n == 0 {
		return -1
	}
	return n
}

func (r *natsReal) deleteConsumer(stream, name string) {
	r.must(r.js.DeleteConsumer(r.t.Context(), stream, name))
}

func (r *natsReal) produce(subject string, headers []contract.Header, payload string) {
	msg := natsgo.NewMsg(subject)
	msg.Data = []byte(payload)
	for _, h := range headers {
		msg.Header.Add(h.Name, h.Value)
	}
	r.must(r.nc.PublishMsg(msg))
	r.must(r.nc.Flush())
}

func (r *natsReal) stored(name string) []string {
	stream, err := r.js.Stream(r.t.Context(), name)
	r.must(err)
	info, err := stream.Info(r.t.Context())
	r.must(err)
	out := []string{}
	for seq := info.State.FirstSeq; seq <= info.State.LastSeq; seq++ {
		msg, err := stream.GetMsg(r.t.Context(), seq)
		r.must(err)
		out = append(out, string(msg.Data))
	}
	return out
}

func (r *natsReal) pending(stream, name string) int {
	c, err := r.js.Consumer(r.t.Context(), stream, name)
	r.must(err)
	info, err := c.Info(r.t.Context())
	r.must(err)
	return int(info.NumPending) + info.NumAckPending
}

func (r *natsReal) dropConnections() { r.relay.drop() }

func (r *natsReal) settle(ctx context.Context, w primitives.World) {
	r.must(primitives.Sleep(ctx, w, 50*time.Millisecond))
}

func TestNATSDriver(t *testing.T) {
	srv := startNATS(t)
	runNATS(t, func(t *testing.T) (stage, natsServer, nats.Driver) {
		return realStage(t), &natsReal{t: t, server: srv.server, nc: srv.nc, js: srv.js, relay: srv.relay}, driver.Driver{}
	})
}
