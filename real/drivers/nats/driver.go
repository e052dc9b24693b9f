package nats

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"plexus/connectors/contract"
	connector "plexus/connectors/nats"
	"plexus/primitives"
	"plexus/primitives/dial"
)

// A silent peer counts as gone after the pings it left unanswered.
const (
	pingEvery = 10 * time.Second
	pingsOpen = 2
)

// Driver connects with nats.go.
type Driver struct{}

// Connect tries the servers in order; each gets an equal share of what is left of
// the budget.
func (Driver) Connect(ctx context.Context, w primitives.World, to connector.Target) (connector.Conn, error) {
	var failures []error
	for i, server := range to.Servers {
		now := w.Clock().Now()
		share := now.Add(to.Deadline.Sub(now) / time.Duration(len(to.Servers)-i))
		c, err := connect(ctx, w, to, server, share)
		if err == nil {
			return c, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failures...)
}

func connect(ctx context.Context, w primitives.World, to connector.Target, server contract.Server, deadline primitives.Instant) (*conn, error) {
	address := url.URL{Scheme: "nats", Host: server.Authority()}
	if server.TLS {
		address.Scheme = "tls"
	}
	if server.User != "" {
		address.User = url.UserPassword(server.User, server.Password.Reveal())
	}
	c := &conn{world: w, closed: make(chan struct{})}
	dialer := &dialer{ctx: ctx, world: w, server: server, deadline: deadline}
	options := []nats.Option{
		nats.Name(to.Name),
		nats.SetCustomDialer(dialer),
		nats.SkipHostLookup(),
		nats.NoReconnect(),
		nats.MaxReconnects(0),
		nats.RetryOnFailedConnect(false),
		nats.DontRandomize(),
		nats.IgnoreDiscoveredServers(),
		nats.Timeout(max(deadline.Sub(w.Clock().Now()), time.Millisecond)),
		nats.PingInterval(pingEvery),
		nats.MaxPingsOutstanding(pingsOpen),
		nats.ClosedHandler(func(*nats.Conn) { close(c.closed) }),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // the default prints
	}
	if to.TLS != nil {
		options = append(options, nats.Secure(to.TLS.Clone()))
	}
	var err error
	c.nc, err = nats.Connect(address.String(), options...)
	dialer.release()
	switch {
	case ctx.Err() != nil:
		if err == nil {
			c.nc.Close()
		}
		return nil, primitives.Canceled(ctx)
	case dialer.err != nil:
		return nil, dialer.err // the library reduces a failed dial to a text
	case err != nil:
		return nil, err
	}
	c.js, err = jetstream.New(c.nc, jetstream.WithPublishAsyncMaxPending(max(to.PendingMax, 1)))
	if err != nil {
		c.nc.Close()
		return nil, err
	}
	return c, nil
}

// dialer opens the one connection nats.go asks for. Until release it follows the
// cancellation of the caller, through the library's handshake.
type dialer struct {
	ctx      context.Context
	world    primitives.World
	server   contract.Server
	deadline primitives.Instant

	mu   sync.Mutex
	err  error
	stop func() bool
}

func (d *dialer) Dial(string, string) (net.Conn, error) {
	conn, err := dial.Dial(d.ctx, d.world, d.server.Host, d.server.Port, d.deadline)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.err = err
		return nil, err
	}
	d.stop = context.AfterFunc(d.ctx, func() { conn.Close() })
	return conn, nil
}

func (d *dialer) release() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.stop != nil {
		d.stop()
	}
}

// SkipTLSHandshake leaves TLS to the library.
func (*dialer) SkipTLSHandshake() bool { return false }

var _ connector.Driver = Driver{}
