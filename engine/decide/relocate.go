package decide

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/schedule"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Relocation is the plan of RELOCATE: one handoff, whole or not at all.
type Relocation struct {
	Assigned
	Onto    string
	Pairs   []Pair   // of the corridors that selected, in written order
	Members []Member // by kind and name
	// Unsatisfied are the preferences of the members that will not hold afterwards.
	Unsatisfied []Unsatisfied
}

// Pair is one corridor of a selection, with what lies on its ways.
type Pair struct {
	From, To  catalog.Key
	Connected bool
	Captured  []catalog.Key // From and To included, by kind and name
}

// Reason says why an operator is part of a relocation.
type Reason uint8

// The reasons.
const (
	Selected  Reason = iota + 1 // the statement names it, or a corridor leads over it
	Required                    // its hard group is part of it
	Preferred                   // a preference of another member captured it
)

var reasonNames = [...]string{"", "selected", "required", "preferred"}

// String returns the word that replies show.
func (r Reason) String() string { return reasonNames[r] }

// Member is one operator of a relocation.
type Member struct {
	catalog.Key
	Group    int // numbers the hard groups of the relocation from 1; 0 for none
	Strategy ast.Preferences
	Reason   Reason
	Owner    string // before
	Moves    bool
	Replicas []string // afterwards
	Promoted bool
}

// Unsatisfied is a preference between two operators that does not hold.
type Unsatisfied struct {
	A, B   catalog.Key
	Policy vocab.PlacementPolicy
	Rule   string // "" is the default of the domain
}

// Moved counts the members that change their owner.
func (r *Relocation) Moved() (n int) {
	for i := range r.Members {
		if r.Members[i].Moves {
			n++
		}
	}
	return n
}

// Relocate plans a relocation. It refuses, in this order: what the statement
// selects and says about preferences, the destination, owners that are not
// available.
func Relocate(state *catalog.State, domain string, x *ast.Relocation, cluster Cluster) (*Relocation, ast.Diagnostics) {
	p, missing := newScheduling(state, domain, cluster)
	if missing != nil {
		return nil, ast.Diagnostics{missing}
	}
	r := &relocating{scheduling: p, text: x, strategy: map[int]ast.Preferences{}, reason: make([]Reason, len(p.graph.operators))}
	r.divide()
	for _, step := range []func(){r.preferences, r.sel, r.capture, r.inside, r.destination, r.owners} {
		if step(); len(r.found) > 0 {
			return nil, r.found
		}
	}
	return r.finish()
}

// relocating is a relocation in the making. Units are hard groups and single
// operators: what moves whole.
type relocating struct {
	*scheduling
	text     *ast.Relocation
	unitOf   []int
	units    [][]int
	strategy map[int]ast.Preferences // of units that a FOR names
	reason   []Reason                // by operator, 0 outside the plan
	captured []int                   // units, in the order in which they joined
	pairs    []Pair
	found    ast.Diagnostics
}

func (r *relocating) refuse(code ast.Code, span vocab.Span, format string, args ...any) *ast.Diagnostic {
	d := ast.Errorf(code, span, format, args...)
	r.found = append(r.found, d)
	return d
}

// divide lists the units.
func (r *relocating) divide() {
	r.unitOf = make([]int, len(r.graph.operators))
	for i := range r.unitOf {
		r.unitOf[i] = -1
	}
	for _, g := range r.groups {
		for _, m := range g.Members {
			r.unitOf[m] = len(r.units)
		}
		r.units = append(r.units, g.Members)
	}
	for i := range r.unitOf {
		if r.unitOf[i] < 0 {
			r.unitOf[i] = len(r.units)
			r.units = append(r.units, []int{i})
		}
	}
}

