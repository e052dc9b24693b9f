package interconnect

import (
	"fmt"

	"plexus/primitives/invariant"
)

// sending is what one side may still send, to a stream or to a connection.
type sending struct{ credit int64 }

// take spends credit that is there.
func (s *sending) take(n int) {
	s.credit -= int64(n)
	invariant.That(s.credit >= 0, "more was sent than the receiver allowed")
}

// grant adds what the receiver allowed.
func (s *sending) grant(n uint32) error {
	s.credit += int64(n)
	if n == 0 || s.credit > creditMax {
		return fmt.Errorf("%w: CREDIT of %d bytes on top of %d", ErrMalformed, n, s.credit-int64(n))
	}
	return nil
}

// receiving is what the other side may still send. Returned credit is collected
// until it is worth a frame.
type receiving struct {
	allowed int64 // told to the sender and not used
	pending int64 // returned and not told
}

// arrive counts what came. A sender that exceeds its credit violates the
// protocol.
func (r *receiving) arrive(n int) error {
	r.allowed -= int64(n)
	if r.allowed < 0 {
		return fmt.Errorf("%w: %d bytes without credit", ErrMalformed, -r.allowed)
	}
	return nil
}

// give returns credit.
func (r *receiving) give(n int) { r.pending += int64(n) }

// due returns the credit to tell, once it reaches the threshold.
func (r *receiving) due(threshold int64) uint32 {
	if r.pending < threshold || r.pending == 0 {
		return 0
	}
	n := r.pending
	r.pending = 0
	r.allowed += n
	return uint32(n)
}

// assembler puts the fragments of one direction of a stream together.
type assembler struct {
	want int // of the message in progress, 0 while there is none
	got  int
}

// fragment is what a frame contributes to its stream.
type fragment struct {
	first, last bool
	length      int // of the message, known from the first fragment on
	bytes       int // of this fragment
	offset      int // within the message
}

// cost is what the fragment takes of a window.
func (f fragment) cost() int {
	if f.first {
		return f.bytes + messageCost
	}
	return f.bytes
}

// add checks the next fragment: its flags, its bytes without the declaration, and
// the declared length where it is a first one of several.
func (a *assembler) add(flags uint8, bytes, declared, limit int) (fragment, error) {
	f := fragment{first: flags&flagFirst != 0, last: flags&flagLast != 0, bytes: bytes}
	if f.first == (a.want > 0) {
		return f, fmt.Errorf("%w: a fragment out of place", ErrMalformed)
	}
	switch {
	case f.first && f.last:
		f.length = bytes
	case f.first:
		f.length = declared
		a.want, a.got = declared, 0
	default:
		f.length, f.offset = a.want, a.got
	}
	if f.length > limit {
		return f, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, f.length, limit)
	}
	if end := f.offset + bytes; f.last != (end == f.length) || end > f.length {
		return f, fmt.Errorf("%w: %d of %d bytes with the last fragment", ErrMalformed, end, f.length)
	}
	a.got = f.offset + bytes
	if f.last {
		a.want, a.got = 0, 0
	}
	return f, nil
}
