package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/connectors/contract"
	connector "plexus/connectors/nats"
	"plexus/primitives"
)

// Why the server, or its silence, ended a pull.
var (
	errLeaderChange    = errors.New("leadership change")
	errConsumerDeleted = errors.New("consumer deleted")
	errNoHeartbeat     = errors.New("no heartbeat received")
)

// clientConsumer is a durable consumer as its client sees it.
type clientConsumer struct {
	client       *client
	stream, name string
	config       connector.ConsumerConfig
}

func (c *client) Consumer(ctx context.Context, stream, name string, deadline primitives.Instant) (connector.Consumer, error) {
	c.lookup = nil
	c.out.Begin(frameLookup)
	c.out.Text(stream)
	c.out.Text(name)
	c.out.End()
	answered, err := c.await(ctx, deadline, func() bool { return c.lookup != nil })
	switch {
	case err != nil:
		return nil, err
	case !answered:
		return nil, primitives.ErrDeadline
	case c.lookup.found == foundNoStream:
		return nil, &contract.MissingExternalError{Role: "stream", Name: stream}
	case c.lookup.found == foundNoConsumer:
		return nil, &contract.MissingExternalError{Role: "consumer", Name: name}
	}
	return &clientConsumer{client: c, stream: stream, name: name, config: c.lookup.config}, nil
}

func (c *clientConsumer) Config() connector.ConsumerConfig { return c.config }

// begin starts a frame that names the consumer; a number before the names where
// the frame has one.
func (c *clientConsumer) begin(kind byte, number ...uint64) {
	out := &c.client.out
	out.Begin(kind)
	for _, n := range number {
		out.Uint(n)
	}
	out.Text(c.stream)
	out.Text(c.name)
}

func (c *clientConsumer) Pull(ctx context.Context, limit int, wait time.Duration, into []connector.Message) ([]connector.Message, error) {
	cl := c.client
	clock := cl.world.Clock()
	now := clock.Now()
	cl.pulls++
	cl.pull = clientPull{id: cl.pulls, arrived: into, lastSign: now}
	heartbeat := time.Duration(0)
	if wait > heartbeatWaitMin {
		heartbeat = wait / heartbeatParts
	}
	c.begin(framePull, cl.pull.id)
	cl.out.Uint(uint64(limit))
	cl.out.Uint(uint64(wait))
	cl.out.Uint(uint64(heartbeat))
	cl.out.End()

	full := len(into) + limit
	done := func() bool { return cl.pull.ended || len(cl.pull.arrived) >= full }
	end := now.Add(wait + pullGrace)
	for {
		until := end
		if heartbeat > 0 {
			until = min(until, cl.pull.lastSign.Add(2*heartbeat))
		}
		finished, err := cl.await(ctx, until, done)
		arrived := cl.pull.arrived
		switch {
		case err != nil && !done():
			cl.send(frameUnpull, cl.pull.id)
			return arrived, err
		case finished || done():
			return arrived, c.ended()
		case !clock.Now().Before(end):
			return arrived, nil
		case !clock.Now().Before(cl.pull.lastSign.Add(2 * heartbeat)):
			return arrived, fmt.Errorf("%w: %w", connector.ErrPullEnded, errNoHeartbeat)
		}
	}
}

func (c *clientConsumer) ended() error {
	if c.client.pull.ended {
		switch c.client.pull.status {
		case pullLeaderChange:
			return fmt.Errorf("%w: %w", connector.ErrPullEnded, errLeaderChange)
		case pullConsumerDeleted:
			return fmt.Errorf("%w: %w", connector.ErrPullEnded, errConsumerDeleted)
		}
	}
	return nil
}

// send writes a frame of one number and waits for nothing.
func (c *client) send(kind byte, number uint64) {
	c.out.Begin(kind)
	c.out.Uint(number)
	c.out.End()
	_ = c.flush() // a lost connection has no pulls
}

func (c *clientConsumer) Acknowledge(ctx context.Context, tokens []connector.Token, deadline primitives.Instant) error {
	cl := c.client
	cl.acks++
	number := cl.acks
	c.begin(frameAck, number)
	c.tokens(tokens)
	// Answers come in order, so a later one would stand for a lost earlier one;
	// each is waited for by itself.
	confirmed, err := cl.await(ctx, deadline, func() bool { return cl.acked == number })
	if err == nil && !confirmed {
		err = connector.ErrUnconfirmed
	}
	return err
}

func (c *clientConsumer) Refuse(_ context.Context, tokens []connector.Token, delay time.Duration) error {
	c.begin(frameNak)
	c.client.out.Uint(uint64(delay))
	c.tokens(tokens)
	return c.client.flush()
}

func (c *clientConsumer) Progress(_ context.Context, tokens []connector.Token) error {
	c.begin(frameProgress)
	c.tokens(tokens)
	return c.client.flush()
}

func (c *clientConsumer) tokens(tokens []connector.Token) {
	for i := range tokens {
		c.client.out.Uint(tokens[i].Sequence)
	}
	c.client.out.End()
}

var _ connector.Consumer = (*clientConsumer)(nil)
