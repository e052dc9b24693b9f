package flow

import (
	"context"
	"sync/atomic"

	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/primitives"
)

// Drain says that an operator flushes whatever it holds at once: because the
// whole domain drains, or because the operator is about to go away.
type Drain struct {
	d   *Domain
	own atomic.Bool
}

// On reports whether everything buffered is due.
func (f *Drain) On() bool { return f.d.drains.Load() > 0 || f.own.Load() }

// Quiesce holds the intake of the domain under each source's ON QUIESCE body,
// makes everything buffered due, and returns once nothing is unfinished. The
// hold lasts until release is called. A *DrainError lists what did not finish by
// the deadline; nothing is held then.
func (d *Domain) Quiesce(ctx context.Context, deadline primitives.Instant) (release func(), err error) {
	if err := d.installing.Lock(ctx); err != nil {
		return nil, err
	}
	defer d.installing.Unlock()
	free, err := d.quiesce(ctx, deadline)
	if err != nil {
		return nil, err
	}
	return func() {
		// The lock is only held for changes that end by their own deadline.
		if d.installing.Lock(context.Background()) == nil {
			free()
			d.installing.Unlock()
		}
	}, nil
}

func (d *Domain) quiesce(ctx context.Context, deadline primitives.Instant) (release func(), err error) {
	d.hold(1)
	d.drains.Add(1)
	release = func() {
		d.drains.Add(-1)
		d.hold(-1)
	}
	d.nudge()
	for generation := uint64(1); ; generation++ {
		if err := d.await(ctx, deadline, func() bool { return d.Counts().none() }); err != nil {
			release()
			return nil, err
		}
		// One look sees nothing; a second one after every task had a turn, with no
		// admission between, proves that nothing was on its way.
		before := d.admissions()
		d.nudge()
		d.world.Tasks().Yield()
		if d.Counts().none() && d.admissions() == before {
			observe.Emit(d.deps.Tap, observe.Event{Kind: observe.DomainQuiet, Domain: d.name, ID: generation})
			return release, nil
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

// hold engages or ends the hold of every source.
func (d *Domain) hold(n int) {
	was := d.holds
	d.holds += n
	for _, name := range primitives.SortedKeys(d.ingestors) {
		switch host := d.ingestors[name].host; {
		case was == 0:
			host.Hold()
		case d.holds == 0:
			host.Resume()
		}
	}
}

// nudge makes every task look at its buffers.
func (d *Domain) nudge() {
	for _, name := range primitives.SortedKeys(d.ingestors) {
		d.ingestors[name].processor.wake.Raise()
	}
	for _, name := range primitives.SortedKeys(d.junctions) {
		d.junctions[name].processor.wake.Raise()
	}
	for _, name := range primitives.SortedKeys(d.emitters) {
		d.emitters[name].host.Nudge()
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
		n += r.admitted
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
	release, err := d.quiesce(ctx, deadline)
	if err == nil {
		defer release()
	}
	d.retire(ctx, &change{
		next:          &decide.Revision{Domain: d.name},
		ingestorsGone: primitives.SortedKeys(d.ingestors),
		junctionsGone: primitives.SortedKeys(d.junctions),
		emittersGone:  primitives.SortedKeys(d.emitters),
		relaysGone:    primitives.SortedKeys(d.relays),
	}, deadline, err != nil)
	d.publishViews()
	return err
}
