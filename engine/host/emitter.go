package host

import (
	"context"
	"slices"
	"sync/atomic"

	"plexus/connectors/contract"
	"plexus/engine/ack"
	"plexus/engine/codec"
	"plexus/engine/decide"
	"plexus/engine/expr"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	sinkReopened      = invariant.Sometimes("a sink was reopened")
	stoppedUnresolved = invariant.Sometimes("an emitter stopped with unresolved rows")
)

// emitter is the task of one emitter: it owns the connector, the buffer, the
// retry schedule and the reopening (H1).
type emitter struct {
	host  *Host
	d     *flow.Domain
	feed  *flow.Feed
	world primitives.World
	self  observe.Endpoint
	open  contract.SinkOpener
	task  *flow.Task

	stopping atomic.Bool
	deadline atomic.Int64 // of the stop
	kick     atomic.Bool  // an attempt is due whatever the schedule says
	update   atomic.Pointer[decide.EmitterPlan]

	status   status
	buffered atomic.Int64 // rows
	retained atomic.Int64 // payloads
	// held are the shares the emitter holds by its policy, for the keepalive
	// helper; nil while there are none.
	held     atomic.Pointer[[]*ack.Set]
	holding  *primitives.Notice
	received map[string]*observe.Edge // by relay; fixed
	sent     *observe.Edge
	attempts [3]*observe.Counter
	rejected *observe.Counter

	// What follows belongs to the task.
	plan      *decide.EmitterPlan
	admission *admission
	packing   packing
	scratch   *expr.Scratch
	collected []*flow.Collected
	sink      contract.Sink
	was       bool // open before
	openAt    primitives.Instant
	retry     backoff
	buffer    []*chunk // pending
	bytes     int64
	since     primitives.Instant // the buffer became non-empty
	flight    []prepared         // retained, unresolved; nil while no flush is
	records   []contract.Record  // scratch of publish
	offered   bool               // flight was offered before
	flying    []*chunk           // of flight
	retryAt   primitives.Instant
	closed    bool // the lane gives nothing more
}

var _ flow.EmitterHost = (*emitter)(nil)

// The outcomes of attempts.
const (
	attemptSuccess = iota
	attemptRetry
	attemptFinal
)

// StartEmitter implements flow.External.
func (h *Host) StartEmitter(d *flow.Domain, feed *flow.Feed) (flow.EmitterHost, error) {
	plan := feed.Plan
	e := &emitter{
		host: h, d: d, feed: feed, world: d.World(), plan: plan,
		self: observe.Endpoint{Kind: "emitter", Name: plan.Name}, open: h.connectors.Sinks[plan.Sink.Entity],
		holding: primitives.NewNotice(d.World()), received: map[string]*observe.Edge{}, scratch: expr.NewScratch(),
		retry: newBackoff(plan.Sink.Mode.Retry.Backoff, plan.Sink.Mode.Retry.Max),
	}
	if err := e.compile(); err != nil {
		return nil, err
	}
	r := d.Deps().Metrics
	for i, outcome := range []string{"success", "retry", "terminal"} {
		e.attempts[i] = r.Counter(observe.EmitterAttempts, d.Name(), plan.Name, outcome)
	}
	e.rejected = r.Counter(observe.EmitterRejected, d.Name(), plan.Name)
	stream := "-"
	if len(plan.Inputs) == 1 {
		stream = plan.Inputs[0].Relay
	}
	e.sent = d.Edge(e.self, "sent", stream, observe.Endpoint{Kind: "sink", Name: plan.Sink.Entity.String()})
	for i := range plan.Inputs {
		relay := plan.Inputs[i].Relay
		e.received[relay] = d.Edge(e.self, "received", relay, observe.Endpoint{Kind: "relay", Name: relay})
		if plan.Collect != nil {
			e.collected = append(e.collected, d.Collect(relay, plan.Collect, feed.Drain))
		}
	}
	e.task = d.Start("emitter", e.run)
	return e, nil
}

