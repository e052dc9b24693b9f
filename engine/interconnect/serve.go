package interconnect

import (
	"context"
	"errors"
	"io"

	"plexus/primitives/invariant"
)

var admissionWaited = invariant.Sometimes("an exchange waited until the node served fewer")

// handler serves one operation: a message, or a stream.
type handler struct {
	message func(ctx context.Context, from Process, request []byte) ([]byte, error)
	stream  func(ctx context.Context, from Process, s *Stream) error
}

// start begins to serve a stream that the peer opened, under the connection's
// lock.
func (c *connection) start(s *Stream) {
	s.attend(c.m.tasks.Context())
	if s.op.entry().ordered {
		c.queue(s)
		return
	}
	c.m.tasks.Go(s.op.String(), func(context.Context) error {
		c.serve(s)
		return nil
	})
}

// eventQueue holds events of one operation in the order of their opening. A task
// serves it while there are any.
type eventQueue struct {
	waiting []*Stream
	running bool
}

func (c *connection) queue(s *Stream) {
	q := c.queues[s.op.number]
	if q == nil {
		q = new(eventQueue)
		if c.queues == nil {
			c.queues = map[uint16]*eventQueue{}
		}
		c.queues[s.op.number] = q
	}
	q.waiting = append(q.waiting, s)
	if !q.running {
		q.running = true
		c.m.tasks.Go(s.op.String(), func(context.Context) error {
			c.serveQueue(q)
			return nil
		})
	}
}

func (c *connection) serveQueue(q *eventQueue) {
	for {
		c.lock()
		if len(q.waiting) == 0 {
			q.running = false
			c.unlock()
			return
		}
		s := q.waiting[0]
		q.waiting = append(q.waiting[:0], q.waiting[1:]...)
		c.unlock()
		c.serve(s)
	}
}

// serve runs the handler of a stream and answers.
func (c *connection) serve(s *Stream) {
	defer s.cancel(nil)
	answer, err := c.handle(s)
	c.lock()
	defer c.unlock()
	defer c.discharge(s)
	switch {
	case s.finished:
		return
	case err == nil && s.op.Form() == Request:
		s.out.message, s.out.offset, s.out.pending, s.out.end = answer, 0, true, true
		c.leave(s)
		return
	case err == nil:
		s.out.end = true
		c.leave(s)
		return
	}
	switch refusal, refused := Refused(err); {
	case refused:
		c.abort(s, err, resetRefused, refusal)
	case s.ctx.Err() != nil:
		c.abort(s, err, resetWithdrawn, nil)
	case errors.Is(err, ErrMalformed), errors.Is(err, ErrForm):
		malformedReset.Hit()
		c.abort(s, err, resetMalformed, nil)
	case errors.Is(err, ErrNoProgress):
		c.abort(s, err, resetNoProgress, nil)
	default:
		c.abort(s, err, resetRefused, &Refusal{Class: Failed, Subject: s.op.String(), Detail: err.Error()})
	}
}

// leave sends what is left. What the peer still has to say afterwards goes
// nowhere.
func (c *connection) leave(s *Stream) {
	s.left = true
	c.enqueue(s)
}

func (c *connection) handle(s *Stream) ([]byte, error) {
	// An exchange beyond what the node serves at once waits here, until its caller
	// gives up: a connection brings only so many.
	admissions := c.m.inbound[s.op.Lane()]
	if !admissions.TryAcquire(1) {
		admissionWaited.Hit()
		if err := admissions.Acquire(s.ctx, 1); err != nil {
			return nil, err
		}
	}
	defer admissions.Release(1)
	h := c.m.handlers[s.op.number].Load()
	if h == nil {
		return nil, &Refusal{Class: NotReady, Subject: s.op.String(), Detail: "not served yet"}
	}
	if h.stream != nil {
		return nil, h.stream(s.ctx, c.remote, s)
	}
	request, err := s.Recv()
	switch {
	case errors.Is(err, io.EOF):
		return nil, ErrForm
	case err != nil:
		return nil, err
	}
	answer, err := h.message(s.ctx, c.remote, request)
	if err == nil && len(answer) > s.op.AnswerMax() {
		return nil, &Refusal{Class: Failed, Subject: s.op.String(), Detail: ErrTooLarge.Error()}
	}
	return answer, err
}
