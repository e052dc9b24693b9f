package real

import (
	"time"

	"plexus/primitives"
)

// clock counts from the creation of its World.
type clock struct{ origin time.Time }

// Now implements primitives.Clock.
func (c *clock) Now() primitives.Instant { return primitives.Instant(time.Since(c.origin)) }

// Wall implements primitives.Clock. The monotonic reading is dropped, so that
// differences of walls show jumps as the product expects.
func (c *clock) Wall() time.Time { return time.Now().Round(0) }

// At implements primitives.Clock.
func (c *clock) At(at primitives.Instant, f func()) primitives.Timer {
	return time.AfterFunc(at.Sub(c.Now()), f)
}