func (e *emitter) compile() error {
	fail := func(step string, err error) error { return &StartError{"emitter " + e.plan.Name, step, err} }
	a, err := compileAdmission(e.plan)
	if err != nil {
		return fail("program", err)
	}
	if a.errors, err = e.d.NewMessageErrors(e.self, &e.plan.OnError, e.plan.Construct.Output, e.plan.Flush, e.feed.Wake, e.feed.Load, e.feed.Drain); err != nil {
		return fail("error route", err)
	}
	e.admission = a
	e.packing.batch, e.packing.next = e.plan.Batch, e.d.Sequence
	if e.plan.Codec != nil {
		encoder, err := codec.NewEncoder(e.plan.Codec)
		if err != nil {
			return fail("codec", err)
		}
		e.packing.page = encoder.NewPage()
	}
	return nil
}

// Nudge implements flow.EmitterHost.
func (e *emitter) Nudge() {
	e.kick.Store(true)
	e.feed.Wake.Raise()
}

// Update implements flow.EmitterHost: the flush policy changes, and what is
// buffered meets it at once.
func (e *emitter) Update(plan *decide.EmitterPlan) error {
	e.update.Store(plan)
	e.feed.Wake.Raise()
	return nil
}

// Stop implements flow.EmitterHost.
func (e *emitter) Stop(ctx context.Context, deadline primitives.Instant) {
	e.deadline.Store(int64(deadline))
	e.stopping.Store(true)
	e.Nudge()
	// At the deadline the task is cancelled even inside a driver call.
	_, _ = primitives.Select(ctx, e.world, e.task.Done().OnSet(), primitives.AtCase(e.world, deadline))
	e.task.Stop()
}

// Publishing implements flow.EmitterHost.
func (e *emitter) Publishing() int { return int(e.retained.Load()) }

// Describe implements flow.EmitterHost.
func (e *emitter) Describe() flow.EmitterStatus {
	now := e.world.Clock().Now()
	s := flow.EmitterStatus{Status: "OK", Transient: e.status.read(), Buffered: int(e.buffered.Load()), Retained: int(e.retained.Load())}
	if why := e.status.waiting.Load(); why != nil {
		s.Status, s.Detail = "WAITING", *why
	}
	if s.Transient.Err != nil {
		s.Status, s.Detail = "ERROR", observe.Explain(s.Transient.Err)
	}
	for _, relay := range primitives.SortedKeys(e.received) {
		s.Edges = append(s.Edges, e.received[relay].Summary(now))
	}
	s.Edges = append(s.Edges, e.sent.Summary(now))
	return s
}

func (e *emitter) run(ctx context.Context) error {
	keeper := e.d.Start("emitter keepalive", e.keepAlive)
	defer keeper.Stop()
	defer e.end()
	for ctx.Err() == nil {
		if plan := e.update.Swap(nil); plan != nil {
			e.plan = plan
			if err := e.admission.errors.Update(&plan.OnError, plan.Construct.Output, plan.Flush); err != nil {
				e.d.Report(e.self, err)
			}
		}
		done, at := e.turn(ctx)
		if done {
			return nil
		}
		if at == 0 {
			continue
		}
		if err := e.wait(ctx, at); err != nil {
			return nil
		}
	}
	return nil
}

