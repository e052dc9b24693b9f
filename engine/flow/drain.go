package flow

import (
	"context"
	"sync/atomic"

	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/engine/quiesce"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Drain says that an operator flushes whatever it holds at once: because a hold
// covers it, because a flush generation asked everyone, or because the operator is
// about to go away.
type Drain struct {
	d    *Domain
	own  atomic.Bool
	held atomic.Bool
	done atomic.Uint64 // newest flush generation that the operator completed
}

// newDrain returns the drain of an operator that starts.
func (d *Domain) newDrain(kind vocab.EntityKind, name string) *Drain {
	_ = d.holding.Lock(context.Background()) // held for changes only
	defer d.holding.Unlock()
	f := &Drain{d: d}
	f.done.Store(d.flushes.Load())
	f.held.Store(d.draining(kind, name))
	return f
}

// On reports whether everything buffered is due.
func (f *Drain) On() bool {
	return f.held.Load() || f.own.Load() || f.done.Load() < f.d.flushes.Load()
}

// Owes returns the newest flush generation and whether the operator has yet to
// complete it: to flush everything that it held when it read the generation. What
// waits at a closed gate is flushed.
func (f *Drain) Owes() (generation uint64, owes bool) {
	generation = f.d.flushes.Load()
	return generation, f.done.Load() < generation
}

// Complete ends the operator's part of a flush generation.
func (f *Drain) Complete(generation uint64) { f.done.Store(generation) }

// Quiesce holds the intake of the domain under each source's ON QUIESCE body,
// makes everything buffered due, and returns once nothing is unfinished. The
// hold lasts until release is called. A *DrainError lists what did not finish by
// the deadline; nothing is held then.
func (d *Domain) Quiesce(ctx context.Context, deadline primitives.Instant) (release func(), err error) {
	if err := d.installing.Lock(ctx); err != nil {
		return nil, err
	}
	defer d.installing.Unlock()
	h, err := d.quiesce(ctx, deadline)
	if err != nil {
		h.Release()
		return nil, err
	}
	return h.Release, nil
}

// quiesce engages the whole domain and waits until nothing is unfinished. The
// hold is engaged even when that failed.
func (d *Domain) quiesce(ctx context.Context, deadline primitives.Instant) (*hold, error) {
	h := d.engage(quiesce.Scope{Domain: d.name, Whole: true})
	for generation := uint64(1); ; generation++ {
		if err := d.await(ctx, deadline, func() bool { return d.Counts().none() }); err != nil {
			return h, err
		}
		// One look sees nothing; a second one after every task had a turn, with no
		// admission between, proves that nothing was on its way.
		before := d.admissions()
		d.nudge()
		d.world.Tasks().Yield()
		if d.Counts().none() && d.admissions() == before {
			observe.Emit(d.deps.Tap, observe.Event{Kind: observe.DomainQuiet, Domain: d.name, ID: generation})
			return h, nil
		}
	}
}

// await waits until what the condition counts is zero.
func (d *Domain) await(ctx context.Context, deadline primitives.Instant, settled func() bool) error {
	for !settled() {
		fired, err := primitives.Select(ctx, d.world, d.settled.OnRaise(), primitives.AtCase(d.world, deadline))
		if err != nil {
			return err
		}
		if fired == 1 && !settled() {
			return &DrainError{d.Counts()}
		}
	}
	return nil
}

// nudge makes every task look at its buffers.
func (d *Domain) nudge() {
	v := d.views.Load()
	for _, name := range primitives.SortedKeys(v.ingestors) {
		v.ingestors[name].processor.wake.Raise()
	}
	for _, name := range primitives.SortedKeys(v.junctions) {
		v.junctions[name].processor.wake.Raise()
	}
	for _, name := range primitives.SortedKeys(v.emitters) {
		v.emitters[name].host.Nudge()
	}
}

// Counts adds up what is unfinished, sources first. A batch that moves while it
// looks may be missed; comparing the admission sequences before and after tells.
func (d *Domain) Counts() Counts {
	v := d.views.Load()
	var c Counts
	for _, name := range primitives.SortedKeys(v.ingestors) {
		in := v.ingestors[name]
		c.add(Counts{Roots: in.intake.Load.Count(), Batches: in.processor.load.Count()})
	}
	for _, name := range primitives.SortedKeys(v.relays) {
		c.RelayBatches += v.relays[name].load.Count()
	}
	for _, name := range primitives.SortedKeys(v.junctions) {
		c.Batches += v.junctions[name].processor.load.Count()
	}
	for _, name := range primitives.SortedKeys(v.emitters) {
		c.EmitterRows += v.emitters[name].feed.Load.Count()
	}
	return c
}

// admissions adds up the admission sequences of the relays.
func (d *Domain) admissions() uint64 {
	v := d.views.Load()
	var n uint64
	for _, name := range primitives.SortedKeys(v.relays) {
		r := v.relays[name]
		r.lock()
		n += r.admitted + r.arrived
		r.mu.Unlock()
	}
	return n
}

// Stop ends the domain: intake closes, admitted work finishes until the
// deadline, and what is left then is dropped negatively. It returns when no task
// of the domain is left.
func (d *Domain) Stop(ctx context.Context, deadline primitives.Instant) error {
	drained := d.wind(ctx, deadline)
	d.group.Cancel(ErrStopped)
	if err := d.group.Wait(ctx); err != nil {
		return err
	}
	return drained
}

// wind drains the domain and retires everything it runs.
func (d *Domain) wind(ctx context.Context, deadline primitives.Instant) error {
	if err := d.installing.Lock(ctx); err != nil {
		return err
	}
	defer d.installing.Unlock()
	h, err := d.quiesce(ctx, deadline)
	defer h.Release()
	d.prepared = nil
	d.retire(ctx, &change{
		next:          &decide.Revision{Domain: d.name},
		ingestorsGone: primitives.SortedKeys(d.ingestors),
		junctionsGone: primitives.SortedKeys(d.junctions),
		emittersGone:  primitives.SortedKeys(d.emitters),
		relaysGone:    primitives.SortedKeys(d.relays),
	}, deadline)
	d.publishViews()
	return err
}
