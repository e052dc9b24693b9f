package leader

import (
	"context"
	"errors"
	"slices"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/control"
	"plexus/engine/decide"
	"plexus/engine/handoff"
	"plexus/engine/schedule"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	failedOver    = invariant.Sometimes("the work of a lost node went to others")
	placedLate    = invariant.Sometimes("an operator without a node found one")
	leaverAwaited = invariant.Sometimes("a node that was stopped a moment ago was dropped")
	proposalStale = invariant.Sometimes("a duty of the leader proposed too late")
)

// Deps is what the duties need of their node.
type Deps struct {
	Group *control.Group
	// Cluster is what is known of the nodes now.
	Cluster func() decide.Cluster
	// Leaving reports whether a node that is still counted as live is about to be no
	// longer: it said that it ends, or is not reached.
	Leaving func(node string) bool
	// Silence is how long a node does not answer before it is not live any more.
	Silence time.Duration
	// Changed raises the notice whenever Cluster may answer otherwise, until ctx
	// ends.
	Changed func(ctx context.Context, n *primitives.Notice) error
	// Settled waits until every live node executes a domain as of an index.
	Settled func(ctx context.Context, domain string, index uint64) error
	// Moves hands state over, and Schedules is what it has to know for that.
	Moves     *handoff.Coordinator
	Schedules handoff.Schedules
}

// Leader does the duties of the tenures of one node.
type Leader struct {
	world primitives.World
	deps  Deps
	// begun is when this process first led.
	begun primitives.Instant
	// nodes and looked are what the last look saw: what has not changed since is in
	// line already.
	nodes  []schedule.Node
	looked map[string]look
	ending *primitives.Notice // this node is about to end
}

// look is what decides the schedule of a domain beside the nodes. Load on a node
// counts all domains, but moves nothing by itself.
type look struct{ definition, runtime uint64 }

// New returns a leader that does nothing yet.
func New(w primitives.World, d Deps) *Leader {
	return &Leader{world: w, deps: d, begun: primitives.Never, looked: map[string]look{}, ending: primitives.NewNotice(w)}
}

const (
	// graceAfterStart is how long the first tenure waits for voters to come back.
	graceAfterStart = 10 * time.Second
	// lookAgain bounds how long a duty trusts that it was told of every change.
	lookAgain = time.Second
	// leavingPoll is how often a drop looks whether a node that leaves is gone, and
	// leavingBound how long beyond the time after which a silent node is.
	leavingPoll  = 100 * time.Millisecond
	leavingBound = 10 * time.Second
)

// Run does the duties whenever this node leads.
func (l *Leader) Run(ctx context.Context) error {
	wake := primitives.NewNotice(l.world)
	g := primitives.NewGroup(ctx, l.world)
	g.Go("leader watch", func(ctx context.Context) error { return l.deps.Changed(ctx, wake) })
	follower := l.deps.Group.Follow()
	defer l.deps.Group.Unfollow(follower)
	var tenure uint64
	during, stop := ctx, context.CancelFunc(func() {})
	defer func() { stop() }()
	for {
		retry := primitives.Never
		term, leads := l.deps.Group.Tenure()
		if !leads {
			term = 0
		}
		if term != tenure {
			tenure = term
			stop()
			if leads {
				during, stop = primitives.WithCancel(ctx, l.world)
				l.duty(g, during, "leader reconciliation", l.reconcile)
				l.duty(g, during, "leader departures", l.depart)
			}
		}
		if leads {
			if l.begun == primitives.Never {
				l.begun = l.world.Clock().Now()
			}
			if unfinished := l.reschedule(ctx); unfinished {
				retry = l.world.Clock().Now().Add(lookAgain)
			}
		}
		if _, err := primitives.Select(ctx, l.world, wake.OnRaise(), follower.OnChange(), primitives.AtCase(l.world, retry)); err != nil {
			g.Cancel(err)
			return errors.Join(err, g.Wait(context.Background()))
		}
	}
}