// turn does what is due, the most urgent first. It returns done at the end of a
// stop, and otherwise zero when it did something or when to look again.
func (e *emitter) turn(ctx context.Context) (done bool, at primitives.Instant) {
	now := e.world.Clock().Now()
	errs := e.admission.errors
	e.completeFlush()
	if errs.Due() <= now {
		errs.Flush()
		return false, 0
	}
	if e.flight != nil {
		if e.kick.Swap(false) || now >= e.retryAt {
			e.attempt(ctx)
			return false, 0
		}
		return false, min(e.retryAt, errs.Due())
	}
	e.kick.Store(false)
	if e.sink == nil && now >= e.openAt {
		e.openSink(ctx)
		return false, 0
	}
	if e.flushAt() <= now {
		e.depart()
		return false, 0
	}
	if errs.Blocked(now) {
		return false, primitives.Never
	}
	at = min(errs.Due(), e.flushAt())
	for _, c := range e.collected {
		due := c.Due()
		if e.stopping.Load() && due != primitives.Never {
			due = now
		}
		if due <= now {
			e.release(c)
			return false, 0
		}
		at = min(at, due)
	}
	if v, ok := e.feed.Lane.TryTake(); ok {
		e.accept(v)
		return false, 0
	}
	if e.stopping.Load() {
		e.finish(ctx)
		return true, 0
	}
	if e.sink == nil {
		at = min(at, e.openAt)
	}
	return false, at
}

// completeFlush ends the emitter's part of a flush generation once everything that
// it held is answered.
func (e *emitter) completeFlush() {
	asked, owes := e.feed.Drain.Owes()
	if !owes || len(e.flying) > 0 || len(e.buffer) > 0 || !e.admission.errors.Flushed() ||
		slices.ContainsFunc(e.collected, func(c *flow.Collected) bool { return !c.Empty() }) {
		return
	}
	e.feed.Drain.Complete(asked)
}

// wait parks until something is due, the lane gives a batch that may be taken,
// or someone wakes the emitter.
func (e *emitter) wait(ctx context.Context, at primitives.Instant) error {
	var v flow.Delivery
	cases := [3]primitives.Case{e.feed.Wake.OnRaise(), primitives.AtCase(e.world, at)}
	if e.flight == nil && !e.closed && !e.admission.errors.Blocked(e.world.Clock().Now()) {
		cases[2] = e.feed.Lane.OnTake(&v)
	}
	fired, err := primitives.Select(ctx, e.world, cases[:]...)
	if err != nil || fired != 2 {
		return err
	}
	if v.Carrier == nil {
		e.closed = true
		return nil
	}
	e.feed.Lane.Took()
	e.accept(v)
	return nil
}

// flushAt is when the buffer is published; Never while it is empty.
func (e *emitter) flushAt() primitives.Instant {
	flush := &e.plan.Flush
	switch {
	case len(e.buffer) == 0:
		return primitives.Never
	case e.feed.Drain.On(), e.stopping.Load(), flush.MaxBatch.Bytes > 0 && uint64(e.bytes) >= flush.MaxBatch.Bytes:
		return e.since
	case flush.Immediate:
		return e.since.Add(flow.ImmediateWindow)
	}
	return e.since.Add(flush.Each)
}

// accept takes one batch: it is evaluated at once, or joins its collector.
func (e *emitter) accept(v flow.Delivery) {
	e.d.Received(e.self, e.received[v.Relay], v)
	if i := slices.IndexFunc(e.collected, func(c *flow.Collected) bool { return c.Relay == v.Relay }); i >= 0 {
		e.collected[i].Add(v.Carrier)
		e.publishHeld()
		return
	}
	e.admit(v, 1)
}

// release evaluates what a collector holds as one unit of work.
func (e *emitter) release(c *flow.Collected) {
	carrier, batches, err := c.Release()
	if err != nil {
		e.d.Report(e.self, err)
		e.feed.Lane.Done(batches)
		return
	}
	e.admit(flow.Delivery{Relay: c.Relay, Carrier: carrier}, batches)
}

// admit evaluates a batch and buffers what is to be published. The rows are
// counted before the batches they came in are forgotten.
func (e *emitter) admit(v flow.Delivery, batches int) {
	u := e.d.Unit()
	if k := e.admission.admit(u, v, e.scratch); k != nil {
		if len(e.buffer) == 0 {
			e.since = u.At
		}
		e.buffer = append(e.buffer, k)
		e.bytes += k.bytes
		e.feed.Load.Add(len(k.open))
		e.buffered.Add(int64(len(k.open)))
	}
	e.feed.Lane.Done(batches)
	e.publishHeld()
}

