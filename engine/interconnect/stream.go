package interconnect

import (
	"context"
	"fmt"
	"io"

	"plexus/primitives"
)

// Stream is one exchange with a peer: ordered messages both ways, each direction
// ending by itself. One task may send while another receives.
type Stream struct {
	c      *connection
	op     Operation
	id     uint32 // 0 until the OPEN is written
	opened bool   // by this side
	event  bool   // nobody waits for its end
	ctx    context.Context
	cancel context.CancelCauseFunc // of ctx

	// Guarded by the connection from here on.
	failure  error              // ends both directions
	finished bool               // off the connection
	left     bool               // its handler returned
	admitted bool               // holds an admission of the node
	sent     *primitives.Notice // the message is on its way
	received *primitives.Notice // something changed for the receiver
	accepted primitives.Instant // when the peer last made room
	out      outgoing
	in       incoming

	queued     bool // in the connection's ready list
	nextReady  *Stream
	prev, next *Stream
}

// outgoing is the sending direction.
type outgoing struct {
	message []byte // the one being sent
	offset  int
	pending bool // message is not on its way completely
	end     bool // nothing follows
	ended   bool // and the peer is told
	credit  sending
}

// incoming is the receiving direction.
type incoming struct {
	assembler
	window  receiving
	part    received // the message in progress
	partial bool     // there is one
	ready   []received
	head    int
	ended   bool  // nothing follows
	waiting bool  // a task waits for a message
	charged int64 // of the message handed out
	spare   int64 // memory taken for the next message
}

// received is a message and what is known of its bytes.
type received struct {
	body     []byte
	length   int
	charged  int64 // taken from the memory of the class
	held     int   // arrived and not charged: still in the connection's window
	credited bool  // its cost went back to the sender
}

func (r *received) cost() int { return r.length + messageCost }

func (in *incoming) hasMessage() bool { return in.head < len(in.ready) }

// dropHeld takes what is not charged out of the connection's window.
func (in *incoming) dropHeld() (n int) {
	for i := in.head; i < len(in.ready); i++ {
		n += in.ready[i].held
		in.ready[i].held = 0
	}
	n += in.part.held
	in.part.held = 0
	return n
}

func newStream(c *connection, op Operation, opened bool) *Stream {
	s := &Stream{c: c, op: op, opened: opened}
	s.out.credit.credit = streamWindow
	s.in.window.allowed = streamWindow
	return s
}

// attend lets a task wait on the stream, under a scope that ends with the
// stream's failure.
func (s *Stream) attend(ctx context.Context) {
	w := s.c.m.world
	s.received = primitives.NewNotice(w)
	s.ctx, s.cancel = primitives.WithCancelCause(ctx, w)
	if f := s.op.Form(); f == Transfer || f == Duplex {
		s.sent = primitives.NewNotice(w)
	}
}

// ask lets a task wait for the one answer of an exchange, whose context ends soon.
func (s *Stream) ask(ctx context.Context) {
	s.received = primitives.NewNotice(s.c.m.world)
	s.ctx, s.cancel = ctx, ignoreCause
}

func ignoreCause(error) {}

// Operation returns what the stream is for.
func (s *Stream) Operation() Operation { return s.op }

// Peer returns the process at the other end.
func (s *Stream) Peer() Process { return s.c.remote }

// Context ends when the stream fails or its opener's context does.
func (s *Stream) Context() context.Context { return s.ctx }

// OnRetiring is ready once the connection takes no further streams: it ends when the
// last of them has, or ends them after a while. A stream without an end of its own
// makes room for another one then.
func (s *Stream) OnRetiring() primitives.Case { return s.c.retiring.OnSet() }

// Accepted returns when the peer last made room for bytes of this stream.
func (s *Stream) Accepted() primitives.Instant {
	s.c.lock()
	defer s.c.unlock()
	return s.accepted
}

