package sim

import (
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	errReset   = syscall.ECONNRESET
	errTimeout = syscall.ETIMEDOUT
)

// connection is both ends of a TCP connection and what is in flight between
// them, in one allocation.
type connection struct {
	id             uint64
	client, server conn
	up, down       half // client to server, server to client
	dialing        dialing
}

// conn is one end.
type conn struct {
	network       *Network
	id            uint64
	process       *Process
	place         int // in the process's sockets, -1 outside
	local, remote netip.AddrPort
	in, out       *half
	closed        bool
	abrupt        bool        // Close sends a reset
	gone          bool        // its machine lost power: nothing answers for it
	err           error       // the connection was reset or given up
	dialing       *connection // while it is not established
	readBy        primitives.Instant
	writeBy       primitives.Instant
	reader        *task
	writer        *task
}

// half is one direction: a byte stream of which a prefix was read, a longer one
// has arrived, and the rest is in flight. Bytes are copied once in and once out.
type half struct {
	timer           // the next arrival
	update    timer // the window opening
	from, to  *conn // sender and receiver
	path      *wire
	buf       []byte // from the first unread byte on
	head      int    // of the first unread byte in buf
	sent      int64  // bytes written
	arrived   int64  // bytes the receiver's kernel has
	read      int64  // bytes the receiver's program has
	segments  []segment
	few       [2]segment // where segments starts
	first     int        // of the segments in flight
	end       endMark
	broken    bool // the receiver reads what arrived, then a reset
	held      bool // nothing of this direction arrives until it is released
	stalled   bool
	stalledAt int64
	place     int // in path.streams, -1 outside
}

// segment is a piece in flight: everything up to byte end, and perhaps the end of
// the stream.
type segment struct {
	at   int64
	end  int64
	mark endMark
}

// endMark is how a stream ends.
type endMark uint8

const (
	endNone  endMark = iota
	endFin           // no more bytes follow
	endReset         // the connection is void
)

func (c *conn) init(n *Network, p *Process, in, out *half, local, remote netip.AddrPort, id uint64) {
	c.network, c.process, c.in, c.out, c.id = n, p, in, out, id
	c.local, c.remote = local, remote
	c.readBy, c.writeBy = primitives.Never, primitives.Never
	c.place = -1
}

func (h *half) init(from, to *conn, p *wire) {
	h.from, h.to, h.path = from, to, p
	h.run = h
	h.segments = h.few[:0]
	h.update.run = (*windowUpdate)(h)
	h.place = len(p.streams)
	p.streams = append(p.streams, h)
}

// done says that this end neither reads nor writes any more.
func (c *conn) done() bool { return c.closed || c.err != nil }

// finish is called when this end is done: what arrives for it is only counted,
// and once the other end is done too nothing needs to arrive at all.
func (c *conn) finish() {
	n := c.network
	n.put(c.in.buf)
	c.in.buf, c.in.head = nil, 0
	if c.in.from.done() {
		c.in.retire()
		c.out.retire()
	}
}

// retire takes a finished direction off the heap and its path.
func (h *half) retire() {
	s := h.path.to.sim
	if h.armed() {
		s.timers.disarm(&h.timer)
	}
	if h.update.armed() {
		s.timers.disarm(&h.update)
	}
	if h.place < 0 {
		return
	}
	last := len(h.path.streams) - 1
	moved := h.path.streams[last]
	h.path.streams[h.place] = moved
	moved.place = h.place
	h.path.streams[last] = nil
	h.path.streams = h.path.streams[:last]
	h.place = -1
}

const bufferBytes = 4 << 10

func (n *Network) get() []byte {
	if l := len(n.small); l > 0 {
		b := n.small[l-1]
		n.small = n.small[:l-1]
		return b
	}
	return make([]byte, 0, bufferBytes)
}

func (n *Network) put(b []byte) {
	if cap(b) == bufferBytes {
		n.small = append(n.small, b[:0])
	}
}

// push sends bytes or the end of the stream.
func (h *half) push(p []byte, mark endMark) {
	s := h.path.to.sim
	h.sent += int64(len(p))
	if len(p) > 0 && !h.to.done() {
		if h.buf == nil {
			h.buf = s.network.get()
		}
		if h.head > 0 && len(h.buf)+len(p) > cap(h.buf) {
			n := copy(h.buf, h.buf[h.head:])
			h.buf, h.head = h.buf[:n], 0
		}
		h.buf = append(h.buf, p...)
	}
	if mark > h.end {
		h.end = mark
	}
	at := h.path.arrival(s.now, len(p))
	if n := len(h.segments); n > h.first {
		last := &h.segments[n-1]
		if at <= last.at {
			// In order: it arrives together with what was sent before.
			last.end, last.mark = h.sent, max(last.mark, mark)
			return
		}
	} else {
		h.segments, h.first = h.segments[:0], 0
	}
	h.segments = append(h.segments, segment{at, h.sent, mark})
	if !h.armed() && !h.stalled {
		s.timers.arm(&h.timer, at)
	}
}

