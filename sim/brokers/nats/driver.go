package nats

import (
	"context"
	"errors"
	"time"

	"plexus/connectors/contract"
	connector "plexus/connectors/nats"
	"plexus/primitives"
	"plexus/primitives/dial"
	"plexus/sim/brokers"
)

// LoginError is the server's refusal of a connection.
type LoginError struct{ Text string }

func (e *LoginError) Error() string { return "server refused the connection: " + e.Text }

// Driver reaches the model from the world of a node.
type Driver struct{}

// Connect tries the servers in order; each gets an equal share of what is left of
// the budget.
func (Driver) Connect(ctx context.Context, w primitives.World, to connector.Target) (connector.Conn, error) {
	var failures []error
	for i, server := range to.Servers {
		now := w.Clock().Now()
		share := now.Add(to.Deadline.Sub(now) / time.Duration(len(to.Servers)-i))
		c, err := connect(ctx, w, server, share)
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

func connect(ctx context.Context, w primitives.World, server contract.Server, deadline primitives.Instant) (*client, error) {
	conn, err := dial.Dial(ctx, w, server.Host, server.Port, deadline)
	if err != nil {
		return nil, err
	}
	stop := primitives.OnCancel(ctx, func() { conn.Close() })
	defer stop()
	c := &client{world: w, conn: conn, frames: brokers.NewFrames(conn), wake: primitives.NewNotice(w)}
	conn.ReadBy(deadline)
	conn.WriteBy(deadline)
	c.out.Begin(frameConnect)
	c.out.Text(server.User)
	c.out.Text(server.Password.Reveal())
	c.out.End()
	err = c.flush()
	if err == nil {
		err = c.greet()
	}
	if err != nil {
		conn.Close()
		if ctx.Err() != nil {
			err = primitives.Canceled(ctx)
		}
		return nil, err
	}
	conn.ReadBy(primitives.Never)
	conn.WriteBy(primitives.Never)
	c.group = primitives.NewGroup(context.Background(), w)
	c.group.Go("nats client", func(context.Context) error {
		c.read()
		return nil
	})
	return c, nil
}

// greet reads the server's first frame.
func (c *client) greet() error {
	for {
		in, more, err := c.frames.Next()
		switch {
		case err != nil:
			return err
		case !more:
			if err := c.frames.Fill(); err != nil {
				return err
			}
		case in.Kind == frameInfo:
			c.maxPayload = int(in.Uint())
			return nil
		case in.Kind == frameError:
			return &LoginError{in.Text()}
		default:
			return brokers.ErrFrame
		}
	}
}

var _ connector.Driver = Driver{}
