package expr

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// lists are the columns that the tests of lists read.
var lists = fieldsOf(
	vocab.Field{Name: "v", Type: vocab.VecOf(vocab.Scalar(vocab.I64)), Optional: true}, vocab.Field{Name: "w", Type: vocab.VecOf(vocab.Scalar(vocab.I64))},
	vocab.Field{Name: "a", Type: vocab.ArrayOf(vocab.Scalar(vocab.I64), 2)}, vocab.Field{Name: "t", Type: vocab.VecOf(vocab.Scalar(vocab.String))},
	vocab.Field{Name: "x", Type: vocab.VecOf(vocab.Scalar(vocab.F64))}, f("n", vocab.I64, true), f("s", vocab.String, false))

// listRow is one row of them.
type listRow struct {
	v, w, a []int64
	t       []string
	x       []float64
	n       *int64
	s       string
}

func (r *listRow) values() []any {
	ints := func(list []int64) any {
		if list == nil {
			return nil
		}
		out := []any{}
		for _, n := range list {
			out = append(out, int(n))
		}
		return out
	}
	texts, floats := []any{}, []any{}
	for _, s := range r.t {
		texts = append(texts, s)
	}
	for _, x := range r.x {
		floats = append(floats, x)
	}
	var n any
	if r.n != nil {
		n = int(*r.n)
	}
	return []any{ints(r.v), ints(r.w), ints(r.a), texts, floats, n, r.s}
}

func drawListRow(t *rapid.T) listRow {
	integer := rapid.OneOf(rapid.Int64Range(-3, 3), rapid.SampledFrom([]int64{math.MaxInt64, math.MinInt64, math.MaxInt64 - 1}))
	text := rapid.SampledFrom([]string{"", "a", "b", "a,b", "é,", ",", "abc"})
	r := listRow{
		w: append([]int64{}, rapid.SliceOfN(integer, 0, 5).Draw(t, "w")...), a: rapid.SliceOfN(integer, 2, 2).Draw(t, "a"),
		t: rapid.SliceOfN(text, 0, 4).Draw(t, "t"), s: text.Draw(t, "s"),
		x: rapid.SliceOfN(rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1.5, -2, math.NaN(), math.Inf(1), math.MaxFloat64}), 0, 5).Draw(t, "x"),
	}
	if rapid.IntRange(0, 3).Draw(t, "null") > 0 {
		r.v = append([]int64{}, rapid.SliceOfN(integer, 0, 40).Draw(t, "v")...)
	}
	if rapid.IntRange(0, 3).Draw(t, "no n") > 0 {
		n := rapid.Int64Range(-2, 5).Draw(t, "n")
		r.n = &n
	}
	return r
}

// exactSum is the sum of whole numbers, if it is an I64.
func exactSum(list ...*big.Int) string {
	sum := new(big.Int)
	for _, n := range list {
		sum.Add(sum, n)
	}
	if !sum.IsInt64() {
		return "overflow"
	}
	return sum.String()
}

func bigs(list []int64) (out []*big.Int) {
	for _, n := range list {
		out = append(out, big.NewInt(n))
	}
	return out
}

func shownInts(list []int64) string {
	if list == nil {
		return "(null)"
	}
	return strings.ReplaceAll(fmt.Sprint(list), " ", ",")
}

func shownTexts(list []string) string {
	quoted := []string{}
	for _, s := range list {
		quoted = append(quoted, fmt.Sprintf("%q", s))
	}
	return "[" + strings.Join(quoted, ",") + "]"
}

func shownFloat(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return "invalid_argument"
	}
	return fmt.Sprint(x)
}

