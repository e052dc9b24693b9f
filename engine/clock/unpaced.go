package clock

import (
	"sync/atomic"
	"time"

	"plexus/primitives"
)

// Unpaced is the clock of an unpaced domain.
type Unpaced struct {
	clock     primitives.Clock
	watermark atomic.Int64
}

// NewUnpaced returns the clock of one domain on one node.
func NewUnpaced(c primitives.Clock) *Unpaced {
	u := &Unpaced{clock: c}
	u.watermark.Store(c.Wall().UnixNano())
	return u
}

// Snapshot reads the domain clock for one unit of work: UTC in Unix
// nanoseconds, never less than an earlier snapshot (K1).
func (u *Unpaced) Snapshot() int64 {
	now := u.clock.Wall().UnixNano()
	for {
		seen := u.watermark.Load()
		if now <= seen {
			return seen
		}
		if u.watermark.CompareAndSwap(seen, now) {
			return now
		}
	}
}

// Due returns the instant at which a wait of d on the domain clock ends if it
// starts now.
func (u *Unpaced) Due(d time.Duration) primitives.Instant { return u.clock.Now().Add(d) }
