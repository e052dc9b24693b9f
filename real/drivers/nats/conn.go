package nats

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"plexus/connectors/contract"
	connector "plexus/connectors/nats"
	"plexus/primitives"
)

type conn struct {
	world  primitives.World
	nc     *nats.Conn
	js     jetstream.JetStream
	closed chan struct{} // closed with the connection
}

func (c *conn) Err() error {
	if c.nc.IsClosed() {
		return c.lost()
	}
	return nil
}

// lost is the loss of the connection above its cause.
func (c *conn) lost() error {
	if cause := c.nc.LastError(); cause != nil {
		return fmt.Errorf("%w: %w", connector.ErrConnectionLost, cause)
	}
	return connector.ErrConnectionLost
}

// explain replaces the many errors of a closed connection by one.
func (c *conn) explain(ctx context.Context, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return primitives.Canceled(ctx)
	case c.nc.IsClosed():
		return c.lost()
	}
	return err
}

// until bounds a context by an instant; nats.go asks contexts for their deadline.
func (c *conn) until(ctx context.Context, at primitives.Instant) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, at.Sub(c.world.Clock().Now()))
}

func (c *conn) MaxPayload() int { return int(c.nc.MaxPayload()) }

func (c *conn) Subscribe(ctx context.Context, subject, group string, pendingMax int, deadline primitives.Instant) (connector.Subscription, error) {
	sub, err := c.nc.QueueSubscribeSync(subject, group)
	if err != nil {
		return nil, c.explain(ctx, err)
	}
	if err := sub.SetPendingLimits(pendingMax, -1); err != nil {
		return nil, c.explain(ctx, err)
	}
	return &subscription{conn: c, sub: sub}, c.Flush(ctx, deadline)
}

func (c *conn) Publish(subject string, headers []contract.Header, payload []byte) error {
	return c.explain(context.Background(), c.nc.PublishMsg(message(subject, headers, payload)))
}

func (c *conn) Flush(ctx context.Context, deadline primitives.Instant) error {
	bounded, cancel := c.until(ctx, deadline)
	defer cancel()
	return c.explain(ctx, c.nc.FlushWithContext(bounded))
}

func (c *conn) PublishAwaited(subject string, headers []contract.Header, payload []byte) (contract.Pending, error) {
	future, err := c.js.PublishMsgAsync(message(subject, headers, payload), jetstream.WithRetryAttempts(0))
	if err != nil {
		return nil, c.explain(context.Background(), err)
	}
	return &pending{conn: c, future: future}, nil
}

func (c *conn) Close() {
	c.nc.Close()
	<-c.closed
}

func message(subject string, headers []contract.Header, payload []byte) *nats.Msg {
	msg := &nats.Msg{Subject: subject, Data: payload}
	if len(headers) > 0 {
		msg.Header = make(nats.Header, len(headers))
		for _, h := range headers {
			msg.Header[h.Name] = append(msg.Header[h.Name], h.Value)
		}
	}
	return msg
}

// headersOf lists the names in lexical order, the values of a name in order.
func headersOf(header nats.Header) []contract.Header {
	if len(header) == 0 {
		return nil
	}
	out := make([]contract.Header, 0, len(header))
	for name, values := range header {
		for _, value := range values {
			out = append(out, contract.Header{Name: name, Value: value})
		}
	}
	slices.SortStableFunc(out, func(a, b contract.Header) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// subscription reads a queue group.
type subscription struct {
	conn *conn
	sub  *nats.Subscription
}

func (s *subscription) Next(ctx context.Context, limit int, into []connector.Message) ([]connector.Message, error) {
	for len(into) == 0 {
		msg, err := s.sub.NextMsgWithContext(ctx)
		switch {
		case err == nil:
			into = append(into, connector.Message{Payload: msg.Data, Headers: headersOf(msg.Header)})
		case errors.Is(err, nats.ErrSlowConsumer): // said once for each time; Dropped counts
		default:
			return into, s.conn.explain(ctx, err)
		}
	}
	for len(into) < limit {
		msg, err := s.sub.NextMsg(0)
		if err != nil {
			break
		}
		into = append(into, connector.Message{Payload: msg.Data, Headers: headersOf(msg.Header)})
	}
	return into, nil
}

func (s *subscription) Dropped() uint64 {
	dropped, err := s.sub.Dropped()
	if err != nil {
		return 0
	}
	return uint64(dropped)
}

// pending is one asynchronous publish.
type pending struct {
	conn   *conn
	future jetstream.PubAckFuture
}

func (p *pending) Ready() (contract.Answer, bool) {
	select {
	case <-p.future.Ok():
		return connector.StreamAnswer(nil), true
	case err := <-p.future.Err():
		return connector.StreamAnswer(p.conn.streamError(err)), true
	default:
		return contract.Answer{}, false
	}
}

func (p *pending) Wait(ctx context.Context, until primitives.Instant) (contract.Answer, bool) {
	timer := time.NewTimer(until.Sub(p.conn.world.Clock().Now()))
	defer timer.Stop()
	select {
	case <-p.future.Ok():
		return connector.StreamAnswer(nil), true
	case err := <-p.future.Err():
		return connector.StreamAnswer(p.conn.streamError(err)), true
	case <-ctx.Done():
	case <-timer.C:
	case <-p.conn.closed:
		if answer, given := p.Ready(); given {
			return answer, true
		}
		return connector.StreamAnswer(p.conn.lost()), true
	}
	return p.Ready() // an answer given at the instant is an answer
}

func (c *conn) streamError(err error) error {
	var api jetstream.JetStreamError
	switch {
	case errors.Is(err, jetstream.ErrNoStreamResponse):
		return connector.ErrNoStream
	case errors.As(err, &api) && api.APIError() != nil:
		return &connector.StreamError{Code: int(api.APIError().ErrorCode), Description: api.APIError().Description}
	}
	return c.explain(context.Background(), err)
}

var (
	_ connector.Conn         = (*conn)(nil)
	_ connector.Subscription = (*subscription)(nil)
	_ contract.Pending       = (*pending)(nil)
)
