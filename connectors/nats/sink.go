package nats

import (
	"context"
	"errors"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var sinkTooLarge = invariant.Sometimes("a NATS record exceeded max_payload")

// OpenSink connects a subject sink.
func (c *Connector) OpenSink(ctx context.Context, plan contract.SinkPlan, env contract.Env) (contract.Sink, error) {
	fail := func(err error) (contract.Sink, error) {
		return nil, &contract.SinkError{Entity: vocab.SinkNATSSubject, Operation: contract.SinkOpen, Err: err}
	}
	l, err := c.newLink(plan.Client, env)
	if err != nil {
		return fail(err)
	}
	s := &sink{world: env.World, subject: plan.Names.Get("SUBJECT"), mode: plan.Mode, window: 1}
	if plan.Mode.Window.Parallel {
		s.window = int(plan.Mode.Window.Max)
	}
	l.target.PendingMax = s.window
	if s.conn, _, err = l.connect(ctx); err != nil {
		return fail(err)
	}
	return s, nil
}

type sink struct {
	world   primitives.World
	conn    Conn
	subject string
	mode    vocab.SinkMode
	window  int
	headers []contract.Header // scratch
}

func (s *sink) Publish(ctx context.Context, records []contract.Record) contract.Outcome {
	if s.mode.Kind == vocab.SinkJetStreamAck {
		return s.publishAwaited(ctx, records)
	}
	return s.publishFlushed(ctx, records)
}

// publishAwaited delivers what a stream has acknowledged.
func (s *sink) publishAwaited(ctx context.Context, records []contract.Record) contract.Outcome {
	w := contract.NewConfirmationWindow(s.window, s.mode.AckTimeout, s.world.Clock())
	for i := range records {
		rec := &records[i]
		headers, refusal := s.prepare(rec)
		if refusal != nil {
			w.RefuseLocally(*refusal)
			continue
		}
		pending, err := s.conn.PublishAwaited(s.subject, headers, rec.Payload)
		if err != nil {
			return wrapFailure(w.DriverFailed(err))
		}
		if !w.HandOver(ctx, rec.ID, pending) {
			break
		}
	}
	return wrapFailure(w.Finish(ctx))
}

// StreamAnswer turns what a stream answered into the answer for the record: nil
// is its acknowledgement, and one stream error is about the record alone.
func StreamAnswer(err error) contract.Answer {
	if err == nil {
		return contract.Answer{Kind: contract.Confirmed}
	}
	var stream *StreamError
	if errors.As(err, &stream) && stream.Code == codeMessageTooLarge {
		return contract.Answer{Kind: contract.Refused, Reason: stream.Error()}
	}
	return contract.Answer{Kind: contract.AnswerUnknown, Err: err}
}

// publishFlushed delivers what the server has taken off the connection. It says
// nothing about subscribers.
func (s *sink) publishFlushed(ctx context.Context, records []contract.Record) contract.Outcome {
	var out contract.Outcome
	deadline := s.world.Clock().Now().Add(flushBudget)
	written := make([]contract.RecordID, 0, len(records))
	for i := range records {
		rec := &records[i]
		headers, refusal := s.prepare(rec)
		if refusal != nil {
			out.Rejected = append(out.Rejected, *refusal)
			continue
		}
		if err := s.conn.Publish(s.subject, headers, rec.Payload); err != nil {
			out.Failure = &contract.AttemptFailure{Err: err}
			return wrapFailure(out)
		}
		written = append(written, rec.ID)
	}
	if err := s.conn.Flush(ctx, deadline); err != nil {
		out.Failure = &contract.AttemptFailure{Err: err}
		return wrapFailure(out)
	}
	out.Delivered = written
	return out
}

// prepare returns the headers to write, or the reason why the record cannot be
// written at all (N3).
func (s *sink) prepare(rec *contract.Record) ([]contract.Header, *contract.Rejection) {
	headers := rec.Headers
	if len(headers) > 0 {
		valid := false
		if headers, valid = canonicalHeaders(headers, s.headers); !valid {
			return nil, &contract.Rejection{ID: rec.ID, Code: contract.CodeValidation, Operation: contract.OperationInvoke,
				Message: "header name must be printable ASCII without a colon"}
		}
		s.headers = headers
	}
	if size, limit := messageBytes(headers, rec.Payload), s.conn.MaxPayload(); size > limit {
		sinkTooLarge.Hit()
		return nil, &contract.Rejection{ID: rec.ID, Code: contract.CodeExternal, Operation: contract.OperationPublish,
			Message: tooLarge(size, limit)}
	}
	return headers, nil
}

func wrapFailure(out contract.Outcome) contract.Outcome {
	if f := out.Failure; f != nil {
		f.Err = &contract.SinkError{Entity: vocab.SinkNATSSubject, Operation: contract.SinkPublish, Err: f.Err}
	}
	return out
}

// Finish has nothing to empty: a publish returns when its answers are settled.
func (s *sink) Finish(context.Context, primitives.Instant) error { return nil }

// KeepsClient is false: a connection that failed a publish is replaced (N1).
func (s *sink) KeepsClient() bool { return false }

func (s *sink) Close(context.Context) error {
	s.conn.Close()
	return nil
}

var _ contract.RecordSink = (*sink)(nil)
