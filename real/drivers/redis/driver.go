package redis

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	connector "plexus/connectors/redis"
	"plexus/primitives"
	"plexus/primitives/dial"
)

// Driver connects with go-redis.
type Driver struct{}

// The library writes to standard error by itself, addresses included. Its logger
// is one for the process; what it has to say comes back as errors.
func init() { redis.SetLogger(silent{}) }

type silent struct{}

func (silent) Printf(context.Context, string, ...any) {}

// Connect dials, authenticates and selects the database within the budget.
func (Driver) Connect(ctx context.Context, w primitives.World, to connector.Target) (connector.Conn, error) {
	dialer := &dialer{world: w, target: to}
	client := redis.NewClient(&redis.Options{
		Dialer:                dialer.dial,
		Username:              to.Server.User,
		Password:              to.Server.Password.Reveal(),
		DB:                    to.Database,
		Protocol:              2,
		PoolSize:              1,
		MaxRetries:            -1,
		DialerRetries:         1,
		DisableIdentity:       true,
		ContextTimeoutEnabled: true,
		DialTimeout:           remaining(w, to.Deadline),
		ReadTimeout:           -1, // the deadline of the context alone
		WriteTimeout:          -1,
		ConnMaxIdleTime:       -1,
		MaintNotificationsConfig: &maintnotifications.Config{
			Mode: maintnotifications.ModeDisabled,
		},
	})
	c := &conn{world: w, client: client, dialer: dialer}
	if err := c.do(ctx, to.Deadline, func(bounded context.Context) error { return client.Ping(bounded).Err() }); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

func remaining(w primitives.World, at primitives.Instant) time.Duration {
	return max(at.Sub(w.Clock().Now()), time.Millisecond)
}

// dialer opens the one connection of a client.
type dialer struct {
	world  primitives.World
	target connector.Target

	mu     sync.Mutex
	dialed bool
	conn   net.Conn
	err    error
}

func (d *dialer) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	d.mu.Lock()
	again := d.dialed
	d.dialed = true
	d.mu.Unlock()
	if again {
		return nil, connector.ErrConnectionLost
	}
	opened, err := d.open(ctx)
	d.mu.Lock()
	defer d.mu.Unlock()
	d.conn, d.err = opened, err
	return opened, err
}

func (d *dialer) open(ctx context.Context) (net.Conn, error) {
	server := d.target.Server
	opened, err := dial.Dial(ctx, d.world, server.Host, server.Port, d.target.Deadline)
	if err != nil || d.target.TLS == nil {
		return opened, err
	}
	secured := tls.Client(opened, d.target.TLS)
	if err := secured.HandshakeContext(ctx); err != nil {
		opened.Close()
		return nil, err
	}
	return secured, nil
}

// failure is why the one dial failed, which the library reduces to a text.
func (d *dialer) failure() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

func (d *dialer) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.conn != nil {
		d.conn.Close()
	}
}

type conn struct {
	world  primitives.World
	client *redis.Client
	dialer *dialer
}

func (c *conn) Publish(ctx context.Context, channel string, payload []byte, deadline primitives.Instant) error {
	return c.do(ctx, deadline, func(bounded context.Context) error {
		return c.client.Publish(bounded, channel, payload).Err()
	})
}

// do runs one command under a deadline. The library follows the deadline of a
// context but not its cancellation, so that closes the connection.
func (c *conn) do(ctx context.Context, deadline primitives.Instant, command func(context.Context) error) error {
	bounded, cancel := context.WithTimeout(ctx, remaining(c.world, deadline))
	defer cancel()
	stop := context.AfterFunc(ctx, c.dialer.close)
	defer stop()
	err := command(bounded)
	var reply redis.Error
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return primitives.Canceled(ctx)
	case c.dialer.failure() != nil:
		return c.dialer.failure()
	case errors.As(err, &reply):
		return &connector.ReplyError{Text: reply.Error()}
	case errors.Is(err, connector.ErrConnectionLost):
		return err
	}
	return fmt.Errorf("%w: %w", connector.ErrConnectionLost, err)
}

func (c *conn) Close() { c.client.Close() }

var (
	_ connector.Driver = Driver{}
	_ connector.Conn   = (*conn)(nil)
)
