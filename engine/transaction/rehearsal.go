package transaction

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/nspl/ast"
)

// Rehearsal carries lists of statements out one after the other, each as a leader
// would carry it out, on definitions that it keeps between them: what one list
// costs does not grow with what stands there already. It makes no reports, levels
// and schedules.
type Rehearsal struct {
	view View
	kept map[string]*decide.Candidate // by domain, without a batch
	// ahead is what the candidates hold and the state of the view does not yet.
	ahead []batch
}

// batch is the changes of one list.
type batch struct {
	domain  string
	changes []decide.Change
}

// NewRehearsal begins with a view.
func NewRehearsal(v View) *Rehearsal {
	return &Rehearsal{view: v, kept: map[string]*decide.Candidate{}}
}

// State is what was carried out so far.
func (r *Rehearsal) State() *catalog.State {
	for _, x := range r.ahead {
		d, _ := r.view.State.Domain(x.domain)
		step := decide.Step(x.domain, d.Definition, x.changes)
		if d.Lease != nil {
			step.Lease = d.Lease.Index
		}
		next, result, _ := r.view.State.Apply(r.view.State.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{step}})
		if result.Refused == nil { // a valid batch is not
			r.view.State = next
		}
	}
	if len(r.ahead) > 0 {
		r.ahead = nil
		r.follow()
	}
	return r.view.State
}

// SetState goes on from a state in which what is no definition of a domain changed:
// users, nodes, and domains as a whole.
func (r *Rehearsal) SetState(s *catalog.State) {
	r.view.State = s
	r.follow()
}

// follow lets the candidates go on from the state.
func (r *Rehearsal) follow() {
	for name, c := range r.kept { //plexus:orderfree each for itself
		if _, ok := r.view.State.Domain(name); !ok {
			delete(r.kept, name)
			continue
		}
		c.Committed(r.view.State)
	}
}

// HasDomain reports whether a domain exists.
func (r *Rehearsal) HasDomain(name string) bool {
	_, ok := r.view.State.Domain(name)
	return ok
}

// Definitions returns what a domain holds, to read.
func (r *Rehearsal) Definitions(domain string) (*decide.Candidate, *Fault) {
	b, fault := newBuilder(r.view, domain)
	if fault != nil {
		return nil, fault
	}
	return r.definitions(b)
}

// definitions returns what a run of model mutations begins with.
func (r *Rehearsal) definitions(b *builder) (*decide.Candidate, *Fault) {
	if c, ok := r.kept[b.domain]; ok {
		return c, nil
	}
	c, fault := b.candidate()
	if fault == nil {
		r.kept[b.domain] = c
	}
	return c, fault
}

// Run carries a list out, or changes nothing and returns the faults that were found:
// all of those that do not follow from another one of them.
func (r *Rehearsal) Run(domain string, list []Statement) []*Fault {
	stepwise := slices.ContainsFunc(list, closes)
	if stepwise {
		r.State()
	}
	b, fault := newBuilder(r.view, domain)
	if fault != nil {
		return []*Fault{fault}
	}
	b.rehearsal, b.stepwise = r, stepwise
	ahead := len(r.ahead)
	var faults []*Fault
	for i := range list {
		if len(faults) > 0 && closes(list[i]) {
			break // whether the run before it is complete shows without what failed
		}
		if fault := b.add(i, &list[i]); fault != nil && b.failed == nil {
			faults = append(faults, fault)
		}
		if b.failed != nil {
			break
		}
	}
	if b.failed == nil && len(faults) == 0 {
		if fault := b.close(); fault != nil && b.failed == nil {
			faults = append(faults, fault)
		}
	}
	if faults = append(faults, b.failed...); len(faults) == 0 {
		r.view.State = b.state
		return nil
	}
	if c, ok := r.kept[domain]; ok && b.state == r.view.State && len(r.ahead) == ahead {
		c.Revert()
		return faults
	}
	// A step of the list is taken back with its definitions.
	r.ahead = r.ahead[:ahead]
	delete(r.kept, domain)
	return faults
}

// closes reports whether a statement ends the run before it (X2).
func closes(s Statement) bool {
	switch s.Parsed.(type) {
	case *ast.Start, *ast.Stop, *ast.AlterDomain, *ast.CreateResource, *ast.ResetWASM:
		return true
	}
	return false
}

// stepped lets the kept candidate go on from a step that changed no definition, or
// from its own.
func (r *Rehearsal) stepped(b *builder) {
	if c, ok := r.kept[b.domain]; ok {
		c.Committed(b.state)
	}
}

// rehearsed ends the open run of a rehearsal.
func (b *builder) rehearsed(c *decide.Candidate) *Fault {
	invalid := c.Faults()
	if d, ok := b.state.Domain(b.domain); ok && d.Running && len(invalid) == 0 {
		if missing := c.AvailableChange(); missing != nil {
			invalid = append(invalid, missing)
		}
	}
	for _, v := range invalid {
		b.failed = append(b.failed, b.invalid(v))
	}
	if len(b.failed) > 0 {
		return b.failed[0]
	}
	b.open = nil
	if !b.stepwise {
		b.rehearsal.ahead = append(b.rehearsal.ahead, batch{b.domain, c.Changes()})
		c.Accept()
		return nil
	}
	if r := b.apply(c.Step()); r != nil {
		return nobody(&ast.Diagnostic{Code: ast.Code(r.Code), Message: r.Message})
	}
	b.rehearsal.stepped(b)
	return nil
}
