package decide

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/engine/expr"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// trial runs the tests of an NSPL_1 function on the kernels that its callers use.
type trial struct {
	function *typed.Function
	body     *typed.Body
	input    *vocab.Schema
	// stages compute the function up to each rejection, and at last to its result:
	// what comes after a rejection must not fail a row before it.
	stages []stageOfTrial
}

// stageOfTrial is a prefix of the steps. Its last output field is the condition of
// a rejection, or the result.
type stageOfTrial struct {
	program *expr.Construction
	rejects bool
}

// newTrial compiles a body. What names the part of it that has no kernel.
func newTrial(f *typed.Function, b *typed.Body) (t *trial, what string) {
	t = &trial{function: f, body: b, input: &vocab.Schema{Name: "arguments"}}
	for _, p := range f.Params {
		t.input.Fields = append(t.input.Fields, vocab.Field{Name: p.Name, Type: p.Type, Optional: p.Optional})
	}
	bound := &vocab.Schema{Name: "bound"}
	var steps []typed.Step
	add := func(e *typed.Expr, rejects bool) string {
		e = t.placed(e)
		if what := e.Missing(); what != "" {
			return what
		}
		k := &typed.Construction{Output: &vocab.Schema{Name: "stage"}}
		k.Output.Fields = append(append(k.Output.Fields, bound.Fields...), vocab.Field{Name: "result", Type: e.Type, Optional: true})
		k.Steps = append(append(k.Steps, steps...), typed.Step{Target: len(bound.Fields), Expr: e})
		program, err := expr.CompileConstruction(k, false)
		if err != nil {
			return "the types of UDF '" + f.Name + "'"
		}
		t.stages = append(t.stages, stageOfTrial{program, rejects})
		return ""
	}
	for _, s := range b.Steps {
		if s.Reject {
			if what := add(s.Value, true); what != "" {
				return nil, what
			}
			continue
		}
		e := t.placed(s.Value)
		if what := e.Missing(); what != "" {
			return nil, what
		}
		steps = append(steps, typed.Step{Target: len(bound.Fields), Expr: e})
		bound.Fields = append(bound.Fields, vocab.Field{Name: s.Name, Type: e.Type, Optional: true})
	}
	return t, add(b.Return, false)
}

// placed returns an expression whose arguments are read from the input and whose
// bindings from the row under construction.
func (t *trial) placed(e *typed.Expr) *typed.Expr {
	next := *e
	if e.Op == typed.OpColumn && e.Column.Scope == typed.ScopeLocal {
		next.Column.Scope = typed.ScopeInput
		if n := len(t.input.Fields); e.Column.Index >= n {
			next.Column.Scope, next.Column.Index = typed.ScopeOutput, e.Column.Index-n
		}
	}
	next.Args = make([]*typed.Expr, len(e.Args))
	for i, a := range e.Args {
		next.Args[i] = t.placed(a)
	}
	return &next
}

// outcome is what a call comes to: a value as text, or the kind of its failure.
type outcome struct {
	value, fault string
	kind         string // of the failure
}

func (o outcome) String() string {
	if o.kind != "" {
		return "failure '" + o.kind + "'"
	}
	return o.value
}

// failure runs every case and describes the first one that comes out otherwise, ""
// if there is none.
func (t *trial) failure() (found string, at vocab.Span) {
	for _, test := range t.body.Tests {
		for i, c := range test.Cases {
			got := t.call(c.Args)
			head := fmt.Sprintf("UDF '%s' test '%s' case %d: expected ", t.function.Name, test.Name, i+1)
			if c.Fails {
				if got.kind == "" || c.Kind != "" && got.kind != c.Kind {
					want := "a failure"
					if c.Kind != "" {
						want = "failure '" + c.Kind + "'"
					}
					return head + want + ", got " + got.String(), c.Span
				}
				continue
			}
			if want := t.text(c.Returns); got.kind != "" || got.value != want {
				return head + want + ", got " + got.String(), c.Span
			}
		}
	}
	return "", at
}

// text is how a value is compared and shown.
func (t *trial) text(c typed.Constant) string {
	column := columnOf(c)
	defer column.Release()
	return valueText(column, c.Type)
}

func valueText(a arrow.Array, of vocab.Type) string {
	switch {
	case a.IsNull(0):
		return "NULL"
	case of.Kind == vocab.String:
		return "'" + a.ValueStr(0) + "'"
	}
	return a.ValueStr(0)
}

// trialTime is now() in tests: 2000-01-01T00:00:00Z.
const trialTime = 946684800 * int64(1e9)

// call computes the function for one row.
func (t *trial) call(args []typed.Constant) outcome {
	columns := make([]arrow.Array, len(args))
	for i, c := range args {
		if c.Null && !t.function.Params[i].Optional {
			return outcome{value: "NULL"}
		}
		columns[i] = columnOf(c)
		defer columns[i].Release()
	}
	row := array.NewRecordBatch(batch.ArrowSchema(t.input), columns, 1)
	defer row.Release()
	ctx := &expr.Context{Now: trialTime, Entropy: &seeded{}, Memory: memory.DefaultAllocator}
	for _, s := range t.stages {
		out := s.program.Run(ctx, &expr.Rows{Input: row, Select: batch.All(1)}, expr.NewScratch())
		if len(out.Failed) > 0 {
			kind := out.Failed[0].Fault.Kind.String()
			out.Release()
			return outcome{kind: kind}
		}
		column := out.Batch.Column(int(out.Batch.NumCols()) - 1)
		value := valueText(column, t.function.Returns)
		rejected := s.rejects && column.IsValid(0) && column.(*array.Boolean).Value(0)
		out.Release()
		switch {
		case rejected:
			return outcome{kind: "rejected"}
		case !s.rejects:
			return outcome{value: value}
		}
	}
	return outcome{}
}

// seeded is the randomness of tests: the same octets in each run.
type seeded struct{ state uint64 }

// Read fills p with the octets of a splitmix generator that begins at 0.
func (s *seeded) Read(p []byte) (int, error) {
	var word [8]byte
	for i := range p {
		if i%8 == 0 {
			s.state += 0x9e3779b97f4a7c15
			z := s.state
			z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
			z = (z ^ z>>27) * 0x94d049bb133111eb
			binary.LittleEndian.PutUint64(word[:], z^z>>31)
		}
		p[i] = word[i%8]
	}
	return len(p), nil
}

// columnOf makes a constant a column of one row.
func columnOf(c typed.Constant) arrow.Array {
	b := array.NewBuilder(memory.DefaultAllocator, batch.ArrowType(c.Type))
	defer b.Release()
	switch {
	case c.Null:
		b.AppendNull()
	case c.Type.Elem != nil:
		list := b.(array.ListLikeBuilder)
		list.Append(true)
		for _, item := range c.Items {
			expr.AppendLiteral(list.ValueBuilder(), item)
		}
	default:
		expr.AppendLiteral(b, c.Value)
	}
	return b.NewArray()
}
