package expr

import (
	"strings"
	"testing"

	"plexus/engine/batch"
	"plexus/nspl/parse"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// typedText is an expression as the language has it.
func typedText(t *testing.T, text string, in *vocab.Schema) *typed.Expr {
	e, err := parse.Expression(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	list, found := typed.CheckValues([]typed.Value{{Name: "v", Expr: e}}, typed.Env{Place: "VALUES", Input: in})
	if len(found) > 0 {
		t.Fatalf("%s: %v", text, found)
	}
	return list[0]
}

// valuesOf computes an expression for rows and lists what it comes to: failures as
// their kind, null as "-".
func valuesOf(t *testing.T, text string, in *vocab.Schema, rows ...[]any) string {
	e := typedText(t, text, in)
	p, err := CompileConstruction(&typed.Construction{Output: fieldsOf(vocab.Field{Name: "o", Type: e.Type, Optional: true}), Steps: []typed.Step{{Expr: e}}}, false)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	mem := checked(t)
	rec := record(mem, in, rows...)
	defer rec.Release()
	got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(len(rows))}, NewScratch())
	defer got.Release()
	out := make([]string, len(rows))
	for _, x := range got.Failed {
		out[x.Row] = x.Fault.Kind.String()
	}
	next := 0
	for i := range out {
		if out[i] != "" {
			continue
		}
		out[i] = strings.NewReplacer("(null)", "-", "true", "T", "false", "F").Replace(got.Batch.Column(0).ValueStr(next))
		next++
	}
	return strings.Join(out, " ")
}

