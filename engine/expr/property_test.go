package expr

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

var scalarKinds = []vocab.Kind{vocab.U8, vocab.U16, vocab.U32, vocab.U64, vocab.I8, vocab.I16, vocab.I32, vocab.I64,
	vocab.F32, vocab.F64, vocab.Bool, vocab.String, vocab.Bytes, vocab.Datetime}

// table has two columns of every scalar kind: a required and an optional one.
var table = func() *vocab.Schema {
	s := &vocab.Schema{Name: "table"}
	for _, k := range scalarKinds {
		s.Fields = append(s.Fields,
			vocab.Field{Name: "r" + k.String(), Type: vocab.Scalar(k)},
			vocab.Field{Name: "o" + k.String(), Type: vocab.Scalar(k), Optional: true})
	}
	return s
}()

func drawLiteral(t *rapid.T, k vocab.Kind) typed.Literal {
	small := rapid.Bool().Draw(t, "small")
	switch {
	case k == vocab.Bool:
		return typed.Literal{Bool: rapid.Bool().Draw(t, "bool")}
	case k == vocab.String || k == vocab.Bytes:
		return typed.Literal{Str: drawText(t)}
	case k == vocab.F32:
		return typed.Literal{Float: float64(float32(drawFloat(t, small, func() float64 {
			return float64(math.Float32frombits(rapid.Uint32().Draw(t, "f32")))
		})))}
	case k == vocab.F64:
		return typed.Literal{Float: drawFloat(t, small, func() float64 {
			return math.Float64frombits(rapid.Uint64().Draw(t, "f64"))
		})}
	case k >= vocab.U8 && k <= vocab.U64:
		_, high := bounds(k)
		limit := high.Uint64()
		if small {
			limit = 5
		}
		return typed.Literal{Uint: rapid.Uint64Range(0, limit).Draw(t, "uint")}
	default:
		low, high := bounds(k)
		if small {
			return typed.Literal{Int: rapid.Int64Range(-5, 5).Draw(t, "int")}
		}
		return typed.Literal{Int: rapid.OneOf(rapid.Int64Range(low.Int64(), high.Int64()),
			rapid.SampledFrom([]int64{low.Int64(), high.Int64()})).Draw(t, "int")}
	}
}

func drawFloat(t *rapid.T, small bool, wide func() float64) float64 {
	if small {
		return rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, -1, 0.5, 2.5, -2.5, 2.675, 1e15, math.Inf(1), math.Inf(-1), math.NaN()}).Draw(t, "float")
	}
	return wide()
}

func drawText(t *rapid.T) string {
	return rapid.OneOf(
		rapid.SampledFrom([]string{"", " a b ", "abc", "ABCDEFGHIJ", "aaaa", "ß", "éÉ", "x", "12", "-7", "+0", "1.5", "1e3", "inf", "-NaN",
			"TRUE", " off ", "2024-02-29T01:02:03.5Z", "9999-01-01T00:00:00Z", "İstanbul ΣΑΣ", "a,b,,c", "日本語 text", "\u00a0t\u2003"}),
		rapid.StringMatching(`[a-cX ]{0,20}`),
		rapid.StringN(0, 8, -1),
	).Draw(t, "text")
}

// drawTable draws n rows and the reference values of them.
func drawTable(t *rapid.T, mem memory.Allocator, n int) (arrow.RecordBatch, [][]value) {
	b := array.NewRecordBuilder(mem, batch.ArrowSchema(table))
	defer b.Release()
	values := make([][]value, len(table.Fields))
	for c, f := range table.Fields {
		// A few values for many rows keep the draws small.
		pool := make([]typed.Literal, 8)
		for i := range pool {
			pool[i] = drawLiteral(t, f.Type.Kind)
			pool[i].Null = f.Optional && rapid.IntRange(0, 3).Draw(t, "null") == 0
		}
		seed := rapid.Uint32().Draw(t, "rows")
		for range n {
			seed = seed*1664525 + 1013904223
			l := pool[seed>>29]
			AppendLiteral(b.Field(c), l)
			values[c] = append(values[c], literalValue(l, f.Type.Kind))
		}
	}
	return b.NewRecordBatch(), values
}