// duty does something for one tenure, and tells it when the nodes changed.
func (l *Leader) duty(g *primitives.Group, tenure context.Context, name string, run func(tenure context.Context, changed *primitives.Notice) error) {
	changed := primitives.NewNotice(l.world)
	g.Go("leader watch", func(context.Context) error {
		_ = l.deps.Changed(tenure, changed) // it ends with the tenure
		return nil
	})
	g.Go(name, func(context.Context) error {
		_ = run(tenure, changed)
		return nil
	})
}

// reconcile settles what earlier moves left at the nodes.
func (l *Leader) reconcile(tenure context.Context, changed *primitives.Notice) error {
	return l.deps.Moves.Reconcile(tenure, l.deps.Schedules, changed)
}

// reschedule brings every domain's schedule in line with the nodes there are. It
// reports whether something is left to do that no change announces.
func (l *Leader) reschedule(ctx context.Context) (unfinished bool) {
	state := l.deps.Group.State()
	cluster := l.deps.Cluster()
	switch {
	case l.waits(&cluster):
		return true
	case l.terminates(&cluster):
		return false
	}
	if !slices.Equal(l.nodes, cluster.Nodes) {
		l.nodes = cluster.Nodes
		clear(l.looked)
	}
	for d := range state.Domains() {
		now := look{d.Definition, d.Runtime}
		if d.Lease != nil || l.looked[d.Name] == now {
			continue // whoever holds a lease looks at the nodes itself, and releases it
		}
		a, refused := decide.Schedule(state, d.Name, cluster)
		switch {
		case refused != nil:
			l.world.Log().Warn("domain cannot be scheduled", "domain", d.Name, "error", refused)
		case a.Step != nil && !surplus(a):
			unfinished = l.commit(ctx, d.Name, a) || unfinished
		default:
			l.looked[d.Name] = now
		}
	}
	return unfinished
}

// waits reports whether the first tenure still waits for a voter that nothing was
// heard of (L3).
func (l *Leader) waits(c *decide.Cluster) bool {
	if !l.world.Clock().Now().Before(l.begun.Add(graceAfterStart)) {
		return false
	}
	for i := range c.Nodes {
		if n := &c.Nodes[i]; n.Voter && !n.Live {
			return true
		}
	}
	return false
}

// terminates reports whether this node itself is about to end. Then others may be,
// too: a leader that ends with all of them takes nothing from anybody, so that
// everybody keeps what it owned.
func (l *Leader) terminates(c *decide.Cluster) bool {
	self := l.deps.Group.Identity().NodeID
	return slices.ContainsFunc(c.Nodes, func(n schedule.Node) bool { return n.ID == self && n.Terminating })
}

// surplus reports whether a schedule would move work that a living node has: that
// is nobody's wish (L2).
func surplus(a *decide.Assigned) bool {
	for i := range a.Moves {
		if m := &a.Moves[i]; !m.Lost && m.From != "" {
			return true
		}
	}
	return false
}

func (l *Leader) commit(ctx context.Context, domain string, a *decide.Assigned) (again bool) {
	if err := l.recover(ctx, domain, a); err != nil {
		var refused *catalog.Refusal
		if proposalStale.HitIf(errors.As(err, &refused)) {
			l.world.Log().Debug("a schedule came too late", "domain", domain, "refused", refused)
		} else {
			l.world.Log().Warn("a schedule was not committed", "domain", domain, "error", err)
		}
		return ctx.Err() == nil
	}
	for i := range a.Moves {
		m := &a.Moves[i]
		failedOver.HitIf(m.Lost && m.To != "")
		placedLate.HitIf(m.From == "" && m.To != "")
		l.world.Log().Info("operator assigned", "domain", domain, "operator", m.Key.String(), "from", m.From, "to", m.To, "lost", m.Lost)
	}
	return false
}

// propose commits steps and returns what refused them.
func (l *Leader) propose(ctx context.Context, steps ...*catalogpb.Step) (catalog.Result, error) {
	result, err := l.deps.Group.Propose(ctx, &catalogpb.Command{Steps: steps})
	switch {
	case err != nil:
		return result, err
	case result.Refused != nil:
		return result, result.Refused
	}
	return result, nil
}