// fire delivers what has arrived.
func (h *half) fire() {
	s := h.path.to.sim
	if h.held || !h.path.open() {
		h.stall()
		return
	}
	mark := endNone
	before := h.arrived
	for h.first < len(h.segments) && h.segments[h.first].at <= s.now {
		h.arrived = h.segments[h.first].end
		mark = max(mark, h.segments[h.first].mark)
		h.first++
	}
	if h.path.resetAfter > 0 && h.arrived > before {
		h.path.resetAfter -= h.arrived - before
		if h.path.resetAfter <= 0 {
			h.arrived += h.path.resetAfter
			h.path.resetAfter = 0
			h.broken = true
			h.from.reset(errReset)
			if h.to.reader != nil {
				s.wake(h.to.reader)
			}
			return
		}
	}
	s.record(KindNet, 0, uint64(netArrive)<<32|h.to.id, uint64(h.arrived-before))
	switch {
	case h.to.gone, h.to.done() && h.arrived > before:
		// Nobody there: the kernel answers with a reset.
		h.from.resetLater()
		return
	case mark == endReset:
		h.to.reset(errReset)
		return
	}
	if h.first < len(h.segments) && !h.armed() {
		s.timers.arm(&h.timer, h.segments[h.first].at)
	}
	if h.to.reader != nil {
		s.wake(h.to.reader)
	}
}

// ended reports that the receiver has seen the end of the stream.
func (h *half) ended() bool {
	return h.end == endFin && h.arrived == h.sent && h.first == len(h.segments)
}

// stall keeps the direction until its path opens again.
func (h *half) stall() {
	s := h.path.to.sim
	h.stalled, h.stalledAt = true, s.now
	h.path.stalled = append(h.path.stalled, h)
	since := h.arrived
	c := h.from
	s.timers.arm(&timer{run: callbackFunc(func() {
		if h.stalled && h.arrived == since && c.err == nil {
			c.reset(errTimeout)
		}
	})}, s.now+int64(unackedMax))
}

// windowUpdate tells a waiting sender that there is room.
type windowUpdate half

func (u *windowUpdate) fire() {
	if w := u.from.writer; w != nil {
		u.path.to.sim.wake(w)
	}
}

func (h *half) room() int { return windowBytes - int(h.sent-h.read) }

// take copies arrived bytes out.
func (h *half) take(p []byte) int {
	n := copy(p, h.buf[h.head:h.head+int(h.arrived-h.read)])
	full := h.room() <= 0
	h.head += n
	h.read += int64(n)
	if h.head == len(h.buf) {
		h.buf, h.head = h.buf[:0], 0
	}
	if full || h.from.writer != nil {
		back := h.to.out.path
		if !h.update.armed() {
			s := h.path.to.sim
			s.timers.arm(&h.update, back.transmit(s.now, 0))
		}
	}
	return n
}

// reset ends the connection at this end: nothing more is read or written.
func (c *conn) reset(err error) {
	if c.done() {
		return
	}
	s := c.network.sim
	s.note(KindNet, uint64(netReset)<<32|c.id, 0)
	c.err = err
	c.wakeBoth()
	c.finish()
}

// resetLater resets this end when the peer's answer has travelled back.
func (c *conn) resetLater() {
	s := c.network.sim
	back := c.in.path
	s.timers.arm(&timer{run: callbackFunc(func() {
		if back.open() {
			c.reset(errReset)
		}
	})}, back.transmit(s.now, 0))
}

func (c *conn) wakeBoth() {
	if c.reader != nil {
		c.network.sim.wake(c.reader)
	}
	if c.writer != nil {
		c.network.sim.wake(c.writer)
	}
}

// wait parks the running task until a wake or the instant.
func (s *Simulation) wait(p *Process, by primitives.Instant, reason string) {
	t := s.running()
	if by != primitives.Never {
		s.timers.arm(&t.alarm, p.host.clock.virtual(by))
	}
	s.park(reason)
	if t.alarm.armed() {
		s.timers.disarm(&t.alarm)
	}
}

func (s *Simulation) expired(p *Process, by primitives.Instant) bool {
	return by != primitives.Never && p.host.clock.Now() >= by
}

func (c *conn) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "tcp", Source: net.TCPAddrFromAddrPort(c.local), Addr: net.TCPAddrFromAddrPort(c.remote), Err: err}
}

// Read implements net.Conn.
func (c *conn) Read(p []byte) (int, error) {
	if c.process.dead {
		return 0, c.fail("read", net.ErrClosed)
	}
	s := c.network.sim
	s.preempt()
	for {
		switch {
		case c.closed:
			return 0, c.fail("read", net.ErrClosed)
		case s.expired(c.process, c.readBy):
			return 0, c.fail("read", os.ErrDeadlineExceeded)
		case len(p) == 0:
			return 0, nil
		case c.err != nil:
			return 0, c.fail("read", c.err)
		case c.in.arrived > c.in.read:
			return c.in.take(p), nil
		case c.in.broken:
			return 0, c.fail("read", errReset)
		case c.in.ended():
			return 0, io.EOF
		}
		invariant.That(c.reader == nil, "two tasks read one connection")
		c.reader = s.current
		s.wait(c.process, c.readBy, "connection bytes")
		c.reader = nil
	}
}

