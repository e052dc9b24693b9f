package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"plexus/engine/batch"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// Construction is a compiled working message: it builds the records of a route,
// of an emitter or of an error route.
type Construction struct {
	program
	output  *vocab.Schema
	layout  *arrow.Schema
	partial *arrow.Schema // nil: failed rows leave no partial output
	steps   []step
	where   *node
}

// step sets one output field. A value equal for all rows, or an unchanged view
// taken many times, can need more bytes than a column holds: full says so.
type step struct {
	target int
	value  *node
	full   *Fault
}

// CompileConstruction compiles a construction. withPartial makes runs return the
// partial outputs of failed rows, which error.partial_output reads.
func CompileConstruction(t *typed.Construction, withPartial bool) (*Construction, error) {
	c := newCompiler(t.Output)
	p := &Construction{output: t.Output, layout: batch.ArrowSchema(t.Output)}
	if withPartial {
		p.partial = batch.ArrowSchema(PartialSchema(t.Output))
	}
	for i, s := range t.Steps {
		op := Set
		if s.Inherit {
			op = Inherit
		}
		value, err := c.clause(op, i, s.Target, s.Expr)
		if err != nil {
			return nil, err
		}
		p.steps = append(p.steps, step{target: s.Target, value: value, full: c.columnFull(string(op))})
	}
	if t.Where != nil {
		where, err := c.clause(RouteWhere, NoIndex, -1, t.Where)
		if err != nil {
			return nil, err
		}
		p.where = where
	}
	p.slots = c.slots
	return p, nil
}

// PartialSchema returns the scope partial_output of a construction: its output
// with every field optional.
func PartialSchema(output *vocab.Schema) *vocab.Schema {
	out := &vocab.Schema{Name: output.Name, Fields: make([]vocab.Field, len(output.Fields))}
	for i, f := range output.Fields {
		f.Optional = true
		out.Fields[i] = f
	}
	return out
}

// Constructed is the result of one run. Rows of the selection that are neither
// kept nor failed were dropped by WHERE and are finished.
type Constructed struct {
	Batch  arrow.RecordBatch // the kept rows, dense
	Kept   batch.Selection   // their rows in the input
	Failed []RowError        // ascending
	// Partial has one row for each failed row, in order: the fields set before it
	// failed. It is nil when nothing failed or nobody asked.
	Partial arrow.RecordBatch
}

// Release gives the batches back.
func (c *Constructed) Release() {
	if c.Batch != nil {
		c.Batch.Release()
	}
	if c.Partial != nil {
		c.Partial.Release()
	}
}

// Run builds the records of the selected rows. Columns that are unchanged input
// share its buffers when no row is left out. The caller releases the result.
func (p *Construction) Run(ctx *Context, in *Rows, s *Scratch) Constructed {
	f := p.begin(ctx, in, s)
	f.output = make([]vec, len(p.output.Fields))
	var history snapshots
	for _, st := range p.steps {
		v := f.bounded(st.value.run(f), st.full)
		if p.partial != nil && f.failed {
			history.note(f)
		}
		f.output[st.target] = v
	}
	for i := range f.output {
		if f.output[i].kind == vocab.KindInvalid {
			f.output[i] = nullOf(p.output.Fields[i].Type.Kind)
		}
	}
	keep := f.sound()
	if p.where != nil {
		keep = f.truth(p.where.run(f))
		if p.partial != nil && f.failed {
			history.note(f)
		}
	}
	defer f.end()
	out := Constructed{Kept: f.narrow(keep), Failed: f.errors()}
	out.Batch = f.record(p.layout, f.output, keep)
	if p.partial != nil && f.failed {
		out.Partial = history.record(f, p)
	}
	return out
}

// record makes a batch of the kept rows of columns; keep nil keeps all.
func (f *frame) record(layout *arrow.Schema, columns []vec, keep bitmap) arrow.RecordBatch {
	var positions []int32
	rows := f.n
	if keep != nil {
		rows = keep.count()
		if rows != f.n {
			positions = f.scratch.positions(keep)
		}
	}
	arrays := make([]arrow.Array, len(columns))
	for i := range columns {
		arrays[i] = f.array(&columns[i], layout.Field(i).Type, positions, rows)
	}
	rec := array.NewRecordBatch(layout, arrays, int64(rows))
	for _, a := range arrays {
		a.Release()
	}
	return rec
}