// TestThreeValuedLogic is chapter 11 sections 6.1 to 6.3 and 7 over every pair of
// TRUE, FALSE and null, and of 1, 2 and null.
func TestThreeValuedLogic(t *testing.T) {
	truths := fieldsOf(f("a", vocab.Bool, true), f("b", vocab.Bool, true))
	numbers := fieldsOf(f("a", vocab.I64, true), f("b", vocab.I64, true))
	pairs := func(values ...any) (rows [][]any) {
		for _, a := range values {
			for _, b := range values {
				rows = append(rows, []any{a, b})
			}
		}
		return rows
	}
	for _, c := range []struct {
		in   *vocab.Schema
		text string
		want string // of a: T T T F F F - - -, and of b: T F - T F - T F -
	}{
		{truths, "a AND b", "T F - F F F - F -"},
		{truths, "a OR b", "T T T T F - T - -"},
		{truths, "NOT a", "F F F T T T - - -"},
		{truths, "NOT (a AND b)", "F T - T T T - T -"},
		{truths, "NOT a OR NOT b", "F T - T T T - T -"},
		{truths, "a = b", "T F - F T - - - -"},
		{truths, "a != b", "F T - T F - - - -"},
		{truths, "a IS DISTINCT FROM b", "F T T T F T T T F"},
		{truths, "a IS NOT DISTINCT FROM b", "T F F F T F F F T"},
		{truths, "is_null(a)", "F F F F F F T T T"},
		{truths, "coalesce(a, b)", "T T T F F F T F -"},
		{truths, "nullif(a, b)", "- T T F - F - - -"},
		{truths, "a IN (TRUE)", "T T T F F F - - -"},
		{truths, "a NOT IN (TRUE)", "F F F T T T - - -"},
		{truths, "a IN ()", "F F F F F F F F F"},
		{truths, "a NOT IN ()", "T T T T T T T T T"},
		{truths, "greatest(a, b)", "T T T T F F T F -"},
		{truths, "least(a, b)", "T F T F F F T F -"},
		{truths, "IF a THEN 'yes' ELSE 'no' END", "yes yes yes no no no no no no"},
		{truths, "CASE WHEN a THEN 'a' WHEN b THEN 'b' END", "a a a b - - b - -"},
		{truths, "CASE a WHEN b THEN 'same' ELSE 'other' END", "same other other other same other other other other"},
		{truths, "IF a AND b THEN 1 ELSE 0 END", "1 0 0 0 0 0 0 0 0"},

		{numbers, "a = b", "T F - F T - - - -"},
		{numbers, "a < b", "F T - F F - - - -"},
		{numbers, "a >= b", "T F - T T - - - -"},
		{numbers, "a + b", "2 3 - 3 4 - - - -"},
		{numbers, "a IS DISTINCT FROM b", "F T T T F T T T F"},
		{numbers, "a BETWEEN 1 AND b", "T T - F T - - - -"},
		{numbers, "a NOT BETWEEN 1 AND b", "F F - T F - - - -"},
		{numbers, "a BETWEEN 2 AND b", "F F F F T - - - -"},
		{numbers, "b BETWEEN a AND 1", "T F - F F - - F -"},
		{numbers, "a IN (1, 3)", "T T T F F F - - -"},
		{numbers, "a NOT IN (1, 3)", "F F F T T T - - -"},
		{numbers, "a > 0 AND 10 / (b - 1) > 0", "division_by_zero T - division_by_zero T - division_by_zero - -"},
		{numbers, "CASE WHEN b != 1 THEN 10 / (b - 1) ELSE 0 END", "0 10 0 0 10 0 0 10 0"},
	} {
		values := []any{true, false, nil}
		if c.in == numbers {
			values = []any{1, 2, nil}
		}
		if got := valuesOf(t, c.text, c.in, pairs(values...)...); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestFolding: a part that is immutable, cannot fail and reads only literals is
// computed when it is compiled, by the kernel that would have run; nothing else is.
func TestFolding(t *testing.T) {
	in := fieldsOf(f("x", vocab.I64, false), f("s", vocab.String, false), f("b", vocab.Bool, false), f("v", vocab.F64, false))
	row := []any{5, "ab", true, 2.5}
	for _, c := range []struct {
		literals, fields string // the same over literals and over fields of the row
		folds            bool
	}{
		{"5 = 5", "x = 5", true}, {"5 < 4", "x < 4", true}, {"'ab' >= 'aa'", "s >= 'aa'", true}, {"2.5 != 2.0", "v != 2.0", true},
		{"NOT TRUE", "NOT b", true}, {"TRUE AND FALSE", "b AND FALSE", true}, {"FALSE OR TRUE", "FALSE OR b", true},
		{"5 IS DISTINCT FROM 6", "x IS DISTINCT FROM 6", true}, {"5 IN (1, 5)", "x IN (1, 5)", true}, {"'ab' NOT IN ('x')", "s NOT IN ('x')", true},
		{"5 BETWEEN 1 AND 9", "x BETWEEN 1 AND 9", true}, {"length('ab')", "length(s)", true}, {"is_null('ab')", "is_null(s)", true},
		{"coalesce('ab', 'x')", "coalesce(s, 'x')", true}, {"starts_with('ab', 'a')", "starts_with(s, 'a')", true}, {"strpos('ab', 'b')", "strpos(s, 'b')", true},
		{"CASE WHEN TRUE THEN 5 ELSE 6 END", "CASE WHEN b THEN x ELSE 6 END", true}, {"IF 5 > 4 THEN 'ab' ELSE '' END", "IF x > 4 THEN s ELSE '' END", true},
		{"greatest(5, 4)", "greatest(x, 4)", true}, {"length('ab') = 2 AND 5 IN (5)", "length(s) = 2 AND x IN (5)", true},

		{"5 + 1", "x + 1", false}, {"5 / 2", "x / 2", false}, {"2.5 * 2.0", "v * 2.0", false}, {"-(5 + 0)", "-x", false}, {"5 AS U8", "x AS U8", false},
		{"5 AS F64", "x AS F64", false}, {"5 AS STRING", "x AS STRING", false}, {"TRY_CAST('ab' AS I64)", "TRY_CAST(s AS I64)", false}, {"upper('ab')", "upper(s)", false}, {"concat('ab', 'c')", "concat(s, 'c')", false},
		{"5 + 1 = 6", "x + 1 = 6", false}, {"round(2.5)", "round(v)", false}, {"length(upper('ab'))", "length(upper(s))", false},
	} {
		d, err := newCompiler(nil).clause(FilterWhere, NoIndex, -1, typedText(t, c.literals, in))
		if err != nil {
			t.Fatalf("%s: %v", c.literals, err)
		}
		if folded := d.constant != nil; folded != c.folds {
			t.Errorf("%s folds: %t", c.literals, folded)
		}
		if a, b := valuesOf(t, c.literals, in, row), valuesOf(t, c.fields, in, row); a != b {
			t.Errorf("%s is %s, and %s is %s", c.literals, a, c.fields, b)
		}
		d, err = newCompiler(nil).clause(FilterWhere, NoIndex, -1, typedText(t, c.fields, in))
		if err != nil || d.constant != nil {
			t.Errorf("%s folds: %v", c.fields, err)
		}
	}
	for _, text := range []string{"now()", "uuid_v4()", "is_null(now())", "length(uuid_v4())"} {
		if d, err := newCompiler(nil).clause(FilterWhere, NoIndex, -1, typedText(t, text, in)); err == nil && d.constant != nil {
			t.Errorf("%s folds", text)
		}
	}
}
