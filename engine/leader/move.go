package leader

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/engine/handoff"
	"plexus/engine/quiesce"
	"plexus/engine/schedule"
	"plexus/engine/state"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	unitMoved    = invariant.Sometimes("a unit moved to another node as planned")
	unitStayed   = invariant.Sometimes("a unit stayed because its move failed")
	tenureOver   = invariant.Sometimes("a move was not committed because the leader changed meanwhile")
	stateWaits   = invariant.Sometimes("a change waited until the state of a lost owner was settled")
	stateSettled = invariant.Sometimes("the state of a lost owner was found or given up")
)

// Move is a planned change of owners.
type Move struct {
	Domain string
	// Lease is held by whoever asks.
	Lease    uint64
	Running  bool
	Moves    []decide.Move
	Boundary decide.Boundary
	Drains   bool // all running work of the domain has to finish, too
	// Base is the committed schedule, nil for none, and Target the one that the
	// effect sets.
	Base, Target *catalog.Schedule
}

// LostError says that a move has to wait: a node that is lost kept state of an
// operator, and what becomes of it is decided first.
type LostError struct {
	catalog.Key
	Node string
}

func (e *LostError) Error() string {
	return fmt.Sprintf("node '%s' is lost, and %s is given to another node first; retry", e.Node, e.Key)
}

// Effect is the caller's half of a move; see handoff.Effect.
type Effect = handoff.Effect

// Move brings what changes its owner to rest, hands its state over, has the effect
// committed, waits until it is usable and lets go (L4).
func (l *Leader) Move(ctx context.Context, m Move, e Effect) error {
	target, err := fingerprint(m.Target)
	if err != nil {
		return err
	}
	plan := handoff.Plan{
		Domain: m.Domain, Target: target, Stopped: !m.Running || m.Boundary.Empty() && !m.Drains,
		Hold: quiesce.Plan{Intake: true, Scope: quiesce.Scope{
			Domain: m.Domain, Purpose: quiesce.ForHandoff, Index: l.deps.Group.State().Applied,
			Whole: m.Drains, Gates: m.Boundary.Gates, Sources: entities(m.Boundary.Sources), Drain: entities(m.Boundary.Drain),
		}},
	}
	if m.Drains {
		plan.Hold.Scope.Gates, plan.Hold.Scope.Sources, plan.Hold.Scope.Drain = nil, nil, nil
	}
	if m.Base != nil {
		plan.Base = m.Base.Index
	}
	for i := range m.Moves {
		move := &m.Moves[i]
		if stateWaits.HitIf(move.Lost && move.To != "" && stateful(move.Kind)) {
			return &LostError{move.Key, move.From}
		}
		if move.Lost || move.From == "" || move.To == "" {
			continue
		}
		a, ok := m.Target.Assignment(move.Key)
		if !ok {
			return fmt.Errorf("the planned schedule does not name %s", move.Key)
		}
		plan.Moves = append(plan.Moves, handoff.Move{Transition: a.Transition.ID, Entity: entity(move.Key), From: move.From, To: move.To})
	}
	return l.deps.Moves.Move(ctx, plan, tenured{e, l.thisTenure()})
}

// ErrTenure says that the leader changed since a move began: it was not committed.
var ErrTenure = errors.New("the leader changed meanwhile")

// tenured is an effect that is committed in the tenure its move began in, or never:
// a later leader discards what was prepared for it.
type tenured struct {
	Effect
	lasts func() error
}

// Commit implements handoff.Effect.
func (t tenured) Commit(ctx context.Context) error {
	if err := t.lasts(); err != nil {
		return err
	}
	return t.Effect.Commit(ctx)
}

// thisTenure returns what fails once the tenure is another than now.
func (l *Leader) thisTenure() (lasts func() error) {
	began, _ := l.deps.Group.Tenure()
	return func() error {
		if term, _ := l.deps.Group.Tenure(); tenureOver.HitIf(term != began) {
			return errors.Join(handoff.ErrNotCommitted, ErrTenure)
		}
		return nil
	}
}

