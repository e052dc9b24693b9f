package expr

import (
	"plexus/engine/batch"
	"plexus/nspl/typed"
)

// Filter is a compiled predicate. A nil Filter keeps every row.
type Filter struct {
	program
	predicate *node
}

// CompileFilter compiles a BOOL expression; a nil expression gives a nil Filter.
// op is what errors of its rows report.
func CompileFilter(e *typed.Expr, op Operation) (*Filter, error) {
	if e == nil {
		return nil, nil
	}
	c := newCompiler(nil)
	predicate, err := c.clause(op, NoIndex, -1, e)
	if err != nil {
		return nil, err
	}
	return &Filter{program{c.slots}, predicate}, nil
}

// Run returns the selected rows for which the predicate is true, and the rows it
// failed for, ascending. The remaining rows of the selection are finished: false
// or null. Both results belong to the caller.
func (p *Filter) Run(ctx *Context, in *Rows, s *Scratch) (keep batch.Selection, failed []RowError) {
	if p == nil {
		return in.Select, nil
	}
	f := p.begin(ctx, in, s)
	defer f.end()
	v := p.predicate.run(f)
	return f.narrow(f.truth(v)), f.errors()
}

// truth returns the rows for which a BOOL is true and nothing failed; nil is
// every row.
func (f *frame) truth(v vec) bitmap {
	s := f.scratch
	sound := f.sound()
	if v.scalar {
		if !v.null(0) && v.bits.has(0) {
			return sound
		}
		return s.empty(f.n)
	}
	return s.both(s.both(v.bits, v.valid), sound)
}
