package flow

import (
	"context"
	"sync/atomic"

	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	relayFull    = invariant.Sometimes("a dispatch waited for a relay")
	relayStalled = invariant.Sometimes("a relay waited for a consumer")
)

// Relay is a bounded buffer with one owner task and any number of consumers.
//
// Producers dispatch through an [outlet]; a full buffer keeps their batch in the
// waiting list, in the order of asking. A batch occupies its slot until every
// consumer has taken it or is gone.
type Relay struct {
	d    *Domain
	plan *decide.RelayPlan // replaced with the capacity only

	mu       *primitives.Mutex // guards what follows; nothing waits under it (F1)
	capacity int
	buffer   []*Carrier
	waiting  []*outlet
	admitted uint64 // batches since start
	closed   bool
	paused   int  // swaps in progress: what is buffered waits
	busy     bool // the first of the buffer is in fan-out
	// ended is why subscriptions end, once the relay is going away.
	ended *EndCause

	// consumers is replaced as a whole, in hand-over order: attached, detached,
	// subscriptions, each by name.
	consumers atomic.Pointer[[]*consumer]
	wake      *primitives.Notice
	stalled   atomic.Bool // a hand-over waits for room in a lane
	load      *Load       // buffered and waiting batches
	task      *Task

	depth        *observe.Histogram
	capacityWait *observe.Counter
}

// consumer is one end of a relay.
type consumer struct {
	name     string
	attached bool
	// order puts attached consumers before detached ones and both before
	// subscriptions.
	order        int
	lane         *Lane
	subscription *Subscription // nil for operators
}

// outlet is how one route offers batches to one relay: one at a time (F3).
type outlet struct {
	relay *Relay
	edge  *observe.Edge
	wake  *primitives.Notice // of the producer's task
	busy  atomic.Bool        // a batch waits for admission

	pending *Carrier           // under relay.mu
	since   primitives.Instant // under relay.mu
}

func newRelay(d *Domain, plan *decide.RelayPlan) *Relay {
	r := &Relay{
		d: d, plan: plan, capacity: plan.CapacityBatches,
		mu: primitives.NewMutex(d.world), wake: primitives.NewNotice(d.world),
		load:         d.newLoad(),
		depth:        d.deps.Metrics.Histogram(observe.RelayBufferLen, d.name, plan.Name),
		capacityWait: d.deps.Metrics.Counter(observe.RelayCapacityWait, d.name, plan.Name),
	}
	r.consumers.Store(&[]*consumer{})
	r.task = d.Start("relay", r.run)
	return r
}

func (r *Relay) outlet(wake *primitives.Notice, edge *observe.Edge) *outlet {
	return &outlet{relay: r, wake: wake, edge: edge}
}

// offer dispatches the batch and takes it over. The outlet must not be busy.
func (o *outlet) offer(c *Carrier) {
	r := o.relay
	r.load.Add(1)
	r.lock()
	switch {
	case r.closed:
		r.mu.Unlock()
		c.Fail(r.now(), reasonWithdrawn)
		r.load.Add(-1)
		return
	case len(r.buffer) < r.capacity && len(r.waiting) == 0:
		r.admit(o, c)
	default:
		relayFull.Hit()
		invariant.That(o.pending == nil, "F3: one batch of a route in dispatch")
		o.pending, o.since = c, r.now()
		o.busy.Store(true)
		r.waiting = append(r.waiting, o)
	}
	r.mu.Unlock()
	r.wake.Raise()
}

// withdraw takes a batch that waits for admission back and fails it: its
// producer ends.
func (o *outlet) withdraw() {
	r := o.relay
	r.lock()
	c := o.pending
	if c != nil {
		o.pending = nil
		for i, w := range r.waiting {
			if w == o {
				r.waiting = append(r.waiting[:i], r.waiting[i+1:]...)
				break
			}
		}
		o.busy.Store(false)
	}
	r.mu.Unlock()
	if c != nil {
		c.Fail(r.now(), reasonWithdrawn)
		r.load.Add(-1)
	}
}

func (r *Relay) now() primitives.Instant { return r.d.world.Clock().Now() }

func (r *Relay) lock() {
	// The lock is never held across a wait, so waiting for it needs no way out.
	_ = r.mu.Lock(context.Background())
}

// admit puts the batch into the buffer, under the lock.
func (r *Relay) admit(o *outlet, c *Carrier) {
	r.buffer = append(r.buffer, c)
	r.admitted++
	o.edge.Batch(r.now(), c.Rows(), c.Bytes)
	r.depth.Observe(float64(len(r.buffer)), 1)
	if tap := r.d.deps.Tap; tap != nil {
		tap.Observe(observe.Event{Kind: observe.RelayAdmitted, Domain: r.d.name, Name: r.plan.Name, ID: r.admitted, Count: c.Rows(), Depth: len(r.buffer)})
	}
}

// admitWaiting admits dispatches in the order they asked, under the lock.
func (r *Relay) admitWaiting() {
	for len(r.waiting) > 0 && len(r.buffer) < r.capacity {
		o := r.waiting[0]
		r.waiting = r.waiting[1:]
		r.capacityWait.Add(int(r.now().Sub(o.since)))
		c := o.pending
		o.pending = nil
		r.admit(o, c)
		o.busy.Store(false)
		o.wake.Raise()
	}
}

// setCapacity applies a new bound in place. Shrinking keeps what is buffered and
// admits nobody until the depth is below it.
func (r *Relay) setCapacity(plan *decide.RelayPlan) {
	r.lock()
	r.plan, r.capacity = plan, plan.CapacityBatches
	r.admitWaiting()
	r.mu.Unlock()
	r.wake.Raise()
}