// fingerprint names a schedule before it is committed: outcomes of recoveries are
// known later and do not count.
func fingerprint(s *catalog.Schedule) ([sha256.Size]byte, error) {
	if s == nil {
		return [sha256.Size]byte{}, nil
	}
	plain := *s
	plain.Assignments = append([]catalog.Assignment(nil), s.Assignments...)
	for i := range plain.Assignments {
		plain.Assignments[i].Transition.Outcomes = nil
	}
	encoded, err := catalog.Encode(&catalogpb.Command{Steps: []*catalogpb.Step{plain.Step(0)}})
	return sha256.Sum256(encoded), err
}

func entity(k catalog.Key) quiesce.Entity { return quiesce.Entity{Kind: k.Kind, Name: k.Name} }

func entities(keys []catalog.Key) (list []quiesce.Entity) {
	for _, k := range keys {
		list = append(list, entity(k))
	}
	return list
}

// Drained is what a drain came to.
type Drained struct {
	Units, Moved int // operators
	Moves        []decide.Move
	Failed       []Stuck
}

// Stuck is an operator that a drain could not move.
type Stuck struct {
	Domain string
	catalog.Key
	Why string
}

// Drain moves every unit off a node that is cordoned, one after the other. A unit
// that fails stays, and the others go on.
func (l *Leader) Drain(ctx context.Context, owner, node string) (*Drained, error) {
	d := new(Drained)
	for _, u := range decide.DrainOrder(l.deps.Group.State(), node) {
		d.Units += len(u.Members)
		moves, err := l.evacuate(ctx, owner, u)
		switch {
		case ctx.Err() != nil:
			return d, ctx.Err()
		case err != nil:
			unitStayed.Hit()
			d.Failed = append(d.Failed, Stuck{u.Domain, u.Members[0], err.Error()})
		default:
			unitMoved.Hit()
			d.Moved += len(u.Members)
			d.Moves = append(d.Moves, moves...)
		}
	}
	return d, nil
}

// evacuate moves one unit away under the lease of its domain.
func (l *Leader) evacuate(ctx context.Context, owner string, u decide.Unit) (moves []decide.Move, err error) {
	taken, err := l.propose(ctx, &catalogpb.Step{Body: &catalogpb.Step_AcquireLease{AcquireLease: &catalogpb.AcquireLease{Domain: u.Domain, Owner: owner}}})
	if err != nil {
		return nil, err
	}
	defer func() {
		_, released := l.propose(context.WithoutCancel(ctx), &catalogpb.Step{Body: &catalogpb.Step_ReleaseLease{
			ReleaseLease: &catalogpb.ReleaseLease{Domain: u.Domain, Index: taken.Index, Owner: owner},
		}})
		err = errors.Join(err, released)
	}()
	s := l.deps.Group.State()
	a, refused := decide.Evacuate(s, u, l.deps.Cluster())
	if refused != nil {
		return nil, refused
	}
	if a.Step == nil {
		return nil, nil // it is gone already
	}
	domain, _ := s.Domain(u.Domain)
	base, _ := s.Schedule(u.Domain)
	a.Step.Lease = taken.Index
	e := &commitStep{leader: l, domain: u.Domain, step: a.Step}
	return a.Moves, l.Move(ctx, Move{
		Domain: u.Domain, Lease: taken.Index, Running: domain.Running, Moves: a.Moves, Boundary: a.Boundary(), Base: base, Target: a.Schedule,
	}, e)
}

// commitStep is the effect of a schedule that is committed by itself.
type commitStep struct {
	leader *Leader
	domain string
	step   *catalogpb.Step
	index  uint64
}

// Commit implements handoff.Effect.
func (c *commitStep) Commit(ctx context.Context) error {
	result, err := c.leader.propose(ctx, c.step)
	var refused *catalog.Refusal
	switch {
	case errors.As(err, &refused):
		return errors.Join(handoff.ErrNotCommitted, refused)
	case err != nil:
		return err
	}
	c.index = result.Index
	return nil
}

// Ready implements handoff.Effect.
func (c *commitStep) Ready(ctx context.Context) error {
	return c.leader.deps.Settled(ctx, c.domain, c.index)
}

