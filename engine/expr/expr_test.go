package expr

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// checked returns an allocator that fails the test when memory is left over.
func checked(t testing.TB) *memory.CheckedAllocator {
	mem := memory.NewCheckedAllocator(batchtest.Soiled{})
	t.Cleanup(func() {
		if n := mem.CurrentAlloc(); n != 0 {
			t.Errorf("%d bytes are not released", n)
		}
	})
	return mem
}

func read(s *vocab.Schema, scope typed.Scope, name string) *typed.Expr {
	i := s.Index(name)
	f := s.Fields[i]
	return &typed.Expr{Op: typed.OpColumn, Type: f.Type, Optional: f.Optional, Column: typed.Column{Scope: scope, Index: i, Name: name}}
}

func lit(v any) *typed.Expr {
	e := &typed.Expr{Op: typed.OpLiteral}
	switch v := v.(type) {
	case string:
		e.Type, e.Literal.Str = vocab.Scalar(vocab.String), v
	case int:
		e.Type, e.Literal.Int = vocab.Scalar(vocab.I64), int64(v)
	case int64:
		e.Type, e.Literal.Int = vocab.Scalar(vocab.I64), v
	case float64:
		e.Type, e.Literal.Float = vocab.Scalar(vocab.F64), v
	case bool:
		e.Type, e.Literal.Bool = vocab.Scalar(vocab.Bool), v
	}
	return e
}

func apply(op typed.Op, t vocab.Type, args ...*typed.Expr) *typed.Expr {
	return &typed.Expr{Op: op, Type: t, Args: args, Fallible: true, Optional: true}
}

func call(name string, k vocab.Kind, args ...*typed.Expr) *typed.Expr {
	e := apply(typed.OpCall, vocab.Scalar(k), args...)
	e.Func = name
	return e
}

func record(mem memory.Allocator, s *vocab.Schema, rows ...[]any) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, batch.ArrowSchema(s))
	defer b.Release()
	for _, row := range rows {
		for i, v := range row {
			appendAny(b.Field(i), v)
		}
	}
	return b.NewRecordBatch()
}

func appendAny(b array.Builder, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.Int64Builder:
		if n, ok := v.(int64); ok {
			b.Append(n)
		} else {
			b.Append(int64(v.(int)))
		}
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.ListBuilder:
		b.Append(true)
		for _, e := range v.([]any) {
			appendAny(b.ValueBuilder(), e)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for _, e := range v.([]any) {
			appendAny(b.ValueBuilder(), e)
		}
	default:
		panic(fmt.Sprintf("%T", b))
	}
}

func show(rec arrow.RecordBatch) string {
	var out []string
	for i := range int(rec.NumRows()) {
		var row []string
		for c := range int(rec.NumCols()) {
			row = append(row, rec.Column(c).ValueStr(i))
		}
		out = append(out, strings.Join(row, " "))
	}
	return strings.Join(out, "; ")
}

func fieldsOf(fields ...vocab.Field) *vocab.Schema { return &vocab.Schema{Name: "s", Fields: fields} }

func f(name string, k vocab.Kind, optional bool) vocab.Field {
	return vocab.Field{Name: name, Type: vocab.Scalar(k), Optional: optional}
}