// readValue reads a cell of a result as a reference value.
func readValue(a arrow.Array, i int) value {
	if a.IsNull(i) {
		return null
	}
	switch a := a.(type) {
	case *array.Uint8:
		return number64(int64(a.Value(i)))
	case *array.Uint16:
		return number64(int64(a.Value(i)))
	case *array.Uint32:
		return number64(int64(a.Value(i)))
	case *array.Uint64:
		return value{n: new(big.Int).SetUint64(a.Value(i))}
	case *array.Int8:
		return number64(int64(a.Value(i)))
	case *array.Int16:
		return number64(int64(a.Value(i)))
	case *array.Int32:
		return number64(int64(a.Value(i)))
	case *array.Int64:
		return number64(a.Value(i))
	case *array.Float32:
		return value{f: float64(a.Value(i))}
	case *array.Float64:
		return value{f: a.Value(i)}
	case *array.Boolean:
		return truthValue(a.Value(i))
	case *array.String:
		return textValue(a.Value(i))
	case *array.Binary:
		return textValue(string(a.Value(i)))
	case *array.Timestamp:
		return number64(int64(a.Value(i)))
	}
	panic(a.DataType())
}

func (v value) show(k vocab.Kind) string {
	switch {
	case v.null:
		return "null"
	case k == vocab.String || k == vocab.Bytes:
		return fmt.Sprintf("%q", v.s)
	case k.Float():
		return fmt.Sprintf("%b", v.f) // the sign of zero included
	case k == vocab.Bool:
		return fmt.Sprint(v.b)
	default:
		return v.n.String()
	}
}

// Trees are drawn by kind. Flags are set as a checker would.
type grower struct{ t *rapid.T }

func (g grower) pick(kinds ...vocab.Kind) vocab.Kind {
	return rapid.SampledFrom(kinds).Draw(g.t, "kind")
}

func (g grower) integerKind() vocab.Kind {
	return g.pick(vocab.U8, vocab.I64, vocab.I8, vocab.U64, vocab.I32)
}

func (g grower) numberKind() vocab.Kind {
	return g.pick(vocab.U8, vocab.I64, vocab.U64, vocab.F32, vocab.F64)
}

// matching is a call with a literal pattern behind its first argument.
func (g grower) matching(name string, s *typed.Expr, more ...*typed.Expr) *typed.Expr {
	pattern := rapid.SampledFrom([]string{"a%", "%b_", `\d+`, "(a|b)c?", "[", "^.*é", "", "x", "(?i)ab", "%"}).Draw(g.t, "pattern")
	literal := &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(vocab.String), Literal: typed.Literal{Str: pattern}}
	return &typed.Expr{Op: typed.OpCall, Func: name, Args: append([]*typed.Expr{s, literal}, more...)}
}

