package flow

import (
	"time"

	"plexus/nspl/vocab"
	"plexus/primitives"
)

// buffer holds the rows of one route, of one collector or of one error route
// until their boundary. It is a step core: it reads no clock and arms nothing.
type buffer struct {
	flush vocab.Flush
	parts []*Carrier
	bytes int64
	since primitives.Instant // when the buffer became non-empty
	// shared is how many of the parts hold shares: those keepalives are for.
	shared int
}

func (b *buffer) empty() bool { return len(b.parts) == 0 }

// append takes the carrier over. The timer starts with the first one and is not
// moved by later ones.
func (b *buffer) append(c *Carrier, now primitives.Instant) {
	if b.empty() {
		b.since = now
	}
	b.add(c)
}

func (b *buffer) add(c *Carrier) {
	b.parts = append(b.parts, c)
	b.bytes += c.Bytes
	if c.Acks != nil {
		b.shared++
	}
}

func (b *buffer) window() time.Duration {
	if b.flush.Immediate {
		return ImmediateWindow
	}
	return b.flush.Each
}

// due returns when the buffer wants to flush; Never while it is empty. A policy
// that was altered applies to what is already there.
func (b *buffer) due() primitives.Instant {
	if b.empty() {
		return primitives.Never
	}
	if b.flush.MaxBatch.Bytes > 0 && uint64(b.bytes) >= b.flush.MaxBatch.Bytes {
		return b.since
	}
	return b.since.Add(b.window())
}

// take empties the buffer.
func (b *buffer) take() []*Carrier {
	parts := b.parts
	b.parts, b.bytes, b.shared = nil, 0, 0
	return parts
}

// putBack returns carriers that could not be joined with the ones before them
// to the front.
func (b *buffer) putBack(parts []*Carrier) {
	for _, c := range append(parts, b.take()...) {
		b.add(c)
	}
}

// touch is the keepalive of the rows.
func (b *buffer) touch(now primitives.Instant) {
	for _, c := range b.parts {
		c.Acks.Touch(now)
	}
}
