package primitives

import (
	"math"
	"time"
)

// Instant is a point on the node's monotonic clock, in nanoseconds since an
// origin that only the World knows. Wall-clock jumps never move it.
type Instant int64

// Never is later than every instant a clock can show: a wait until Never ends
// only by its event or by cancellation.
const Never Instant = math.MaxInt64

// Add returns the instant d later. It saturates at Never instead of wrapping.
func (i Instant) Add(d time.Duration) Instant {
	sum := i + Instant(d)
	if d > 0 && sum < i {
		return Never
	}
	return sum
}

// Sub returns the time from earlier to i.
func (i Instant) Sub(earlier Instant) time.Duration { return time.Duration(i - earlier) }

// Before reports whether i is earlier than other.
func (i Instant) Before(other Instant) bool { return i < other }

// Clock reads time. Now never goes back and is not moved by wall-clock jumps;
// Wall may be skewed and step in either direction.
type Clock interface {
	Now() Instant
	Wall() time.Time
	// At runs f once the monotonic clock has reached the instant. f runs outside
	// every task: it must not block, and usually only sets an event or unparks.
	At(at Instant, f func()) Timer
}

// Timer is one armed callback.
type Timer interface {
	// Stop disarms the timer and reports whether it did so before f started.
	Stop() bool
}
