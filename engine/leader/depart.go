package leader

import (
	"context"
	"slices"
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/schedule"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	leaverRelieved = invariant.Sometimes("a node that stops gave its work to others first")
	leaverStuck    = invariant.Sometimes("a node that stops could not give up an operator yet")
	leaseOrphaned  = invariant.Sometimes("the lease of a leader that fell during a departure was given back")
)

// departing begins the owner of every lease that this duty takes: nobody else's is
// given back at the beginning of a tenure.
const departing = "departure "

// depart is the duty, during one tenure, to give away what nodes own that say they
// end. Each unit moves as in a drain. A node that ends is no candidate for new work,
// so it needs no cordon that somebody would have to take back.
func (l *Leader) depart(ctx context.Context, changed *primitives.Notice) error {
	if err := l.release(ctx); err != nil {
		return err
	}
	told := map[string]bool{}
	for {
		retry := primitives.Never
		for _, node := range l.leavers() {
			d, err := l.Drain(ctx, departing+node, node)
			if err != nil {
				return err
			}
			leaverRelieved.HitIf(d.Moved > 0)
			if d.Moved > 0 {
				l.world.Log().Info("the work of a node that stops went to others", "node", node, "operators", d.Moved)
			}
			for _, f := range d.Failed {
				leaverStuck.Hit()
				retry = l.world.Clock().Now().Add(lookAgain)
				if what := node + " " + f.Domain + " " + f.Key.String() + ": " + f.Why; !told[what] {
					told[what] = true
					l.world.Log().Warn("an operator stays on a node that stops", "node", node, "domain", f.Domain, "operator", f.Key.String(), "reason", f.Why)
				}
			}
		}
		if _, err := primitives.Select(ctx, l.world, changed.OnRaise(), l.ending.OnRaise(), primitives.AtCase(l.world, retry)); err != nil {
			return err
		}
	}
}

// leavers lists the nodes that say they end, as long as another one can take what
// they own.
func (l *Leader) leavers() (nodes []string) {
	all := l.deps.Cluster().Nodes
	if !slices.ContainsFunc(all, func(n schedule.Node) bool { return n.Candidate() }) {
		return nil
	}
	for i := range all {
		if n := &all[i]; n.Live && n.Terminating && len(decide.DrainOrder(l.deps.Group.State(), n.ID)) > 0 {
			nodes = append(nodes, n.ID)
		}
	}
	return nodes
}

// release gives back what the duty of an earlier leader held. Whatever that one
// proposed is applied or lost: a tenure begins behind it.
func (l *Leader) release(ctx context.Context) error {
	for d := range l.deps.Group.State().Domains() {
		if d.Lease == nil || !strings.HasPrefix(d.Lease.Owner, departing) {
			continue
		}
		leaseOrphaned.Hit()
		step := &catalogpb.Step{Body: &catalogpb.Step_ReleaseLease{ReleaseLease: &catalogpb.ReleaseLease{
			Domain: d.Name, Index: d.Lease.Index, Owner: d.Lease.Owner,
		}}}
		// A refusal says that it was given back meanwhile.
		if _, err := l.deps.Group.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{step}}); err != nil {
			return err
		}
	}
	return nil
}

// Unfinished counts what keeps a node that stops: units that it owns, and moves of
// earlier ones that are committed and not over. Its part in those is to install what
// is committed and to let the holds go.
func Unfinished(s *catalog.State, node string) (n int) {
	for d := range s.Domains() {
		if d.Lease != nil && d.Lease.Owner == departing+node {
			n++
		}
	}
	return n + len(decide.DrainOrder(s, node))
}

// Ending tells the duties that this node itself is about to end.
func (l *Leader) Ending() { l.ending.Raise() }
