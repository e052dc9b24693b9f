package nats

import (
	"context"
	"fmt"
	"time"

	"plexus/connectors/contract"
	connector "plexus/connectors/nats"
	"plexus/primitives"
	"plexus/sim/brokers"
)

const (
	// flushBytes is how much a client buffers before it writes by itself.
	flushBytes = 16 << 10
	// writeBudget bounds one write: a server that takes no bytes for this long is
	// gone.
	writeBudget = 10 * time.Second
	// pullGrace is how long the client waits beyond the wait it asked for.
	pullGrace = time.Second
	// A pull that waits longer than heartbeatWaitMin asks for a sign of life
	// heartbeatParts times.
	heartbeatWaitMin = 2 * time.Second
	heartbeatParts   = 4
)

// client is a node's end of one connection: the task of its owner, which writes
// and waits, and one that reads.
type client struct {
	world      primitives.World
	conn       primitives.Conn
	frames     *brokers.Frames
	group      *primitives.Group
	wake       *primitives.Notice // raised when anything arrived
	out        brokers.Out
	maxPayload int
	err        error // why the connection is lost

	pings, pongs uint64
	subs         []*clientSubscription
	lookup       *foundConsumerFrame
	pulls        uint64
	pull         clientPull
	acks, acked  uint64

	// Publishes await their answers in slabs, so that handles stay where they are.
	slab    []pending
	waiting []*pending // by id, from firstID
	firstID uint64
}

// pending is one publish that a stream has not answered.
type pending struct {
	client *client
	answer contract.Answer
	given  bool
}

// slabPublishes is how many publishes one allocation holds.
const slabPublishes = 64

// foundConsumerFrame is the answer of a lookup.
type foundConsumerFrame struct {
	found  uint64
	config connector.ConsumerConfig
}

// clientPull is the request in flight; messages of an earlier one are ignored,
// and come back when their wait is over.
type clientPull struct {
	id       uint64
	arrived  []connector.Message
	ended    bool
	status   uint64
	lastSign primitives.Instant
}

// read handles frames until the connection ends.
func (c *client) read() {
	for c.err == nil {
		err := c.frames.Fill()
		for err == nil {
			in, more, broken := c.frames.Next()
			if broken != nil || more && !c.handle(in) {
				err = brokers.ErrFrame
			}
			if !more {
				break
			}
		}
		if err != nil {
			c.lose(err)
		}
		c.wake.Raise()
	}
	c.conn.Close()
}

func (c *client) lose(cause error) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %w", connector.ErrConnectionLost, cause)
	}
}

func (c *client) handle(in brokers.In) bool {
	switch in.Kind {
	case framePong:
		c.pongs = in.Uint()
	case frameMessage:
		sid := in.Uint()
		if sid >= uint64(len(c.subs)) {
			return false
		}
		own := in.Over(append([]byte(nil), in.Body()...))
		c.subs[sid].take(connector.Message{Headers: own.Headers(), Payload: own.Blob()})
		return !own.Bad
	case frameAnswer:
		c.answered(in.Uint(), int(in.Uint()), in.Text())
	case frameConsumer:
		c.lookup = &foundConsumerFrame{found: in.Uint(), config: connector.ConsumerConfig{
			Explicit: in.Uint() == 1, Push: in.Uint() == 1, Backoff: int(in.Uint()),
			AckWait: time.Duration(in.Uint()), MaxAckPending: int(in.Uint()), MaxDeliver: int(in.Uint()),
		}}
	case frameDeliver:
		return c.delivered(in)
	case framePullEnd:
		if id, status := in.Uint(), in.Uint(); id == c.pull.id {
			c.pull.ended, c.pull.status = true, status
		}
	case frameHeartbeat:
		if in.Uint() == c.pull.id {
			c.pull.lastSign = c.world.Clock().Now()
		}
	case frameAcked:
		c.acked = in.Uint()
	default:
		return false
	}
	return !in.Bad
}

func (c *client) delivered(in brokers.In) bool {
	if in.Uint() != c.pull.id {
		return true
	}
	own := in.Over(append([]byte(nil), in.Body()...))
	for own.More() {
		c.pull.arrived = append(c.pull.arrived, connector.Message{
			Token:     connector.Token{Sequence: own.Uint()},
			Delivered: int(own.Uint()),
			Headers:   own.Headers(),
			Payload:   own.Blob(),
		})
	}
	c.pull.lastSign = c.world.Clock().Now()
	return !own.Bad
}

func (c *client) answered(id uint64, code int, text string) {
	if id < c.firstID || id >= c.firstID+uint64(len(c.waiting)) {
		return
	}
	p := c.waiting[id-c.firstID]
	var err error
	switch code {
	case answerStored:
	case answerNoResponders:
		err = connector.ErrNoStream
	default:
		err = &connector.StreamError{Code: code, Description: text}
	}
	p.answer, p.given = connector.StreamAnswer(err), true
	for len(c.waiting) > 0 && c.waiting[0].given {
		c.waiting = c.waiting[1:]
		c.firstID++
	}
}

