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
	buffer   []*Carrier // the first may be in fan-out
	waiting  []*outlet
	admitted uint64 // batches since start
	closed   bool

	// consumers is replaced as a whole, in hand-over order: attached, detached,
	// subscriptions, each by name.
	consumers atomic.Pointer[[]*consumer]
	// permit is held by the task while it hands a batch to attached consumers, and
	// by whoever takes an attached consumer away.
	permit  *primitives.Mutex
	wake    *primitives.Notice
	stalled atomic.Bool // a hand-over waits for room in a lane
	load    *Load       // buffered and waiting batches
	task    *Task

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
		mu: primitives.NewMutex(d.world), permit: primitives.NewMutex(d.world), wake: primitives.NewNotice(d.world),
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
		r.lock()
		var head *Carrier
		if len(r.buffer) > 0 {
			head = r.buffer[0]
		}
		r.mu.Unlock()
		if head == nil {
			if err := r.wake.Wait(ctx); err != nil {
				return nil
			}
			continue
		}
		rows, sequence := head.Rows(), r.dispatched()
		err := r.fanOut(ctx, head, sequence)
		if tap := r.d.deps.Tap; tap != nil {
			tap.Observe(observe.Event{Kind: observe.RelayDispatched, Domain: r.d.name, Name: r.plan.Name, ID: sequence, Count: rows})
		}
		r.lock()
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

// dispatched returns the admission sequence of the first batch of the buffer.
func (r *Relay) dispatched() uint64 {
	r.lock()
	defer r.mu.Unlock()
	return r.admitted - uint64(len(r.buffer)) + 1
}

// handover is a batch that a consumer has no room for yet.
type handover struct {
	to       *consumer
	delivery Delivery
}

// fanOut hands the batch to every consumer and consumes it. Children of attached
// consumers are reserved before anyone sees the batch; detached consumers and
// subscriptions touch no share.
func (r *Relay) fanOut(ctx context.Context, c *Carrier, sequence uint64) error {
	if !r.permit.TryLock() {
		c.Fail(r.now(), reasonSwapped)
		return nil
	}
	targets := *r.consumers.Load()
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
		t.lane.load.Add(1)
	}
	c.Release()
	defer r.stalled.Store(false)
	permitted := true
	for {
		attached = 0
		kept := pending[:0]
		for _, h := range pending {
			switch {
			case h.to.lane.queue.TrySend(h.delivery):
			case h.to.lane.queue.Closed():
				h.refuse(r.now())
			default:
				kept = append(kept, h)
				if h.to.attached {
					attached++
				}
			}
		}
		pending = kept
		if attached == 0 && permitted {
			permitted = false
			r.permit.Unlock()
		}
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
			if permitted {
				r.permit.Unlock()
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
	held := r.buffer
	r.buffer = nil
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
// fanned out later.
func (r *Relay) connect(t *consumer) {
	r.lock()
	defer r.mu.Unlock()
	next := append([]*consumer{}, *r.consumers.Load()...)
	at := len(next)
	for at > 0 && (next[at-1].order > t.order || next[at-1].order == t.order && next[at-1].name > t.name) {
		at--
	}
	next = append(next[:at], append([]*consumer{t}, next[at:]...)...)
	r.consumers.Store(&next)
}

// disconnect removes a consumer whose lane is closed. For an attached one it
// waits until no fan-out counts on it; a closed lane refuses at once, so the wait
// is short.
func (r *Relay) disconnect(t *consumer) {
	if t.attached {
		_ = r.permit.Lock(context.Background())
		defer r.permit.Unlock()
	}
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