// Write implements net.Conn.
func (c *conn) Write(p []byte) (int, error) {
	if c.process.dead {
		return 0, c.fail("write", net.ErrClosed)
	}
	s := c.network.sim
	s.preempt()
	written := 0
	for {
		switch {
		case c.closed:
			return written, c.fail("write", net.ErrClosed)
		case s.expired(c.process, c.writeBy):
			return written, c.fail("write", os.ErrDeadlineExceeded)
		case c.err != nil:
			return written, c.fail("write", c.err)
		case c.out.end != endNone:
			return written, c.fail("write", syscall.EPIPE)
		}
		if room := min(c.out.room(), len(p)-written); room > 0 {
			c.send(p[written : written+room])
			written += room
		}
		if written == len(p) {
			return written, nil
		}
		invariant.That(c.writer == nil, "two tasks write one connection")
		c.writer = s.current
		s.wait(c.process, c.writeBy, "connection window")
		c.writer = nil
	}
}

// send hands bytes to the path, in random pieces where the link breaks them up.
func (c *conn) send(p []byte) {
	l := c.out.path
	for l.link.Fragment && len(p) > 1 && !l.draw.Chance(250_000) {
		n := 1 + int(l.draw.Below(uint64(len(p)-1)))
		c.out.push(p[:n], endNone)
		p = p[n:]
	}
	c.out.push(p, endNone)
}

// CloseWrite implements primitives.Conn.
func (c *conn) CloseWrite() error {
	switch {
	case c.closed, c.process.dead:
		return c.fail("close", net.ErrClosed)
	case c.err != nil:
		return c.fail("close", c.err)
	}
	if c.out.end == endNone {
		c.out.push(nil, endFin)
	}
	return nil
}

// Close implements net.Conn.
func (c *conn) Close() error {
	if c.closed || c.process.dead {
		return c.fail("close", net.ErrClosed)
	}
	c.shut()
	c.process.drop(c)
	return nil
}

// shut is what the kernel does to a closed socket: the peer reads the end, or a
// reset when bytes it sent were never read.
func (c *conn) shut() {
	if c.dialing != nil {
		c.dialing.abandon()
		return
	}
	c.network.sim.note(KindNet, uint64(netClose)<<32|c.id, 0)
	c.closed = true
	if c.err == nil {
		switch {
		case c.in.arrived > c.in.read, c.abrupt:
			c.out.push(nil, endReset)
		case c.out.end == endNone:
			c.out.push(nil, endFin)
		}
	}
	c.wakeBoth()
	c.finish()
}

// lose is what becomes of the socket when its machine loses power.
func (c *conn) lose() {
	c.gone, c.closed = true, true
	if c.dialing != nil && c.dialing.dialing.armed() {
		c.network.sim.timers.disarm(&c.dialing.dialing.timer)
	}
	if c.out.armed() {
		c.network.sim.timers.disarm(&c.out.timer)
	}
	c.finish()
}

func (c *conn) describe() string {
	return "connection " + c.local.String() + " to " + c.remote.String()
}

func (c *conn) slot() *int { return &c.place }

// SetLinger says what Close does, as for net.TCPConn: 0 resets the connection.
// Other values change nothing.
func (c *conn) SetLinger(seconds int) error {
	c.abrupt = seconds == 0
	return nil
}

// LocalAddr implements net.Conn.
func (c *conn) LocalAddr() net.Addr { return net.TCPAddrFromAddrPort(c.local) }

// RemoteAddr implements net.Conn.
func (c *conn) RemoteAddr() net.Addr { return net.TCPAddrFromAddrPort(c.remote) }

// ReadBy implements primitives.Conn.
func (c *conn) ReadBy(at primitives.Instant) {
	c.readBy = at
	if c.reader != nil {
		c.network.sim.wake(c.reader)
	}
}

// WriteBy implements primitives.Conn.
func (c *conn) WriteBy(at primitives.Instant) {
	c.writeBy = at
	if c.writer != nil {
		c.network.sim.wake(c.writer)
	}
}

// SetDeadline implements net.Conn.
func (c *conn) SetDeadline(t time.Time) error {
	return errors.Join(c.SetReadDeadline(t), c.SetWriteDeadline(t))
}

// SetReadDeadline implements net.Conn.
func (c *conn) SetReadDeadline(t time.Time) error {
	c.ReadBy(c.process.instant(t))
	return nil
}

// SetWriteDeadline implements net.Conn.
func (c *conn) SetWriteDeadline(t time.Time) error {
	c.WriteBy(c.process.instant(t))
	return nil
}

// instant converts a wall-clock deadline; the zero time is none.
func (p *Process) instant(t time.Time) primitives.Instant {
	if t.IsZero() {
		return primitives.Never
	}
	c := &p.host.clock
	return c.Now().Add(t.Sub(c.Wall()))
}

var _ primitives.Conn = (*conn)(nil)
