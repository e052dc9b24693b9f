package expr

import (
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"pgregory.net/rapid"

	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// textsOf returns a batch of one required STRING column s.
func textsOf(mem memory.Allocator, texts []string) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, batch.ArrowSchema(textSchema))
	defer b.Release()
	b.Field(0).(*array.StringBuilder).AppendValues(texts, nil)
	return b.NewRecordBatch()
}

var textSchema = fieldsOf(f("s", vocab.String, false))

// TestContainsOverWholeBuffers covers the search through all bytes of a column,
// where a find may lie across two rows.
func TestContainsOverWholeBuffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[ab]{0,6}`), 2, 80).Draw(t, "texts")
		needle := rapid.StringMatching(`[ab]{0,4}`).Draw(t, "needle")
		p, err := CompileFilter(call("contains", vocab.Bool, read(textSchema, typed.ScopeInput, "s"), lit(needle)), FilterWhere)
		if err != nil {
			t.Fatal(err)
		}
		rec := textsOf(memory.DefaultAllocator, texts)
		defer rec.Release()
		from := rapid.IntRange(0, len(texts)-1).Draw(t, "from")
		slice := rec.NewSlice(int64(from), int64(len(texts)))
		defer slice.Release()
		keep, _ := p.Run(&Context{Memory: memory.DefaultAllocator}, &Rows{Input: slice, Select: batch.All(len(texts) - from)}, NewScratch())
		at := 0
		for i, s := range texts[from:] {
			held := at < keep.Len() && int(keep.At(at)) == i
			if held {
				at++
			}
			if held != strings.Contains(s, needle) {
				t.Fatalf("%q contains %q: %t", s, needle, held)
			}
		}
	})
}

// TestCasesOverWholeBuffers covers the mapping of all bytes of a column at once.
func TestCasesOverWholeBuffers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		texts := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z@\[\x60{~ ]{0,70}`), 1, 40).Draw(t, "texts")
		if rapid.Bool().Draw(t, "beyond") {
			texts[len(texts)/2] += "straße"
		}
		out := fieldsOf(f("u", vocab.String, false), f("l", vocab.String, false))
		s := read(textSchema, typed.ScopeInput, "s")
		p, err := CompileConstruction(&typed.Construction{Output: out, Steps: []typed.Step{
			{Target: 0, Expr: call("upper", vocab.String, s)}, {Target: 1, Expr: call("lower", vocab.String, s)}}}, false)
		if err != nil {
			t.Fatal(err)
		}
		rec := textsOf(memory.DefaultAllocator, texts)
		defer rec.Release()
		got := p.Run(&Context{Memory: memory.DefaultAllocator}, &Rows{Input: rec, Select: batch.All(len(texts))}, NewScratch())
		defer got.Release()
		for i, s := range texts {
			upper := strings.ReplaceAll(strings.ToUpper(s), "ß", "SS")
			if u, l := got.Batch.Column(0).ValueStr(i), got.Batch.Column(1).ValueStr(i); u != upper || l != strings.ToLower(s) {
				t.Fatalf("%q: %q, %q", s, u, l)
			}
		}
	})
}

// TestFullMappings compares every character with the library.
func TestFullMappings(t *testing.T) {
	upper, lower := cases.Upper(language.Und), cases.Lower(language.Und)
	if len(expansions) != 102 {
		t.Errorf("%d expansions", len(expansions))
	}
	for r := rune(0x80); r < 0x20000; r++ {
		if r >= 0xd800 && r < 0xe000 {
			continue
		}
		s := []byte(string(r))
		if got, want := string(toUpper.append(nil, s)), upper.String(string(r)); got != want {
			t.Errorf("upper of %U is %q, want %q", r, got, want)
		}
		if got, want := string(toLower.append(nil, s)), lower.String(string(r)); got != want {
			t.Errorf("lower of %U is %q, want %q", r, got, want)
		}
	}
}

