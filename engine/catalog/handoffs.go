package catalog

import (
	"math"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// HandoffCompleted reports whether the new owner has taken over what a transition
// gave it.
func (s *State) HandoffCompleted(domain string, transition primitives.UUID) bool {
	_, ok := s.handoffs.get(handoffKey(domain, transition))
	return ok
}

// completeHandoff takes no lease: it is no write to the schedule, and the owner
// that reports it is not the one that changes the domain.
func (t *transition) completeHandoff(c *catalogpb.CompleteHandoff) *Refusal {
	id := uuid(c.GetTransition())
	if !t.state.names(c.GetDomain(), id) {
		return refuse(Conflict, "the schedule of domain '%s' does not name transition %s", c.GetDomain(), id)
	}
	t.state.handoffs = t.state.handoffs.set(handoffKey(c.GetDomain(), id), id)
	return nil
}

// sweepHandoffs forgets what no schedule of a domain names any more.
func (t *transition) sweepHandoffs(domain string) {
	for key, id := range t.state.handoffs.prefix(domain + "\x00") {
		if !t.state.names(domain, id) {
			t.state.handoffs = t.state.handoffs.delete(key)
		}
	}
}

// names reports whether the schedule of a domain has a transition.
func (s *State) names(domain string, transition primitives.UUID) bool {
	x, ok := s.Schedule(domain)
	if !ok || transition == (primitives.UUID{}) {
		return false
	}
	for i := range x.Assignments {
		if x.Assignments[i].Transition.ID == transition {
			return true
		}
	}
	return false
}

func handoffKey(domain string, transition primitives.UUID) string {
	return domain + "\x00" + string(transition[:])
}

func newTransition(m *catalogpb.Transition) (Transition, *Refusal) {
	t := Transition{ID: uuid(m.GetId()), From: m.GetFrom(), To: m.GetTo(), Cause: m.GetCause()}
	if t.ID == (primitives.UUID{}) {
		return t, refuse(Invalid, "a transition to node '%s' has no identity", t.To)
	}
	for _, o := range m.GetOutcomes() {
		outcome := Outcome{Component: uint8(o.GetComponent())}
		if o.GetComponent() > math.MaxUint8 || len(o.GetStaged()) != 0 && len(o.GetStaged()) != len(outcome.Staged) {
			return t, refuse(Invalid, "transition %s has a malformed outcome", t.ID)
		}
		copy(outcome.Staged[:], o.GetStaged())
		t.Outcomes = append(t.Outcomes, outcome)
	}
	return t, nil
}

func (t *Transition) record() *catalogpb.Transition {
	m := &catalogpb.Transition{Id: t.ID[:], From: t.From, To: t.To, Cause: t.Cause}
	for _, o := range t.Outcomes {
		outcome := &catalogpb.Outcome{Component: uint32(o.Component)}
		if o.Staged != [32]byte{} {
			outcome.Staged = o.Staged[:]
		}
		m.Outcomes = append(m.Outcomes, outcome)
	}
	return m
}
