package interconnect

import (
	"encoding/binary"
	"errors"
	"fmt"

	"plexus/engine/interconnect/interconnectpb"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	memoryWaited   = invariant.Sometimes("a message waited for the memory of its class")
	lateFrame      = invariant.Sometimes("bytes came for a stream that had ended")
	malformedReset = invariant.Sometimes("a malformed message ended its stream")
)

// read takes frames until the connection ends.
func (c *connection) read() error {
	for {
		h, err := c.frames.next()
		if err != nil {
			return err
		}
		c.heard.Store(true)
		switch h.kind {
		case kindOpen, kindData:
			err = c.readMessage(h)
		case kindEnd:
			err = c.readEnd(h)
		case kindCredit:
			err = c.readCredit(h)
		case kindReset:
			err = c.readReset(h)
		case kindPing, kindPong:
			err = c.readPing(h)
		case kindGoaway:
			c.readGoaway(h)
		default:
			err = fmt.Errorf("%w: %s after setup", ErrMalformed, h.kind)
		}
		if err != nil {
			return err
		}
	}
}

// prefix is what stands before the message bytes of a frame.
type prefix struct {
	op       uint16
	declared int
}

func (c *connection) readPrefix(h *header) (p prefix, err error) {
	if h.kind == kindOpen {
		b, err := c.frames.take(openBytes)
		if err != nil {
			return p, err
		}
		p.op = binary.BigEndian.Uint16(b)
		h.payload -= openBytes
	}
	if h.flags&(flagFirst|flagLast) == flagFirst {
		b, err := c.frames.take(declareBytes)
		if err != nil {
			return p, err
		}
		p.declared = int(binary.BigEndian.Uint32(b))
		h.payload -= declareBytes
		if p.declared <= h.payload {
			return p, fmt.Errorf("%w: a first fragment of %d bytes declares %d", ErrMalformed, h.payload, p.declared)
		}
	}
	return p, nil
}

// readMessage takes a fragment of a message: of a new stream or of a known one.
func (c *connection) readMessage(h header) error {
	p, err := c.readPrefix(&h)
	if err != nil {
		return err
	}
	f := fragment{first: h.flags&flagFirst != 0, bytes: h.payload}
	c.lock()
	if err := c.recvWin.arrive(f.cost()); err != nil {
		c.unlock()
		return err
	}
	s, err := c.streamOf(h, p)
	var dst []byte
	if err == nil && s != nil {
		f, dst, err = c.place(s, h, p)
	}
	if err != nil || dst == nil {
		c.giveBack(f.cost())
		c.unlock()
		if err != nil {
			return err
		}
		return c.frames.discard(h.payload)
	}
	if c.frames.buffered() >= f.bytes {
		err = c.frames.read(dst)
	} else {
		// The rest is still to come: nobody waits for the lock meanwhile.
		c.unlock()
		err = c.frames.read(dst)
		c.lock()
	}
	if err == nil && s != nil {
		c.arrived(s, h, f)
	}
	c.unlock()
	return err
}

// streamOf finds the stream of a frame, or begins it; nil without an error is a
// stream that ended or was refused.
func (c *connection) streamOf(h header, p prefix) (*Stream, error) {
	if h.kind == kindOpen {
		return c.accept(h, p)
	}
	s := c.streams[h.stream]
	if s == nil {
		if h.stream > c.lastID {
			return nil, fmt.Errorf("%w: %s on stream %d, which was never opened", ErrMalformed, h.kind, h.stream)
		}
		lateFrame.Hit()
		return nil, nil
	}
	if s.in.ended {
		return nil, fmt.Errorf("%w: %s on stream %d after its end", ErrMalformed, h.kind, h.stream)
	}
	return s, nil
}

