package flow

import (
	"context"
	"sync/atomic"

	"plexus/engine/batch"
	"plexus/engine/decide"
	"plexus/engine/exchange"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

var (
	relayFull    = invariant.Sometimes("a dispatch waited for a relay")
	relayGated   = invariant.Sometimes("a dispatch waited at a closed gate")
	relayStalled = invariant.Sometimes("a relay waited for a consumer")
)

// Relay is this node's end of a relay. On the node that owns it, it is the relay:
// a bounded buffer with one owner task and any number of consumers, some of them
// other nodes. Elsewhere it mirrors it: producers here dispatch through it to the
// owner, and copies that the owner sends fan out to the consumers here. Which of
// both it is changes with a revision; who is connected to it stays connected.
//
// Producers dispatch through an [outlet]. A full buffer, a closed gate or an
// owner elsewhere keeps their batch in the waiting list, in the order of asking.
// A batch occupies its slot until every consumer has taken it or is gone.
type Relay struct {
	d      *Domain
	name   string
	schema *vocab.Schema
	layout *exchange.Layout // nil on a node that is alone

	mu       *primitives.Mutex       // guards what follows; nothing waits under it (F1)
	plan     *decide.RelayPlan       // replaced with the capacity and the owner only
	mirror   bool                    // another node owns it, or none
	owner    string                  // of a mirror; "" for none
	nodes    map[string][]consumerID // nodes with operators that read it, and the attached ones of each
	revision uint64                  // that said so
	capacity int                     // of the buffer: the plan's, or the one copy of a mirror
	buffer   []held                  // admitted here
	slots    []held                  // the array that buffer began in
	waiting  []*outlet               // dispatches into the relay, of producers here and of other nodes
	arriving []*outlet               // copies of the owner for consumers here
	admitted uint64                  // dispatches admitted here since start
	arrived  uint64                  // copies admitted here since start
	closed   bool                    // for good
	paused   int                     // swaps in progress: what is buffered waits
	gates    int                     // holds that let nobody in
	busy     bool                    // the first of the buffer is in fan-out
	remotes  map[string]*remote      // nodes with consumers, on the owner; changes under d.routing
	// ended is why subscriptions end, once the relay is going away.
	ended *EndCause

	// consumers is replaced as a whole, in hand-over order: attached ones, other
	// nodes, detached ones, subscriptions, each by name.
	consumers atomic.Pointer[[]*consumer]
	wake      *primitives.Notice
	sender    *sender     // nil on a node that is alone
	stalled   atomic.Bool // a hand-over waits for a consumer
	load      *Load       // everything held here, admitted or not
	task      *Task

	depth        *observe.Histogram
	capacityWait *observe.Counter
}

// held is a batch that was admitted.
type held struct {
	carrier  *Carrier
	copied   *copied // set on a mirror: it has been through the owner's buffer
	sequence uint64  // of its admission, of copies and dispatches apart
}

// copied is what the owner said with a copy.
type copied struct {
	owner string
	meant []consumerID // attached consumers here that it is for, ascending
}

// consumer is one end of a relay: an operator or a subscription of this node, or
// another node with some of them.
type consumer struct {
	name     string
	id       consumerID // of operators
	attached bool
	// order puts attached consumers before other nodes, those before detached
	// consumers and subscriptions last.
	order        int
	lane         *Lane         // nil for other nodes
	subscription *Subscription // nil for operators
	remote       *remote       // other nodes
}

// outlet is how one route offers batches to one relay: one at a time (F3). A
// batch of another node has an outlet of its own.
type outlet struct {
	relay *Relay
	edge  *observe.Edge      // nil for a batch of another node
	wake  *primitives.Notice // of the producer's task
	busy  atomic.Bool        // a batch waits for admission

	// Under relay.mu.
	pending *Carrier
	rest    []*Carrier // what follows pending: a batch that was halved on its way
	since   primitives.Instant
	from    string  // the node it came from; "" for a route of this node
	copied  *copied // of a copy
	verdict verdict // of a batch of another node
}

func newRelay(d *Domain, plan *decide.RelayPlan) (*Relay, error) {
	r := &Relay{
		d: d, name: plan.Name, schema: plan.Schema, plan: plan, mirror: true, capacity: copyCapacity, gates: d.gatesNow(plan.Name),
		mu: primitives.NewMutex(d.world), wake: primitives.NewNotice(d.world),
		remotes:      map[string]*remote{},
		load:         d.newLoad(),
		depth:        d.deps.Metrics.Histogram(observe.RelayBufferLen, d.name, plan.Name),
		capacityWait: d.deps.Metrics.Counter(observe.RelayCapacityWait, d.name, plan.Name),
	}
	if d.deps.Exchange != nil {
		layout, err := exchange.NewLayout(batch.ArrowSchema(plan.Schema))
		if err != nil {
			return nil, &ProgramError{"relay " + plan.Name, err}
		}
		r.layout = layout
	}
	r.consumers.Store(&[]*consumer{})
	r.gated()
	r.task = d.Start("relay", r.run)
	if r.layout != nil {
		r.sender = &sender{relay: r, wake: primitives.NewNotice(d.world)}
		r.sender.task = d.Start("relay dispatch", r.sender.run)
	}
	return r, nil
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
	case r.open() && len(r.waiting) == 0:
		r.admit(o, c)
	default:
		relayFull.Hit()
		relayGated.HitIf(r.gates > 0)
		invariant.That(o.pending == nil, "F3: one batch of a route in dispatch")
		o.pending, o.since = c, r.now()
		o.busy.Store(true)
		r.waiting = append(r.waiting, o)
	}
	mirror := r.mirror
	r.mu.Unlock()
	r.rouse(mirror)
}

