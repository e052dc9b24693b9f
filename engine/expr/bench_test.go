package expr

import (
	"fmt"
	"strings"
	"testing"

	"plexus/engine/batch"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// BenchmarkKernels runs one assignment over 1,024 rows: rows per second and the
// allocations of a whole batch.
func BenchmarkKernels(b *testing.B) {
	const rows = 1024
	in := fieldsOf(f("s", vocab.String, false), f("n", vocab.I64, false), f("x", vocab.F64, true))
	var values [][]any
	for i := range rows {
		values = append(values, []any{fmt.Sprintf("%s-%d", strings.Repeat("sensor ", 8), i), i - 500, float64(i) / 7})
	}
	mem := new(batch.Pool)
	rec := record(mem, in, values...)
	defer rec.Release()
	s, n, x := read(in, typed.ScopeInput, "s"), read(in, typed.ScopeInput, "n"), read(in, typed.ScopeInput, "x")
	i64, f64, truth := vocab.Scalar(vocab.I64), vocab.Scalar(vocab.F64), vocab.Scalar(vocab.Bool)
	for _, c := range []struct {
		name string
		e    *typed.Expr
	}{
		{"add", apply(typed.OpAdd, i64, n, lit(1))},
		{"multiply float", apply(typed.OpMul, f64, x, lit(1.02))},
		{"compare", apply(typed.OpGt, truth, n, lit(10))},
		{"and", apply(typed.OpAnd, truth, apply(typed.OpGt, truth, n, lit(10)), apply(typed.OpLt, truth, x, lit(100.0)))},
		{"contains", call("contains", vocab.Bool, s, lit("99"))},
		{"upper", call("upper", vocab.String, s)},
		{"concat", call("concat", vocab.String, s, lit("/"), s)},
		{"substr", call("substr", vocab.String, s, lit(3), lit(10))},
		{"length", call("length", vocab.I64, s)},
		{"coalesce", call("coalesce", vocab.F64, x, lit(0.0))},
		{"case", apply(typed.OpCase, i64, apply(typed.OpGt, truth, n, lit(0)), n, lit(0))},
		{"integer to text", apply(typed.OpCast, vocab.Scalar(vocab.String), n)},
		{"round", call("round", vocab.F64, x, lit(2))},
	} {
		b.Run(c.name, func(b *testing.B) {
			p, err := CompileConstruction(&typed.Construction{
				Output: fieldsOf(vocab.Field{Name: "o", Type: c.e.Type, Optional: true}), Steps: []typed.Step{{Expr: c.e}}}, false)
			if err != nil {
				b.Fatal(err)
			}
			ctx, in, scratch := &Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(rows)}, NewScratch()
			b.ReportAllocs()
			for b.Loop() {
				out := p.Run(ctx, in, scratch)
				out.Release()
			}
			b.ReportMetric(float64(b.N)*rows/b.Elapsed().Seconds(), "rows/s")
		})
	}
}