// TestWorkingMessage is the worked example of the language's manual, with a row
// that WHERE drops and one whose cost is not finite.
func TestWorkingMessage(t *testing.T) {
	mem := checked(t)
	in := fieldsOf(f("site", vocab.String, false), f("kwh", vocab.F64, false), f("price", vocab.F64, true), f("note", vocab.String, false))
	out := fieldsOf(f("site", vocab.String, false), f("kwh", vocab.F64, false), f("cost", vocab.F64, true), f("peak", vocab.Bool, true), f("note", vocab.String, true))
	number, truth := vocab.Scalar(vocab.F64), vocab.Scalar(vocab.Bool)
	c := &typed.Construction{
		Output: out,
		Steps: []typed.Step{
			{Target: 0, Inherit: true, Expr: read(in, typed.ScopeInput, "site")},
			{Target: 1, Inherit: true, Expr: read(in, typed.ScopeInput, "kwh")},
			{Target: 1, Expr: apply(typed.OpMul, number, read(out, typed.ScopeOutput, "kwh"), lit(1.02))},
			{Target: 2, Expr: apply(typed.OpMul, number, read(out, typed.ScopeOutput, "kwh"),
				call("coalesce", vocab.F64, read(in, typed.ScopeInput, "price"), lit(0.31)))},
			{Target: 3, Expr: apply(typed.OpGt, truth, read(out, typed.ScopeOutput, "cost"), lit(10.0))},
			{Target: 1, Expr: call("round", vocab.F64, read(out, typed.ScopeOutput, "kwh"), lit(1))},
		},
		Where: apply(typed.OpOr, truth, read(out, typed.ScopeOutput, "peak"),
			apply(typed.OpGt, truth, read(in, typed.ScopeInput, "kwh"), lit(100.0))),
	}
	p, err := CompileConstruction(c, true)
	if err != nil {
		t.Fatal(err)
	}
	rec := record(mem, in, []any{"n7", 50.0, nil, "x"}, []any{"n8", 1.0, 2.0, "y"}, []any{"n9", 1e300, 1e300, "z"})
	defer rec.Release()
	got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(3)}, NewScratch())
	defer got.Release()
	if s := show(got.Batch); s != "n7 51 15.81 true (null)" || got.Kept.Len() != 1 || got.Kept.At(0) != 0 {
		t.Errorf("kept %s, rows %v", s, got.Kept)
	}
	if len(got.Failed) != 1 || got.Failed[0].Row != 2 {
		t.Fatalf("failed %v", got.Failed)
	}
	fault := got.Failed[0].Fault
	if fault.Operation != Set || fault.Index != 3 || strings.Join(fault.Fields, " ") != "input.price output.cost output.kwh" ||
		fault.Message() != "invalid_argument: *: the result is no finite F64" {
		t.Errorf("%+v: %s", fault, fault.Message())
	}
	if s := show(got.Partial); s != "n9 1.02e+300 (null) (null) (null)" {
		t.Errorf("partial %s", s)
	}
}

