package flow

import (
	"context"
	"slices"

	"plexus/engine/decide"
	"plexus/primitives"
)

// settle drains what the change takes away, upstream first, and nothing else:
// work of other operators goes on, and what waits for a swapped operator waits in
// its relays. Until release is called those relays start no fan-out, so an
// operator that takes the place of another misses nothing. What moves to another
// node is not waited for: a planned move has drained it, and after a forced one
// nothing of it may go on here.
func (d *Domain) settle(ctx context.Context, c *change, deadline primitives.Instant) (release func(), err error) {
	s := &settlement{d: d, deadline: deadline, gone: c.relaysGone}
	defer func() {
		if err != nil {
			s.undo()
		}
	}()
	for _, name := range c.ingestorsGone {
		if c.moved["ingestor "+name] {
			continue
		}
		if err := s.ingestor(ctx, d.ingestors[name]); err != nil {
			return nil, err
		}
	}
	for _, name := range d.upstreamFirst() {
		if !slices.Contains(c.junctionsGone, name) || c.moved["junction "+name] {
			continue
		}
		j := d.junctions[name]
		if err := s.consumer(ctx, j.plan.Inputs, j.processor.drain, j.processor.load, j.processor.wake.Raise); err != nil {
			return nil, err
		}
	}
	for _, name := range c.emittersGone {
		if c.moved["emitter "+name] {
			continue
		}
		e := d.emitters[name]
		if err := s.consumer(ctx, e.plan.Inputs, e.feed.Drain, e.feed.Load, e.host.Nudge); err != nil {
			return nil, err
		}
	}
	for _, name := range c.relaysGone {
		if err := s.zero(ctx, d.relays[name].load); err != nil {
			return nil, err
		}
	}
	return s.resume, nil
}

// settlement is what a drain in progress has stopped.
type settlement struct {
	d        *Domain
	deadline primitives.Instant
	gone     []string
	paused   []*Relay
	drains   []*Drain
	held     []*ingestor
}

// ingestor waits until everything the ingestor took is confirmed.
func (s *settlement) ingestor(ctx context.Context, in *ingestor) error {
	s.leave(in, true)
	s.held = append(s.held, in)
	s.flush(in.processor.drain)
	in.processor.wake.Raise()
	return s.zero(ctx, in.intake.Load, in.processor.load)
}

// consumer waits until the operator holds nothing. A relay that goes away too
// empties first; the others keep what they have.
func (s *settlement) consumer(ctx context.Context, inputs []decide.InputPlan, drain *Drain, load *Load, wake func()) error {
	for i := range inputs {
		r := s.d.relays[inputs[i].Relay]
		if slices.Contains(s.gone, inputs[i].Relay) {
			if err := s.zero(ctx, r.load); err != nil {
				return err
			}
			continue
		}
		r.pause()
		s.paused = append(s.paused, r)
	}
	s.flush(drain)
	wake()
	return s.zero(ctx, load)
}

func (s *settlement) flush(drain *Drain) {
	drain.own.Store(true)
	s.drains = append(s.drains, drain)
}

func (s *settlement) zero(ctx context.Context, loads ...*Load) error {
	return s.d.await(ctx, s.deadline, func() bool {
		return !slices.ContainsFunc(loads, func(l *Load) bool { return l.Count() > 0 })
	})
}

// resume lets the relays go on, those that went away included.
func (s *settlement) resume() {
	for _, r := range s.paused {
		r.resume()
	}
}

// undo lets everything go on as it was.
func (s *settlement) undo() {
	s.resume()
	for _, drain := range s.drains {
		drain.own.Store(false)
	}
	for _, in := range s.held {
		s.leave(in, false)
	}
}

// leave suspends the intake of an ingestor on its way out, or lets it go on.
func (s *settlement) leave(in *ingestor, leaving bool) {
	s.d.withHolds(func() { in.leaving = leaving })
}

// upstreamFirst lists the junctions so that a producer comes before whoever
// reads its relays; what stands on a cycle follows in name order.
func (d *Domain) upstreamFirst() []string {
	var order []string
	placed := map[string]bool{}
	names := primitives.SortedKeys(d.junctions)
	waits := func(name string) bool {
		for _, in := range d.junctions[name].plan.Inputs {
			for _, other := range names {
				if other != name && !placed[other] && writes(d.junctions[other].plan.Routes, map[string]bool{in.Relay: true}) {
					return true
				}
			}
		}
		return false
	}
	for len(order) < len(names) {
		next := slices.IndexFunc(names, func(name string) bool { return !placed[name] && !waits(name) })
		if next < 0 {
			next = slices.IndexFunc(names, func(name string) bool { return !placed[name] })
		}
		placed[names[next]] = true
		order = append(order, names[next])
	}
	return order
}
