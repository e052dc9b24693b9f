package redis

import (
	"context"
	"fmt"

	connector "plexus/connectors/redis"
	"plexus/primitives"
	"plexus/primitives/dial"
	"plexus/sim/brokers"
)

// Driver reaches the model from the world of a node.
type Driver struct{}

// Connect dials and logs in.
func (Driver) Connect(ctx context.Context, w primitives.World, to connector.Target) (connector.Conn, error) {
	conn, err := dial.Dial(ctx, w, to.Server.Host, to.Server.Port, to.Deadline)
	if err != nil {
		return nil, err
	}
	c := &client{conn: conn, frames: brokers.NewFrames(conn)}
	c.out.Begin(frameConnect)
	c.out.Text(to.Server.User)
	c.out.Text(to.Server.Password.Reveal())
	c.out.End()
	if err := c.exchange(ctx, to.Deadline); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// client is one connection; its one user writes a command and reads the reply.
type client struct {
	conn   primitives.Conn
	frames *brokers.Frames
	out    brokers.Out
	err    error // why the connection is lost
}

func (c *client) Publish(ctx context.Context, channel string, payload []byte, deadline primitives.Instant) error {
	c.out.Begin(framePublish)
	c.out.Text(channel)
	c.out.Blob(payload)
	c.out.End()
	return c.exchange(ctx, deadline)
}

func (c *client) exchange(ctx context.Context, deadline primitives.Instant) error {
	if c.err != nil {
		return c.err
	}
	stop := primitives.OnCancel(ctx, c.Close)
	defer stop()
	c.conn.ReadBy(deadline)
	c.conn.WriteBy(deadline)
	_, err := c.conn.Write(c.out.Bytes)
	c.out.Bytes = c.out.Bytes[:0]
	for err == nil {
		in, more, broken := c.frames.Next()
		switch {
		case broken != nil:
			err = broken
		case !more:
			err = c.frames.Fill()
		case in.Kind == frameError:
			return &connector.ReplyError{Text: in.Text()}
		default:
			return nil
		}
	}
	// Whatever the reply would have been, nothing more can be read after it.
	c.err = fmt.Errorf("%w: %w", connector.ErrConnectionLost, err)
	c.Close()
	if ctx.Err() != nil {
		return primitives.Canceled(ctx)
	}
	return c.err
}

func (c *client) Close() { c.conn.Close() }

var (
	_ connector.Driver = Driver{}
	_ connector.Conn   = (*client)(nil)
)