func TestFailureTexts(t *testing.T) {
	mem := checked(t)
	in := fieldsOf(f("n", vocab.I64, false), f("s", vocab.String, false))
	n, s := read(in, typed.ScopeInput, "n"), read(in, typed.ScopeInput, "s")
	i64 := vocab.Scalar(vocab.I64)
	rec := record(mem, in, []any{int64(math.MinInt64), "text"})
	defer rec.Release()
	for _, c := range []struct {
		e    *typed.Expr
		want string
	}{
		{apply(typed.OpDiv, i64, n, lit(0)), "division_by_zero: /: the divisor is zero"},
		{apply(typed.OpRem, i64, n, lit(0)), "division_by_zero: %: the divisor is zero"},
		{apply(typed.OpDiv, i64, n, lit(-1)), "overflow: /: the result is outside I64"},
		{apply(typed.OpRem, i64, n, lit(-1)), ""},
		{apply(typed.OpNeg, i64, n), "overflow: -: the result is outside I64"},
		{apply(typed.OpSub, i64, n, lit(1)), "overflow: -: the result is outside I64"},
		{call("abs", vocab.I64, n), "overflow: abs: the result is outside I64"},
		{apply(typed.OpCast, i64, s), "cast_failed: AS I64: a value of type STRING does not convert"},
		{apply(typed.OpTryCast, i64, s), ""},
		{call("clamp", vocab.I64, n, lit(2), lit(1)), "invalid_argument: clamp: the lower bound is above the upper or a bound is NaN"},
		{call("round", vocab.I64, n, lit(-1)), "overflow: round: the result is outside I64"},
		{call("round", vocab.I64, n, lit(-19)), "overflow: round: the result is outside I64"},
		{call("repeat", vocab.String, s, lit(int64(math.MaxInt64))), "overflow: repeat: the texts of the batch pass what one column holds"},
		{call("lpad", vocab.String, s, lit(int64(math.MaxInt64)), s), "overflow: lpad: the texts of the batch pass what one column holds"},
		{call("uuid_v7", vocab.String), "overflow: uuid_v7: now() is before 1970"},
	} {
		out := fieldsOf(vocab.Field{Name: "o", Type: c.e.Type, Optional: true})
		p, err := CompileConstruction(&typed.Construction{Output: out, Steps: []typed.Step{{Expr: c.e}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		got := p.Run(&Context{Memory: mem, Now: -1, Entropy: counting{}}, &Rows{Input: rec, Select: batch.All(1)}, NewScratch())
		text := ""
		if len(got.Failed) > 0 {
			text = got.Failed[0].Fault.Message()
		}
		if text != c.want {
			t.Errorf("got %q, want %q", text, c.want)
		}
		got.Release()
	}
}

// counting is entropy that gives 0, 1, 2, ...
type counting struct{}

func (counting) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(i)
	}
	return len(p), nil
}

func TestExecutionContext(t *testing.T) {
	mem := checked(t)
	in := fieldsOf(f("k", vocab.String, true))
	rec := record(mem, in, []any{"id"}, []any{nil}, []any{"none"}, []any{"bad"})
	defer rec.Release()
	volatile := func(name string) *typed.Expr {
		e := call(name, vocab.String)
		e.Volatility, e.Optional = typed.Volatile, false
		return e
	}
	header := call("read_header", vocab.String, read(in, typed.ScopeInput, "k"))
	constant := call("read_header", vocab.String, lit("id"))
	p, err := CompileValues(Invoke, 2, call("now", vocab.Datetime), volatile("uuid_v4"), volatile("uuid_v7"), header, constant)
	if err != nil {
		t.Fatal(err)
	}
	ctx := &Context{Memory: mem, Now: 1_700_000_000_123_456_789, Entropy: counting{}, Headers: headers{}}
	rows := &Rows{Input: rec, Select: batch.Rows(4, []int32{0, 1, 3})}
	texts, failed := p.Run(ctx, rows, NewScratch())
	if failed != nil {
		t.Fatal(failed)
	}
	text := func(column, i int) string {
		b, present := texts[column].At(i)
		if !present {
			return "null"
		}
		return string(b)
	}
	if got := text(1, 0) + " " + text(1, 2); got != "00010203-0405-4607-8809-0a0b0c0d0e0f 20212223-2425-4627-a829-2a2b2c2d2e2f" {
		t.Error(got)
	}
	if got := text(2, 1); got != "018bcfe5-687b-7617-9819-1a1b1c1d1e1f" {
		t.Error(got)
	}
	if got := text(3, 0) + " " + text(3, 1) + " " + text(3, 2); got != "header 0 null null" {
		t.Error(got)
	}
	if got := text(4, 0) + " " + text(4, 2); got != "header 0 header 3" {
		t.Error(got)
	}
	if now := as[int64](texts[0].v.fixed)[0]; now != ctx.Now {
		t.Error(now)
	}
}

type headers struct{}

func (headers) Header(row int, name []byte, nth int) (string, bool) {
	switch {
	case string(name) == "id" && nth == 0:
		return fmt.Sprintf("header %d", row), true
	case string(name) == "bad" && nth == 0:
		return "\xff", true
	case string(name) == "trace" && nth <= row:
		return [...]string{"a", "\xff", "b", "c", "d", "e"}[nth], true
	}
	return "", false
}

// TestLists passes lists through INHERIT, CASE-free choices and partial outputs.
func TestLists(t *testing.T) {
	mem := checked(t)
	vec := vocab.VecOf(vocab.Scalar(vocab.String))
	matrix := vocab.ArrayOf(vocab.Scalar(vocab.I64), 2)
	in := fieldsOf(vocab.Field{Name: "v", Type: vec, Optional: true}, vocab.Field{Name: "w", Type: vec}, vocab.Field{Name: "m", Type: matrix, Optional: true}, f("n", vocab.I64, false))
	out := fieldsOf(vocab.Field{Name: "v", Type: vec, Optional: true}, vocab.Field{Name: "c", Type: vec}, vocab.Field{Name: "m", Type: matrix, Optional: true},
		vocab.Field{Name: "none", Type: matrix, Optional: true}, f("null", vocab.Bool, false), f("q", vocab.I64, true))
	v, w := read(in, typed.ScopeInput, "v"), read(in, typed.ScopeInput, "w")
	coalesce := call("coalesce", vocab.Vec, v, w)
	coalesce.Type, coalesce.Fallible = vec, false
	c := &typed.Construction{Output: out, Steps: []typed.Step{
		{Target: 0, Inherit: true, Expr: v}, {Target: 2, Inherit: true, Expr: read(in, typed.ScopeInput, "m")},
		{Target: 1, Expr: coalesce},
		{Target: 4, Expr: call("is_null", vocab.Bool, v)},
		{Target: 5, Expr: apply(typed.OpDiv, vocab.Scalar(vocab.I64), lit(1), read(in, typed.ScopeInput, "n"))},
	}}
	p, err := CompileConstruction(c, true)
	if err != nil {
		t.Fatal(err)
	}
	rec := record(mem, in,
		[]any{[]any{"a", "b"}, []any{"c"}, []any{1, 2}, 1}, []any{nil, []any{}, nil, 0}, []any{nil, []any{"d"}, []any{3, 4}, 1}, []any{[]any{}, []any{"e"}, nil, 0})
	defer rec.Release()
	for _, selection := range []batch.Selection{batch.All(4), batch.Rows(4, []int32{0, 2, 3})} {
		got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: selection}, NewScratch())
		if s := show(got.Batch); s != `["a","b"] ["a","b"] [1,2] (null) false 1; (null) ["d"] [3,4] (null) true 1` {
			t.Error(s)
		}
		partial := `[] [] (null) (null) false (null)`
		if selection.IsAll() {
			partial = `(null) [] (null) (null) true (null); ` + partial
		}
		if s := show(got.Partial); s != partial {
			t.Error(s)
		}
		got.Release()
	}
}