// depart prepares everything buffered, once.
func (e *emitter) depart() {
	e.flying, e.buffer, e.bytes = e.buffer, nil, 0
	e.flight, e.offered = e.packing.prepare(e.flying), false
	e.retryAt = 0
	if e.sink == nil {
		e.retryAt = e.openAt // a new flush is no reason to connect earlier
	}
	e.settle() // rows that did not encode
	if len(e.flight) == 0 {
		e.land()
	}
	e.retained.Store(int64(len(e.flight)))
}

// settle ends the rows that the packing or the sink decided.
func (e *emitter) settle() {
	u := e.d.Unit()
	kept := e.flying[:0]
	for _, k := range e.flying {
		open := len(k.open)
		left := k.settle(u, e.admission.errors, e.scratch)
		e.feed.Load.Add(left - open)
		e.buffered.Add(int64(left - open))
		if left > 0 {
			kept = append(kept, k)
		}
	}
	clear(e.flying[len(kept):])
	e.flying = kept
	e.publishHeld()
}

// land ends a flush: nothing of it is unresolved.
func (e *emitter) land() {
	invariant.That(len(e.flying) == 0, "H4: a flush ends with every row resolved")
	e.flight, e.flying, e.offered = nil, nil, false
}

// answered ends a streak of failures: the destination was reached.
func (e *emitter) answered() {
	e.retry.reset()
	e.status.clear()
}

// openSink opens the connector; a failure is shown and retried (H7).
func (e *emitter) openSink(ctx context.Context) bool {
	err := error(&StartError{"emitter " + e.plan.Name, "open", errNoConnector})
	if e.open != nil {
		var sink contract.Sink
		p := &e.plan.Sink
		sink, err = e.open(ctx, contract.SinkPlan{Entity: p.Entity, Client: client(p.Client), Names: p.Names, Mode: p.Mode}, contract.Env{
			World: e.world, Events: &events{e.d, e.self, &e.status, nil},
			Identity: contract.Identity{Node: e.host.node, Domain: e.d.Name(), Name: e.plan.Name},
		})
		if err == nil {
			e.sink = sink
			sinkReopened.HitIf(e.was)
			e.was = true
			if e.flight == nil {
				e.answered()
			}
			return true
		}
	}
	wait := e.retry.take()
	e.openAt = e.world.Clock().Now().Add(wait)
	if ctx.Err() == nil {
		e.show(err, wait)
	}
	return false
}

func (e *emitter) closeSink() {
	if e.sink == nil {
		return
	}
	ctx, cancel := closing(e.world)
	defer cancel()
	if err := e.sink.Close(ctx); err != nil {
		e.d.Report(e.self, err)
	}
	e.sink = nil
}

// finish ends a stop after everything was published.
func (e *emitter) finish(ctx context.Context) {
	if e.sink == nil {
		return
	}
	if err := e.sink.Finish(ctx, primitives.Instant(e.deadline.Load())); err != nil {
		e.d.Report(e.self, err)
	}
}

// end lets go of what is left, negatively (H6).
func (e *emitter) end() {
	e.held.Store(nil)
	e.feed.Lane.Close(reasonStopped)
	now := e.world.Clock().Now()
	for i := range e.flight {
		e.observe(observe.PayloadDropped, &e.flight[i])
	}
	e.flight = nil
	for _, k := range append(e.flying, e.buffer...) {
		stoppedUnresolved.Hit()
		e.feed.Load.Add(-len(k.open))
		k.drop(now)
	}
	for _, c := range e.collected {
		e.feed.Lane.Done(c.Drop())
	}
	e.admission.errors.End()
	e.closeSink()
}
