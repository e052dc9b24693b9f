package flow

import (
	"context"
	"slices"

	"plexus/engine/quiesce"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Suspension says how far the intake of an ingestor is suspended.
type Suspension uint8

// The suspensions, each stricter than the one before.
const (
	Flowing   Suspension = iota
	Suspended            // as ON QUIESCE says
	Shut                 // nothing is read and endpoints refuse, whatever ON QUIESCE says
)

// hold is one engaged scope.
type hold struct {
	d     *Domain
	scope quiesce.Scope

	asked   uint64 // newest generation of the hold
	target  uint64 // the generation of the domain that it became
	flushed uint64 // newest generation of the hold that its scope completed
}

var _ quiesce.Held = (*hold)(nil)

// Engage implements quiesce.Domain: it closes the gates of the scope and suspends
// its sources, here. It waits for an installation in progress and for nothing
// else.
func (d *Domain) Engage(ctx context.Context, s quiesce.Scope) (quiesce.Held, error) {
	if err := d.installing.Lock(ctx); err != nil {
		return nil, err
	}
	defer d.installing.Unlock()
	if err := d.group.Context().Err(); err != nil {
		return nil, ErrStopped
	}
	return d.engage(s), nil
}

func (d *Domain) engage(s quiesce.Scope) *hold {
	h := &hold{d: d, scope: s, target: d.flushes.Load()}
	d.withHolds(func() { d.holds = append(d.holds, h) })
	d.nudge()
	return h
}

// Release implements quiesce.Held.
func (h *hold) Release() {
	h.d.withHolds(func() {
		h.d.holds = slices.DeleteFunc(h.d.holds, func(other *hold) bool { return other == h })
	})
}

// withHolds changes what is held and brings everything that runs in line.
func (d *Domain) withHolds(change func()) {
	_ = d.holding.Lock(context.Background()) // held for changes only
	defer d.holding.Unlock()
	change()
	v := d.views.Load()
	for _, name := range primitives.SortedKeys(v.relays) {
		v.relays[name].setGates(d.gates(name))
	}
	for _, name := range primitives.SortedKeys(v.ingestors) {
		in := v.ingestors[name]
		in.suspend(d.suspension(name))
		in.processor.drain.held.Store(d.draining(vocab.EntityIngestor, name))
	}
	for _, name := range primitives.SortedKeys(v.junctions) {
		v.junctions[name].processor.drain.held.Store(d.draining(vocab.EntityJunction, name))
	}
	for _, name := range primitives.SortedKeys(v.emitters) {
		v.emitters[name].feed.Drain.held.Store(d.draining(vocab.EntityEmitter, name))
	}
}

// suspend tells the host what holds and the operator's own way out ask for;
// d.holding is held.
func (in *ingestor) suspend(s Suspension) {
	if in.leaving {
		s = max(s, Suspended)
	}
	if s != in.suspended {
		in.suspended = s
		in.host.Suspend(s)
	}
}

// suspensionNow is how a source that starts begins.
func (d *Domain) suspensionNow(ingestor string) Suspension {
	_ = d.holding.Lock(context.Background()) // held for changes only
	defer d.holding.Unlock()
	return d.suspension(ingestor)
}

// gatesNow is how many holds close the gate of a relay that starts.
func (d *Domain) gatesNow(relay string) int {
	_ = d.holding.Lock(context.Background()) // held for changes only
	defer d.holding.Unlock()
	return d.gates(relay)
}

// What the holds ask for; d.holding is held.

func (d *Domain) gates(relay string) (n int) {
	for _, h := range d.holds {
		if h.gated(relay) {
			n++
		}
	}
	return n
}

func (d *Domain) suspension(ingestor string) (s Suspension) {
	for _, h := range d.holds {
		switch {
		case !h.scope.Whole && !slices.Contains(h.scope.Sources, quiesce.Entity{Kind: vocab.EntityIngestor, Name: ingestor}):
		case h.scope.Force:
			s = Shut
		default:
			s = max(s, Suspended)
		}
	}
	return s
}

func (d *Domain) draining(kind vocab.EntityKind, name string) bool {
	return slices.ContainsFunc(d.holds, func(h *hold) bool { return h.covers(kind, name) })
}

func (h *hold) gated(relay string) bool { return slices.Contains(h.scope.Gates, relay) }

// covers reports whether the work of the operator or relay has to end.
func (h *hold) covers(kind vocab.EntityKind, name string) bool {
	e := quiesce.Entity{Kind: kind, Name: name}
	return h.scope.Whole || slices.Contains(h.scope.Drain, e) || slices.Contains(h.scope.Sources, e) ||
		kind == vocab.EntityRelay && h.gated(name)
}

// Flush implements quiesce.Held.
func (h *hold) Flush(generation uint64) {
	h.asked, h.target = generation, h.d.flushes.Add(1)
	h.d.nudge()
}

// Freeze implements quiesce.Held. A scope at rest changes no state here: what
// would change it by time alone is branches, and there are none.
func (h *hold) Freeze(context.Context) error { return nil }

// Look implements quiesce.Held. Sources are looked at first and sinks last, the
// way that work takes.
func (h *hold) Look() quiesce.Look {
	v := h.d.views.Load()
	l := look{hold: h, complete: true}
	for _, name := range primitives.SortedKeys(v.ingestors) {
		in := v.ingestors[name]
		l.visit(vocab.EntityIngestor, name, in.processor.drain,
			work{quiesce.Roots, in.intake.Load}, work{quiesce.NodeBatches, in.processor.load})
	}
	for _, name := range primitives.SortedKeys(v.relays) {
		l.relay(name, v.relays[name])
	}
	for _, name := range primitives.SortedKeys(v.junctions) {
		p := v.junctions[name].processor
		l.visit(vocab.EntityJunction, name, p.drain, work{quiesce.NodeBatches, p.load})
	}
	for _, name := range primitives.SortedKeys(v.emitters) {
		e := v.emitters[name]
		l.visit(vocab.EntityEmitter, name, e.feed.Drain, work{quiesce.EmitterRows, e.feed.Load})
		if h.covers(vocab.EntityEmitter, name) {
			l.add(vocab.EntityEmitter, name, quiesce.Publishes, e.host.Publishing())
		}
	}
	if l.complete && h.target > 0 {
		h.flushed = h.asked
	}
	l.out.Flushed = h.flushed
	return l.out
}

// look is a look in progress.
type look struct {
	hold     *hold
	complete bool // everything of the scope has completed the hold's generation
	out      quiesce.Look
}

// work is one kind of an operator's work and its count.
type work struct {
	kind quiesce.Work
	load *Load
}

func (l *look) visit(kind vocab.EntityKind, name string, drain *Drain, all ...work) {
	if drain.done.Load() < l.hold.d.flushes.Load() {
		l.out.Obligations++
	}
	if !l.hold.covers(kind, name) {
		return
	}
	l.complete = l.complete && drain.done.Load() >= l.hold.target
	for _, w := range all {
		l.add(kind, name, w.kind, w.load.Count())
		l.out.Admitted += w.load.entered.Load()
	}
}

func (l *look) add(kind vocab.EntityKind, name string, w quiesce.Work, n int) {
	if n > 0 {
		l.out.Blockers = append(l.out.Blockers, quiesce.Blocker{Entity: quiesce.Entity{Kind: kind, Name: name}, Work: w, Count: uint64(n)})
	}
}

// relay looks at one end of a relay. A dispatch that waits at a gate of the hold,
// here or at the owner's, was turned away: it is not work of the scope.
func (l *look) relay(name string, r *Relay) {
	if !l.hold.covers(vocab.EntityRelay, name) {
		return
	}
	r.lock()
	buffered, dispatches := len(r.buffer), len(r.arriving)
	if !l.hold.gated(name) {
		dispatches += len(r.waiting)
		if r.sender != nil && r.sender.outlet != nil {
			dispatches++
		}
	}
	l.out.Admitted += r.admitted + r.arrived
	r.mu.Unlock()
	l.add(vocab.EntityRelay, name, quiesce.RelayBatches, buffered)
	l.add(vocab.EntityRelay, name, quiesce.Dispatches, dispatches)
}
