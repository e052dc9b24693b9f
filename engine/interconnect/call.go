package interconnect

import (
	"context"
	"errors"
	"io"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	laneWaited   = invariant.Sometimes("an exchange waited for a stream of its lane")
	eventDropped = invariant.Sometimes("an event was dropped")
)

// acquire takes the capacity of an exchange: a stream of the connection and an
// admission of the node. The stream is not on the connection yet.
func (c *connection) acquire(ctx context.Context, op Operation) error {
	lane := op.Lane()
	slots, admissions := c.slots[lane], c.m.outbound[lane]
	if !slots.TryAcquire(1) {
		laneWaited.Hit()
		if err := slots.Acquire(ctx, 1); err != nil {
			return c.admissionError(op, err)
		}
	}
	if !admissions.TryAcquire(1) {
		if err := admissions.Acquire(ctx, 1); err != nil {
			slots.Release(1)
			return c.admissionError(op, err)
		}
	}
	return nil
}

func (c *connection) admissionError(op Operation, err error) error {
	if errors.Is(err, primitives.ErrDeadline) {
		c.m.metrics.quota[outward][op.Lane()].Add(1)
		return c.transportError(PhaseAdmission, op, err)
	}
	return err
}

// open begins a stream of several messages: waiting bounds the wait for capacity,
// ctx the stream. errRetired says that the connection takes none any more.
func (c *connection) open(waiting, ctx context.Context, op Operation) (*Stream, error) {
	if err := c.acquire(waiting, op); err != nil {
		return nil, err
	}
	s := newStream(c, op, true)
	s.attend(ctx)
	if err := c.begin(s); err != nil {
		s.cancel(nil)
		return nil, err
	}
	return s, nil
}

// begin puts a stream under capacity that was acquired on the connection.
func (c *connection) begin(s *Stream) error {
	s.admitted = true
	c.lock()
	defer c.unlock()
	c.add(s)
	if c.dead != nil || c.draining {
		c.end(s, errRetired)
		return errRetired
	}
	return nil
}

// errRetired makes the caller look for another connection.
var errRetired = errors.New("the connection takes no further streams")

// exchange sends a request and returns its answer.
func (c *connection) exchange(ctx context.Context, op Operation, request []byte) ([]byte, error) {
	if err := c.acquire(ctx, op); err != nil {
		return nil, err
	}
	s := newStream(c, op, true)
	s.ask(ctx)
	if err := c.begin(s); err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.send(request, true); err != nil {
		return nil, err
	}
	answer, err := s.Recv()
	if errors.Is(err, io.EOF) {
		if op.Form() == Event {
			return nil, nil
		}
		return nil, c.transportError(PhaseDecode, op, ErrForm)
	}
	return answer, err
}

// event is a message that waits for a stream.
type event struct {
	op      Operation
	message []byte
}

// outbox holds the events of a lane that wait for a stream, oldest first.
type outbox struct {
	waiting []event
	head    int
}

func (o *outbox) len() int { return len(o.waiting) - o.head }

func (o *outbox) put(e event) {
	if o.head > 0 && len(o.waiting) == cap(o.waiting) {
		o.waiting = o.waiting[:copy(o.waiting, o.waiting[o.head:])]
		o.head = 0
	}
	o.waiting = append(o.waiting, e)
}

func (o *outbox) take() event {
	e := o.waiting[o.head]
	o.waiting[o.head] = event{}
	if o.head++; o.head == len(o.waiting) {
		o.waiting, o.head = o.waiting[:0], 0
	}
	return e
}

// post sends an event, now or when a stream is free. It never waits; false says
// that the event is dropped.
func (c *connection) post(op Operation, message []byte) bool {
	if len(message) > op.MessageMax() {
		return false
	}
	c.lock()
	defer c.unlock()
	box := &c.outbox[op.Lane()]
	if box.len() >= outboxMax {
		c.m.metrics.quota[outward][op.Lane()].Add(1)
		return false
	}
	if c.dead != nil || c.draining {
		return false
	}
	box.put(event{op, message})
	c.pump(op.Lane())
	return true
}

// pump gives free streams of a lane to waiting events.
func (c *connection) pump(lane Lane) {
	box := &c.outbox[lane]
	for box.len() > 0 && c.slots[lane].TryAcquire(1) {
		e := box.take()
		s := newStream(c, e.op, true)
		s.event = true
		s.out.message, s.out.pending, s.out.end = e.message, true, true
		c.add(s)
		c.enqueue(s)
	}
}