// Send hands a message over, waiting until the one before it is on its way. The
// bytes belong to the stream from here on: they must not be changed any more.
func (s *Stream) Send(message []byte) error { return s.send(message, false) }

func (s *Stream) send(message []byte, end bool) error {
	limit := s.op.MessageMax()
	if !s.opened {
		limit = s.op.AnswerMax()
	}
	c := s.c
	if len(message) > limit {
		return c.transportError(PhaseEncode, s.op, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(message), limit))
	}
	c.lock()
	for s.failure == nil && s.out.pending {
		c.unlock()
		if err := s.sent.Wait(s.ctx); err != nil {
			return s.waitError(err)
		}
		c.lock()
	}
	defer c.unlock()
	switch {
	case s.failure != nil:
		return s.failure
	case s.out.end:
		return c.transportError(PhaseEncode, s.op, ErrForm)
	}
	s.out.message, s.out.offset, s.out.pending, s.out.end = message, 0, true, end
	c.enqueue(s)
	return nil
}

// CloseSend says that no further message follows. Receiving goes on.
func (s *Stream) CloseSend() error {
	c := s.c
	c.lock()
	defer c.unlock()
	switch {
	case s.out.end:
		return nil
	case s.failure != nil:
		return s.failure
	case s.id == 0 && !s.out.pending:
		return c.transportError(PhaseEncode, s.op, ErrForm) // nothing was opened that could end
	}
	s.out.end = true
	c.enqueue(s)
	return nil
}

// Close gives up what is left of the exchange and returns its memory. It is
// harmless after the end, and owed by whoever opened the stream.
func (s *Stream) Close() {
	c := s.c
	c.lock()
	c.abort(s, ErrWithdrawn, resetWithdrawn, nil)
	c.discharge(s)
	c.unlock()
	s.cancel(nil)
}

// Recv takes the next message, waiting for it; io.EOF says that none follows. The
// bytes are the caller's; their charge ends with the next Recv or with Close. A
// message that has begun and stands still for five seconds fails the stream.
func (s *Stream) Recv() ([]byte, error) { return s.recvBy(primitives.Never, PhaseTimeout) }

// recvBy is Recv with an instant at which the stream fails in a phase.
func (s *Stream) recvBy(by primitives.Instant, late Phase) ([]byte, error) {
	c := s.c
	c.lock()
	for {
		short := c.settle(s)
		switch {
		case short > 0:
			c.unlock()
			if err := c.takeMemory(s, short); err != nil {
				return nil, s.waitError(err)
			}
			c.lock()
			continue
		case s.in.hasMessage():
			body := s.in.pop()
			c.unlock()
			return body, nil
		case s.in.ended, s.failure != nil:
			err := s.failure
			if s.in.ended {
				err = io.EOF
			}
			c.discharge(s)
			c.unlock()
			return nil, err
		}
		s.in.waiting = true
		got, until := s.in.got, by
		if s.in.partial {
			until = min(until, c.m.world.Clock().Now().Add(progressWithin))
		}
		c.unlock()
		timedOut, err := s.await(until)
		c.lock()
		s.in.waiting = false
		switch {
		case s.in.hasMessage() || s.in.ended || s.failure != nil:
		case err != nil:
			c.unlock()
			return nil, s.waitError(err)
		case timedOut && until == by:
			c.expire(s, late)
		case timedOut && s.in.partial && s.in.got == got:
			c.expire(s, PhaseFlow)
		}
	}
}

// await waits until something changed for the receiver, or the instant came.
func (s *Stream) await(until primitives.Instant) (timedOut bool, err error) {
	if until == primitives.Never {
		return false, s.received.Wait(s.ctx)
	}
	w := s.c.m.world
	i, err := primitives.Select(s.ctx, w, s.received.OnRaise(), primitives.AtCase(w, until))
	return i == 1, err
}