// listCalls are the functions of lists with what they give for a row: a value as
// Arrow shows it, or the kind of the failure.
func listCalls() []struct {
	e    *typed.Expr
	want func(r *listRow) string
} {
	v, w, a := read(lists, typed.ScopeInput, "v"), read(lists, typed.ScopeInput, "w"), read(lists, typed.ScopeInput, "a")
	texts, x, n, s := read(lists, typed.ScopeInput, "t"), read(lists, typed.ScopeInput, "x"), read(lists, typed.ScopeInput, "n"), read(lists, typed.ScopeInput, "s")
	i64, f64, truth, text := vocab.I64, vocab.F64, vocab.Bool, vocab.String
	listCall := func(name string, t vocab.Type, args ...*typed.Expr) *typed.Expr {
		e := call(name, t.Kind, args...)
		e.Type = t
		return e
	}
	vec, vecText, pair := w.Type, texts.Type, a.Type
	array3 := vocab.ArrayOf(vocab.Scalar(vocab.I64), 3)
	orNull := func(missing bool, value func() string) string {
		if missing {
			return "(null)"
		}
		return value()
	}
	nth := func(list []int64, at int64) string {
		if list == nil || at < 0 || at >= int64(len(list)) {
			return "(null)"
		}
		return fmt.Sprint(list[at])
	}
	return []struct {
		e    *typed.Expr
		want func(r *listRow) string
	}{
		{call("count", i64, v), func(r *listRow) string { return orNull(r.v == nil, func() string { return fmt.Sprint(len(r.v)) }) }},
		{call("count", i64, a), func(*listRow) string { return "2" }},
		{call("sum", i64, v), func(r *listRow) string { return orNull(len(r.v) == 0, func() string { return exactSum(bigs(r.v)...) }) }},
		{call("sum", i64, a), func(r *listRow) string { return exactSum(bigs(r.a)...) }},
		{call("sum", f64, x), func(r *listRow) string {
			return orNull(len(r.x) == 0, func() string {
				sum := 0.0
				for _, y := range r.x {
					sum += y
				}
				return shownFloat(sum)
			})
		}},
		{call("mean", f64, w), func(r *listRow) string {
			return orNull(len(r.w) == 0, func() string {
				sum := 0.0
				for _, y := range r.w {
					sum += float64(y)
				}
				return shownFloat(sum / float64(len(r.w)))
			})
		}},
		{call("first", i64, v), func(r *listRow) string { return nth(r.v, 0) }},
		{call("last", i64, v), func(r *listRow) string { return nth(r.v, int64(len(r.v))-1) }},
		{call("nth", i64, v, n), func(r *listRow) string { return orNull(r.n == nil, func() string { return nth(r.v, *r.n) }) }},
		{call("first", text, texts), func(r *listRow) string { return orNull(len(r.t) == 0, func() string { return r.t[0] }) }},
		{call("max", text, texts), func(r *listRow) string { return orNull(len(r.t) == 0, func() string { return slices.Max(r.t) }) }},
		{call("min", i64, v), func(r *listRow) string {
			return orNull(len(r.v) == 0, func() string { return fmt.Sprint(slices.Min(r.v)) })
		}},
		{call("max", f64, x), func(r *listRow) string {
			return orNull(len(r.x) == 0, func() string {
				return strings.Replace(fmt.Sprint(slices.MaxFunc(r.x, func(a, b float64) int { return compareInts(totalOrder(a), totalOrder(b)) })), "+Inf", "+Inf", 1)
			})
		}},
		{call("contains", truth, v, n), func(r *listRow) string {
			return orNull(r.v == nil || r.n == nil, func() string { return fmt.Sprint(slices.Contains(r.v, *r.n)) })
		}},
		{call("contains", truth, texts, s), func(r *listRow) string { return fmt.Sprint(slices.Contains(r.t, r.s)) }},
		{call("contains", truth, x, lit(math.NaN())), func(*listRow) string { return "false" }},
		{call("contains", truth, x, lit(0.0)), func(r *listRow) string { return fmt.Sprint(slices.Contains(r.x, 0)) }},
		{call("overlap", truth, v, w), func(r *listRow) string {
			return orNull(r.v == nil, func() string {
				return fmt.Sprint(slices.ContainsFunc(r.v, func(n int64) bool { return slices.Contains(r.w, n) }))
			})
		}},
		{call("overlap", truth, x, x), func(r *listRow) string {
			return fmt.Sprint(slices.ContainsFunc(r.x, func(y float64) bool { return y == y }))
		}},
		{listCall("slice", vec, v, n, lit(2)), func(r *listRow) string {
			return orNull(r.v == nil || r.n == nil, func() string {
				from := min(max(*r.n, 0), int64(len(r.v)))
				return shownInts(append([]int64{}, r.v[from:min(from+2, int64(len(r.v)))]...))
			})
		}},
		{listCall("slice", vec, a, lit(-5), lit(int64(math.MaxInt64))), func(r *listRow) string { return shownInts(r.a) }},
		{listCall("concat", vec, v, a, w), func(r *listRow) string {
			return orNull(r.v == nil, func() string { return shownInts(slices.Concat([]int64{}, r.v, r.a, r.w)) })
		}},
		{listCall("concat", vocab.ArrayOf(vocab.Scalar(vocab.I64), 4), a, a), func(r *listRow) string { return shownInts(slices.Concat(r.a, r.a)) }},
		{listCall("array", array3, n, lit(7), call("count", i64, w)), func(r *listRow) string {
			return orNull(r.n == nil, func() string { return shownInts([]int64{*r.n, 7, int64(len(r.w))}) })
		}},
		{listCall("vec", vec, n, n), func(r *listRow) string {
			return orNull(r.n == nil, func() string { return shownInts([]int64{*r.n, *r.n}) })
		}},
		{listCall("vec", vecText), func(*listRow) string { return "[]" }},
		{listCall("vec", vecText, s, lit("z"), s), func(r *listRow) string { return shownTexts([]string{r.s, "z", r.s}) }},
		{listCall("vec", vocab.VecOf(pair), a, a), func(r *listRow) string { return "[" + shownInts(r.a) + "," + shownInts(r.a) + "]" }},
		{&typed.Expr{Op: typed.OpList, Type: array3, Args: []*typed.Expr{lit(1), lit(2), lit(3)}}, func(*listRow) string { return "[1,2,3]" }},
		{listCall("split", vecText, s, lit(",")), func(r *listRow) string { return shownTexts(strings.Split(r.s, ",")) }},
		{listCall("split", vecText, s, lit("")), func(r *listRow) string { return shownTexts([]string{r.s}) }},
		{call("join", text, texts, lit("-")), func(r *listRow) string { return strings.Join(r.t, "-") }},
		{call("contains_any", truth, s, texts), func(r *listRow) string {
			return fmt.Sprint(slices.ContainsFunc(r.t, func(part string) bool { return strings.Contains(r.s, part) }))
		}},
		{call("dot", i64, v, w), func(r *listRow) string {
			return orNull(r.v == nil, func() string {
				if len(r.v) != len(r.w) {
					return "invalid_argument"
				}
				var products []*big.Int
				for k := range r.v {
					products = append(products, new(big.Int).Mul(big.NewInt(r.v[k]), big.NewInt(r.w[k])))
				}
				return exactSum(products...)
			})
		}},
		{call("dot", i64, a, a), func(r *listRow) string {
			square := func(n int64) *big.Int { return new(big.Int).Mul(big.NewInt(n), big.NewInt(n)) }
			return exactSum(square(r.a[0]), square(r.a[1]))
		}},
		{call("distance", f64, x, x), func(r *listRow) string {
			sum := 0.0
			for _, y := range r.x {
				sum += (y - y) * (y - y)
			}
			return shownFloat(math.Sqrt(sum))
		}},
	}
}