// TestTextFunctions has the rules that random texts seldom meet.
func TestTextFunctions(t *testing.T) {
	text, i64 := vocab.String, vocab.I64
	for _, c := range []struct {
		e    *typed.Expr
		want string
	}{
		{call("upper", text, lit("ß")), "SS"}, {call("upper", text, lit("ﬃ ŉ")), "FFI ʼN"}, {call("lower", text, lit("ΣΑΣ İ")), "σας i̇"},
		{call("initcap", text, lit("hELLO wORLD-2nd élan")), "Hello World-2nd Élan"},
		{call("trim", text, lit("\u2003\t a b \u00a0\n")), "a b"},
		{call("left", text, lit("héllo"), lit(2)), "hé"}, {call("left", text, lit("héllo"), lit(-2)), "hél"},
		{call("left", text, lit("héllo"), lit(int64(math.MinInt64))), ""}, {call("right", text, lit("héllo"), lit(2)), "lo"},
		{call("right", text, lit("héllo"), lit(-2)), "llo"}, {call("right", text, lit("héllo"), lit(99)), "héllo"},
		{call("substr", text, lit("héllo"), lit(-3)), "héllo"}, {call("substr", text, lit("héllo"), lit(2), lit(2)), "él"},
		{call("substr", text, lit("héllo"), lit(9)), ""}, {call("substr", text, lit("héllo"), lit(2), lit(-1)), ""},
		{call("replace", text, lit("aaa"), lit("aa"), lit("b")), "ba"}, {call("replace", text, lit("hé"), lit(""), lit("-")), "-h-é-"},
		{call("translate", text, lit("banana"), lit("ana"), lit("12")), "b12121"}, {call("translate", text, lit("añb"), lit("ñ"), lit("é")), "aéb"},
		{call("lpad", text, lit("né"), lit(5), lit("ab")), "abané"}, {call("rpad", text, lit("né"), lit(5), lit("ab")), "néaba"},
		{call("lpad", text, lit("héllo"), lit(2), lit("x")), "hé"}, {call("lpad", text, lit("hi"), lit(5), lit("")), "hi"},
		{call("lpad", text, lit("hi"), lit(-1), lit("x")), ""},
		{call("split_part", text, lit("a,b,,c"), lit(","), lit(3)), ""}, {call("split_part", text, lit("a,b,,c"), lit(","), lit(4)), "c"},
		{call("split_part", text, lit("a,b"), lit(","), lit(3)), ""}, {call("split_part", text, lit("a,b"), lit(""), lit(1)), "a,b"},
		{call("split_part", text, lit("a,b"), lit(","), lit(0)), ""},
		{call("strpos", i64, lit("héllo"), lit("llo")), "3"}, {call("strpos", i64, lit("x"), lit("")), "1"}, {call("strpos", i64, lit("x"), lit("y")), "0"},
		{call("ascii", i64, lit("é")), "233"}, {call("ascii", i64, lit("")), "0"}, {call("length", i64, lit("日本語 text of words")), "17"},
		{call("to_hex", text, lit(-1)), "ffffffffffffffff"}, {call("to_hex", text, lit(255)), "ff"},
		{call("md5", text, lit("abc")), "900150983cd24fb0d6963f7d28e17f72"},
		{call("concat_ws", text, lit("-"), lit("a"), lit(""), lit("b")), "a--b"},
		{cast("1e9", vocab.F64), "1e+09"}, {cast(".5", vocab.F64), "0.5"}, {cast("5.", vocab.F64), "5"}, {cast("-Infinity", vocab.F64), "-Inf"},
		{cast("+nan", vocab.F64), "NaN"}, {cast("1e999", vocab.F64), "+Inf"}, {cast("0x10", vocab.F64), "failed: cast_failed"}, {cast("1_0", vocab.F64), "failed: cast_failed"},
		{cast(".", vocab.F64), "failed: cast_failed"}, {cast("1e", vocab.F64), "failed: cast_failed"}, {cast(" 1", vocab.F64), "failed: cast_failed"}, {cast("infinit", vocab.F64), "failed: cast_failed"},
		{cast("+7", i64), "7"}, {cast("-9223372036854775808", i64), "-9223372036854775808"}, {cast("9223372036854775808", i64), "failed: cast_failed"},
		{cast("99999999999999999999", i64), "failed: cast_failed"}, {cast("+-7", i64), "failed: cast_failed"}, {cast("", i64), "failed: cast_failed"}, {cast("-0", vocab.U8), "0"}, {cast("-1", vocab.U8), "failed: cast_failed"},
		{cast(" ON ", vocab.Bool), "true"}, {cast("of", vocab.Bool), "false"}, {cast("tr ue", vocab.Bool), "failed: cast_failed"},
		{apply(typed.OpCast, vocab.Scalar(text), lit(1e21)), "1000000000000000000000"}, {apply(typed.OpCast, vocab.Scalar(text), lit(math.Copysign(0, -1))), "-0"},
		{apply(typed.OpCast, vocab.Scalar(text), lit(math.Inf(-1))), "-inf"}, {apply(typed.OpCast, vocab.Scalar(text), lit(math.NaN())), "NaN"},
		{apply(typed.OpCast, vocab.Scalar(i64), lit(-0x1p63)), "-9223372036854775808"}, {apply(typed.OpCast, vocab.Scalar(i64), lit(0x1p63)), "failed: cast_failed"},
		{apply(typed.OpCast, vocab.Scalar(vocab.U8), lit(-0.99)), "0"}, {apply(typed.OpCast, vocab.Scalar(vocab.U8), lit(255.99)), "255"},
	} {
		if got := evaluate(t, c.e); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.e.Func, c.e.Type, got, c.want)
		}
	}
}

// evaluate computes an expression without columns: its value, "(null)", or the kind
// of its failure behind "failed".
func evaluate(t *testing.T, e *typed.Expr) string {
	p, err := CompileConstruction(&typed.Construction{Output: fieldsOf(vocab.Field{Name: "o", Type: e.Type, Optional: true}), Steps: []typed.Step{{Expr: e}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	mem := memory.NewCheckedAllocator(batchtest.Soiled{})
	defer mem.AssertSize(t, 0)
	rec := textsOf(mem, []string{"", ""})
	defer rec.Release()
	got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(2)}, NewScratch())
	defer got.Release()
	if len(got.Failed) > 0 {
		return "failed: " + got.Failed[0].Fault.Kind.String()
	}
	return strings.Clone(got.Batch.Column(0).ValueStr(1)) // the batch ends here
}

func cast(s string, to vocab.Kind) *typed.Expr {
	return apply(typed.OpCast, vocab.Scalar(to), lit(s))
}
