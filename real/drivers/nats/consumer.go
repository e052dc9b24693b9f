package nats

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"plexus/connectors/contract"
	connector "plexus/connectors/nats"
	"plexus/primitives"
)

// A pull that waits longer than heartbeatWaitMin asks the server for a sign of
// life heartbeatParts times.
const (
	heartbeatWaitMin = 2 * time.Second
	heartbeatParts   = 4
)

// What the server understands on an acknowledgement subject.
var (
	ackDone     = []byte("+ACK")
	ackProgress = []byte("+WPI")
)

func (c *conn) Consumer(ctx context.Context, stream, name string, deadline primitives.Instant) (connector.Consumer, error) {
	bounded, cancel := c.until(ctx, deadline)
	defer cancel()
	found, err := c.js.Consumer(bounded, stream, name)
	switch {
	case errors.Is(err, jetstream.ErrNotPullConsumer):
		return &consumer{conn: c, config: connector.ConsumerConfig{Push: true}}, nil
	case errors.Is(err, jetstream.ErrStreamNotFound):
		return nil, &contract.MissingExternalError{Role: "stream", Name: stream, Err: err}
	case errors.Is(err, jetstream.ErrConsumerNotFound), errors.Is(err, jetstream.ErrConsumerDoesNotExist):
		return nil, &contract.MissingExternalError{Role: "consumer", Name: name, Err: err}
	case err != nil:
		return nil, c.explain(ctx, err)
	}
	config := found.CachedInfo().Config
	return &consumer{conn: c, pull: found, config: connector.ConsumerConfig{
		Explicit:      config.AckPolicy == jetstream.AckExplicitPolicy,
		Backoff:       len(config.BackOff),
		AckWait:       config.AckWait,
		MaxAckPending: max(config.MaxAckPending, 0),
		MaxDeliver:    max(config.MaxDeliver, 0),
	}}, nil
}

type consumer struct {
	conn   *conn
	pull   jetstream.Consumer
	config connector.ConsumerConfig
}

func (c *consumer) Config() connector.ConsumerConfig { return c.config }

func (c *consumer) Pull(ctx context.Context, limit int, wait time.Duration, into []connector.Message) ([]connector.Message, error) {
	if err := c.conn.Err(); err != nil {
		return into, err
	}
	batch, err := c.fetch(limit, wait)
	if err != nil {
		return into, c.explain(ctx, err)
	}
	for {
		select {
		case msg, more := <-batch.Messages():
			if !more {
				return into, c.explain(ctx, batch.Error())
			}
			delivery := connector.Message{
				Payload: msg.Data(),
				Headers: headersOf(msg.Headers()),
				Token:   connector.Token{Reply: msg.Reply()},
			}
			if meta, err := msg.Metadata(); err == nil {
				delivery.Delivered = int(meta.NumDelivered)
			}
			into = append(into, delivery)
		case <-ctx.Done():
			giveBack(batch)
			return into, primitives.Canceled(ctx)
		case <-c.conn.closed:
			return into, c.conn.lost()
		}
	}
}

// giveBack rejects what has arrived for a pull that is not waited for any more;
// it would come again only after ack_wait otherwise.
func giveBack(batch jetstream.MessageBatch) {
	for {
		select {
		case msg, more := <-batch.Messages():
			if !more {
				return
			}
			_ = msg.Nak() // a lost connection has lost the delivery too
		default:
			return
		}
	}
}

func (c *consumer) fetch(limit int, wait time.Duration) (jetstream.MessageBatch, error) {
	if wait == 0 {
		return c.pull.FetchNoWait(limit)
	}
	options := []jetstream.FetchOpt{jetstream.FetchMaxWait(wait)}
	if wait > heartbeatWaitMin {
		options = append(options, jetstream.FetchHeartbeat(wait/heartbeatParts))
	}
	return c.pull.Fetch(limit, options...)
}

// explain tells an end of the pull by the server from other failures.
func (c *consumer) explain(ctx context.Context, err error) error {
	for _, ended := range []error{
		jetstream.ErrNoHeartbeat, jetstream.ErrConsumerDeleted, jetstream.ErrConsumerLeadershipChanged,
		jetstream.ErrServerShutdown, jetstream.ErrConsumerNotFound, nats.ErrNoResponders,
	} {
		if errors.Is(err, ended) && !c.conn.nc.IsClosed() && ctx.Err() == nil {
			return fmt.Errorf("%w: %w", connector.ErrPullEnded, err)
		}
	}
	return c.conn.explain(ctx, err)
}

// Acknowledge sends every acknowledgement as a request, and counts the answers on
// one inbox.
func (c *consumer) Acknowledge(ctx context.Context, tokens []connector.Token, deadline primitives.Instant) error {
	inbox := c.conn.nc.NewInbox()
	answers, err := c.conn.nc.SubscribeSync(inbox)
	if err != nil {
		return c.conn.explain(ctx, err)
	}
	defer answers.Unsubscribe()
	for _, token := range tokens {
		if err := c.conn.nc.PublishRequest(token.Reply, inbox, ackDone); err != nil {
			return c.conn.explain(ctx, err)
		}
	}
	bounded, cancel := c.conn.until(ctx, deadline)
	defer cancel()
	for range tokens {
		answer, err := answers.NextMsgWithContext(bounded)
		switch {
		case errors.Is(err, nats.ErrNoResponders), err == nil && answer.Header.Get("Status") != "":
			return connector.ErrUnconfirmed
		case err != nil && bounded.Err() != nil && ctx.Err() == nil:
			return connector.ErrUnconfirmed
		case err != nil:
			return c.conn.explain(ctx, err)
		}
	}
	return nil
}

func (c *consumer) Refuse(ctx context.Context, tokens []connector.Token, delay time.Duration) error {
	body := []byte("-NAK")
	if delay > 0 {
		body = fmt.Appendf(body, ` {"delay": %s}`, strconv.FormatInt(int64(delay), 10))
	}
	return c.send(ctx, tokens, body)
}

func (c *consumer) Progress(ctx context.Context, tokens []connector.Token) error {
	return c.send(ctx, tokens, ackProgress)
}

func (c *consumer) send(ctx context.Context, tokens []connector.Token, body []byte) error {
	for _, token := range tokens {
		if err := c.conn.nc.Publish(token.Reply, body); err != nil {
			return c.conn.explain(ctx, err)
		}
	}
	return nil
}

var _ connector.Consumer = (*consumer)(nil)
