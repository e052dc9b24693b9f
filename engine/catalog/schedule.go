package catalog

import (
	"cmp"
	"slices"

	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// Schedule is the committed assignment of one domain's operators to nodes. An
// operator without an entry executes nowhere.
type Schedule struct {
	Domain string
	// Index is the command that set it.
	Index       uint64
	Assignments []Assignment // by kind and name
	Groups      []Group
}

// Assignment says which nodes execute one operator.
type Assignment struct {
	Key
	// Everywhere is an operator that every live voter executes: it has no primary.
	Everywhere bool
	Primary    string // "" while no node can take it
	Replicas   []string
	Transition Transition
}

// Transition identifies one change of owner; zero for the first owner.
type Transition struct {
	ID              primitives.UUID
	From, To, Cause string
	// Outcomes say how the state of a lost owner came back, by component.
	Outcomes []Outcome
}

// Outcome is what became of one state component of a lost owner.
type Outcome struct {
	Component uint8
	Staged    [32]byte // digest of the content that was staged; zero is a reset
}

// Group is a set of operators that must share a node.
type Group struct {
	Host    string
	Members []Key
}

// Assignment returns the entry of an operator.
func (s *Schedule) Assignment(key Key) (*Assignment, bool) {
	if s == nil {
		return nil, false
	}
	at, ok := slices.BinarySearchFunc(s.Assignments, key, func(a Assignment, k Key) int { return a.Compare(k) })
	if !ok {
		return nil, false
	}
	return &s.Assignments[at], true
}

// Compare orders keys by kind, in the order of the kinds, and name.
func (k Key) Compare(o Key) int {
	return cmp.Or(cmp.Compare(k.Kind, o.Kind), cmp.Compare(k.Name, o.Name))
}

// setSchedule replaces the assignment of a domain. What it names must exist: it
// was computed from a state, and this is how it shows that the state is still
// that one.
func (t *transition) setSchedule(c *catalogpb.SetSchedule, lease uint64) *Refusal {
	return t.withDomain(c.GetDomain(), lease, func(d *Domain) *Refusal {
		if old, ok := t.state.schedules.get(d.Name); ok && old.Index != c.GetExpected() && old.Index != t.index ||
			!ok && c.GetExpected() != 0 {
			return stale("the schedule of domain '%s' changed while another one was being computed", d.Name)
		}
		s, refused := newSchedule(d.Name, t.index, c.GetAssignments(), c.GetGroups())
		if refused == nil {
			refused = t.executable(s)
		}
		if refused != nil {
			return refused
		}
		t.state.schedules = t.state.schedules.set(d.Name, s)
		t.sweepHandoffs(d.Name)
		d.Runtime = t.index
		return nil
	})
}

// executable checks that the operators of a schedule are defined and its nodes
// are members.
func (t *transition) executable(s *Schedule) *Refusal {
	for _, a := range s.Assignments {
		if _, ok := t.state.Model(s.Domain, a.Key); !ok {
			return stale("the schedule of domain '%s' assigns %s, which does not exist", s.Domain, a.Key)
		}
		for _, node := range append([]string{a.Primary}, a.Replicas...) {
			if _, ok := t.state.Node(node); !ok && node != "" {
				return stale("the schedule of domain '%s' names node '%s', which is not a member", s.Domain, node)
			}
		}
	}
	return nil
}

// prune removes what a batch dropped from the schedule, so that a definition made
// later under the same name does not find itself scheduled.
func (t *transition) prune(d *Domain) {
	s, ok := t.state.schedules.get(d.Name)
	if !ok {
		return
	}
	gone := func(k Key) bool {
		_, ok := t.state.Model(d.Name, k)
		return !ok
	}
	if !slices.ContainsFunc(s.Assignments, func(a Assignment) bool { return gone(a.Key) }) {
		return
	}
	pruned := &Schedule{Domain: s.Domain, Index: t.index}
	for _, a := range s.Assignments {
		if !gone(a.Key) {
			pruned.Assignments = append(pruned.Assignments, a)
		}
	}
	for _, g := range s.Groups {
		g.Members = slices.DeleteFunc(slices.Clone(g.Members), gone)
		if len(g.Members) > 0 {
			pruned.Groups = append(pruned.Groups, g)
		}
	}
	t.state.schedules = t.state.schedules.set(d.Name, pruned)
	t.sweepHandoffs(d.Name)
}

// NewSchedule reads the schedule that a step sets. Its index is that of the command
// that will commit it, so it has none.
func NewSchedule(c *catalogpb.SetSchedule) (*Schedule, *Refusal) {
	return newSchedule(c.GetDomain(), 0, c.GetAssignments(), c.GetGroups())
}

// newSchedule checks the form of a schedule.
func newSchedule(domain string, index uint64, assignments []*catalogpb.Assignment, groups []*catalogpb.Group) (*Schedule, *Refusal) {
	s := &Schedule{Domain: domain, Index: index}
	for i, m := range assignments {
		a, refused := newAssignment(m)
		if refused != nil {
			return nil, refused
		}
		if i > 0 && s.Assignments[i-1].Compare(a.Key) >= 0 {
			return nil, refuse(Invalid, "%s is out of order in the schedule of domain '%s'", a.Key, domain)
		}
		s.Assignments = append(s.Assignments, a)
	}
	for _, m := range groups {
		g := Group{Host: m.GetHost()}
		for _, k := range m.GetMembers() {
			key, refused := newKey(k)
			if refused != nil {
				return nil, refused
			}
			g.Members = append(g.Members, key)
		}
		s.Groups = append(s.Groups, g)
	}
	return s, nil
}

func newAssignment(m *catalogpb.Assignment) (Assignment, *Refusal) {
	key, refused := newKey(m.GetKey())
	if refused != nil {
		return Assignment{}, refused
	}
	a := Assignment{Key: key, Everywhere: m.GetEverywhere(), Primary: m.GetPrimary(), Replicas: m.GetReplicas()}
	if t := m.GetTransition(); t != nil {
		a.Transition, refused = newTransition(t)
		if refused != nil {
			return Assignment{}, refused
		}
	}
	nodes := slices.Sorted(slices.Values(append([]string{a.Primary}, a.Replicas...)))
	switch {
	case a.Everywhere && (a.Primary != "" || len(a.Replicas) > 0):
		return Assignment{}, refuse(Invalid, "%s is executed everywhere and has an owner", key)
	case slices.Contains(a.Replicas, ""):
		return Assignment{}, refuse(Invalid, "%s has a replica on no node", key)
	case len(slices.Compact(nodes)) != len(a.Replicas)+1:
		return Assignment{}, refuse(Invalid, "%s is assigned to one node twice", key)
	}
	return a, nil
}

func newKey(k *catalogpb.Key) (Key, *Refusal) {
	kind, ok := entityKind(k.GetKind())
	if !ok {
		return Key{}, refuse(Invalid, "unknown kind '%s'", k.GetKind())
	}
	return Key{Kind: kind, Name: k.GetName()}, nil
}

func (k Key) record() *catalogpb.Key { return &catalogpb.Key{Kind: k.Kind.String(), Name: k.Name} }

// Step returns the step that makes s the schedule of its domain in place of the
// one that the command at index expected had set.
func (s *Schedule) Step(expected uint64) *catalogpb.Step {
	r := s.record()
	return &catalogpb.Step{Body: &catalogpb.Step_SetSchedule{SetSchedule: &catalogpb.SetSchedule{
		Domain: s.Domain, Expected: expected, Assignments: r.Assignments, Groups: r.Groups,
	}}}
}

func (s *Schedule) record() *catalogpb.ScheduleRecord {
	r := &catalogpb.ScheduleRecord{Domain: s.Domain, Index: s.Index}
	for _, a := range s.Assignments {
		m := &catalogpb.Assignment{Key: a.Key.record(), Everywhere: a.Everywhere, Primary: a.Primary, Replicas: a.Replicas}
		if a.Transition.ID != (primitives.UUID{}) {
			m.Transition = a.Transition.record()
		}
		r.Assignments = append(r.Assignments, m)
	}
	for _, g := range s.Groups {
		m := &catalogpb.Group{Host: g.Host}
		for _, k := range g.Members {
			m.Members = append(m.Members, k.record())
		}
		r.Groups = append(r.Groups, m)
	}
	return r
}
