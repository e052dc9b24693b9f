package handofftest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/engine/handoff"
	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/primitives"
)

// lead does the duties of a leader while this process is one.
func (n *node) lead(ctx context.Context) error {
	for {
		if err := n.pause(ctx, 500*time.Millisecond); err != nil {
			return err
		}
		if n.c.Catalog.leader != n.name || n.c.alive[n.name] != n {
			continue
		}
		if err := n.tenure(ctx, n.c.Catalog.tenure); err != nil {
			return err
		}
	}
}

// tenure runs the duties until another one leads.
func (n *node) tenure(ctx context.Context, tenure uint64) error {
	g := primitives.NewGroup(ctx, n.w)
	g.Go("reconcile", func(ctx context.Context) error {
		return n.moves.Reconcile(ctx, schedules{n, tenure}, n.changed)
	})
	g.Go("failover", func(ctx context.Context) error { return n.failover(ctx, tenure) })
	for range 2 {
		g.Go("move", func(ctx context.Context) error { return n.move(ctx, tenure) })
	}
	g.Go("deposed", func(ctx context.Context) error {
		for n.c.Catalog.tenure == tenure {
			if err := n.pause(ctx, time.Second); err != nil {
				return err
			}
		}
		return errDeposed
	})
	err := g.Wait(context.Background())
	if errors.Is(err, errDeposed) {
		return nil
	}
	return err
}

var errDeposed = errors.New("another node leads")

// move gives operators another owner now and then, and another generation.
func (n *node) move(ctx context.Context, tenure uint64) error {
	for {
		if err := n.pause(ctx, 5*time.Second); err != nil {
			return err
		}
		if n.c.Over() {
			continue
		}
		s := n.c.Catalog.Schedule
		to := n.c.names[n.draw(uint64(len(n.c.names)))]
		if n.draw(6) == 0 {
			_ = n.propose(ctx, tenure, func(next *Schedule) bool {
				e := Entities[n.draw(uint64(len(Entities)))]
				a := next.Assigned[e]
				next.Assigned[e] = Assignment{Owner: a.Owner, Index: next.Index, Generation: a.Generation + 1}
				return true
			})
			continue
		}
		p := handoff.Plan{Domain: Domain, Base: s.Index, Hold: quiesce.Plan{Scope: quiesce.Scope{Domain: Domain, Index: s.Index}}}
		for _, e := range Entities {
			if a := s.Assigned[e]; a.Owner != to && n.draw(2) == 0 {
				id := primitives.NewUUIDv4(n.think)
				p.Moves = append(p.Moves, handoff.Move{Transition: id, Entity: e, From: a.Owner, To: to})
				p.Hold.Scope.Drain = append(p.Hold.Scope.Drain, e)
			}
		}
		if len(p.Moves) == 0 {
			continue
		}
		p.Target = target(p.Base, p.Moves)
		err := n.moves.Move(ctx, p, &effect{n: n, tenure: tenure, plan: &p})
		n.c.count("move", err)
		if err == nil {
			n.c.Moved++
		}
	}
}

func (c *Cluster) count(what string, err error) {
	if err != nil {
		c.Errors[fmt.Sprintf("%s: %v", what, err)]++
	}
}

// effect commits a planned move.
type effect struct {
	n      *node
	tenure uint64
	plan   *handoff.Plan
	index  uint64
}

func (x *effect) Commit(ctx context.Context) error {
	return x.n.propose(ctx, x.tenure, func(next *Schedule) bool {
		for _, m := range x.plan.Moves {
			if a := next.Assigned[m.Entity]; a.Owner != m.From || a.Index > x.plan.Base {
				return false
			}
		}
		for _, m := range x.plan.Moves {
			a := next.Assigned[m.Entity]
			x.n.c.commits(m)
			next.Assigned[m.Entity] = Assignment{Owner: m.To, Transition: m.Transition, From: m.From, Index: next.Index, Generation: a.Generation}
		}
		x.index = next.Index
		return true
	})
}

