package nats

import (
	"context"
	"errors"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// pendingMessagesMax is how many unread messages a subscription keeps; newer
// ones are dropped and reported. There is no byte limit.
const pendingMessagesMax = 65536

// OpenSubject opens one instance of a core NATS subscription.
func (c *Connector) OpenSubject(_ context.Context, plan contract.SourcePlan, _ int, env contract.Env) (contract.Source, error) {
	l, err := c.newLink(plan.Client, env)
	if err != nil {
		return nil, &contract.SourceError{Entity: vocab.SourceNATSSubject, Operation: contract.SourceOpen, Err: err}
	}
	return &subjectSource{session: session{link: l, entity: vocab.SourceNATSSubject}, subject: plan.Names.Get("SUBJECT"), group: plan.Names.Get("QUEUE GROUP")}, nil
}

// subjectSource is a member of a queue group. Nothing is acknowledged: what it
// holds when the connection is lost is lost.
type subjectSource struct {
	session
	subject, group string

	sub      Subscription // of the connection
	dropped  uint64
	received []Message
	messages []contract.Message
}

func (s *subjectSource) Resume(ctx context.Context) (contract.Resumed, error) {
	return s.resume(ctx, func(conn Conn, deadline primitives.Instant) error {
		sub, err := conn.Subscribe(ctx, s.subject, s.group, pendingMessagesMax, deadline)
		s.sub, s.dropped = sub, 0
		return err
	})
}

func (s *subjectSource) NextBatch(ctx context.Context, req contract.BatchRequest) (contract.Batch, error) {
	if s.conn == nil {
		return contract.Batch{Kind: contract.ResumeRequired, Err: ErrConnectionLost}, nil
	}
	received, err := s.sub.Next(ctx, req.Max, s.received[:0])
	s.received = received
	s.reportDropped()
	if err != nil {
		if errors.Is(err, ErrConnectionLost) {
			return contract.Batch{Kind: contract.ResumeRequired, Err: err}, nil
		}
		return contract.Batch{}, s.fail(contract.SourceRead, err)
	}
	s.messages = s.messages[:0]
	for i := range received {
		s.messages = append(s.messages, contract.Message{
			Payload:  received[i].Payload,
			Headers:  received[i].Headers,
			Metadata: contract.Metadata{Scope: vocab.ScopeHeaders},
		})
	}
	return contract.Batch{Messages: s.messages}, nil
}

func (s *subjectSource) reportDropped() {
	if total := s.sub.Dropped(); total > s.dropped {
		s.link.env.Events.Report(&SlowConsumerError{total - s.dropped})
		s.dropped = total
	}
}

// Acknowledge is never called: the class of the positions is none.
func (s *subjectSource) Acknowledge(context.Context, []contract.Position) error { return nil }

// Reject is never called either.
func (s *subjectSource) Reject(context.Context, []contract.Position, contract.Refusal) error {
	return nil
}

var _ contract.BatchSource = (*subjectSource)(nil)
