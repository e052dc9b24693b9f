package interconnect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"

	"plexus/engine/interconnect/interconnectpb"
	"plexus/primitives"
)

// connection is one established connection of a class. Its dialler opens streams,
// its acceptor serves them. One task reads, one writes; everybody else changes
// the state under the lock and wakes the writer.
type connection struct {
	m       *Mesh
	class   Class
	slot    int
	dialled bool
	remote  Process
	guest   bool // remote is no member
	conn    channel
	frames  *frameReader

	mu   *primitives.Mutex
	wake *primitives.Notice // of the writer

	// Guarded by mu.
	dead     error // the connection is lost
	draining bool  // no stream begins any more
	closing  bool  // the writer closes once everything is written
	streams  map[uint32]*Stream
	oldest   *Stream
	newest   *Stream
	live     int
	lastID   uint32  // of the newest stream on the wire
	first    *Stream // has something to write
	last     *Stream
	control  []byte // frames without a stream's turn
	spare    []byte // the other buffer of control
	sendWin  sending
	recvWin  receiving
	lanes    [laneCount]int // streams served
	outbox   [laneCount]outbox
	queues   map[uint16]*eventQueue
	after    []func() // called by unlock
	pinged   uint64   // counts pings

	slots    [laneCount]*primitives.Semaphore // streams that may be opened
	heard    atomic.Bool                      // since the last look
	gone     *primitives.Event                // dead
	expires  primitives.Instant               // of the certificates
	retiring *primitives.Event                // draining, at either side's wish
	idle     *primitives.Notice               // draining and no stream left

	// Of the task that watches.
	quietSince   primitives.Instant
	waitsForPong bool
	expired      bool
}

// channel is what carries the frames of a connection.
type channel interface {
	io.Reader
	// writeAll writes the pieces in order.
	writeAll(pieces [][]byte) error
	// CloseWrite ends the outgoing half: the peer reads io.EOF behind what was
	// written.
	CloseWrite() error
	Close() error
}

func newConnection(m *Mesh, class Class, slot int, dialled bool, conn channel, frames *frameReader, remote Process) *connection {
	w := m.world
	c := &connection{
		m: m, class: class, slot: slot, dialled: dialled, remote: remote, conn: conn, frames: frames,
		mu: primitives.NewMutex(w), wake: primitives.NewNotice(w), streams: map[uint32]*Stream{},
		sendWin: sending{connectionWindow}, recvWin: receiving{allowed: connectionWindow},
		gone: primitives.NewEvent(w), retiring: primitives.NewEvent(w), idle: primitives.NewNotice(w),
	}
	if dialled {
		for lane, n := range laneStreams[class] {
			if n > 0 {
				c.slots[lane] = primitives.NewSemaphore(w, int64(n))
			}
		}
	}
	return c
}

// lock takes the state. Nobody waits while holding it.
func (c *connection) lock() { _ = c.mu.Lock(context.Background()) }

// unlock gives the state back and calls what must not be called under it.
func (c *connection) unlock() {
	after := c.after
	c.after = nil
	c.mu.Unlock()
	for _, f := range after {
		f()
	}
}

// run carries the connection until it is lost. The calling task reads.
func (c *connection) run() {
	c.m.tasks.Go("interconnect writer", func(ctx context.Context) error {
		// After a good end the reader ends the connection: bytes of the peer that
		// nobody read would make the kernel take back what was written.
		if err := c.write(ctx); err != nil {
			c.fail(err)
		}
		return nil
	})
	c.fail(c.read())
}

// wished reports whether a side let the connection retire before it ended.
func (c *connection) wished() bool {
	c.lock()
	defer c.unlock()
	return c.draining
}

// fail ends the connection and every stream on it. The first cause counts.
func (c *connection) fail(cause error) {
	c.lock()
	if c.dead != nil {
		c.unlock()
		return
	}
	// io.EOF is the good end of a stream, and must not hide in the failure of one.
	if cause == nil || errors.Is(cause, io.EOF) {
		cause = errClosed
		if c.draining {
			cause = ErrStopped
		}
	}
	c.dead = cause
	c.outbox = [laneCount]outbox{}
	for s := c.oldest; s != nil; s = c.oldest {
		c.end(s, c.transportError(phaseOf(cause), s.op, cause))
	}
	c.first, c.last = nil, nil
	c.unlock()
	c.conn.Close() // its error says nothing that dead does not
	c.wake.Raise()
	c.retiring.Set()
	c.gone.Set()
	c.idle.Raise()
}

var errClosed = errors.New("the peer closed the connection")

// phaseOf says what a lost connection means for its streams.
func phaseOf(cause error) Phase {
	switch {
	case errors.Is(cause, ErrSuperseded), errors.Is(cause, ErrUnknownNode):
		return PhaseDeparted
	case errors.Is(cause, ErrMalformed):
		return PhaseDecode
	}
	return PhaseFlow
}

func (c *connection) transportError(p Phase, op Operation, cause error) error {
	if p == PhaseFlow && !errors.Is(cause, ErrLost) && !errors.Is(cause, ErrWithdrawn) && !errors.Is(cause, ErrNoProgress) {
		cause = fmt.Errorf("%w: %w", ErrLost, cause)
	}
	return &TransportError{Phase: p, Node: c.remote.Node, Operation: op.String(), Err: cause}
}

