package flow

import (
	"sync/atomic"

	"plexus/engine/ack"
	"plexus/primitives"
)

// Delivery is one batch handed to a consumer.
type Delivery struct {
	Relay   string
	Carrier *Carrier
}

// Lane is the mouth of a consumer: one batch may wait in it while another is
// worked on. The consumer's task takes, relays give.
type Lane struct {
	world   primitives.World
	queue   *primitives.Queue[Delivery]
	feeders atomic.Pointer[[]*Relay]
	// load counts the batches the consumer has in hand, the waiting one included.
	load *Load
}

func newLane(w primitives.World, load *Load) *Lane {
	l := &Lane{world: w, queue: primitives.NewQueue[Delivery](w, 1), load: load}
	l.feeders.Store(&[]*Relay{})
	return l
}

// TryTake takes the waiting batch if there is one. The batch stays counted until
// the consumer says Done.
func (l *Lane) TryTake() (Delivery, bool) {
	d, ok := l.queue.TryRecv()
	if ok {
		l.Took()
	}
	return d, ok
}

// OnTake is ready when a batch waits. Took must follow once it fired.
func (l *Lane) OnTake(dst *Delivery) primitives.Case { return l.queue.OnRecv(dst) }

// Took tells relays that wait for the lane that it has room.
func (l *Lane) Took() {
	for _, r := range *l.feeders.Load() {
		if r.stalled.Load() {
			r.wake.Raise()
		}
	}
}

// Done says that n taken batches, or what became of them, are counted elsewhere
// or finished (F4).
func (l *Lane) Done(n int) { l.load.Add(-n) }

// Close lets no further batch in and fails the one that waits.
func (l *Lane) Close(why ack.Reason) {
	l.queue.Close()
	l.Took()
	for d, ok := l.TryTake(); ok; d, ok = l.TryTake() {
		d.Carrier.Fail(l.world.Clock().Now(), why)
		l.Done(1)
	}
}

// Load counts work in hand. When it falls to zero it wakes whoever waits for the
// domain to become quiet.
type Load struct {
	n       atomic.Int64
	entered atomic.Uint64 // all that was ever counted
	settled *primitives.Notice
}

// Add changes the count.
func (l *Load) Add(n int) {
	if n > 0 {
		l.entered.Add(uint64(n))
	}
	if n != 0 && l.n.Add(int64(n)) == 0 {
		l.settled.Raise()
	}
}

// Count returns the current count.
func (l *Load) Count() int { return int(l.n.Load()) }
