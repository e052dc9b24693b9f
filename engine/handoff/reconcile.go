package handoff

import (
	"context"
	"errors"
	"slices"
	"time"

	"plexus/engine/quiesce"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	reconciledKept      = invariant.Sometimes("reconciliation kept a preparation that is committed")
	reconciledWaiting   = invariant.Sometimes("reconciliation kept an uncommitted preparation")
	reconciledDiscarded = invariant.Sometimes("reconciliation discarded a preparation")
	reconciledOwn       = invariant.Sometimes("reconciliation settled what this coordinator left itself")
)

// Schedules is the committed state as the leader sees it.
type Schedules interface {
	// Barrier commits an entry of the current tenure and returns its index once this
	// node has applied it: everything that an earlier leader proposed is decided.
	Barrier(ctx context.Context) (uint64, error)
	// Assignment is who owns an operator, by which transition.
	Assignment(domain string, e quiesce.Entity) (owner string, transition primitives.UUID, ok bool)
	// Members lists the nodes of the cluster.
	Members() []string
}

// verdict is what becomes of one preparation.
type verdict uint8

const (
	keepCommitted verdict = iota
	keepWaiting
	discardIt
)

// judge decides about one preparation, at an index behind which no proposal of an
// earlier leader is undecided any more. Those of this process, which are under
// way, are its own business, and over as soon as they are not. Only a gate lets
// others wait: it ends by its lease, and without one nothing would.
func judge(l *Listed, committed Schedules, live func(quiesce.Process) bool, own, underWay bool) verdict {
	b := &l.Binding
	owner, transition, ok := committed.Assignment(b.Domain, b.Entity)
	switch {
	case underWay:
		return keepWaiting
	case ok && transition == b.Transition || l.Committed:
		// A node that has applied more than this one may know the transition already.
		return keepCommitted
	case !own && b.Sequence != 0 && ok && owner == b.Source.Node && l.Held && live(b.Coordinator) && live(b.Destination) && live(b.Source):
		return keepWaiting
	}
	return discardIt
}

// reconcileRetry paces the passes over nodes that were not reached.
const reconcileRetry = 2 * time.Second

// Reconcile runs for one tenure: a pass over every node at its start, whenever
// changed is raised, because a process of the cluster is another, and whenever a
// move of this coordinator left something; and a second one when the gates of that
// time have opened.
func (c *Coordinator) Reconcile(ctx context.Context, committed Schedules, changed *primitives.Notice) error {
	for {
		second := c.world.Clock().Now().Add(c.settings.Lease + c.settings.Request)
		for {
			missing, err := c.Pass(ctx, committed)
			if err != nil {
				if ctx.Err() != nil {
					return primitives.Canceled(ctx)
				}
				c.world.Log().Warn("preparations were not reconciled", "error", err)
			}
			next := second
			if now := c.world.Clock().Now(); err != nil || missing {
				next = now.Add(reconcileRetry)
			} else if !now.Before(second) {
				next = primitives.Never // the second pass is done
			}
			fired, err := primitives.Select(ctx, c.world, changed.OnRaise(), c.left.OnRaise(), primitives.AtCase(c.world, next))
			if err != nil {
				return err
			}
			if fired != 2 {
				break
			}
		}
	}
}

// Pass asks every node for its preparations and has those discarded that nothing
// can commit or use any more. missing says that a node did not answer.
func (c *Coordinator) Pass(ctx context.Context, committed Schedules) (missing bool, err error) {
	index, err := committed.Barrier(ctx)
	if err != nil {
		return true, err
	}
	live := func(p quiesce.Process) bool {
		now, known := c.peers.Process(p.Node)
		return known && now == p
	}
	g := primitives.NewGroup(ctx, c.world)
	members := committed.Members()
	reached := make([]bool, len(members))
	for i, node := range members {
		g.Go("handoff reconciliation", func(ctx context.Context) error {
			a, err := c.ask(ctx, node, Reconcile, &request{Index: index})
			if err != nil {
				return nil // it is missing
			}
			reached[i] = true
			for j := range a.Listed {
				l := &a.Listed[j]
				own := l.Binding.Coordinator == c.self
				decided := judge(l, committed, live, own, own && c.moving(&l.Binding))
				if own && decided == discardIt {
					// Its last proposal may have been made behind the barrier.
					reconciledOwn.Hit()
					if _, err := committed.Barrier(ctx); err != nil {
						reached[i] = false
						continue
					}
					decided = judge(l, committed, live, own, false)
				}
				switch decided {
				case keepCommitted:
					reconciledKept.Hit()
				case keepWaiting:
					reconciledWaiting.Hit()
				case discardIt:
					reconciledDiscarded.Hit()
					refusal := (*Refusal)(nil)
					if _, err := c.ask(ctx, node, Discard, &request{Binding: l.Binding}); err != nil && !errors.As(err, &refusal) {
						reached[i] = false
					}
				}
			}
			return nil
		})
	}
	if err := g.Wait(context.Background()); err != nil { // every request has its bound
		return true, err
	}
	return slices.Contains(reached, false), nil
}