// operators finds what a statement names.
func (r *relocating) operators(list []ast.RuntimeNode) (found []int) {
	for _, n := range list {
		key := catalog.Key{Kind: n.Kind, Name: n.Name.Text}
		at, ok := r.graph.find(key)
		switch {
		case !ok:
			r.found = append(r.found, about(key, ast.Errorf(ast.CodeRefMissing, n.Name.Span, "%s does not exist", key).WithHint("%s", r.c.meant(key))))
		case r.graph.operators[at].Everywhere:
			r.found = append(r.found, about(key, ast.Errorf(ast.CodeRefKind, n.Name.Span, "%s listens on every node and cannot be relocated", key)))
		case !slices.Contains(found, at):
			found = append(found, at)
		}
	}
	return found
}

// preferences reads the FOR clauses.
func (r *relocating) preferences() {
	for _, f := range r.text.For {
		for _, at := range r.operators(f.Nodes) {
			unit := r.unitOf[at]
			if before, ok := r.strategy[unit]; ok && before != f.Preferences {
				r.refuse(ast.CodeInvalid, f.Span, "two FOR disagree about the group of %s: %s and %s PREFERENCES",
					r.graph.key(at), before, f.Preferences)
			}
			r.strategy[unit] = f.Preferences
		}
	}
}

// sel puts what is selected into the plan.
func (r *relocating) sel() {
	selected := r.operators(r.text.Nodes)
	from, to := r.operators(r.text.From), r.operators(r.text.To)
	if len(r.found) > 0 {
		return
	}
	connected := r.text.Nodes != nil
	for _, c := range r.graph.placement.Between(from, to) {
		r.pairs = append(r.pairs, Pair{r.graph.key(c.From), r.graph.key(c.To), c.Connected, r.graph.keys(c.Captured)})
		connected = connected || c.Connected
		selected = append(selected, c.Captured...)
	}
	if !connected {
		r.refuse(ast.CodeInvalid, r.text.From[0].Name.Span, "no way leads from any of FROM to any of TO")
		return
	}
	slices.Sort(selected)
	for _, at := range selected {
		r.join(at, Selected)
	}
}

// join puts an operator into the plan, with its whole unit.
func (r *relocating) join(at int, why Reason) {
	unit := r.unitOf[at]
	if !slices.Contains(r.captured, unit) {
		r.captured = append(r.captured, unit)
		for _, m := range r.units[unit] {
			r.reason[m] = Required
		}
	}
	r.reason[at] = why
}

// follows reports whether preferences count for a unit.
func (r *relocating) follows(unit int) bool {
	s, ok := r.strategy[unit]
	if !ok {
		s = r.text.Preferences
	}
	return s == ast.FollowPreferences
}

// capture follows the preferences of what is in the plan, transitively.
func (r *relocating) capture() {
	for next := 0; next < len(r.captured); next++ {
		unit := r.captured[next]
		if !r.follows(unit) {
			continue
		}
		for _, m := range r.units[unit] {
			for _, partner := range r.graph.operators[m].Partners {
				other := r.unitOf[partner.Operator]
				if partner.Score > 0 && !slices.Contains(r.captured, other) && !r.heldOut(other) {
					r.join(partner.Operator, Preferred)
				}
			}
		}
	}
}

// heldOut reports whether a unit would rather stay apart from something in the
// plan, and one of the two follows preferences.
func (r *relocating) heldOut(unit int) bool {
	for _, m := range r.units[unit] {
		for _, partner := range r.graph.operators[m].Partners {
			other := r.unitOf[partner.Operator]
			if partner.Score < 0 && slices.Contains(r.captured, other) && (r.follows(unit) || r.follows(other)) {
				return true
			}
		}
	}
	return false
}

// inside refuses a FOR about something that is no part of the plan.
func (r *relocating) inside() {
	for _, f := range r.text.For {
		for _, at := range r.operators(f.Nodes) {
			if r.reason[at] == 0 {
				r.refuse(ast.CodeInvalid, f.Span, "%s is not part of the relocation, so a FOR cannot speak of it", r.graph.key(at))
			}
		}
	}
}