func (g grower) grow(k vocab.Kind, depth int) *typed.Expr {
	if depth <= 0 || rapid.IntRange(0, 5).Draw(g.t, "leaf") == 0 {
		return g.leaf(k)
	}
	var make []func() *typed.Expr
	add := func(f func() *typed.Expr) { make = append(make, f) }
	sub := func(k vocab.Kind) *typed.Expr { return g.grow(k, depth-1) }
	op := func(op typed.Op, args ...vocab.Kind) {
		add(func() *typed.Expr {
			e := &typed.Expr{Op: op}
			for _, a := range args {
				e.Args = append(e.Args, sub(a))
			}
			return e
		})
	}
	call := func(name string, args ...vocab.Kind) {
		add(func() *typed.Expr {
			e := &typed.Expr{Op: typed.OpCall, Func: name}
			for _, a := range args {
				e.Args = append(e.Args, sub(a))
			}
			return e
		})
	}
	op(typed.OpCase, vocab.Bool, k, k)
	op(typed.OpCase, vocab.Bool, k, vocab.Bool, k, k)
	operand := g.pick(scalarKinds...)
	op(typed.OpCaseValue, operand, operand, k, operand, k, k)
	call("coalesce", k, k, k)
	call("leak_sensitive", k)
	if k != vocab.Bytes {
		call("nullif", k, k)
		call("greatest", k, k, k)
		call("least", k, k)
	}
	if k.Numeric() || k == vocab.String || k == vocab.Datetime {
		call("clamp", k, k, k)
	}
	if k != vocab.Bytes {
		from := g.pick(scalarKinds...)
		switch {
		case from == vocab.Bytes, from == vocab.Bool && k == vocab.Datetime, from == vocab.Datetime && k == vocab.Bool:
		default:
			op(typed.OpCast, from)
			op(typed.OpTryCast, from)
		}
	}
	text := vocab.String
	switch {
	case k == vocab.Bool:
		op(typed.OpNot, k)
		op(typed.OpAnd, k, k)
		op(typed.OpOr, k, k)
		x := g.pick(scalarKinds...)
		for _, o := range []typed.Op{typed.OpEq, typed.OpNe, typed.OpDistinct, typed.OpNotDistinct} {
			op(o, x, x)
		}
		if x != vocab.Bool && x != vocab.Bytes {
			for _, o := range []typed.Op{typed.OpLt, typed.OpLe, typed.OpGt, typed.OpGe} {
				op(o, x, x)
			}
			add(func() *typed.Expr {
				return &typed.Expr{Op: typed.OpBetween, Args: []*typed.Expr{sub(x), sub(x), sub(x)}, Negated: rapid.Bool().Draw(g.t, "negated")}
			})
		}
		if x != vocab.Bytes {
			add(func() *typed.Expr {
				e := &typed.Expr{Op: typed.OpIn, Args: []*typed.Expr{sub(x)}, Negated: rapid.Bool().Draw(g.t, "negated")}
				for range rapid.IntRange(0, 12).Draw(g.t, "set") {
					e.Set = append(e.Set, drawLiteral(g.t, x))
				}
				return e
			})
		}
		call("is_null", x)
		call("contains", text, text)
		call("starts_with", text, text)
		call("ends_with", text, text)
		for _, name := range []string{"like", "ilike", "regexp_like"} {
			call(name, text, text)
			add(func() *typed.Expr { return g.matching(name, sub(text)) })
		}
		call("is_ip_address", text)
		for _, name := range []string{"is_nan", "is_finite", "is_infinite"} {
			call(name, g.pick(vocab.F32, vocab.F64))
		}
	case k == vocab.Bytes:
		call("bytes_from_utf8", text)
		call("hex_decode", text)
		call("base64_decode", text)
		call("ip_from_string", text)
		call("sha256", k)
	case k == text:
		for _, name := range []string{"bytes_to_utf8", "hex_encode", "base64_encode", "ip_to_string"} {
			call(name, vocab.Bytes)
		}
		call("normalize_nfc", text)
		add(func() *typed.Expr { return g.matching("regexp_substr", sub(text)) })
		add(func() *typed.Expr { return g.matching("regexp_replace", sub(text), sub(text)) })
		for _, name := range []string{"lower", "upper", "initcap", "trim", "ltrim", "rtrim", "reverse", "md5"} {
			call(name, text)
		}
		call("to_hex", g.integerKind())
		call("left", text, g.integerKind())
		call("right", text, g.integerKind())
		call("substr", text, g.integerKind())
		call("substr", text, g.integerKind(), g.integerKind())
		call("concat", text, text, text)
		call("concat_ws", text, text, text)
		call("replace", text, text, text)
		call("translate", text, text, text)
		call("split_part", text, text, g.integerKind())
		add(func() *typed.Expr { // counts stay small so that texts do
			count := &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(vocab.I64), Literal: typed.Literal{Int: rapid.Int64Range(-1, 4).Draw(g.t, "count")}}
			return &typed.Expr{Op: typed.OpCall, Func: "repeat", Args: []*typed.Expr{sub(text), count}}
		})
		for _, name := range []string{"lpad", "rpad"} {
			add(func() *typed.Expr {
				n := &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(vocab.I8), Literal: typed.Literal{Int: rapid.Int64Range(-2, 30).Draw(g.t, "n")}}
				return &typed.Expr{Op: typed.OpCall, Func: name, Args: []*typed.Expr{sub(text), n, sub(text)}}
			})
		}
	case k.Numeric():
		for _, o := range []typed.Op{typed.OpAdd, typed.OpSub, typed.OpMul, typed.OpDiv, typed.OpRem} {
			op(o, k, k)
		}
		if k.Signed() || k.Float() {
			op(typed.OpNeg, k)
		}
		call("abs", k)
		call("ceil", k)
		call("floor", k)
		call("sign", k)
		call("round", k)
		add(func() *typed.Expr {
			d := &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(vocab.I8), Literal: typed.Literal{Int: rapid.Int64Range(-25, 25).Draw(g.t, "digits")}}
			return &typed.Expr{Op: typed.OpCall, Func: "round", Args: []*typed.Expr{sub(k), d}}
		})
		if k.Integer() {
			call("bitwise_and", k, k)
			call("bitwise_or", k, k)
			call("bitwise_xor", k, k)
			call("bitwise_not", k)
			call("shift_left", k, g.integerKind())
			call("shift_right", k, g.integerKind())
		}
		if k == vocab.F64 {
			for _, name := range realNames {
				call(name, g.numberKind())
			}
			for _, name := range []string{"log", "pow", "atan2"} {
				call(name, g.numberKind(), g.numberKind())
			}
			call("log", g.numberKind())
		}
		if k == vocab.U64 {
			call("xxh3_64", vocab.Bytes)
		}
		if k == vocab.I64 {
			call("bit_count", g.integerKind())
			for _, name := range []string{"length", "octet_length", "bit_length", "ascii"} {
				call(name, text)
			}
			call("strpos", text, text)
		}
	}
	e := rapid.SampledFrom(make).Draw(g.t, "operator")()
	e.Type, e.Optional, e.Fallible = vocab.Scalar(k), true, fails(e)
	for _, a := range e.Args {
		e.Fallible = e.Fallible || a.Fallible
	}
	return e
}

