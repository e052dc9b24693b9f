package exchange

import (
	"context"

	"plexus/primitives"
)

// claims are requests for memory of bodies to send, served in order by the rule
// of the budget.
type claims struct {
	budget  budget
	waiting []*claim
	closed  bool
}

type claim struct {
	relay relayKey
	size  int64
	given bool
	ended bool // nobody waits for it any more
	wake  func()
}

func (c *claims) promote() {
	kept := c.waiting[:0]
	blocked := false
	for _, w := range c.waiting {
		if !c.closed && (!c.budget.fits(w.relay, w.size, 0) || blocked && c.budget.relays[w.relay] > 0) {
			blocked = true
			kept = append(kept, w)
			continue
		}
		if !c.closed {
			c.budget.take(w.relay, w.size, 0)
			w.given = true
		}
		w.ended = true
		w.wake()
	}
	clear(c.waiting[len(kept):])
	c.waiting = kept
}

func (c *claims) add(w *claim) {
	c.waiting = append(c.waiting, w)
	c.promote()
}

// drop takes a claim back that nobody waits for any more.
func (c *claims) drop(w *claim) {
	for i, other := range c.waiting {
		if other == w {
			c.waiting = append(c.waiting[:i], c.waiting[i+1:]...)
			break
		}
	}
	if w.given {
		c.budget.give(w.relay, w.size, 0)
	}
	c.promote()
}

func (c *claims) close() {
	c.closed = true
	c.promote()
}

// reserve waits for memory for a body.
func (x *Exchange) reserve(ctx context.Context, relay relayKey, size int64) (release func(), err error) {
	notice := primitives.NewNotice(x.world)
	w := &claim{relay: relay, size: size, wake: notice.Raise}
	x.step(func(primitives.Instant) { x.memory.add(w) })
	for ended := false; !ended; {
		x.step(func(primitives.Instant) { ended = w.ended })
		if ended {
			break
		}
		sendMemoryFull.Hit()
		if err := notice.Wait(ctx); err != nil {
			x.step(func(primitives.Instant) { x.memory.drop(w) })
			return nil, err
		}
	}
	if !w.given {
		return nil, primitives.ErrClosed
	}
	return func() { x.step(func(primitives.Instant) { x.memory.drop(w) }) }, nil
}
