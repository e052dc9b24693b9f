package nats

import (
	"context"
	"errors"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
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
	return &subjectSource{link: l, subject: plan.Names.Get("SUBJECT"), group: plan.Names.Get("QUEUE GROUP")}, nil
}

// subjectSource is a member of a queue group. Nothing is acknowledged: what it
// holds when the connection is lost is lost.
type subjectSource struct {
	link           link
	subject, group string

	conn     Conn // nil: not connected
	sub      Subscription
	dropped  uint64
	received []Message
	messages []contract.Message
}

func (s *subjectSource) NeedsResume() bool { return s.conn == nil || s.conn.Err() != nil }

func (s *subjectSource) Resume(ctx context.Context) (contract.Resumed, error) {
	if !s.NeedsResume() {
		return contract.Resumed{}, nil
	}
	s.disconnect()
	conn, deadline, err := s.link.connect(ctx)
	if err != nil {
		return contract.Resumed{}, s.fail(contract.SourceResume, err)
	}
	sub, err := conn.Subscribe(ctx, s.subject, s.group, pendingMessagesMax, deadline)
	if err != nil {
		conn.Close()
		return contract.Resumed{}, s.fail(contract.SourceResume, err)
	}
	s.conn, s.sub, s.dropped = conn, sub, 0
	return contract.Resumed{}, nil
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

func (s *subjectSource) Suspend(context.Context) error {
	s.disconnect()
	return nil
}

func (s *subjectSource) Close(context.Context) error {
	s.disconnect()
	return nil
}

func (s *subjectSource) disconnect() {
	if s.conn != nil {
		s.conn.Close()
		s.conn, s.sub = nil, nil
	}
}

func (s *subjectSource) fail(op contract.SourceOperation, err error) error {
	return &contract.SourceError{Entity: vocab.SourceNATSSubject, Operation: op, Err: err}
}

var _ contract.BatchSource = (*subjectSource)(nil)
