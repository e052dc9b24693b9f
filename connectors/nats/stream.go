package nats

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

const (
	// pullWait is how long the server holds a pull that found nothing. A cancelled
	// source leaves one such pull behind, so it is short.
	pullWait = 5 * time.Second
	// progressParts of ack_wait pass between two refreshes of an open message: one
	// may be late and the server still hears of it within half of ack_wait.
	progressParts = 3
)

var streamLastDelivery = invariant.Sometimes("a stream message was at its last delivery")

// OpenStream opens one instance of a durable pull consumer.
func (c *Connector) OpenStream(_ context.Context, plan contract.SourcePlan, _ int, env contract.Env) (contract.Source, error) {
	l, err := c.newLink(plan.Client, env)
	if err != nil {
		return nil, &contract.SourceError{Entity: vocab.SourceNATSStream, Operation: contract.SourceOpen, Err: err}
	}
	return &streamSource{
		session:      session{link: l, entity: vocab.SourceNATSStream},
		streamName:   plan.Names.Get("STREAM"),
		consumerName: plan.Names.Get("CONSUMER"),
		mode:         plan.Mode,
	}, nil
}

// streamSource pulls from a stream. A position is the connection's number and the
// place of the delivery in the batch in flight.
type streamSource struct {
	session
	streamName   string
	consumerName string
	mode         vocab.SourceMode

	consumer Consumer // of the connection
	epoch    uint64   // of the connection
	config   ConsumerConfig

	received []Message // the batch in flight
	messages []contract.Message
	tokens   []Token
}

func (s *streamSource) Resume(ctx context.Context) (contract.Resumed, error) {
	return s.resume(ctx, func(conn Conn, deadline primitives.Instant) error {
		consumer, err := conn.Consumer(ctx, s.streamName, s.consumerName, deadline)
		if err != nil {
			return err
		}
		s.consumer, s.config = consumer, consumer.Config()
		s.epoch++
		return s.check(s.config)
	})
}

// check refuses a consumer under which an acknowledged source cannot hold its
// promises, and names the difference.
func (s *streamSource) check(c ConsumerConfig) error {
	difference := ""
	switch window := s.window(); {
	case c.Push:
		difference = "is a push consumer; a durable pull consumer is required"
	case !c.Explicit:
		difference = "does not acknowledge explicitly"
	case c.Backoff > 0:
		difference = "has a delivery backoff list"
	case c.MaxAckPending > 0 && window > c.MaxAckPending:
		difference = fmt.Sprintf("allows max_ack_pending %d, fewer than the %d messages of the mode", c.MaxAckPending, window)
	default:
		return nil
	}
	return &contract.UnsuitableExternalError{Role: "consumer", Name: s.consumerName, Difference: difference}
}

func (s *streamSource) window() int {
	if s.mode.Parallel {
		return int(s.mode.Max)
	}
	return 1
}

// NextBatch takes what the server has; if that is nothing it waits for one
// message, and then, if the mode says so, for others.
func (s *streamSource) NextBatch(ctx context.Context, req contract.BatchRequest) (contract.Batch, error) {
	if s.conn == nil {
		return contract.Batch{Kind: contract.ResumeRequired, Err: ErrConnectionLost}, nil
	}
	received, err := s.pull(ctx, req)
	s.received = received
	if err != nil && len(received) > 0 {
		// What came before the failure is returned to the server at once, instead
		// of lapsing there.
		_ = s.consumer.Refuse(ctx, s.allTokens(), 0)
		s.received = s.received[:0]
	}
	switch {
	case errors.Is(err, ErrConnectionLost), errors.Is(err, ErrPullEnded):
		s.disconnect()
		return contract.Batch{Kind: contract.ResumeRequired, Err: err}, nil
	case err != nil:
		return contract.Batch{}, s.fail(contract.SourceRead, err)
	}
	s.countLast(received)
	s.messages = s.messages[:0]
	for i := range received {
		s.messages = append(s.messages, contract.Message{
			Payload:  received[i].Payload,
			Headers:  received[i].Headers,
			Position: contract.Position{Lane: s.epoch, Offset: uint64(i)},
			Metadata: contract.Metadata{Scope: vocab.ScopeHeaders},
		})
	}
	return contract.Batch{Messages: s.messages}, nil
}

func (s *streamSource) pull(ctx context.Context, req contract.BatchRequest) ([]Message, error) {
	received := s.received[:0]
	var err error
	if req.Max > 1 {
		received, err = s.consumer.Pull(ctx, req.Max, 0, received)
	}
	for err == nil && len(received) == 0 {
		received, err = s.consumer.Pull(ctx, 1, pullWait, received)
	}
	if err == nil && len(received) < req.Max && req.Timeout > 0 {
		received, err = s.consumer.Pull(ctx, req.Max-len(received), req.Timeout, received)
	}
	return received, err
}

// countLast counts messages that the server will not present again.
func (s *streamSource) countLast(received []Message) {
	last := 0
	for i := range received {
		if s.config.MaxDeliver > 0 && received[i].Delivered >= s.config.MaxDeliver {
			last++
		}
	}
	if streamLastDelivery.HitIf(last > 0) {
		s.link.env.Events.LastDelivery(last)
	}
}

func (s *streamSource) KeepAliveEvery() time.Duration { return s.config.AckWait / progressParts }

func (s *streamSource) KeepAlive(ctx context.Context, positions []contract.Position) error {
	tokens, err := s.tokensOf(positions)
	if err == nil {
		err = s.consumer.Progress(ctx, tokens)
	}
	if err != nil {
		return s.fail(contract.SourceKeepAlive, err)
	}
	return nil
}

func (s *streamSource) Acknowledge(ctx context.Context, positions []contract.Position) error {
	tokens, err := s.tokensOf(positions)
	if err == nil {
		err = s.consumer.Acknowledge(ctx, tokens, s.deadline())
	}
	if err != nil {
		return s.fail(contract.SourceAcknowledge, err)
	}
	return nil
}

func (s *streamSource) Reject(ctx context.Context, positions []contract.Position, why contract.Refusal) error {
	tokens, err := s.tokensOf(positions)
	if err == nil {
		err = s.consumer.Refuse(ctx, tokens, why.Delay)
	}
	if err != nil {
		return s.fail(contract.SourceReject, err)
	}
	return nil
}

// deadline bounds the server's confirmation: once ACK TIMEOUT is over the
// positions count as lost anyway.
func (s *streamSource) deadline() primitives.Instant {
	return s.link.env.World.Clock().Now().Add(s.mode.AckTimeout)
}

// tokensOf translates positions of the batch in flight. A position of an earlier
// connection has died with it (N2).
func (s *streamSource) tokensOf(positions []contract.Position) ([]Token, error) {
	s.tokens = s.tokens[:0]
	for _, p := range positions {
		if s.conn == nil || p.Lane != s.epoch {
			return nil, ErrConnectionLost
		}
		invariant.That(p.Offset < uint64(len(s.received)), "N2: position of no delivery in flight")
		s.tokens = append(s.tokens, s.received[p.Offset].Token)
	}
	return s.tokens, nil
}

func (s *streamSource) allTokens() []Token {
	s.tokens = s.tokens[:0]
	for i := range s.received {
		s.tokens = append(s.tokens, s.received[i].Token)
	}
	return s.tokens
}

var _ contract.KeepAliveSource = (*streamSource)(nil)
