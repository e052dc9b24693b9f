package handoff

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	activatedAgain   = invariant.Sometimes("an activated transition was applied again and restored nothing")
	activationMissed = invariant.Sometimes("an activation found no preparation")
)

// Target is one operator that the schedule being applied assigns to this node.
type Target struct {
	Entity     quiesce.Entity
	Transition primitives.UUID // zero: assigned at its creation, nothing to take over
	From       string
	// Forced says that the transition is a forced recovery; Outcomes are what was
	// committed about each component, and Completed that its completion is recorded.
	Forced    bool
	Outcomes  []Outcome
	Completed bool
}

// Activate puts the state of every operator in place that the schedule assigns to
// this node, before any of them runs. It does so once per transition (H5) and may
// be repeated after a failure. It returns the forced recoveries that are done, for
// their completion to be recorded; the list also holds those of earlier calls.
func (p *Participant) Activate(ctx context.Context, domain string, targets []Target) (done []primitives.UUID, err error) {
	if err := p.disk.Lock(ctx); err != nil {
		return nil, err
	}
	defer p.disk.Unlock()
	var failed []error
	for i := range targets {
		t := &targets[i]
		if t.Transition == (primitives.UUID{}) {
			continue
		}
		if err := p.activate(ctx, domain, t); err != nil {
			failed = append(failed, err)
			continue
		}
		if t.Forced && !t.Completed {
			done = append(done, t.Transition)
		}
	}
	if err := errors.Join(failed...); err != nil {
		return done, err
	}
	return done, p.tidy(domain, targets)
}

// Domains lists the domains of which an activation is remembered.
func (p *Participant) Domains() []string {
	found := map[string]bool{}
	p.locked(func() {
		for _, domain := range p.marks { //plexus:orderfree collected into a set
			found[domain] = true
		}
	})
	return primitives.SortedKeys(found)
}

// activate puts the state of one operator in place.
func (p *Participant) activate(ctx context.Context, domain string, t *Target) error {
	var marked bool
	p.locked(func() { _, marked = p.marks[t.Transition] })
	if activatedAgain.HitIf(marked || t.Completed) {
		return nil
	}
	known := p.find(t.Transition)
	if err := p.match(known, domain, t); err != nil {
		activationMissed.Hit()
		return err
	}
	if err := p.restore(ctx, domain, t, known); err != nil {
		return fmt.Errorf("activate %s '%s': %w", t.Entity.Kind.Words(), t.Entity.Name, err)
	}
	if err := p.shelf.mark(t.Transition, domain); err != nil {
		return fmt.Errorf("mark transition %s: %w", t.Transition, err)
	}
	p.locked(func() { p.marks[t.Transition] = domain })
	return nil
}

// match finds out whether the preparation is what the committed transition needs.
func (p *Participant) match(known *preparation, domain string, t *Target) error {
	missing := func(format string, args ...any) error {
		return &MissingError{t.Entity, t.Transition, fmt.Sprintf(format, args...)}
	}
	if known != nil {
		switch b := &known.binding; {
		case b.Domain != domain || b.Entity != t.Entity:
			return missing("its preparation is of %s '%s' in domain '%s'", b.Entity.Kind.Words(), b.Entity.Name, b.Domain)
		case b.Destination.Node != p.self.Node || b.Source.Node != t.From:
			return missing("its preparation is from node '%s' to node '%s'", b.Source.Node, b.Destination.Node)
		}
	}
	if !t.Forced {
		if known == nil {
			return missing("there is no preparation")
		}
		return nil
	}
	for _, o := range t.Outcomes {
		if _, ok := p.component(o.Component); !ok {
			return missing("this node has no component %s", o.Component)
		}
		var refs []state.Ref
		if known != nil {
			for _, r := range known.refs {
				if r.Component == o.Component {
					refs = append(refs, r)
				}
			}
		}
		if o.Reset() {
			if len(refs) > 0 {
				return missing("%s is committed to start empty and has a preparation", o.Component)
			}
			continue
		}
		digest, err := staged(refs)
		if err != nil {
			return err
		}
		if len(refs) == 0 || digest != o.Staged {
			return missing("the prepared %s is not the committed one", o.Component)
		}
	}
	return nil
}

// restore verifies every container and only then replaces what this node keeps of
// the operator: what an earlier owner had and the last one had not is of the past.
func (p *Participant) restore(ctx context.Context, domain string, t *Target, known *preparation) (err error) {
	var containers []*state.Container
	defer func() {
		for _, c := range containers {
			err = errors.Join(err, c.Close())
		}
	}()
	if known != nil {
		if containers, err = p.verified(known); err != nil {
			return err
		}
	}
	for i := range p.components {
		component := &p.components[i]
		decided := slices.ContainsFunc(t.Outcomes, func(o Outcome) bool { return o.Component == component.Kind })
		if t.Forced && !decided {
			continue // the operator owns no such state
		}
		if err := component.Reset(ctx, domain, t.Entity); err != nil {
			return fmt.Errorf("empty %s: %w", component.Kind, err)
		}
		for _, c := range containers {
			if c.Component != component.Kind {
				continue
			}
			if err := component.Restore(ctx, c); err != nil {
				return fmt.Errorf("restore %s: %w", component.Kind, err)
			}
		}
	}
	return nil
}

// verified opens the containers of a preparation, checked to the last byte.
func (p *Participant) verified(known *preparation) (containers []*state.Container, err error) {
	for i, want := range known.refs {
		c, err := p.shelf.open(known, i)
		if err != nil {
			return containers, err
		}
		containers = append(containers, c)
		got, err := c.Verify()
		if err != nil {
			return containers, err
		}
		if got != want {
			return containers, &DamageError{File: containerName(p.shelf.directory(known.binding.Transition), i), What: "it is not the prepared container"}
		}
	}
	return containers, nil
}

// tidy removes what is not needed any more once everything of a domain is
// activated: preparations that were used, and marks of transitions that the
// schedule does not name.
func (p *Participant) tidy(domain string, targets []Target) error {
	named := map[primitives.UUID]bool{}
	for i := range targets {
		named[targets[i].Transition] = true
	}
	var used, unnamed []primitives.UUID
	p.locked(func() {
		for _, id := range sortedIDs(p.marks) {
			if p.marks[id] != domain {
				continue
			}
			if p.prepared[id] != nil {
				used = append(used, id)
			}
			if !named[id] {
				unnamed = append(unnamed, id)
			}
		}
	})
	// The mark outlives the preparation, or it could be restored again.
	for _, id := range used {
		if err := p.shelf.remove(id); err != nil {
			return fmt.Errorf("remove used preparation: %w", err)
		}
		p.locked(func() { delete(p.prepared, id) })
	}
	for _, id := range unnamed {
		if err := p.shelf.unmark(id); err != nil {
			return fmt.Errorf("remove mark: %w", err)
		}
		p.locked(func() { delete(p.marks, id) })
	}
	return nil
}