// TestUnchangedColumnsShareBuffers looks for copies where nothing changes.
func TestUnchangedColumnsShareBuffers(t *testing.T) {
	mem := checked(t)
	in := fieldsOf(f("s", vocab.String, false), f("n", vocab.I64, false))
	c := &typed.Construction{Output: in, Steps: []typed.Step{
		{Target: 0, Inherit: true, Expr: read(in, typed.ScopeInput, "s")}, {Target: 1, Expr: read(in, typed.ScopeInput, "n")}}}
	p, err := CompileConstruction(c, false)
	if err != nil {
		t.Fatal(err)
	}
	rec := record(mem, in, []any{"a", 1}, []any{"b", 2})
	defer rec.Release()
	before := mem.CurrentAlloc()
	got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(2)}, NewScratch())
	defer got.Release()
	if mem.CurrentAlloc() != before || got.Batch.Column(0) != rec.Column(0) {
		t.Errorf("%d bytes were allocated", mem.CurrentAlloc()-before)
	}
}

// TestColumnLimit makes columns hold 100 bytes: rows that find no room fail, the
// others do not notice.
func TestColumnLimit(t *testing.T) {
	mem := checked(t)
	in := fieldsOf(f("s", vocab.String, false))
	s := read(in, typed.ScopeInput, "s")
	out := fieldsOf(f("o", vocab.String, true))
	ten := strings.Repeat("x", 10)
	var rows [][]any
	for range 20 {
		rows = append(rows, []any{ten})
	}
	rec := record(mem, in, rows...)
	defer rec.Release()
	text := vocab.Scalar(vocab.String)
	for _, c := range []struct {
		name string
		e    *typed.Expr
	}{
		{"upper", call("upper", vocab.String, call("trim", vocab.String, s))},
		{"concat", call("concat", vocab.String, s, lit(""))},
		{"concat_ws", call("concat_ws", vocab.String, lit(""), s)},
		{"repeat", call("repeat", vocab.String, s, lit(1))},
		{"replace", call("replace", vocab.String, s, lit("x"), lit("y"))},
		{"translate", call("translate", vocab.String, s, lit("x"), lit("y"))},
		{"lpad", call("lpad", vocab.String, s, lit(10), s)},
		{"rpad", call("rpad", vocab.String, lit(""), lit(10), s)},
		{"literal", lit(ten)},
		{"reverse", call("reverse", vocab.String, s)},
		{"coalesce", call("coalesce", vocab.String, call("nullif", vocab.String, s, lit("")), lit(ten))},
		{"case", apply(typed.OpCase, text, lit(true), s, lit("z"))},
	} {
		p, err := CompileConstruction(&typed.Construction{Output: out, Steps: []typed.Step{{Expr: c.e}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		scratch := NewScratch()
		scratch.columnBytes = 100
		got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(20)}, scratch)
		if got.Batch.NumRows() != 10 || len(got.Failed) != 10 || got.Failed[0].Row != 10 || got.Failed[0].Fault.Kind != Overflow {
			t.Errorf("%s: %d rows, failed %v", c.name, got.Batch.NumRows(), got.Failed)
		}
		got.Release()
	}
}

// TestArmsOfCaseAreLazy shows that operations in arms a row does not take neither
// fail nor consume randomness.
func TestArmsOfCaseAreLazy(t *testing.T) {
	mem := checked(t)
	in := fieldsOf(f("n", vocab.I64, true))
	n := read(in, typed.ScopeInput, "n")
	i64, truth := vocab.Scalar(vocab.I64), vocab.Scalar(vocab.Bool)
	guarded := apply(typed.OpCase, i64,
		apply(typed.OpEq, truth, n, lit(0)), lit(-1),
		apply(typed.OpGt, truth, apply(typed.OpDiv, i64, lit(100), n), lit(10)), apply(typed.OpDiv, i64, lit(1000), n),
		lit(7))
	p, err := CompileConstruction(&typed.Construction{Output: fieldsOf(f("o", vocab.I64, true)), Steps: []typed.Step{{Expr: guarded}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	rec := record(mem, in, []any{0}, []any{5}, []any{50}, []any{nil})
	defer rec.Release()
	got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(4)}, NewScratch())
	defer got.Release()
	if s := show(got.Batch); s != "-1; 200; 7; 7" || got.Failed != nil {
		t.Error(s, got.Failed)
	}
}

// TestSharedResultsStopAtAssignments reads a field before and after it is
// overwritten.
func TestSharedResultsStopAtAssignments(t *testing.T) {
	mem := checked(t)
	in := fieldsOf(f("s", vocab.String, false))
	out := fieldsOf(f("a", vocab.String, false), f("x", vocab.I64, false), f("y", vocab.I64, false))
	length := func() *typed.Expr {
		e := call("length", vocab.I64, read(out, typed.ScopeOutput, "a"))
		e.Fallible = false
		return e
	}
	p, err := CompileConstruction(&typed.Construction{Output: out, Steps: []typed.Step{
		{Target: 0, Expr: read(in, typed.ScopeInput, "s")}, {Target: 1, Expr: length()},
		{Target: 0, Expr: call("concat", vocab.String, read(out, typed.ScopeOutput, "a"), lit("!!"))}, {Target: 2, Expr: length()}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	rec := record(mem, in, []any{"abc"})
	defer rec.Release()
	got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(1)}, NewScratch())
	defer got.Release()
	if s := show(got.Batch); s != "abc!! 3 5" {
		t.Error(s)
	}
}

// TestDeepTrees compiles and runs the longest chain that the parser lets
// through at one nesting level many times over.
func TestDeepTrees(t *testing.T) {
	in := fieldsOf(f("n", vocab.I64, false))
	truth := vocab.Scalar(vocab.Bool)
	e := apply(typed.OpEq, truth, read(in, typed.ScopeInput, "n"), lit(-1))
	e.Fallible = false
	for i := range 30_000 {
		next := apply(typed.OpEq, truth, read(in, typed.ScopeInput, "n"), lit(i))
		next.Fallible = false
		e = apply(typed.OpOr, truth, e, next)
		e.Fallible = false
	}
	p, err := CompileFilter(e, FilterWhere)
	if err != nil {
		t.Fatal(err)
	}
	mem := checked(t)
	rec := record(mem, in, []any{29_999}, []any{30_000})
	defer rec.Release()
	keep, _ := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(2)}, NewScratch())
	if keep.Len() != 1 || keep.At(0) != 0 {
		t.Error(keep.AppendRows(nil))
	}
}

// TestEqualSubexpressionsRunOnce counts evaluations by the slots they share.
func TestEqualSubexpressionsRunOnce(t *testing.T) {
	in := fieldsOf(f("s", vocab.String, false), f("n", vocab.I64, false))
	length := func() *typed.Expr {
		e := call("length", vocab.I64, read(in, typed.ScopeInput, "s"))
		e.Fallible = false
		return e
	}
	sum := apply(typed.OpAdd, vocab.Scalar(vocab.I64), length(), length())
	c := newCompiler(nil)
	d, err := c.clause(FilterWhere, NoIndex, -1, sum)
	if err != nil {
		t.Fatal(err)
	}
	if d.args[0] != d.args[1] || d.args[0].slot != 0 || d.slot != -1 || c.slots != 1 {
		t.Errorf("slots %d, %+v", c.slots, d)
	}
	constant := call("length", vocab.I64, lit("folded"))
	constant.Fallible = false
	d, err = c.clause(FilterWhere, NoIndex, -1, constant)
	if err != nil || d.constant == nil || as[int64](d.constant.fixed)[0] != 6 {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestFilter(t *testing.T) {
	mem := checked(t)
	in := fieldsOf(f("b", vocab.Bool, true))
	rec := record(mem, in, []any{true}, []any{false}, []any{nil}, []any{true})
	defer rec.Release()
	p, err := CompileFilter(read(in, typed.ScopeInput, "b"), FilterWhere)
	if err != nil {
		t.Fatal(err)
	}
	scratch := NewScratch()
	keep, failed := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(4)}, scratch)
	if got := fmt.Sprint(keep.AppendRows(nil), failed); got != "[0 3] []" {
		t.Error(got)
	}
	keep, _ = p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.Rows(4, []int32{1, 2, 3})}, scratch)
	if got := fmt.Sprint(keep.AppendRows(nil)); got != "[3]" {
		t.Error(got)
	}
	always, err := CompileFilter(lit(true), FilterWhere)
	if err != nil {
		t.Fatal(err)
	}
	if keep, _ = always.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(4)}, scratch); !keep.IsAll() {
		t.Error(keep)
	}
	none, _ := CompileFilter(nil, FilterWhere)
	if keep, _ = none.Run(nil, &Rows{Select: batch.All(4)}, nil); keep.Len() != 4 {
		t.Error(keep)
	}
}

