package decide

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// checkBranches is V4: relays and the nodes that read and write them declare the
// same branch, by its name. The relays of message errors follow in V6.
func checkBranches(c *Candidate, e *entry, f *found) {
	s := model.ShapeOf(e.entity)
	if s == nil {
		return
	}
	switch x := e.entity.(type) {
	case *model.Ingestor:
		c.checkMade(e, s.Routes, f)
	case *model.Reingestor:
		c.checkReingestor(e, x, f)
	case *model.Emitter:
		for _, in := range s.Inputs() {
			c.checkRelays(e, "reads RELAY '"+in.Text+"', which is", c.branchOf(in), s.StateNames(), f)
		}
	default:
		for _, names := range [][]ast.Name{s.Inputs(), s.StateNames(), targets(s.Routes), timeouts(s.Timeouts)} {
			before := len(f.list)
			c.checkRelays(e, "is", *s.Branch, names, f)
			for _, d := range f.list[before:] {
				d.WithHint("a REINGESTOR moves rows from one branch into another, or into none")
			}
		}
	}
	if w, ok := e.entity.(*model.Window); ok {
		c.checkSketches(w, f)
	}
}

// checkRelays demands one branch of relays; why says where it comes from.
func (c *Candidate) checkRelays(e *entry, why string, want ast.BranchUse, names []ast.Name, f *found) {
	for _, n := range names {
		if got := c.branchOf(n); !sameBranch(got, want) {
			f.add(ast.CodeBranchIncompatible, n.Span, "%s %s %s, but RELAY '%s' is %s", e.key, why, branchText(want), n.Text, branchText(got))
		}
	}
}

// checkMade demands of every route that it makes the branch of its relay.
func (c *Candidate) checkMade(e *entry, routes []ast.Route, f *found) {
	for i := range routes {
		r := &routes[i]
		if got := c.branchOf(r.To); !sameBranch(got, r.Branch.BranchUse) {
			d := f.add(ast.CodeBranchIncompatible, r.Branch.Span, "route to '%s' is %s, but RELAY '%s' is %s",
				r.To.Text, branchText(r.Branch.BranchUse), r.To.Text, branchText(got))
			if d.Hint = "write UNBRANCHED in the route"; got.By != nil {
				d.WithHint("write BRANCHED BY %s in the route", got.By.Text)
			}
		}
	}
}

// checkReingestor demands one incoming branch. A route into that branch keeps the
// key.
func (c *Candidate) checkReingestor(e *entry, x *model.Reingestor, f *found) {
	first := x.Inputs.From[0].Relay
	incoming := c.branchOf(first)
	why := "reads RELAY '" + first.Text + "', which is"
	inputs := model.ShapeOf(x).Inputs()
	c.checkRelays(e, why, incoming, inputs[1:], f)
	c.checkRelays(e, why, incoming, stateNames(x.States), f)
	c.checkMade(e, x.Routes, f)
	for _, r := range x.Routes {
		if r.Branch.By != nil && sameBranch(r.Branch.BranchUse, incoming) && len(r.Branch.Set) > 0 {
			f.add(ast.CodeBranchIncompatible, r.Branch.Set[0].Target.Span, "route to '%s' keeps the key of BRANCH '%s', so it takes no SET",
				r.To.Text, r.Branch.By.Text)
		}
	}
}

// checkSketches demands a bound for the sketches of all concrete branches.
func (c *Candidate) checkSketches(w *model.Window, f *found) {
	call := w.Sketches()
	if call == nil || w.Branch.By == nil {
		return
	}
	if b, _ := lookup[*model.Branch](c, vocab.EntityBranch, w.Branch.By.Text); b.MaxInstances == 0 {
		f.add(ast.CodeInvalid, call.Span, "a sketch in a branched window needs a bound of BRANCH '%s'", b.Name).
			WithHint("declare the branch with MAX INSTANCES … EVICT LRU")
	}
}

// checkErrorRelays is the part of V6 that concerns branches: a record of a message
// error stays in the branch in which the failure happened. What an ingestor fails
// on is in none yet.
func (c *Candidate) checkErrorRelays(e *entry, s *model.Shape, f *found) {
	var names []ast.Name
	for _, x := range s.Errors() {
		if x.Action == ast.ErrorSendTo {
			names = append(names, x.To)
		}
	}
	switch x := e.entity.(type) {
	case *model.Ingestor:
		c.checkRelays(e, "fails before rows have a branch:", ast.BranchUse{}, names, f)
	case *model.Emitter, *model.Reingestor:
		inputs := s.Inputs()
		if _, ok := x.(*model.Reingestor); ok {
			inputs = inputs[:1] // all have one branch
		}
		for _, in := range inputs {
			c.checkRelays(e, "reads RELAY '"+in.Text+"', which is", c.branchOf(in), names, f)
		}
	default:
		c.checkRelays(e, "is", *s.Branch, names, f)
	}
}

// branchOf returns the branch that a relay declares.
func (c *Candidate) branchOf(relay ast.Name) ast.BranchUse {
	r, ok := lookup[*model.Relay](c, vocab.EntityRelay, relay.Text)
	if !ok {
		return ast.BranchUse{}
	}
	return r.Branch
}

func sameBranch(a, b ast.BranchUse) bool {
	if a.By == nil || b.By == nil {
		return a.By == nil && b.By == nil
	}
	return a.By.Text == b.By.Text
}

func branchText(b ast.BranchUse) string {
	if b.By == nil {
		return "UNBRANCHED"
	}
	return "BRANCHED BY '" + b.By.Text + "'"
}

func targets(routes []ast.Route) []ast.Name {
	names := make([]ast.Name, len(routes))
	for i := range routes {
		names[i] = routes[i].To
	}
	return names
}

func timeouts(list []ast.CorrelationTimeout) (names []ast.Name) {
	for _, t := range list {
		if t.To != nil {
			names = append(names, *t.To)
		}
	}
	return names
}

func stateNames(deps []ast.StateDep) []ast.Name {
	names := make([]ast.Name, len(deps))
	for i := range deps {
		names[i] = deps[i].Relay
	}
	return names
}