// accept begins a stream that the peer opened.
func (c *connection) accept(h header, p prefix) (*Stream, error) {
	switch {
	case c.dialled:
		return nil, fmt.Errorf("%w: OPEN by the side that accepted the connection", ErrMalformed)
	case h.stream <= c.lastID:
		return nil, fmt.Errorf("%w: OPEN of stream %d after %d", ErrMalformed, h.stream, c.lastID)
	}
	c.lastID = h.stream
	refuse := func(code uint32, refusal *Refusal, cause error) (*Stream, error) {
		c.reset(h.stream, code, refusal, cause)
		return nil, c.checkControl()
	}
	if int(p.op) >= len(catalogue) || p.op == 0 || catalogue[p.op].class != c.class {
		malformedReset.Hit()
		return refuse(resetMalformed, nil, fmt.Errorf("no operation %d of the class %s", p.op, c.class))
	}
	op := Operation{p.op}
	lane := op.Lane()
	switch {
	case c.draining:
		return refuse(resetStopping, nil, nil)
	case c.guest && !op.entry().guest:
		return refuse(resetRefused, &Refusal{Class: Rejected, Subject: "membership", Detail: op.String() + " is for members"}, nil)
	case c.lanes[lane] >= laneStreams[c.class][lane]:
		c.m.metrics.quota[inward][lane].Add(1)
		return refuse(resetBusy, nil, nil)
	}
	c.lanes[lane]++
	s := newStream(c, op, false)
	s.id = h.stream
	c.add(s)
	c.streams[s.id] = s
	c.start(s)
	return s, nil
}

// place checks a fragment against its stream and returns where its bytes go,
// nowhere when it ends the stream. Only the reader touches the bytes of a message
// in progress.
func (c *connection) place(s *Stream, h header, p prefix) (fragment, []byte, error) {
	limit := s.op.MessageMax()
	if s.opened {
		limit = s.op.AnswerMax()
	}
	if s.left {
		return fragment{first: h.flags&flagFirst != 0, bytes: h.payload}, nil, nil // nobody reads any more
	}
	f, err := s.in.add(h.flags, h.payload, p.declared, limit)
	if err != nil {
		code := uint32(resetMalformed)
		if errors.Is(err, ErrTooLarge) {
			code = resetTooLarge
		}
		malformedReset.Hit()
		c.abort(s, err, code, nil)
		return f, nil, c.checkControl()
	}
	if err := s.in.window.arrive(f.cost()); err != nil {
		return f, nil, err
	}
	r := &s.in.part
	if f.first {
		s.in.partial = true
		*r = received{length: f.length}
		// Reserved bytes need nobody's leave, but no second message ahead either.
		ahead := s.op.entry().reserved && !s.in.hasMessage()
		if !f.last && (s.in.waiting || ahead) && c.reserve(s) > 0 {
			s.received.Raise() // it waits for memory itself
		}
	}
	// Until somebody waits for the message only the window of the stream is held.
	if f.offset+f.bytes > len(r.body) || r.body == nil {
		room := r.length
		if !r.credited {
			room = min(room, streamWindow)
		}
		grown := c.m.buffers.get(room)
		copy(grown, r.body[:min(len(r.body), f.offset)])
		r.body = grown
	}
	return f, r.body[f.offset : f.offset+f.bytes], nil
}

// arrived accounts for a fragment whose bytes are in place.
func (c *connection) arrived(s *Stream, h header, f fragment) {
	if s.finished || s.left {
		c.giveBack(f.cost())
		return
	}
	r := &s.in.part
	switch {
	case r.credited:
		c.giveBack(f.cost())
	case c.charge(s, int64(f.cost())):
		r.charged += int64(f.cost())
		c.giveBack(f.cost())
	default:
		r.held += f.cost()
	}
	c.m.metrics.carried(c.class, inward, f.bytes)
	if f.last {
		s.in.ready = append(s.in.ready, *r)
		s.in.part, s.in.partial = received{}, false
	}
	if h.flags&flagEnd != 0 {
		c.receivedEnd(s)
	}
	if f.last && s.received != nil {
		s.received.Raise()
	}
}

// receivedEnd notes that the receiving direction is over.
func (c *connection) receivedEnd(s *Stream) {
	s.in.ended = true
	if s.out.ended {
		c.end(s, nil)
	}
}

