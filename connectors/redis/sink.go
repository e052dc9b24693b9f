package redis

import (
	"context"
	"errors"
	"strings"
	"time"

	"plexus/connectors/contract"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// publishBudget bounds one PUBLISH and its reply.
const publishBudget = 10 * time.Second

// refusals are the error replies that are about the record alone and will be
// given again each time it is sent.
var refusals = [...]string{
	"Protocol error: invalid bulk length",
	"string exceeds maximum allowed size",
}

var recordRefused = invariant.Sometimes("Redis refused a record for its size")

// OpenSink opens a channel sink and checks that the server can be reached.
func (c *Connector) OpenSink(ctx context.Context, plan contract.SinkPlan, env contract.Env) (contract.Sink, error) {
	fail := func(err error) (contract.Sink, error) {
		return nil, &contract.SinkError{Entity: vocab.SinkRedisChannel, Operation: contract.SinkOpen, Err: err}
	}
	pool, err := c.acquire(plan.Client, env)
	if err != nil {
		return fail(err)
	}
	s := &sink{
		connector: c,
		pool:      pool,
		channel:   plan.Names.Get("CHANNEL"),
		clock:     env.World.Clock(),
		events:    env.Events,
		waiting:   "no free connection of client '" + plan.Client.Name + "'",
	}
	conn, err := s.borrow(ctx)
	if err != nil {
		return fail(errors.Join(err, c.release(ctx, pool)))
	}
	pool.conns.Return(conn, false)
	return s, nil
}

type sink struct {
	connector *Connector
	pool      *sharedPool
	channel   string
	clock     primitives.Clock
	events    contract.Events
	waiting   string
}

func (s *sink) borrow(ctx context.Context) (Conn, error) {
	return s.pool.conns.Borrow(ctx, func() func() { return s.events.Waiting(s.waiting) })
}

func (s *sink) Publish(ctx context.Context, records []contract.Record) contract.Outcome {
	out := contract.Outcome{Delivered: make([]contract.RecordID, 0, len(records))}
	var conn Conn
	for i := range records {
		rec := &records[i]
		if conn == nil {
			var err error
			if conn, err = s.borrow(ctx); err != nil {
				return failed(out, err)
			}
		}
		err := conn.Publish(ctx, s.channel, rec.Payload, s.clock.Now().Add(publishBudget))
		switch {
		case err == nil:
			out.Delivered = append(out.Delivered, rec.ID)
			continue
		case isRefusal(err):
			recordRefused.Hit()
			out.Rejected = append(out.Rejected, contract.Rejection{ID: rec.ID, Code: contract.CodeExternal,
				Operation: contract.OperationPublish, Message: "Redis refused the size of the message"})
		default:
			out = failed(out, err) // D1
		}
		// A server that answered a protocol error has closed the connection, and
		// after any other failure nothing is known about it.
		s.pool.conns.Return(conn, true)
		conn = nil
		if out.Failure != nil {
			return out
		}
	}
	if conn != nil {
		s.pool.conns.Return(conn, false)
	}
	return out
}

func failed(out contract.Outcome, err error) contract.Outcome {
	out.Failure = &contract.AttemptFailure{
		Err: &contract.SinkError{Entity: vocab.SinkRedisChannel, Operation: contract.SinkPublish, Err: err},
	}
	return out
}

func isRefusal(err error) bool {
	var reply *ReplyError
	if !errors.As(err, &reply) {
		return false
	}
	for _, text := range refusals {
		if strings.Contains(reply.Text, text) {
			return true
		}
	}
	return false
}

// Finish has nothing to empty: a publish returns when its reply came.
func (s *sink) Finish(context.Context, primitives.Instant) error { return nil }

// KeepsClient is false: reopening checks the server before work is offered to it.
func (s *sink) KeepsClient() bool { return false }

func (s *sink) Close(ctx context.Context) error { return s.connector.release(ctx, s.pool) }

var _ contract.RecordSink = (*sink)(nil)
