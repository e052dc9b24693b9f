package expr

import (
	"github.com/apache/arrow-go/v18/arrow"

	"plexus/engine/batch"
	"plexus/nspl/typed"
)

// frame is one run of a program.
type frame struct {
	ctx      *Context
	in       *Rows
	scratch  *Scratch
	n        int     // rows of the run: the selected ones
	selected []int32 // their rows in the input; nil when all are

	// active are the rows whose result counts, nil for all (X3). A kernel may
	// compute more, but neither fails a row outside nor builds text for it.
	active bitmap
	// single is set while operands that are equal for all rows are computed once:
	// n is 1 then, and a failure belongs to every active row of the outer n.
	single bool
	outer  int

	output []vec // the working message; nil kind where not set
	failed bool  // scratch.faults holds a fault
	loaded [][]loadedColumn
	joined []arrow.Array // list columns made during the run
}

// end gives back what the run allocated beside its Scratch, and forgets the
// columns it read.
func (f *frame) end() {
	clear(f.scratch.shared)
	for _, a := range f.joined {
		a.Release()
	}
}

// loadedColumn is an input column, once a program has read it.
type loadedColumn struct {
	column column
	v      vec
	done   bool
}

// begin starts a run of a program over the selected rows.
func (p *program) begin(ctx *Context, in *Rows, s *Scratch) *frame {
	s.reset()
	n := in.Select.Len()
	f := &frame{ctx: ctx, in: in, scratch: s, n: n}
	if !in.Select.IsAll() {
		f.selected = s.int32s(n)
		in.Select.AppendRows(f.selected[:0])
	}
	if cap(s.shared) < p.slots {
		s.shared = make([]vec, p.slots)
		s.cached = make([]bool, p.slots)
	}
	s.shared, s.cached = s.shared[:p.slots], s.cached[:p.slots]
	clear(s.cached)
	f.loaded = make([][]loadedColumn, typed.ScopeMetadata+1)
	return f
}

// read returns a column of an input scope.
func (f *frame) read(c typed.Column, node *node) vec {
	if c.Scope == typed.ScopeOutput && f.output != nil {
		return f.output[c.Index]
	}
	columns := f.loaded[c.Scope]
	if columns == nil {
		columns = f.open(c.Scope)
	}
	l := &columns[c.Index]
	if !l.done {
		l.v = f.load(&l.column, node.kind)
		l.done = true
	}
	return l.v
}

// open lists the columns of a scope.
func (f *frame) open(scope typed.Scope) []loadedColumn {
	rec, aligned := f.in.Input, false
	switch scope {
	case typed.ScopeMetadata:
		rec = f.in.Metadata
	case typed.ScopeOutput:
		rec, aligned = f.in.Output, true
	case typed.ScopeError:
		rec, aligned = f.in.Error, true
	case typed.ScopePartialOutput:
		rec, aligned = f.in.Partial, true
	}
	columns := make([]loadedColumn, rec.NumCols())
	for i := range columns {
		columns[i].column = column{array: rec.Column(i), aligned: aligned}
	}
	f.loaded[scope] = columns
	return columns
}

// fail reports a fault for the given rows that are active, unless an earlier one
// is known (X2).
func (f *frame) fail(rows bitmap, fault *Fault) {
	n := f.n
	if f.single {
		if !rows.has(0) {
			return
		}
		n, rows = f.outer, f.active
		if rows == nil {
			rows = f.scratch.full(n)
		}
	} else {
		rows = f.scratch.both(rows, f.active)
	}
	if !rows.any() {
		return
	}
	if !f.failed {
		s := f.scratch
		if cap(s.faults) < n {
			s.faults = make([]*Fault, n)
		}
		s.faults = s.faults[:n]
		clear(s.faults)
		f.failed = true
	}
	for _, i := range f.scratch.positions(rows) {
		if f.scratch.faults[i] == nil {
			f.scratch.faults[i] = fault
		}
	}
}

// fits reports whether a column of text that holds have bytes takes more.
func (f *frame) fits(have, more int) bool { return more <= f.scratch.columnBytes-have }

// todo returns the rows that a kernel which builds text computes: those present
// and active.
func (f *frame) todo(valid bitmap) bitmap {
	if f.single {
		return valid
	}
	return f.scratch.both(valid, f.active)
}

// errors lists the failed rows by their row in the input.
func (f *frame) errors() []RowError {
	if !f.failed {
		return nil
	}
	var out []RowError
	for i, fault := range f.scratch.faults {
		if fault != nil {
			out = append(out, RowError{Row: f.in.Select.At(i), Fault: fault})
		}
	}
	return out
}

// sound returns the rows without a failure, nil for all.
func (f *frame) sound() bitmap {
	if !f.failed {
		return nil
	}
	out := f.scratch.full(f.n)
	for i, fault := range f.scratch.faults {
		if fault != nil {
			out.unset(i)
		}
	}
	return out
}

// narrow returns the selected rows that keep holds.
func (f *frame) narrow(keep bitmap) batch.Selection {
	if keep == nil {
		return f.in.Select
	}
	n := keep.count()
	if n == f.n {
		return f.in.Select
	}
	positions := make([]int32, 0, n)
	return f.in.Select.Narrow(keep.appendPositions(positions))
}