// run is the owner task: it hands over one batch after the other.
func (r *Relay) run(ctx context.Context) error {
	defer r.end()
	for {
		head, targets, sequence := r.head()
		if head == nil {
			if err := r.wake.Wait(ctx); err != nil {
				return nil
			}
			continue
		}
		rows := head.Rows()
		err := r.fanOut(ctx, head, targets)
		if tap := r.d.deps.Tap; tap != nil {
			tap.Observe(observe.Event{Kind: observe.RelayDispatched, Domain: r.d.name, Name: r.plan.Name, ID: sequence, Count: rows})
		}
		r.lock()
		r.busy = false
		r.buffer[0] = nil
		r.buffer = r.buffer[1:]
		r.admitWaiting()
		r.mu.Unlock()
		r.load.Add(-1)
		if err != nil {
			return nil
		}
	}
}

// head returns the batch to fan out, whom to, and its admission sequence; nil
// when there is none or a swap is in progress. The batch is counted at every
// consumer before the lock is free: a swap that paused the relay sees all that is
// still on its way (F4).
func (r *Relay) head() (*Carrier, []*consumer, uint64) {
	r.lock()
	defer r.mu.Unlock()
	if len(r.buffer) == 0 || r.paused > 0 {
		return nil, nil, 0
	}
	targets := *r.consumers.Load()
	for _, t := range targets {
		t.lane.load.Add(1)
	}
	r.busy = true
	return r.buffer[0], targets, r.admitted - uint64(len(r.buffer)) + 1
}

// pause stops the relay after the fan-out in progress, resume lets it go on.
// Between them a swap exchanges consumers: what is buffered reaches the new ones.
func (r *Relay) pause() {
	r.lock()
	r.paused++
	r.mu.Unlock()
}

func (r *Relay) resume() {
	r.lock()
	r.paused--
	r.mu.Unlock()
	r.wake.Raise()
}

// handover is a batch that a consumer has no room for yet.
type handover struct {
	to       *consumer
	delivery Delivery
}

// fanOut hands the batch to every consumer and consumes it. Children of attached
// consumers are reserved before anyone sees the batch; detached consumers and
// subscriptions touch no share.
func (r *Relay) fanOut(ctx context.Context, c *Carrier, targets []*consumer) error {
	attached := 0
	for _, t := range targets {
		if t.attached {
			attached++
		}
	}
	children := c.Acks.Fork(attached, r.now())
	pending := make([]handover, len(targets))
	for i, t := range targets {
		pending[i] = handover{t, Delivery{Relay: r.plan.Name}}
		if t.attached {
			pending[i].delivery.Carrier, children = c.share(children[0]), children[1:]
		} else {
			pending[i].delivery.Carrier = c.share(nil)
		}
	}
	c.Release()
	defer r.stalled.Store(false)
	for {
		kept := pending[:0]
		for _, h := range pending {
			switch {
			case h.to.lane.queue.TrySend(h.delivery):
			case h.to.lane.queue.Closed():
				h.refuse(r.now())
			default:
				kept = append(kept, h)
			}
		}
		pending = kept
		if len(pending) == 0 {
			return nil
		}
		if r.stalled.CompareAndSwap(false, true) {
			continue // a lane may have got room before it could see that we wait
		}
		relayStalled.Hit()
		if err := r.wake.Wait(ctx); err != nil {
			for _, h := range pending {
				h.refuse(r.now())
			}
			return err
		}
	}
}

func (h *handover) refuse(now primitives.Instant) {
	h.delivery.Carrier.Fail(now, reasonGone)
	h.to.lane.Done(1)
}

// end fails what the relay still holds (F5).
func (r *Relay) end() {
	r.lock()
	r.closed = true
	r.mu.Unlock()
	r.purge()
}

// purge fails what is buffered and what waits for admission. A fan-out in
// progress is left to its consumers.
func (r *Relay) purge() {
	r.lock()
	first := 0
	if r.busy {
		first = 1
	}
	held := append([]*Carrier{}, r.buffer[first:]...)
	r.buffer = r.buffer[:first]
	for _, o := range r.waiting {
		held = append(held, o.pending)
		o.pending = nil
		o.busy.Store(false)
		o.wake.Raise()
	}
	r.waiting = nil
	r.mu.Unlock()
	for _, c := range held {
		c.Fail(r.now(), reasonStopped)
		r.load.Add(-1)
	}
}

// connect adds a consumer. No batch waits for it: consumers only see what is
// fanned out later. A subscription that found the relay while it is going away
// ends like the others.
func (r *Relay) connect(t *consumer) {
	r.lock()
	defer r.mu.Unlock()
	if r.ended != nil && t.subscription != nil {
		t.subscription.ending.TrySend(*r.ended)
	}
	next := append([]*consumer{}, *r.consumers.Load()...)
	at := len(next)
	for at > 0 && (next[at-1].order > t.order || next[at-1].order == t.order && next[at-1].name > t.name) {
		at--
	}
	next = append(next[:at], append([]*consumer{t}, next[at:]...)...)
	r.consumers.Store(&next)
}

// disconnect removes a consumer whose lane is closed: a fan-out that still knows
// it is refused there.
func (r *Relay) disconnect(t *consumer) {
	r.lock()
	defer r.mu.Unlock()
	var next []*consumer
	for _, other := range *r.consumers.Load() {
		if other != t {
			next = append(next, other)
		}
	}
	r.consumers.Store(&next)
}
