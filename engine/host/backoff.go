package host

import "time"

// backoff is a wait that starts at first, doubles and stops at max.
type backoff struct{ first, max, next time.Duration }

func newBackoff(first, max time.Duration) backoff { return backoff{first, max, first} }

// take returns the wait and advances the sequence.
func (b *backoff) take() time.Duration {
	d := min(b.next, b.max)
	if b.next < b.max {
		b.next = min(2*b.next, b.max)
	}
	return d
}

// reset starts over.
func (b *backoff) reset() { b.next = b.first }

// atStart reports whether nothing was taken since the last reset.
func (b *backoff) atStart() bool { return b.next == b.first }