// rouse wakes the task that moves what was dispatched.
func (r *Relay) rouse(mirror bool) {
	if mirror && r.sender != nil {
		r.sender.wake.Raise()
		return
	}
	r.wake.Raise()
}

// gated reports whether the relay lets nobody in.
func (o *outlet) gated() bool {
	o.relay.lock()
	defer o.relay.mu.Unlock()
	return o.relay.gates > 0
}

// withdraw takes a batch that waits for admission back and fails it: its
// producer ends. One that is on its way to the owner is cancelled there.
func (o *outlet) withdraw() {
	r := o.relay
	r.lock()
	lost := r.takeBack(o)
	if r.sender != nil && r.sender.outlet == o {
		r.sender.withdraw()
	}
	r.mu.Unlock()
	for _, c := range lost {
		c.Fail(r.now(), reasonWithdrawn)
	}
	if lost != nil {
		r.load.Add(-1)
	}
}

// takeBack removes a dispatch from whatever list it waits in and returns its
// batch, under the lock; nil when it does not wait.
func (r *Relay) takeBack(o *outlet) []*Carrier {
	for _, list := range []*[]*outlet{&r.waiting, &r.arriving} {
		for i, w := range *list {
			if w == o {
				*list = append((*list)[:i], (*list)[i+1:]...)
				return o.empty()
			}
		}
	}
	return nil
}

// empty takes what the outlet holds, under the lock.
func (o *outlet) empty() []*Carrier {
	all := append([]*Carrier{o.pending}, o.rest...)
	o.pending, o.rest = nil, nil
	o.busy.Store(false)
	return all
}

func (r *Relay) now() primitives.Instant { return r.d.world.Clock().Now() }

func (r *Relay) lock() {
	// The lock is never held across a wait, so waiting for it needs no way out.
	_ = r.mu.Lock(context.Background())
}

// open reports whether the next dispatch is admitted, under the lock.
func (r *Relay) open() bool {
	return len(r.buffer) < r.capacity && !r.mirror && (r.gates == 0 || planted.Active(planted.LeakyGate))
}

// admit puts the batch into the buffer of the owner, under the lock.
func (r *Relay) admit(o *outlet, c *Carrier) {
	r.admitted++
	r.put(held{carrier: c, sequence: r.admitted})
	if o.edge != nil {
		o.edge.Batch(r.now(), c.Rows(), c.Bytes)
	}
	r.depth.Observe(float64(len(r.buffer)), 1)
	if tap := r.d.deps.Tap; tap != nil {
		tap.Observe(observe.Event{Kind: observe.RelayAdmitted, Domain: r.d.name, Name: r.name, Peer: o.from, ID: r.admitted, Count: c.Rows(), Depth: len(r.buffer)})
	}
}

// put appends to the buffer, under the lock. An empty one begins at the front of
// its array again: a relay that keeps up allocates nothing.
func (r *Relay) put(h held) {
	if len(r.buffer) == 0 {
		r.buffer = r.slots[:0]
	}
	r.buffer = append(r.buffer, h)
	if len(r.buffer) == 1 {
		r.slots = r.buffer
	}
}