func TestFunctionsThatRunHaveAKernel(t *testing.T) {
	for _, name := range typed.Functions() {
		if (builtins[name] != nil) != typed.Runs(name) {
			t.Errorf("%s: runs=%v, has a kernel: %v", name, typed.Runs(name), builtins[name] != nil)
		}
	}
	if _, err := CompileFilter(call("no_such", vocab.Bool), FilterWhere); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
	bytes := &typed.Expr{Op: typed.OpLiteral, Type: vocab.Scalar(vocab.Bytes)}
	if _, err := CompileFilter(apply(typed.OpCast, vocab.Scalar(vocab.Bool), bytes), FilterWhere); !errors.Is(err, ErrUnsupported) {
		t.Error(err)
	}
}

func TestRound(t *testing.T) {
	for _, c := range []struct {
		x    float64
		d    int64
		size int
		want float64
	}{
		{2.675, 2, 64, 2.67}, {2.5, 0, 64, 3}, {-2.5, 0, 64, -3}, {0.125, 2, 64, 0.13}, {-0.125, 2, 64, -0.13}, {0.375, 2, 64, 0.38},
		{1e15 + 0.5, 0, 64, 1e15 + 1}, {123456, -3, 64, 123000}, {1500, -3, 64, 2000}, {-1500, -3, 64, -2000}, {1499.9, -3, 64, 1000},
		{1e300, -299, 64, 1e300}, {6e307, -308, 64, 1e308}, {1.7976931348623157e308, -308, 64, math.Inf(1)}, {-0.1, 0, 64, math.Copysign(0, -1)},
		{5e-324, 1074, 64, 5e-324}, {0.1, 400, 64, 0.1}, {1, -400, 64, 0}, {-1, -400, 64, math.Copysign(0, -1)},
		{float64(float32(0.7)), 1, 32, float64(float32(0.7))}, {float64(float32(16777216)), -1, 32, 16777220},
	} {
		if got := roundFloat(c.x, c.d, c.size); math.Float64bits(got) != math.Float64bits(c.want) {
			t.Errorf("round(%v, %d) = %v, want %v", c.x, c.d, got, c.want)
		}
	}
}