// destination checks the node that is to take the members.
func (r *relocating) destination() {
	onto := r.text.Onto
	at := slices.IndexFunc(r.in.Nodes, func(n schedule.Node) bool { return n.ID == onto.Text })
	if at < 0 {
		r.refuse(CodeNode, onto.Span, "node '%s' is not a member of the cluster", onto.Text).WithHint("%s", MeantNode(r.state))
		return
	}
	n := &r.in.Nodes[at]
	switch {
	case !n.Voter:
		r.refuse(CodeNode, onto.Span, "node '%s' is not a voter yet", n.ID)
	case !n.Live:
		r.refuse(CodeNode, onto.Span, "node '%s' is not live", n.ID)
	case n.Terminating:
		r.refuse(CodeNode, onto.Span, "node '%s' is terminating", n.ID)
	case n.Cordoned:
		r.refuse(CodeNode, onto.Span, "node '%s' is cordoned", n.ID).WithHint("UNCORDON NODE %s", n.ID)
	}
}

// owners refuses members whose owner is not available.
func (r *relocating) owners() {
	for i, why := range r.reason {
		if why == 0 {
			continue
		}
		key := r.graph.key(i)
		switch a, ok := r.old.Assignment(key); {
		case !ok || a.Primary == "":
			r.refuse(CodeNode, vocab.Span{}, "%s has no owner", key).WithHint("it gets one as soon as a node can take it")
		case !r.lives(a.Primary):
			r.refuse(CodeNode, vocab.Span{}, "the owner of %s, node '%s', is not available", key, a.Primary).
				WithHint("repeat the statement after failover has given it another owner")
		}
	}
}

// finish computes the schedule and reports.
func (r *relocating) finish() (*Relocation, ast.Diagnostics) {
	r.in.Onto = map[int]string{}
	var members []int
	for i, why := range r.reason {
		if why != 0 {
			members = append(members, i)
			r.in.Onto[i] = r.text.Onto.Text
		}
	}
	r.only = members
	a, refused := r.plan()
	if refused != nil {
		return nil, ast.Diagnostics{refused}
	}
	result := &Relocation{Assigned: *a, Onto: r.text.Onto.Text, Pairs: r.pairs}
	numbers := map[int]int{} // of groups, by unit
	for _, m := range members {
		unit := r.unitOf[m]
		if len(r.units[unit]) > 1 && numbers[unit] == 0 {
			numbers[unit] = len(numbers) + 1
		}
		before, _ := r.old.Assignment(r.graph.key(m))
		now := &a.Schedule.Assignments[m]
		member := Member{
			Key: now.Key, Group: numbers[unit], Strategy: ast.IgnorePreferences, Reason: r.reason[m], Owner: before.Primary,
			Moves: before.Primary != now.Primary, Replicas: now.Replicas, Promoted: slices.Contains(before.Replicas, now.Primary),
		}
		if r.follows(unit) {
			member.Strategy = ast.FollowPreferences
		}
		result.Members = append(result.Members, member)
	}
	result.Unsatisfied = r.unsatisfied(a.Schedule)
	return result, nil
}

// unsatisfied lists the preferences of the members that a schedule does not meet.
func (r *relocating) unsatisfied(s *catalog.Schedule) (list []Unsatisfied) {
	for a, why := range r.reason {
		if why == 0 {
			continue
		}
		for _, partner := range r.graph.operators[a].Partners {
			b := partner.Operator
			together := s.Assignments[a].Primary == s.Assignments[b].Primary
			if together == (partner.Score > 0) || r.reason[b] != 0 && b < a {
				continue
			}
			u := Unsatisfied{A: r.graph.key(a), B: r.graph.key(b)}
			u.Policy, u.Rule = r.effective(a, b)
			list = append(list, u)
		}
	}
	return list
}

// effective returns the policy between two operators and the rule that states it.
func (p *scheduling) effective(a, b int) (vocab.PlacementPolicy, string) {
	policy, rule := p.outcome.Effective(a, b)
	if rule < 0 {
		return policy, ""
	}
	return policy, p.rules[rule].Name
}