// expire fails a stream whose peer let it wait.
func (c *connection) expire(s *Stream, phase Phase) {
	cause := error(primitives.ErrDeadline)
	if phase == PhaseFlow {
		transferStalled.Hit()
		cause = ErrNoProgress
	}
	if s.id != 0 {
		c.reset(s.id, resetNoProgress, nil, cause)
	}
	c.end(s, c.transportError(phase, s.op, cause))
}

// Recycle gives the bytes of a received message back. Nothing may refer to them
// any more. Bytes that are not given back are left to the collector.
func (s *Stream) Recycle(message []byte) { s.c.m.buffers.put(message) }

func (in *incoming) pop() []byte {
	r := &in.ready[in.head]
	body := r.body
	in.charged = r.charged
	*r = received{}
	if in.head++; in.head == len(in.ready) {
		in.ready, in.head = in.ready[:0], 0
	}
	return body
}

// waitError is the error of a wait that its context ended. A context that the
// stream's own failure ended says less than the failure.
func (s *Stream) waitError(err error) error {
	s.c.lock()
	failure := s.failure
	s.c.unlock()
	if failure != nil {
		return failure
	}
	return s.c.waitError(s.op, err)
}

// settle makes the next message ready to be taken, as far as the memory of the
// class allows, and returns the bytes to wait for.
func (c *connection) settle(s *Stream) (short int64) {
	in := &s.in
	c.giveMemory(s, &in.charged)
	if in.hasMessage() {
		r := &in.ready[in.head]
		if r.held > 0 {
			if !c.charge(s, int64(r.held)) {
				return int64(r.held)
			}
			r.charged += int64(r.held)
			c.giveBack(r.held)
			r.held = 0
		}
		if !r.credited {
			r.credited = true
			in.window.give(r.cost())
			c.creditStream(s, streamWindow/2)
		}
		return 0
	}
	if in.partial && !in.part.credited && s.failure == nil {
		return c.reserve(s)
	}
	return 0
}

// reserve charges the whole message in progress and lets its sender go on: a
// message that is waited for takes one turn, however long it is.
func (c *connection) reserve(s *Stream) (short int64) {
	r := &s.in.part
	if need := int64(r.cost()) - r.charged; !c.charge(s, need) {
		return need
	}
	r.charged = int64(r.cost())
	c.giveBack(r.held)
	r.held = 0
	r.credited = true
	s.in.window.give(r.cost())
	c.creditStream(s, 1)
	return 0
}

// charge takes n bytes from the memory of the class, first of all those the stream
// waited for.
func (c *connection) charge(s *Stream, n int64) bool {
	if s.op.entry().reserved {
		return true
	}
	if n > s.in.spare && !c.m.memory[c.class].Try(n-s.in.spare) {
		return false
	}
	s.in.spare = max(s.in.spare-n, 0)
	return true
}

// takeMemory waits for n bytes on behalf of a stream.
func (c *connection) takeMemory(s *Stream, n int64) error {
	memoryWaited.Hit()
	if err := c.m.memory[c.class].Take(s.ctx, n); err != nil {
		return err
	}
	c.lock()
	s.in.spare += n
	c.unlock()
	return nil
}

func (c *connection) giveMemory(s *Stream, n *int64) {
	if !s.op.entry().reserved {
		c.m.memory[c.class].Give(*n)
	}
	*n = 0
}

// discharge returns the memory of a stream that nobody reads any more.
func (c *connection) discharge(s *Stream) {
	c.giveBack(s.in.dropHeld())
	for i := s.in.head; i < len(s.in.ready); i++ {
		c.giveMemory(s, &s.in.ready[i].charged)
	}
	s.in.ready, s.in.head = nil, 0
	c.giveMemory(s, &s.in.part.charged)
	s.in.part, s.in.partial = received{}, false
	c.giveMemory(s, &s.in.charged)
	c.m.memory[c.class].Give(s.in.spare)
	s.in.spare = 0
}
