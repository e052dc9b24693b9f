package handoff

import (
	"context"
	"errors"
	"slices"

	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	recoveredReplica = invariant.Sometimes("a forced recovery staged the checkpoint of a replica")
	recoveredReset   = invariant.Sometimes("a forced recovery reported a reset")
)

// Loss is one operator whose owner is lost.
type Loss struct {
	Transition primitives.UUID
	Entity     quiesce.Entity
	From, To   string
	// Components are the kinds of state the operator owns.
	Components []state.Component
}

// Recovery gives the operators of lost owners to others, without a gate.
type Recovery struct {
	Domain string
	Base   uint64
	Target [32]byte // fingerprint of the schedule to commit, outcomes left out
	Losses []Loss
	// Survivors are the live nodes that may keep checkpoints of them: replicas and
	// new owners.
	Survivors []string
}

// Recovered is what the schedule has to say about one loss.
type Recovered struct {
	Transition primitives.UUID
	Outcomes   []Outcome // one per component
}

// Recover stages the best surviving checkpoints at the new owners and commits the
// schedule with the outcome of every component. On an error nothing is committed,
// except for an *UncertainError; the duty plans again.
func (c *Coordinator) Recover(ctx context.Context, r Recovery, commit func(context.Context, []Recovered) error) ([]Recovered, error) {
	var cells []cell
	recovered := make([]Recovered, 0, len(r.Losses))
	for i := range r.Losses {
		loss := &r.Losses[i]
		origins, err := c.survey(ctx, &r, loss)
		if err != nil {
			return nil, &PrepareError{loss.Entity, loss.From, loss.To, err}
		}
		outcomes, err := outcomesOf(loss, origins)
		if err != nil {
			return nil, err
		}
		recovered = append(recovered, Recovered{loss.Transition, outcomes})
		if len(origins) == 0 {
			continue // it starts empty as a whole
		}
		destination, _, err := c.process("destination", loss.To, nil)
		if err != nil {
			return nil, &PrepareError{loss.Entity, loss.From, loss.To, err}
		}
		cells = append(cells, cell{step: stepPrepare, origins: origins, binding: Binding{
			Coordinator: c.self, Transition: loss.Transition, Domain: r.Domain, Entity: loss.Entity,
			Source: quiesce.Process{Node: loss.From}, Destination: destination, Base: r.Base, Target: r.Target,
		}})
	}
	t := c.transfer(cells)
	err := t.commit(ctx, t.prepare(ctx, nil), func(ctx context.Context) error { return commit(ctx, recovered) })
	return recovered, err
}

// outcomesOf says about every component whether it is staged or starts empty.
func outcomesOf(loss *Loss, origins []Origin) (outcomes []Outcome, err error) {
	for _, kind := range loss.Components {
		o := Outcome{Component: kind}
		var refs []state.Ref
		for _, origin := range origins {
			if origin.Ref.Component == kind {
				refs = append(refs, origin.Ref)
			}
		}
		if len(refs) > 0 {
			if o.Staged, err = staged(refs); err != nil {
				return nil, err
			}
			recoveredReplica.Hit()
		}
		recoveredReset.HitIf(o.Reset())
		outcomes = append(outcomes, o)
	}
	return outcomes, nil
}

// survey asks every survivor what it keeps of an operator. One that does not
// answer fails the recovery: its checkpoint may be the best.
func (c *Coordinator) survey(ctx context.Context, r *Recovery, loss *Loss) ([]Origin, error) {
	g := primitives.NewGroup(ctx, c.world)
	answers := make([]*answer, len(r.Survivors))
	for i, node := range r.Survivors {
		g.Go("handoff survey", func(ctx context.Context) error {
			a, err := c.ask(ctx, node, StateCatalog, &request{Domain: r.Domain, Entity: loss.Entity})
			answers[i] = a
			return err
		})
	}
	if err := g.Wait(context.Background()); err != nil { // every request has its bound
		return nil, err
	}
	var origins []Origin
	for i, a := range answers {
		for _, ref := range a.Refs {
			if slices.Contains(loss.Components, ref.Component) {
				origins = append(origins, Origin{ref, r.Survivors[i]})
			}
		}
	}
	return best(origins, loss.To), nil
}

// best keeps the newest container of every placement; of equal ones that of the
// destination, which has nothing to fetch then.
func best(origins []Origin, destination string) []Origin {
	rank := func(o Origin) int {
		if o.Node == destination {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(origins, func(a, b Origin) int {
		if by := a.Ref.Placement.Compare(b.Ref.Placement); by != 0 {
			return by
		}
		switch {
		case a.Ref.Newer(b.Ref):
			return -1
		case b.Ref.Newer(a.Ref):
			return 1
		}
		return rank(a) - rank(b)
	})
	return slices.CompactFunc(origins, func(a, b Origin) bool { return a.Ref.Placement == b.Ref.Placement })
}

// ask repeats one request until it is answered, within its bound.
func (c *Coordinator) ask(ctx context.Context, node string, op Operation, r *request) (*answer, error) {
	ctx, cancel := primitives.WithDeadline(ctx, c.world, c.world.Clock().Now().Add(c.settings.Request))
	defer cancel()
	for {
		a, err := c.call(ctx, node, op, r)
		switch {
		case err == nil && a.Refused == nil:
			return a, nil
		case err == nil && a.Refused.Reason != NotReady:
			return nil, a.Refused
		case err == nil:
			err = a.Refused
		}
		if e := primitives.Sleep(ctx, c.world, c.settings.Poll); e != nil {
			return nil, errors.Join(err, e)
		}
	}
}
