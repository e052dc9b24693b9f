package transaction

import (
	"plexus/engine/catalog"
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
}

// NewRehearsal begins with a view.
func NewRehearsal(v View) *Rehearsal {
	return &Rehearsal{view: v, kept: map[string]*decide.Candidate{}}
}

// State is what was carried out so far.
func (r *Rehearsal) State() *catalog.State { return r.view.State }

// SetState goes on from a state in which what is no definition of a domain changed:
// users, nodes, and domains as a whole.
func (r *Rehearsal) SetState(s *catalog.State) {
	r.view.State = s
	for name, c := range r.kept { //plexus:orderfree each for itself
		if d, ok := s.Domain(name); !ok || d.Definition != c.Definition() {
			delete(r.kept, name)
			continue
		}
		c.Committed(s)
	}
}

// Run carries a list out, or changes nothing and returns the faults that were found:
// all of those that do not follow from another one of them.
func (r *Rehearsal) Run(domain string, list []Statement) []*Fault {
	b, fault := newBuilder(r.view, domain)
	if fault != nil {
		return []*Fault{fault}
	}
	b.rehearsal = r
	var faults []*Fault
	for i := range list {
		if len(faults) > 0 && closes(&list[i]) {
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
	if faults = append(faults, b.failed...); len(faults) > 0 {
		r.drop(domain, b)
		return faults
	}
	r.view.State = b.state
	return nil
}

// closes reports whether a statement ends the run before it (X2).
func closes(s *Statement) bool {
	switch s.Parsed.(type) {
	case *ast.Start, *ast.Stop, *ast.AlterDomain, *ast.CreateResource, *ast.ResetWASM:
		return true
	}
	return false
}

// candidate is what a run of model mutations of a domain begins with.
func (r *Rehearsal) candidate(b *builder) (*decide.Candidate, *Fault) {
	if c, ok := r.kept[b.domain]; ok {
		return c, nil
	}
	c, fault := b.candidate()
	if fault == nil {
		r.kept[b.domain] = c
	}
	return c, fault
}

// stepped lets the kept candidate go on from a step that changed no definition.
func (r *Rehearsal) stepped(b *builder) {
	if c, ok := r.kept[b.domain]; ok {
		c.Committed(b.state)
	}
}

// drop forgets what a list made that is not carried out.
func (r *Rehearsal) drop(domain string, b *builder) {
	c, ok := r.kept[domain]
	switch {
	case !ok:
	case b.state == r.view.State:
		c.Revert()
	default: // a step of it is taken back with its definitions
		delete(r.kept, domain)
	}
}