// waitError is the error of a wait that its context ended.
func (c *connection) waitError(op Operation, err error) error {
	if errors.Is(err, primitives.ErrDeadline) {
		return c.transportError(PhaseTimeout, op, err)
	}
	return err
}

// add puts a stream on the connection.
func (c *connection) add(s *Stream) {
	s.prev, s.next = c.newest, nil
	if c.newest == nil {
		c.oldest = s
	} else {
		c.newest.next = s
	}
	c.newest = s
	c.live++
	c.m.metrics.began(s)
}

// end takes a stream off the connection, with a failure unless it ended well.
func (c *connection) end(s *Stream, failure error) {
	if s.finished {
		return
	}
	s.finished = true
	if s.failure == nil {
		s.failure = failure
	}
	if s.id != 0 {
		delete(c.streams, s.id)
	}
	if s.prev == nil {
		c.oldest = s.next
	} else {
		s.prev.next = s.next
	}
	if s.next == nil {
		c.newest = s.prev
	} else {
		s.next.prev = s.prev
	}
	s.prev, s.next = nil, nil
	c.live--
	c.m.metrics.ended(s, failure)
	if failure != nil {
		c.giveBack(s.in.dropHeld())
	}
	s.out.message, s.out.pending = nil, false
	lane := s.op.Lane()
	if s.opened {
		c.slots[lane].Release(1)
		if s.admitted {
			c.m.outbound[lane].Release(1)
		}
		c.pump(lane)
	} else {
		c.lanes[lane]--
	}
	if c.draining && c.live == 0 {
		c.idle.Raise()
	}
	if s.event {
		return
	}
	if s.sent != nil {
		s.sent.Raise()
	}
	s.received.Raise()
	if cancel := s.cancel; cancel != nil && failure != nil {
		c.after = append(c.after, func() { cancel(failure) })
	}
}

// giveBack returns what left the window of the connection.
func (c *connection) giveBack(n int) {
	c.recvWin.give(n)
	if c.recvWin.pending >= connectionWindow/2 {
		c.wake.Raise()
	}
}

// enqueue gives a stream its turn to write.
func (c *connection) enqueue(s *Stream) {
	if s.queued || s.finished {
		return
	}
	s.queued, s.nextReady = true, nil
	if c.last == nil {
		c.first = s
	} else {
		c.last.nextReady = s
	}
	c.last = s
	c.wake.Raise()
}

// notice queues a frame that needs no turn.
func (c *connection) notice(h header, payload []byte) {
	h.payload = len(payload)
	c.control = append(appendHeader(c.control, h), payload...)
	c.wake.Raise()
}

// controlMax bounds what a peer that does not read can make this side remember.
const controlMax = 256 << 10

// Codes of RESET.
const (
	resetRefused = iota + 1
	resetWithdrawn
	resetMalformed
	resetBusy
	resetStopping
	resetNoProgress
	resetTooLarge
	resetCodes
)

// abort ends a stream from this side and tells the peer.
func (c *connection) abort(s *Stream, cause error, code uint32, refusal *Refusal) {
	if s.finished || c.dead != nil {
		return
	}
	if s.id != 0 {
		c.reset(s.id, code, refusal, cause)
	}
	c.end(s, c.transportError(PhaseFlow, s.op, cause))
}

// reset queues a RESET.
func (c *connection) reset(id uint32, code uint32, refusal *Refusal, cause error) {
	m := &interconnectpb.Reset{Code: code}
	switch {
	case refusal != nil:
		m.Class, m.Subject, m.Detail = uint32(refusal.Class), clip(refusal.Subject), clip(refusal.Detail)
		if len(m.Subject)+len(m.Detail) > detailMax {
			m.Detail = clip(m.Detail[:detailMax-min(len(m.Subject), detailMax)])
		}
	case cause != nil:
		m.Detail = clip(cause.Error())
	}
	payload, err := Encode(m)
	if err != nil {
		payload = nil // a RESET without a reason still resets
	}
	c.notice(header{kind: kindReset, stream: id}, payload)
}

// retire lets no further stream begin and closes once those that live have
// returned, at the latest at the instant.
func (c *connection) retire(ctx context.Context, until primitives.Instant) {
	c.lock()
	if c.dead != nil {
		c.unlock()
		return
	}
	if !c.draining {
		c.draining = true
		goaway := header{kind: kindGoaway}
		if c.m.stopping.Load() {
			goaway.flags = flagDeparts
		}
		c.notice(goaway, nil)
	}
	idle := c.live == 0
	c.unlock()
	c.retiring.Set()
	for !idle {
		i, err := primitives.Select(ctx, c.m.world, c.gone.OnSet(), c.idle.OnRaise(), primitives.AtCase(c.m.world, until))
		c.lock()
		idle = c.live == 0 || i != 1 || err != nil
		c.unlock()
	}
	c.lock()
	c.closing = true
	c.unlock()
	c.wake.Raise()
	if i, err := primitives.Select(ctx, c.m.world, c.gone.OnSet(), primitives.AtCase(c.m.world, until)); i != 0 || err != nil {
		c.fail(ErrStopped)
	}
}