// commits looks at the source at the moment of the commit: what was captured is
// what it has, if it is still held.
func (c *Cluster) commits(m handoff.Move) {
	last, was := c.captures[capture{m.From, m.Entity}]
	v := last.value
	if !was {
		c.Fail("only-the-prepared-is-committed", fmt.Sprintf("%s was never captured on %s", m.Entity.Name, m.From))
	}
	if c.captured[m.Transition] == nil {
		c.captured[m.Transition] = map[quiesce.Entity]uint64{}
	}
	c.captured[m.Transition][m.Entity] = v
	source := c.alive[m.From]
	if source == nil || source.self != last.process || source.running[m.Entity] == nil {
		return
	}
	if now := source.running[m.Entity].value; source.engine.gated(m.Entity) && now != v {
		c.Fail("nothing-moves-under-the-gate", fmt.Sprintf("%s has %d on %s and %d was captured", m.Entity.Name, now, m.From, v))
	}
}

func (x *effect) Ready(ctx context.Context) error {
	for {
		ready := true
		for _, name := range x.n.c.names {
			if other := x.n.c.alive[name]; other != nil && other.ready < x.index {
				ready = false
			}
		}
		if ready {
			return nil
		}
		if err := x.n.pause(ctx, 100*time.Millisecond); err != nil {
			return err
		}
	}
}

// failover gives the operators of nodes that are gone for some time to others.
func (n *node) failover(ctx context.Context, tenure uint64) error {
	since := map[string]primitives.Instant{}
	for {
		if err := n.pause(ctx, time.Second); err != nil {
			return err
		}
		now := n.w.Clock().Now()
		for _, name := range n.c.names {
			if n.c.alive[name] != nil {
				since[name] = now
			}
			if now.Sub(since[name]) > 4*time.Second && n.draw(2) == 0 {
				n.recover(ctx, tenure, name)
			}
		}
	}
}

// recover moves what a lost node owns.
func (n *node) recover(ctx context.Context, tenure uint64, lost string) {
	s := n.c.Catalog.Schedule
	r := handoff.Recovery{Domain: Domain, Base: s.Index}
	for _, name := range n.c.names {
		if n.c.alive[name] != nil {
			r.Survivors = append(r.Survivors, name)
		}
	}
	if len(r.Survivors) == 0 {
		return
	}
	least := map[quiesce.Entity]uint64{}
	for _, e := range Entities {
		a := s.Assigned[e]
		if a.Owner != lost {
			continue
		}
		r.Losses = append(r.Losses, handoff.Loss{
			Transition: primitives.NewUUIDv4(n.think), Entity: e, From: lost, To: r.Survivors[n.draw(uint64(len(r.Survivors)))],
			Components: []state.Component{state.WindowContents},
		})
		// The newest of them is under the newest fence, whatever its value.
		if p := n.c.latest[e]; p.ref.Fence == a.Index {
			for _, name := range r.Survivors {
				if v := n.c.durable[place{name, e, a.Generation}]; v <= p.value && n.c.fences[place{name, e, a.Generation}] == a.Index {
					least[e] = max(least[e], v)
				}
			}
		}
	}
	if len(r.Losses) == 0 {
		return
	}
	_, err := n.moves.Recover(ctx, r, func(ctx context.Context, recovered []handoff.Recovered) error {
		return n.propose(ctx, tenure, func(next *Schedule) bool {
			for _, l := range r.Losses {
				if a := next.Assigned[l.Entity]; a.Owner != lost || a.Index > r.Base {
					return false
				}
			}
			for i, l := range r.Losses {
				next.Assigned[l.Entity] = Assignment{
					Owner: l.To, Transition: l.Transition, From: lost, Forced: true, Outcomes: recovered[i].Outcomes,
					Index: next.Index, Generation: next.Assigned[l.Entity].Generation, Least: least[l.Entity],
				}
			}
			return true
		})
	})
	n.c.count("recover", err)
	if err == nil {
		n.c.Recovered++
	}
}