func (c *connection) readEnd(h header) error {
	c.lock()
	defer c.unlock()
	s, err := c.streamOf(h, prefix{})
	if err != nil || s == nil {
		return err
	}
	if s.in.partial {
		malformedReset.Hit()
		c.abort(s, fmt.Errorf("%w: END within a message", ErrMalformed), resetMalformed, nil)
		return c.checkControl()
	}
	c.receivedEnd(s)
	if s.received != nil {
		s.received.Raise()
	}
	return nil
}

func (c *connection) readCredit(h header) error {
	b, err := c.frames.take(h.payload)
	if err != nil {
		return err
	}
	n := binary.BigEndian.Uint32(b)
	c.lock()
	defer c.unlock()
	if h.stream == 0 {
		c.wake.Raise()
		return c.sendWin.grant(n)
	}
	s := c.streams[h.stream]
	if s == nil {
		if h.stream > c.lastID {
			return fmt.Errorf("%w: CREDIT on stream %d, which was never opened", ErrMalformed, h.stream)
		}
		return nil
	}
	s.accepted = c.m.world.Clock().Now()
	if s.out.pending {
		c.enqueue(s)
	}
	return s.out.credit.grant(n)
}

func (c *connection) readReset(h header) error {
	b, err := c.frames.take(h.payload)
	if err != nil {
		return err
	}
	m := new(interconnectpb.Reset)
	if err := Decode(b, m); err != nil {
		return err
	}
	c.lock()
	defer c.unlock()
	s := c.streams[h.stream]
	if s == nil {
		if h.stream > c.lastID {
			return fmt.Errorf("%w: RESET of stream %d, which was never opened", ErrMalformed, h.stream)
		}
		return nil
	}
	c.end(s, c.resetError(s.op, m))
	return nil
}

// resetError is what a RESET means to this side.
func (c *connection) resetError(op Operation, m *interconnectpb.Reset) error {
	remote := func(text string) error { return &remoteError{text} }
	switch m.GetCode() {
	case resetRefused:
		if class := RefusalClass(m.GetClass()); class >= Rejected && class <= Failed && m.GetClass() < 256 {
			return &Refusal{Class: class, Subject: m.GetSubject(), Detail: m.GetDetail()}
		}
		return c.transportError(PhaseDecode, op, fmt.Errorf("%w: a refusal of class %d", ErrMalformed, m.GetClass()))
	case resetWithdrawn:
		return c.transportError(PhaseFlow, op, ErrWithdrawn)
	case resetBusy:
		return c.transportError(PhaseAdmission, op, primitives.ErrBusy)
	case resetStopping:
		return c.transportError(PhaseAdmission, op, ErrStopped)
	case resetNoProgress:
		return c.transportError(PhaseFlow, op, ErrNoProgress)
	case resetTooLarge:
		return c.transportError(PhaseEncode, op, fmt.Errorf("%w: %w", ErrTooLarge, remote(m.GetDetail())))
	}
	return c.transportError(PhaseDecode, op, remote(m.GetDetail()))
}

// remoteError is what the peer said.
type remoteError struct{ text string }

func (e *remoteError) Error() string { return "the peer says: " + e.text }

func (c *connection) readPing(h header) error {
	b, err := c.frames.take(h.payload)
	if err != nil {
		return err
	}
	c.lock()
	defer c.unlock()
	if h.kind == kindPing {
		c.notice(header{kind: kindPong}, b)
		return c.checkControl()
	}
	if n := binary.BigEndian.Uint64(b); n == 0 || n > c.pinged {
		return fmt.Errorf("%w: PONG %d after PING %d", ErrMalformed, n, c.pinged)
	}
	return nil
}

// checkControl ends a connection whose peer makes this side talk and does not
// listen.
func (c *connection) checkControl() error {
	if len(c.control) > controlMax {
		return fmt.Errorf("%w: more frames than the peer reads", ErrMalformed)
	}
	return nil
}

// readGoaway notes that the peer takes no further streams, or begins none.
func (c *connection) readGoaway(h header) {
	if h.flags&flagDeparts != 0 && !c.guest {
		c.m.departs(c.remote)
	}
	c.lock()
	c.draining = true
	if c.live == 0 {
		c.idle.Raise()
	}
	c.unlock()
	c.retiring.Set()
}
