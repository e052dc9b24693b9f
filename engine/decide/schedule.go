package decide

import (
	"encoding/binary"
	"reflect"
	"slices"

	"github.com/zeebo/xxh3"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/placement"
	"plexus/engine/schedule"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Cluster is what schedules depend on besides the definitions.
type Cluster struct {
	Nodes []schedule.Node
	// ReplicaCount is how many replicas an operator with persisted state gets.
	ReplicaCount int
	// Random is the seed of the scheduler of tests, nil for the real one.
	Random *uint64
	// Attempt tells attempts at the same change of owners apart: what one of them
	// took back is not what another one prepares.
	Attempt uint64
}

// The causes of a change of owner.
const (
	// CausePlanned: the former owner lives and hands over.
	CausePlanned = "planned"
	// CauseForced: the former owner is lost, so there is nobody to hand over.
	CauseForced = "forced"
)

// Move is a change of the owner of one operator.
type Move struct {
	catalog.Key
	From, To string // To is "" if no node can take it
	Replicas []string
	// Lost says that From no longer executes it.
	Lost bool
	// Promoted says that To was a replica.
	Promoted bool
}

// Assigned is the schedule of a domain as it should be.
type Assigned struct {
	// Step commits it; nil when the committed schedule is already like this.
	Step     *catalogpb.Step
	Schedule *catalog.Schedule
	Moves    []Move // by kind and name
	// Unassigned are the operators that no node can take.
	Unassigned []catalog.Key

	running  bool
	boundary Boundary
	expected uint64 // the schedule it replaces
}

// Schedule assigns the operators of a domain. The state holds the definitions
// already: in a command its step follows that of the definitions. A diagnostic
// says that a hard group would have to come together and no node can take it.
func Schedule(state *catalog.State, domain string, cluster Cluster) (*Assigned, *ast.Diagnostic) {
	p, d := newScheduling(state, domain, cluster)
	if d != nil {
		return nil, d
	}
	return p.plan()
}

// Level is the quiesce level that the moves ask for: a primary that moves in a
// running domain is held.
func (a *Assigned) Level() Level {
	for i := range a.Moves {
		if a.running && !a.Moves[i].Lost {
			return EntityPause
		}
	}
	return Dynamic
}

// SetOutcomes records how the state of lost owners came back, by the transition
// that took it from them, and makes the step anew.
func (a *Assigned) SetOutcomes(outcomes map[primitives.UUID][]catalog.Outcome) {
	for i := range a.Schedule.Assignments {
		t := &a.Schedule.Assignments[i].Transition
		if list, ok := outcomes[t.ID]; ok {
			t.Outcomes = list
		}
	}
	a.Step = a.Schedule.Step(a.expected)
}

// Boundary is what a hold of the planned moves covers; empty when none is needed.
func (a *Assigned) Boundary() Boundary { return a.boundary }

// scheduling is one schedule in the making.
type scheduling struct {
	state   *catalog.State
	domain  *catalog.Domain
	c       *Candidate
	graph   *graph
	outcome *placement.Outcome
	groups  []placement.Group
	rules   []placement.Rule
	old     *catalog.Schedule // nil if there is none
	in      schedule.Input
	// only, if it is set, are the operators whose assignment may change.
	only    []int
	attempt uint64
}

func newScheduling(state *catalog.State, domain string, cluster Cluster) (*scheduling, *ast.Diagnostic) {
	c, missing := NewCandidate(state, domain)
	if missing != nil {
		return nil, missing
	}
	p := &scheduling{state: state, c: c, graph: c.graph(), attempt: cluster.Attempt}
	p.domain, _ = state.Domain(domain)
	p.old, _ = state.Schedule(domain)
	p.rules = c.rules(p.graph)
	outcome, conflict := placement.Resolve(p.graph.placement, p.rules, c.placement)
	if conflict != nil {
		return nil, ast.Errorf(CodePlacement, vocab.Span{}, "%v", conflict)
	}
	p.outcome, p.groups = outcome, outcome.Groups()
	p.in = schedule.Input{
		Domain: domain, Operators: p.graph.operators, Nodes: cluster.Nodes, Load: map[string]int{},
		ReplicaCount: cluster.ReplicaCount, Random: cluster.Random,
	}
	for i := range p.in.Operators {
		p.in.Operators[i].Partners = outcome.Partners(i)
	}
	for _, g := range p.groups {
		p.in.Groups = append(p.in.Groups, g.Members)
	}
	p.in.Previous = previous(p.old)
	for d := range state.Domains() {
		if s, ok := state.Schedule(d.Name); ok && d.Name != domain {
			schedule.Load(p.in.Load, previous(s))
		}
	}
	return p, nil
}

// previous is a committed schedule in the words of scheduling.
func previous(s *catalog.Schedule) (list []schedule.Assignment) {
	if s == nil {
		return nil
	}
	for _, a := range s.Assignments {
		list = append(list, schedule.Assignment{
			Key: placement.Key(a.Key), Everywhere: a.Everywhere, Primary: a.Primary, Replicas: a.Replicas,
		})
	}
	return list
}

// plan assigns and compares with what is committed.
func (p *scheduling) plan() (*Assigned, *ast.Diagnostic) {
	r := schedule.Plan(p.in)
	p.restrict(&r)
	if d := p.stranded(&r); d != nil {
		return nil, d
	}
	a := &Assigned{running: p.domain.Running, Schedule: &catalog.Schedule{Domain: p.domain.Name}}
	var expected uint64
	if p.old != nil {
		expected = p.old.Index
	}
	for i := range r.Assignments {
		a.Schedule.Assignments = append(a.Schedule.Assignments, p.assignment(&r.Assignments[i], expected))
	}
	for i, g := range p.groups {
		a.Schedule.Groups = append(a.Schedule.Groups, catalog.Group{Host: r.Hosts[i], Members: p.graph.keys(g.Members)})
	}
	a.Unassigned = p.graph.keys(r.Unassigned)
	var planned []int
	for _, m := range r.Moves {
		a.Moves = append(a.Moves, Move{
			Key: p.graph.key(m.Operator), From: m.From, To: m.To, Replicas: r.Assignments[m.Operator].Replicas,
			Lost: m.Lost, Promoted: m.Promoted,
		})
		if !m.Lost {
			planned = append(planned, m.Operator)
		}
	}
	if p.domain.Running {
		a.boundary = p.graph.boundary(planned)
	}
	a.expected = expected
	if !p.stands(a.Schedule) {
		a.Step = a.Schedule.Step(expected)
	}
	return a, nil
}

// restrict takes back what a plan changes of other operators than those it is
// about: they have their own reasons and their own time.
func (p *scheduling) restrict(r *schedule.Result) {
	if p.only == nil {
		return
	}
	others := func(i int) bool { return !slices.Contains(p.only, i) }
	for i := range r.Assignments {
		if before, ok := p.old.Assignment(p.graph.key(i)); ok && others(i) {
			r.Assignments[i].Primary, r.Assignments[i].Replicas = before.Primary, before.Replicas
		}
	}
	for g, members := range p.in.Groups {
		r.Hosts[g] = r.Assignments[members[0]].Primary
	}
	r.Moves = slices.DeleteFunc(r.Moves, func(m schedule.Move) bool { return others(m.Operator) })
	r.Unassigned = slices.DeleteFunc(r.Unassigned, func(i int) bool { return r.Assignments[i].Primary != "" })
}

// stranded refuses a plan that takes an operator from a node that lives without a
// node to take it.
func (p *scheduling) stranded(r *schedule.Result) *ast.Diagnostic {
	for _, m := range r.Moves {
		if m.To != "" || m.Lost {
			continue
		}
		key := p.graph.key(m.Operator)
		return about(key, ast.Errorf(CodeNode, vocab.Span{},
			"no node can take %s from node '%s': none is a live voter that is neither cordoned nor terminating", key, m.From))
	}
	return nil
}

// stands reports whether the committed schedule is like this one.
func (p *scheduling) stands(s *catalog.Schedule) bool {
	if p.old == nil {
		return len(s.Assignments) == 0
	}
	same := *p.old
	same.Index = s.Index
	return equalSchedules(&same, s)
}

func equalSchedules(a, b *catalog.Schedule) bool { return reflect.DeepEqual(normal(a), normal(b)) }

// normal is a schedule in which absent lists are nil.
func normal(s *catalog.Schedule) *catalog.Schedule {
	n := &catalog.Schedule{Domain: s.Domain, Index: s.Index}
	for _, a := range s.Assignments {
		if len(a.Replicas) == 0 {
			a.Replicas = nil
		}
		if len(a.Transition.Outcomes) == 0 {
			a.Transition.Outcomes = nil
		}
		n.Assignments = append(n.Assignments, a)
	}
	for _, g := range s.Groups {
		n.Groups = append(n.Groups, catalog.Group{Host: g.Host, Members: g.Members})
	}
	return n
}

// assignment is the committed form of one assignment, with how its owner came to
// own it.
func (p *scheduling) assignment(a *schedule.Assignment, index uint64) catalog.Assignment {
	now := catalog.Assignment{Key: catalog.Key(a.Key), Everywhere: a.Everywhere, Primary: a.Primary, Replicas: a.Replicas}
	before, ok := p.old.Assignment(now.Key)
	switch {
	case !ok || before.Everywhere || a.Everywhere:
	case before.Primary == a.Primary:
		now.Transition = before.Transition
	default:
		now.Transition = catalog.Transition{
			ID: transitionID(p.domain.Name, now.Key, before.Primary, a.Primary, index, p.attempt), From: before.Primary, To: a.Primary, Cause: CauseForced,
		}
		if p.lives(before.Primary) {
			now.Transition.Cause = CausePlanned
		}
	}
	return now
}

func (p *scheduling) lives(node string) bool {
	for i := range p.in.Nodes {
		if p.in.Nodes[i].ID == node {
			return p.in.Nodes[i].Holds()
		}
	}
	return false
}

// transitionID identifies a change of owner. One schedule is replaced once, so
// what changed in which place of which schedule, at which attempt, happens once in
// a cluster's life.
func transitionID(domain string, key catalog.Key, from, to string, index, attempt uint64) (id primitives.UUID) {
	text := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, index), attempt)
	for _, part := range []string{domain, key.Kind.String(), key.Name, from, to} {
		text = binary.AppendUvarint(text, uint64(len(part)))
		text = append(text, part...)
	}
	sum := xxh3.Hash128(text).Bytes()
	copy(id[:], sum[:])
	id[6] = id[6]&0x0f | 0x80 // a UUID of version 8: its bits are our own
	id[8] = id[8]&0x3f | 0x80
	return id
}