// await flushes and waits until the condition holds: true, or false when the
// instant came first. The error is the loss of the connection or cancellation.
func (c *client) await(ctx context.Context, until primitives.Instant, cond func() bool) (bool, error) {
	if err := c.flush(); err != nil {
		return false, err
	}
	for {
		switch {
		case cond():
			return true, nil
		case c.err != nil:
			return false, c.err
		case !c.world.Clock().Now().Before(until):
			return false, nil
		}
		var err error
		if until == primitives.Never {
			err = c.wake.Wait(ctx)
		} else {
			_, err = primitives.Select(ctx, c.world, c.wake.OnRaise(), primitives.AtCase(c.world, until))
		}
		if err != nil {
			return false, err
		}
	}
}

// flush writes what is buffered.
func (c *client) flush() error {
	if c.err != nil {
		return c.err
	}
	if len(c.out.Bytes) == 0 {
		return nil
	}
	c.conn.WriteBy(c.world.Clock().Now().Add(writeBudget))
	_, err := c.conn.Write(c.out.Bytes)
	c.out.Bytes = c.out.Bytes[:0]
	if err != nil {
		c.lose(err)
		c.conn.Close()
	}
	return c.err
}

func (c *client) Err() error { return c.err }

func (c *client) MaxPayload() int { return c.maxPayload }

func (c *client) Publish(subject string, headers []contract.Header, payload []byte) error {
	c.out.Begin(framePub)
	return c.publish(subject, headers, payload)
}

func (c *client) publish(subject string, headers []contract.Header, payload []byte) error {
	c.out.Text(subject)
	c.out.Headers(headers)
	c.out.Blob(payload)
	c.out.End()
	if len(c.out.Bytes) >= flushBytes {
		return c.flush()
	}
	return c.err
}

func (c *client) PublishAwaited(subject string, headers []contract.Header, payload []byte) (contract.Pending, error) {
	if len(c.slab) == cap(c.slab) {
		c.slab = make([]pending, 0, slabPublishes)
	}
	c.slab = append(c.slab, pending{client: c})
	p := &c.slab[len(c.slab)-1]
	c.out.Begin(framePubAwait)
	c.out.Uint(c.firstID + uint64(len(c.waiting)))
	c.waiting = append(c.waiting, p)
	return p, c.publish(subject, headers, payload)
}

// Ready implements contract.Pending.
func (p *pending) Ready() (contract.Answer, bool) { return p.answer, p.given }

// Wait implements contract.Pending.
func (p *pending) Wait(ctx context.Context, until primitives.Instant) (contract.Answer, bool) {
	_, err := p.client.await(ctx, until, func() bool { return p.given })
	switch {
	case p.given:
		return p.answer, true
	case err != nil && ctx.Err() == nil:
		return connector.StreamAnswer(err), true
	}
	return contract.Answer{}, false
}

func (c *client) Flush(ctx context.Context, deadline primitives.Instant) error {
	c.pings++
	number := c.pings
	c.out.Begin(framePing)
	c.out.Uint(number)
	c.out.End()
	answered, err := c.await(ctx, deadline, func() bool { return c.pongs >= number })
	if err == nil && !answered {
		err = primitives.ErrDeadline
	}
	return err
}

func (c *client) Close() {
	c.lose(primitives.ErrClosed)
	c.conn.Close()
	// The reader ends with its connection; nothing else can hold it up.
	_ = c.group.Wait(context.Background())
}

func (c *client) Subscribe(ctx context.Context, subject, group string, pendingMax int, deadline primitives.Instant) (connector.Subscription, error) {
	sub := &clientSubscription{client: c, pendingMax: pendingMax}
	c.out.Begin(frameSub)
	c.out.Uint(uint64(len(c.subs)))
	c.out.Text(subject)
	c.out.Text(group)
	c.out.End()
	c.subs = append(c.subs, sub)
	return sub, c.Flush(ctx, deadline)
}

// clientSubscription keeps messages that nobody has read.
type clientSubscription struct {
	client     *client
	pendingMax int
	unread     []connector.Message
	dropped    uint64
}

func (s *clientSubscription) take(m connector.Message) {
	if len(s.unread) == s.pendingMax {
		s.dropped++
		return
	}
	s.unread = append(s.unread, m)
}

func (s *clientSubscription) Next(ctx context.Context, limit int, into []connector.Message) ([]connector.Message, error) {
	if _, err := s.client.await(ctx, primitives.Never, func() bool { return len(s.unread) > 0 }); len(s.unread) == 0 {
		return into, err
	}
	n := min(limit, len(s.unread))
	into = append(into, s.unread[:n]...)
	clear(s.unread[:n])
	if s.unread = s.unread[n:]; len(s.unread) == 0 {
		s.unread = nil
	}
	return into, nil
}

func (s *clientSubscription) Dropped() uint64 { return s.dropped }

var (
	_ connector.Conn         = (*client)(nil)
	_ connector.Subscription = (*clientSubscription)(nil)
	_ contract.Pending       = (*pending)(nil)
)