func TestListFunctionsEqualTheReference(t *testing.T) {
	calls := listCalls()
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(batchtest.Soiled{})
		defer mem.AssertSize(fatal{t}, 0)
		rows := make([]listRow, rapid.IntRange(1, 20).Draw(t, "rows"))
		var values [][]any
		for i := range rows {
			rows[i] = drawListRow(t)
			values = append(values, rows[i].values())
		}
		whole := record(mem, lists, values...)
		defer whole.Release()
		from := rapid.IntRange(0, len(rows)-1).Draw(t, "from")
		rec := whole.NewSlice(int64(from), int64(len(rows)))
		defer rec.Release()
		selection := drawSelection(t, len(rows)-from)
		c := rapid.SampledFrom(calls).Draw(t, "call")
		p, err := CompileConstruction(&typed.Construction{Output: fieldsOf(vocab.Field{Name: "o", Type: c.e.Type, Optional: true}), Steps: []typed.Step{{Expr: c.e}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: selection}, NewScratch())
		defer got.Release()
		failed, kept := 0, 0
		for i := range selection.Len() {
			row := &rows[from+int(selection.At(i))]
			want := c.want(row)
			if failed < len(got.Failed) && got.Failed[failed].Row == selection.At(i) {
				if kind := got.Failed[failed].Fault.Kind.String(); kind != want {
					t.Fatalf("%s of %+v fails by %s, want %s", c.e.Func, row, kind, want)
				}
				failed++
				continue
			}
			if value := got.Batch.Column(0).ValueStr(kept); value != want {
				t.Fatalf("%s of %+v is %s, want %s", c.e.Func, row, value, want)
			}
			kept++
		}
	})
}

// TestListLimits has what random lists seldom are.
func TestListLimits(t *testing.T) {
	long := strings.Repeat(",", splitMax)
	vecText := vocab.VecOf(vocab.Scalar(vocab.String))
	split := call("split", vocab.Vec, lit(long), lit(","))
	split.Type = vecText
	if got := evaluate(t, call("count", vocab.I64, split)); got != "failed: overflow" {
		t.Error(got)
	}
	split = call("split", vocab.Vec, lit(long[1:]), lit(","))
	split.Type = vecText
	if got := evaluate(t, call("count", vocab.I64, split)); got != fmt.Sprint(splitMax) {
		t.Error(got)
	}
	parts := call("split", vocab.Vec, lit(strings.Repeat("x,", patternsMax)), lit(","))
	parts.Type = vecText
	if got := evaluate(t, call("contains_any", vocab.Bool, lit("y"), parts)); got != "failed: invalid_argument" {
		t.Error(got)
	}
	parts = call("split", vocab.Vec, lit(strings.Repeat("x", patternBytesMax+1)), lit(","))
	parts.Type = vecText
	if got := evaluate(t, call("contains_any", vocab.Bool, lit("y"), parts)); got != "failed: invalid_argument" {
		t.Error(got)
	}
}

// TestReadHeaders lists the values that are text.
func TestReadHeaders(t *testing.T) {
	e := call("read_headers", vocab.Vec, lit("trace"))
	e.Type = vocab.VecOf(vocab.Scalar(vocab.String))
	mem := checked(t)
	p, err := CompileConstruction(&typed.Construction{Output: fieldsOf(vocab.Field{Name: "o", Type: e.Type}), Steps: []typed.Step{{Expr: e}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	rec := textsOf(mem, []string{"", "", "", ""})
	defer rec.Release()
	for _, c := range []struct {
		headers Headers
		want    string
	}{{headers{}, `["a"]; ["a"]; ["a","b","c"]`}, {nil, "[]; []; []"}} {
		got := p.Run(&Context{Memory: mem, Headers: c.headers}, &Rows{Input: rec, Select: batch.Rows(4, []int32{0, 1, 3})}, NewScratch())
		if s := show(got.Batch); s != c.want {
			t.Error(s)
		}
		got.Release()
	}
}
