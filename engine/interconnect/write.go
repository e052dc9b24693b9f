package interconnect

import (
	"context"
	"encoding/binary"
	"net"

	"plexus/primitives"
)

const (
	// batchBytes is about how much one write carries.
	batchBytes = 256 << 10
	// copyMax is the payload up to which copying is cheaper than a piece of its own.
	copyMax = 4 << 10
	// fragmentMin keeps small rests of a window from becoming small frames.
	fragmentMin = 1 << 10
	// arenaBytes holds headers and copied payloads of one batch.
	arenaBytes = 16 << 10
)

// batch is what one write carries: headers and small payloads side by side, large
// payloads where they are.
type batch struct {
	arena  []byte
	mark   int // of the arena's bytes that are no piece yet
	pieces [][]byte
	bytes  int
}

func (b *batch) reset() {
	b.arena, b.mark, b.bytes = b.arena[:0], 0, 0
	clear(b.pieces)
	b.pieces = b.pieces[:0]
}

// full reports whether another frame may not fit.
func (b *batch) full() bool {
	return b.bytes >= batchBytes || cap(b.arena)-len(b.arena) < headerBytes+openBytes+declareBytes+copyMax
}

func (b *batch) seal() {
	if len(b.arena) > b.mark {
		b.pieces = append(b.pieces, b.arena[b.mark:])
		b.mark = len(b.arena)
	}
}

func (b *batch) payload(p []byte) {
	b.bytes += len(p)
	if len(p) <= copyMax {
		b.arena = append(b.arena, p...)
		return
	}
	b.seal()
	b.pieces = append(b.pieces, p)
}

// write carries batches until the connection is lost or everything is written.
func (c *connection) write(ctx context.Context) error {
	b := &batch{arena: make([]byte, 0, arenaBytes)}
	for {
		b.reset()
		done, err := c.gather(b)
		if err != nil {
			return err
		}
		if len(b.pieces) > 0 {
			if err := c.conn.writeAll(b.pieces); err != nil {
				return err
			}
			continue
		}
		if done {
			return c.conn.CloseWrite()
		}
		if err := c.wake.Wait(ctx); err != nil {
			return err
		}
	}
}

// gather fills a batch with what may be written now.
func (c *connection) gather(b *batch) (done bool, err error) {
	c.lock()
	defer c.unlock()
	if c.dead != nil {
		return true, c.dead
	}
	if n := c.recvWin.due(connectionWindow / 2); n > 0 {
		c.credit(0, n)
	}
	if len(c.control) > 0 {
		b.pieces = append(b.pieces, c.control)
		b.bytes += len(c.control)
		c.control, c.spare = c.spare[:0], c.control
	}
	for c.first != nil && !b.full() {
		s := c.first
		if s.finished {
			c.dequeue(s)
			continue
		}
		switch c.emit(s, b) {
		case emitted:
			c.dequeue(s)
			if s.out.pending {
				c.enqueue(s) // its next fragment comes after those of the others
			}
		case stuck:
			c.dequeue(s) // CREDIT of the stream brings it back
		case blocked:
			b.seal()
			return false, nil // CREDIT of the connection wakes the writer
		}
	}
	b.seal()
	return c.closing && c.first == nil, nil
}

func (c *connection) dequeue(s *Stream) {
	c.first = s.nextReady
	if c.first == nil {
		c.last = nil
	}
	s.queued, s.nextReady = false, nil
}

// emission is what became of a stream's turn.
type emission uint8

const (
	emitted emission = iota
	stuck            // the stream has no credit
	blocked          // the connection has none
)

// emit writes one frame of a stream.
func (c *connection) emit(s *Stream, b *batch) emission {
	o := &s.out
	if !o.pending {
		if !o.end || o.ended || s.id == 0 {
			return emitted
		}
		b.arena = appendHeader(b.arena, header{kind: kindEnd, stream: s.id})
		c.sentEnd(s)
		return emitted
	}
	h := header{kind: kindData, stream: s.id}
	room, cost := payloadMax, 0
	if s.id == 0 {
		h.kind = kindOpen
		room -= openBytes
	}
	rest := len(o.message) - o.offset
	if o.offset == 0 {
		h.flags = flagFirst
		cost = messageCost
		if rest > room || int64(rest+cost) > min(o.credit.credit, c.sendWin.credit) {
			room -= declareBytes
		}
	}
	n := min(rest, room)
	for _, w := range []struct {
		credit int64
		or     emission
	}{{o.credit.credit, stuck}, {c.sendWin.credit, blocked}} {
		if allowed := int(w.credit) - cost; n > allowed {
			if allowed < fragmentMin {
				return w.or
			}
			n = allowed
		}
	}
	if n == rest {
		h.flags |= flagLast
		if o.end {
			h.flags |= flagEnd
		}
	}
	h.payload = n
	if h.kind == kindOpen {
		c.lastID++
		s.id = c.lastID
		h.stream = s.id
		h.payload += openBytes
		c.streams[s.id] = s
	}
	declare := h.flags&(flagFirst|flagLast) == flagFirst
	if declare {
		h.payload += declareBytes
	}
	b.arena = appendHeader(b.arena, h)
	if h.kind == kindOpen {
		b.arena = binary.BigEndian.AppendUint16(b.arena, s.op.number)
	}
	if declare {
		b.arena = binary.BigEndian.AppendUint32(b.arena, uint32(len(o.message)))
	}
	b.payload(o.message[o.offset : o.offset+n])
	o.credit.take(n + cost)
	c.sendWin.take(n + cost)
	o.offset += n
	c.m.metrics.carried(c.class, outward, n)
	if n == rest {
		o.message, o.pending = nil, false
		if s.sent != nil {
			s.sent.Raise()
		}
		if o.end {
			c.sentEnd(s)
		}
	}
	return emitted
}

// sentEnd notes that the sending direction is over.
func (c *connection) sentEnd(s *Stream) {
	s.out.ended = true
	switch {
	case s.in.ended:
		c.end(s, nil)
	case s.left:
		c.abort(s, ErrWithdrawn, resetWithdrawn, nil)
	}
}

// credit queues a CREDIT.
func (c *connection) credit(stream uint32, n uint32) {
	c.control = appendHeader(c.control, header{kind: kindCredit, stream: stream, payload: 4})
	c.control = binary.BigEndian.AppendUint32(c.control, n)
}

// creditStream tells the peer of a stream what it may send, once that is worth a
// frame.
func (c *connection) creditStream(s *Stream, at int64) {
	if s.finished || s.id == 0 || s.in.ended {
		return
	}
	if n := s.in.window.due(at); n > 0 {
		c.credit(s.id, n)
		c.wake.Raise()
	}
}

// plain carries frames as they are.
type plain struct{ primitives.Conn }

// writeAll implements channel.
func (p plain) writeAll(pieces [][]byte) error {
	if len(pieces) == 1 {
		_, err := p.Write(pieces[0])
		return err
	}
	buffers := net.Buffers(pieces)
	_, err := buffers.WriteTo(p.Conn)
	return err
}