// admitWaiting admits dispatches in the order they asked, under the lock.
func (r *Relay) admitWaiting() {
	for len(r.waiting) > 0 && r.open() {
		o := r.waiting[0]
		r.capacityWait.Add(int(r.now().Sub(o.since)))
		c := o.pending
		r.admit(o, c)
		if len(o.rest) > 0 {
			o.pending, o.rest = o.rest[0], o.rest[1:]
			o.since = r.now()
			r.load.Add(1) // one more of this dispatch is held
			continue
		}
		r.waiting = r.waiting[1:]
		o.pending = nil
		o.decide(admitted)
	}
}

// decide ends the wait of a dispatch, under the lock.
func (o *outlet) decide(v verdict) {
	o.verdict = v
	o.busy.Store(false)
	o.wake.Raise()
}

// setGates says how many holds let nobody in.
func (r *Relay) setGates(n int) {
	r.lock()
	was := r.gates
	r.gates = n
	r.gated()
	r.admitWaiting()
	r.mu.Unlock()
	if was != n {
		r.rouse(true)
		r.rouse(false)
	}
}

// gated tells how many holds let nobody in from here on.
func (r *Relay) gated() {
	observe.Emit(r.d.deps.Tap, observe.Event{Kind: observe.RelayGated, Domain: r.d.name, Name: r.name, Count: r.gates})
}

// run is the task that hands over one batch after the other.
func (r *Relay) run(ctx context.Context) error {
	defer r.end()
	var f fanOut
	for {
		if !f.head(r) {
			if err := r.wake.Wait(ctx); err != nil {
				return nil
			}
			continue
		}
		err := r.fanOut(ctx, &f)
		f.observe(r)
		r.lock()
		r.busy = false
		r.buffer[0] = held{}
		r.buffer = r.buffer[1:]
		r.admitWaiting()
		r.admitArriving()
		r.mu.Unlock()
		r.load.Add(-1)
		if err != nil {
			return nil
		}
	}
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
	r.admitArriving()
	r.mu.Unlock()
	r.wake.Raise()
}

// end fails what the relay still holds (F5).
func (r *Relay) end() {
	r.close()
	r.purge()
}

func (r *Relay) close() {
	r.lock()
	r.closed = true
	if r.sender != nil {
		r.sender.recall()
	}
	r.mu.Unlock()
}

// stop ends every task of the relay.
func (r *Relay) stop() {
	r.close()
	tasks := []*Task{r.task}
	if r.sender != nil {
		tasks = append(tasks, r.sender.task)
	}
	_ = r.d.routing.Lock(context.Background()) // held for lookups only
	for _, node := range primitives.SortedKeys(r.remotes) {
		tasks = append(tasks, r.remotes[node].task)
		r.leave(r.remotes[node])
	}
	r.d.routing.Unlock()
	for _, t := range tasks {
		t.Cancel()
	}
	for _, t := range tasks {
		t.Stop()
	}
}

// purge fails what is buffered and what waits for admission; batches of other
// nodes are turned away instead. A fan-out in progress is left to its consumers.
func (r *Relay) purge() {
	r.lock()
	lost := r.drop()
	for len(r.waiting) > 0 {
		o := r.waiting[0]
		if o.from != "" {
			r.turnAway(o)
			continue
		}
		r.waiting = r.waiting[1:]
		all := o.empty()
		r.load.Add(len(all) - 1) // counted as one dispatch so far
		lost = append(lost, all...)
		o.wake.Raise()
	}
	for len(r.arriving) > 0 {
		r.turnAway(r.arriving[0])
	}
	r.mu.Unlock()
	for _, c := range lost {
		c.Fail(r.now(), reasonStopped)
		r.load.Add(-1)
	}
}

// drop takes everything out of the buffer whose fan-out has not begun, under the
// lock.
func (r *Relay) drop() (lost []*Carrier) {
	first := 0
	if r.busy {
		first = 1
	}
	for _, h := range r.buffer[first:] {
		lost = append(lost, h.carrier)
		if !r.mirror {
			observe.Emit(r.d.deps.Tap, observe.Event{Kind: observe.RelayDropped, Domain: r.d.name, Name: r.name, ID: h.sequence})
		}
	}
	r.buffer = r.buffer[:first]
	return lost
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