// fails says which operators are infallible, as the checker does.
func fails(e *typed.Expr) bool {
	switch e.Op {
	case typed.OpCall:
		switch e.Func {
		case "is_null", "coalesce", "lower", "upper", "trim", "length", "contains", "left", "greatest", "leak_sensitive":
			return false
		}
		return true
	case typed.OpAdd, typed.OpSub, typed.OpMul, typed.OpDiv, typed.OpRem, typed.OpNeg, typed.OpCast:
		return true
	}
	return false
}

func (g grower) leaf(k vocab.Kind) *typed.Expr {
	e := &typed.Expr{Type: vocab.Scalar(k)}
	switch rapid.IntRange(0, 2).Draw(g.t, "which") {
	case 0:
		e.Literal = drawLiteral(g.t, k)
		e.Literal.Null = rapid.IntRange(0, 9).Draw(g.t, "null") == 0
	default:
		i := table.Index("r" + k.String())
		if rapid.Bool().Draw(g.t, "optional") {
			i++
		}
		e.Op, e.Column = typed.OpColumn, typed.Column{Scope: typed.ScopeInput, Index: i, Name: table.Fields[i].Name}
		e.Optional = table.Fields[i].Optional
	}
	return e
}

// TestKernelsEqualTheReference compares whole constructions with the reference
// row by row: values, nulls, first failures, and that neighbours of a failing
// row are as they should be.
func TestKernelsEqualTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(batchtest.Soiled{})
		defer mem.AssertSize(fatal{t}, 0)
		g := grower{t}
		kinds := rapid.SliceOfN(rapid.SampledFrom(scalarKinds), 1, 3).Draw(t, "kinds")
		c := &typed.Construction{Output: &vocab.Schema{Name: "out"}}
		for i, k := range kinds {
			c.Output.Fields = append(c.Output.Fields, vocab.Field{Name: fmt.Sprint("f", i), Type: vocab.Scalar(k), Optional: true})
			c.Steps = append(c.Steps, typed.Step{Target: i, Expr: g.grow(k, 4)})
		}
		if rapid.Bool().Draw(t, "where") {
			c.Where = g.grow(vocab.Bool, 2)
		}
		for _, s := range c.Steps {
			t.Log(tree(s.Expr))
		}
		if c.Where != nil {
			t.Log("where", tree(c.Where))
		}
		p, err := CompileConstruction(c, false)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, 150).Draw(t, "n")
		whole, values := drawTable(t, mem, n)
		defer whole.Release()
		from := rapid.IntRange(0, n).Draw(t, "from")
		rec := whole.NewSlice(int64(from), int64(n))
		defer rec.Release()
		selection := drawSelection(t, n-from)
		ctx := &Context{Memory: mem}
		out := p.Run(ctx, &Rows{Input: rec, Select: selection}, NewScratch())
		defer out.Release()
		failed, kept := 0, 0
		for i := range selection.Len() {
			row := int(selection.At(i))
			r := &interpreter{columns: func(c typed.Column) value { return values[c.Index][from+row] }}
			want := make([]value, len(kinds))
			for k := range want {
				want[k] = r.eval(c.Steps[k].Expr)
			}
			keep := truthValue(true)
			if c.Where != nil {
				keep = r.eval(c.Where)
			}
			if r.first != "" {
				if failed == len(out.Failed) || int(out.Failed[failed].Row) != row || out.Failed[failed].Fault.Kind.String() != r.first {
					t.Fatalf("row %d: want %s, failed %v", row, r.first, out.Failed)
				}
				failed++
				continue
			}
			if keep.null || !keep.b {
				continue
			}
			if kept == out.Kept.Len() || int(out.Kept.At(kept)) != row {
				t.Fatalf("row %d is kept, not in %v", row, out.Kept)
			}
			for k := range want {
				if got := readValue(out.Batch.Column(k), kept); got.show(kinds[k]) != want[k].show(kinds[k]) {
					t.Fatalf("row %d field %d: got %s, want %s", row, k, got.show(kinds[k]), want[k].show(kinds[k]))
				}
			}
			kept++
		}
		if failed != len(out.Failed) || kept != out.Kept.Len() || int64(kept) != out.Batch.NumRows() {
			t.Fatalf("%d failed of %d, %d kept of %d", failed, len(out.Failed), kept, out.Kept.Len())
		}
	})
}

// tree shows an expression.
func tree(e *typed.Expr) string {
	switch e.Op {
	case typed.OpLiteral:
		return literalValue(e.Literal, e.Type.Kind).show(e.Type.Kind)
	case typed.OpColumn:
		return e.Column.Name
	}
	s := fmt.Sprintf("%d%s:%s", e.Op, e.Func, e.Type)
	if e.Negated {
		s += "!"
	}
	for i, a := range e.Args {
		s += map[bool]string{true: "(", false: ", "}[i == 0] + tree(a)
	}
	return s + ")"
}

func drawSelection(t *rapid.T, n int) batch.Selection {
	if rapid.Bool().Draw(t, "all") {
		return batch.All(n)
	}
	var rows []int32
	mask := rapid.Uint64().Draw(t, "mask")
	for i := range n {
		if mask>>(i%64)&1 != 0 {
			rows = append(rows, int32(i))
		}
	}
	return batch.Rows(n, rows)
}

// fatal lets arrow's assertions end a rapid test.
type fatal struct{ *rapid.T }

func (f fatal) Helper() {}