// Drop removes a node that is down from the cluster for ever, and gives its work to
// others first. One that was stopped a moment ago is waited for: nobody should have to
// know how long the others take to believe it.
func (l *Leader) Drop(ctx context.Context, node string) error {
	if err := l.departed(ctx, node); err != nil {
		return err
	}
	s := l.deps.Group.State()
	all, refused := decide.Orphaned(s, node, l.deps.Cluster())
	if refused != nil {
		return refused
	}
	for _, a := range all {
		if a.Step == nil {
			continue
		}
		if err := l.recover(ctx, a.Schedule.Domain, a); err != nil {
			return err
		}
	}
	return l.deps.Group.DropMember(ctx, node)
}

// departed waits until a node that leaves is not live.
func (l *Leader) departed(ctx context.Context, node string) error {
	deadline := l.world.Clock().Now().Add(l.deps.Silence + leavingBound)
	for {
		member, ok := l.deps.Group.State().Node(node)
		if !ok {
			return &catalog.Refusal{Code: "node", Message: fmt.Sprintf("node '%s' is not a member", node)}
		}
		active, err := l.deps.Group.MemberActive(ctx, member.RaftID)
		if err != nil {
			return err
		}
		nodes := l.deps.Cluster().Nodes
		if !active && !slices.ContainsFunc(nodes, func(n schedule.Node) bool { return n.ID == node && n.Live }) {
			return nil
		}
		if !l.deps.Leaving(node) || !l.world.Clock().Now().Before(deadline) {
			return &catalog.Refusal{Code: "node", Message: fmt.Sprintf("node '%s' is live; stop it first", node)}
		}
		leaverAwaited.Hit()
		if err := primitives.Sleep(ctx, l.world, leavingPoll); err != nil {
			return err
		}
	}
}

// recover commits a schedule that gives the work of lost nodes to others, with what
// becomes of the state they kept.
func (l *Leader) recover(ctx context.Context, domain string, a *decide.Assigned) error {
	losses, survivors := l.losses(a)
	lasts := l.thisTenure()
	commit := func(ctx context.Context) error {
		if err := lasts(); err != nil {
			return err
		}
		_, err := l.propose(ctx, a.Step)
		var refused *catalog.Refusal
		if errors.As(err, &refused) {
			return errors.Join(handoff.ErrNotCommitted, refused)
		}
		return err
	}
	if len(losses) == 0 {
		return commit(ctx)
	}
	target, err := fingerprint(a.Schedule)
	if err != nil {
		return err
	}
	base, _ := l.deps.Group.State().Schedule(domain)
	r := handoff.Recovery{Domain: domain, Target: target, Losses: losses, Survivors: survivors}
	if base != nil {
		r.Base = base.Index
	}
	_, err = l.deps.Moves.Recover(ctx, r, func(ctx context.Context, recovered []handoff.Recovered) error {
		outcomes := map[primitives.UUID][]catalog.Outcome{}
		for _, one := range recovered {
			for _, o := range one.Outcomes {
				outcomes[one.Transition] = append(outcomes[one.Transition], catalog.Outcome{Component: uint8(o.Component), Staged: o.Staged})
			}
		}
		a.SetOutcomes(outcomes)
		stateSettled.Hit()
		return commit(ctx)
	})
	return err
}

// stateful reports whether operators of a kind keep state at their nodes.
func stateful(kind vocab.EntityKind) bool { return kind == vocab.EntityIngestor }

// losses lists the operators with state whose owners are lost, and the nodes that
// may have some of it.
func (l *Leader) losses(a *decide.Assigned) (losses []handoff.Loss, survivors []string) {
	seen := map[string]bool{}
	for i := range a.Moves {
		m := &a.Moves[i]
		if !m.Lost || m.To == "" || !stateful(m.Kind) {
			continue
		}
		planned, _ := a.Schedule.Assignment(m.Key)
		losses = append(losses, handoff.Loss{
			Transition: planned.Transition.ID, Entity: entity(m.Key), From: m.From, To: m.To, Components: []state.Component{state.SourceCursor},
		})
		seen[m.To] = true
		for _, r := range m.Replicas {
			seen[r] = true
		}
	}
	return losses, primitives.SortedKeys(seen)
}
