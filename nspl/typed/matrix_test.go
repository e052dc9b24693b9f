package typed

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/nspl/vocab"
)

// matrixTypes are the types that are tried everywhere, each a field of the input
// called like it.
var matrixTypes = []struct {
	name string
	of   vocab.Type
}{
	{"u8", vocab.Scalar(vocab.U8)}, {"u16", vocab.Scalar(vocab.U16)}, {"u32", vocab.Scalar(vocab.U32)}, {"u64", vocab.Scalar(vocab.U64)},
	{"i8", vocab.Scalar(vocab.I8)}, {"i16", vocab.Scalar(vocab.I16)}, {"i32", vocab.Scalar(vocab.I32)}, {"i64", vocab.Scalar(vocab.I64)},
	{"f32", vocab.Scalar(vocab.F32)}, {"f64", vocab.Scalar(vocab.F64)}, {"bool", vocab.Scalar(vocab.Bool)}, {"string", vocab.Scalar(vocab.String)},
	{"bytes", vocab.Scalar(vocab.Bytes)}, {"datetime", vocab.Scalar(vocab.Datetime)},
	{"vec_i64", vocab.VecOf(vocab.Scalar(vocab.I64))}, {"vec_string", vocab.VecOf(vocab.Scalar(vocab.String))},
	{"vec_bytes", vocab.VecOf(vocab.Scalar(vocab.Bytes))}, {"array_f64", vocab.ArrayOf(vocab.Scalar(vocab.F64), 2)},
	{"vec_vec_i64", vocab.VecOf(vocab.VecOf(vocab.Scalar(vocab.I64)))},
}

// matrixEnv has a field of each type, one that may be null as name_o, and a
// sensitive one as name_s.
func matrixEnv() Env {
	s := &vocab.Schema{Name: "s"}
	for _, t := range matrixTypes {
		s.Fields = append(s.Fields, vocab.Field{Name: t.name, Type: t.of}, vocab.Field{Name: t.name + "_o", Type: t.of, Optional: true},
			vocab.Field{Name: t.name + "_s", Type: t.of, Sensitive: true})
	}
	return Env{Input: s, Place: "x", Headers: true}
}

// checkText checks an expression, which stands in an aggregating SET where window
// says so.
func checkText(t *testing.T, text string, window bool) (*Expr, ast.Diagnostics) {
	e, err := parse.Expression(text)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	env := matrixEnv()
	c := begin(env, env.row())
	if window {
		c.env.Aggregates = true
		inside := reading{}.with(from(ScopeInput, env.Input), ast.ScopeInput)
		c.aggregated = &inside
		ast.Walk(e, func(x ast.Expr) {
			if f, ok := x.(*ast.Field); ok {
				f.Scope = ast.ScopeInput
			}
		})
	}
	return c.expr(e, nil), c.found
}

// call is a function with arguments that it takes: %1, %2 and so on are fields of the
// types that follow.
type matrixCall struct {
	text  string
	types []string
}

func (m matrixCall) with(fields ...string) string {
	text := m.text
	for i, f := range fields {
		text = strings.ReplaceAll(text, fmt.Sprintf("%%%d", i+1), f)
	}
	return text
}

// matrixCalls calls every builtin in every form.
var matrixCalls = []matrixCall{
	{"coalesce(%1, %1)", []string{"string"}}, {"is_null(%1)", []string{"string"}}, {"nullif(%1, %1)", []string{"string"}},
	{"greatest(%1, %1)", []string{"i64"}}, {"least(%1, %1)", []string{"i64"}}, {"clamp(%1, %1, %1)", []string{"i64"}},
	{"leak_sensitive(%1)", []string{"string"}}, {"now()", nil}, {"uuid_v4()", nil}, {"uuid_v7()", nil},
	{"lower(%1)", []string{"string"}}, {"upper(%1)", []string{"string"}}, {"initcap(%1)", []string{"string"}}, {"trim(%1)", []string{"string"}},
	{"ltrim(%1)", []string{"string"}}, {"rtrim(%1)", []string{"string"}}, {"length(%1)", []string{"string"}}, {"octet_length(%1)", []string{"string"}},
	{"bit_length(%1)", []string{"string"}}, {"ascii(%1)", []string{"string"}}, {"left(%1, %2)", []string{"string", "i64"}},
	{"right(%1, %2)", []string{"string", "i64"}}, {"substr(%1, %2, %3)", []string{"string", "i64", "i64"}}, {"substr(%1, %2)", []string{"string", "i64"}},
	{"concat(%1, %2)", []string{"string", "string"}}, {"concat_ws(%1, %2)", []string{"string", "string"}}, {"repeat(%1, %2)", []string{"string", "i64"}},
	{"replace(%1, %2, %3)", []string{"string", "string", "string"}}, {"reverse(%1)", []string{"string"}},
	{"translate(%1, %2, %3)", []string{"string", "string", "string"}}, {"lpad(%1, %2, %3)", []string{"string", "i64", "string"}},
	{"rpad(%1, %2, %3)", []string{"string", "i64", "string"}}, {"split_part(%1, %2, %3)", []string{"string", "string", "i64"}},
	{"split(%1, %2)", []string{"string", "string"}}, {"join(%1, %2)", []string{"vec_string", "string"}}, {"normalize_nfc(%1)", []string{"string"}},
	{"strpos(%1, %2)", []string{"string", "string"}}, {"to_hex(%1)", []string{"i64"}}, {"md5(%1)", []string{"string"}},
	{"contains(%1, %2)", []string{"string", "string"}}, {"contains(%1, %2)", []string{"vec_i64", "i64"}}, {"starts_with(%1, %2)", []string{"string", "string"}},
	{"ends_with(%1, %2)", []string{"string", "string"}}, {"contains_any(%1, %2)", []string{"string", "vec_string"}},
	{"like(%1, %2)", []string{"string", "string"}}, {"ilike(%1, %2)", []string{"string", "string"}},
	{"regexp_like(%1, %2)", []string{"string", "string"}}, {"regexp_replace(%1, %2, %3)", []string{"string", "string", "string"}},
	{"regexp_substr(%1, %2)", []string{"string", "string"}}, {"regexp_extract(%1, %2, %3)", []string{"string", "string", "i64"}},
	{"bytes_from_utf8(%1)", []string{"string"}}, {"bytes_to_utf8(%1)", []string{"bytes"}}, {"base64_encode(%1)", []string{"bytes"}},
	{"base64_decode(%1)", []string{"string"}}, {"hex_encode(%1)", []string{"bytes"}}, {"hex_decode(%1)", []string{"string"}},
	{"sha256(%1)", []string{"bytes"}}, {"xxh3_64(%1)", []string{"bytes"}}, {"ip_from_string(%1)", []string{"string"}},
	{"ip_to_string(%1)", []string{"bytes"}}, {"ip_family(%1)", []string{"bytes"}}, {"ip_trunc(%1, %2)", []string{"bytes", "i64"}},
	{"ip_in_network(%1, %2)", []string{"bytes", "string"}}, {"ip_unmap(%1)", []string{"bytes"}}, {"is_ip_address(%1)", []string{"string"}},
	{"url_scheme(%1)", []string{"string"}}, {"url_host(%1)", []string{"string"}}, {"url_port(%1)", []string{"string"}}, {"url_path(%1)", []string{"string"}},
	{"url_query(%1)", []string{"string"}}, {"url_fragment(%1)", []string{"string"}}, {"url_query_value(%1, %2)", []string{"string", "string"}},
	{"url_query_values(%1, %2)", []string{"string", "string"}}, {"url_decode(%1)", []string{"string"}}, {"is_url(%1)", []string{"string"}},
	{"abs(%1)", []string{"i64"}}, {"ceil(%1)", []string{"f64"}}, {"floor(%1)", []string{"f64"}}, {"round(%1)", []string{"f64"}},
	{"round(%1, %2)", []string{"f64", "i64"}}, {"trunc(%1)", []string{"f64"}}, {"sign(%1)", []string{"f64"}}, {"acos(%1)", []string{"f64"}},
	{"asin(%1)", []string{"f64"}}, {"atan(%1)", []string{"f64"}}, {"atan2(%1, %2)", []string{"f64", "f64"}}, {"cos(%1)", []string{"f64"}},
	{"sin(%1)", []string{"f64"}}, {"tan(%1)", []string{"f64"}}, {"degrees(%1)", []string{"f64"}}, {"radians(%1)", []string{"f64"}}, {"exp(%1)", []string{"f64"}},
	{"ln(%1)", []string{"f64"}}, {"log(%1)", []string{"f64"}}, {"log(%1, %2)", []string{"f64", "f64"}}, {"log2(%1)", []string{"f64"}},
	{"pow(%1, %2)", []string{"f64", "f64"}}, {"sqrt(%1)", []string{"f64"}}, {"is_nan(%1)", []string{"f64"}}, {"is_finite(%1)", []string{"f64"}},
	{"is_infinite(%1)", []string{"f64"}}, {"bitwise_and(%1, %1)", []string{"i64"}}, {"bitwise_or(%1, %1)", []string{"i64"}},
	{"bitwise_xor(%1, %1)", []string{"i64"}}, {"bitwise_not(%1)", []string{"i64"}}, {"bit_count(%1)", []string{"i64"}},
	{"shift_left(%1, %2)", []string{"i64", "i64"}}, {"shift_right(%1, %2)", []string{"i64", "i64"}},
	{"date_part('year', %1)", []string{"datetime"}}, {"date_trunc('day', %1, 'UTC')", []string{"datetime"}},
	{"date_bin('minute', 5, %1, %2)", []string{"datetime", "datetime"}}, {"date_add('day', %1, %2)", []string{"i64", "datetime"}},
	{"date_diff('day', %1, %2)", []string{"datetime", "datetime"}}, {"to_unix('second', %1)", []string{"datetime"}},
	{"from_unix('second', %1)", []string{"i64"}}, {"format_datetime('%Y', %1)", []string{"datetime"}},
	{"parse_datetime('%F %T', %1, 'UTC')", []string{"string"}},
	{"array(%1, %1)", []string{"i64"}}, {"vec(%1, %1)", []string{"i64"}}, {"count(%1)", []string{"vec_i64"}}, {"sum(%1)", []string{"vec_i64"}},
	{"mean(%1)", []string{"vec_i64"}}, {"first(%1)", []string{"vec_i64"}}, {"last(%1)", []string{"vec_i64"}}, {"nth(%1, %2)", []string{"vec_i64", "i64"}},
	{"min(%1)", []string{"vec_i64"}}, {"max(%1)", []string{"vec_i64"}}, {"overlap(%1, %1)", []string{"vec_i64"}},
	{"slice(%1, %2, %3)", []string{"vec_i64", "i64", "i64"}}, {"concat(%1, %1)", []string{"array_f64"}}, {"dot(%1, %1)", []string{"vec_i64"}},
	{"distance(%1, %1)", []string{"vec_i64"}}, {"read_header(%1)", []string{"string"}}, {"read_headers(%1)", []string{"string"}},
}

// aggregateCalls calls every aggregate.
var aggregateCalls = []matrixCall{
	{"COUNT(%1)", []string{"i64"}}, {"COUNT_IF(%1)", []string{"bool"}}, {"BOOL_AND(%1)", []string{"bool"}}, {"BOOL_OR(%1)", []string{"bool"}},
	{"SUM(%1)", []string{"i64"}}, {"AVG(%1)", []string{"i64"}}, {"MIN(%1)", []string{"i64"}}, {"MAX(%1)", []string{"i64"}}, {"FIRST(%1)", []string{"i64"}},
	{"LAST(%1)", []string{"i64"}}, {"ARG_MIN(%1, %2)", []string{"string", "i64"}}, {"ARG_MAX(%1, %2)", []string{"string", "i64"}},
	{"VAR_POP(%1)", []string{"i64"}}, {"STDDEV_POP(%1)", []string{"i64"}}, {"VAR_SAMP(%1)", []string{"i64"}}, {"STDDEV_SAMP(%1)", []string{"i64"}},
	{"COVAR_POP(%1, %2)", []string{"i64", "f64"}}, {"COVAR_SAMP(%1, %2)", []string{"i64", "f64"}}, {"CORR(%1, %2)", []string{"i64", "f64"}},
	{"PERCENTILE_LINEAR_HISTOGRAM(%1, 50, 10, 0, 100, '1s')", []string{"f64"}}, {"APPROX_COUNT_DISTINCT(%1, 4)", []string{"string"}},
	{"APPROX_QUANTILE(%1, 95, 64)", []string{"f64"}}, {"APPROX_TOP_K(%1, 3, 10)", []string{"string"}},
}

// signatureText is what a call takes and yields: its result, then for each argument
// the types it can have with the results where those differ, and whether NULL of it
// may make the result null.
func signatureText(t *testing.T, m matrixCall, window bool) string {
	e, found := checkText(t, m.with(m.types...), window)
	if e == nil {
		t.Fatalf("%s: %v", m.with(m.types...), found)
	}
	result := e.Type
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n", m.with(m.types...), typeWords(e))
	for i := range m.types {
		fields := append([]string{}, m.types...)
		var takes []string
		for _, try := range matrixTypes {
			fields[i] = try.name
			e, found := checkText(t, m.with(fields...), window)
			switch {
			case e != nil && e.Type.Equal(result):
				takes = append(takes, try.of.String())
			case e != nil:
				takes = append(takes, try.of.String()+" -> "+e.Type.String())
			case len(found) == 0:
				t.Errorf("%s is refused without a fault", m.with(fields...))
			}
			for _, d := range found {
				if d.Code != ast.CodeTypeMismatch && d.Code != ast.CodeAggregate {
					t.Errorf("%s: %v", m.with(fields...), d)
				}
			}
		}
		fields[i] = m.types[i] + "_o"
		e, found = checkText(t, m.with(fields...), window)
		if e == nil {
			t.Fatalf("%s: %v", m.with(fields...), found)
		}
		null := "no null"
		if e.Optional {
			null = "null"
		}
		fmt.Fprintf(&b, "  %%%d: %s; of null: %s\n", i+1, strings.Join(takes, ", "), null)
		fields[i] = m.types[i] + "_s"
		if e, _ := checkText(t, m.with(fields...), window); e.Sensitive == strings.HasPrefix(m.text, "leak_sensitive") {
			t.Errorf("%s is sensitive: %t", m.with(fields...), e.Sensitive)
		}
	}
	return b.String()
}

func typeWords(e *Expr) string {
	s := e.Type.String()
	for _, flag := range []struct {
		set  bool
		word string
	}{{e.Optional, "optional"}, {e.Fallible, "fallible"}, {e.Volatility == Stable, "stable"}, {e.Volatility == Volatile, "volatile"}} {
		if flag.set {
			s += " " + flag.word
		}
	}
	return s
}

// TestSignatures tries every type as every argument of every builtin and aggregate.
func TestSignatures(t *testing.T) {
	var b strings.Builder
	for _, list := range []struct {
		calls  []matrixCall
		names  []string
		window bool
	}{{matrixCalls, Functions(), false}, {aggregateCalls, Aggregates(), true}} {
		called := map[string]bool{lookupHashMap: true} // its key is as the hash map says
		for _, m := range list.calls {
			name, _, _ := strings.Cut(m.text, "(")
			called[strings.ToLower(name)] = true
			b.WriteString(signatureText(t, m, list.window))
			checkArity(t, m, list.window)
		}
		for _, name := range list.names {
			if !called[name] {
				t.Errorf("%s is not called", name)
			}
		}
	}
	compareFile(t, "testdata/signatures.txt", b.String())
}

// checkArity calls a function without arguments and with more than any takes.
func checkArity(t *testing.T, m matrixCall, window bool) {
	name, _, _ := strings.Cut(m.text, "(")
	f := forms(builtins, strings.ToLower(name))
	if window {
		f = forms(aggregates, strings.ToLower(name))
	}
	least, most := 100, 0
	for i := range f {
		least = min(least, len(f[i].params)-f[i].optional)
		if most = max(most, len(f[i].params)); f[i].repeats {
			most = 100
		}
	}
	for _, n := range []int{least - 1, most + 1} {
		if n < 0 || n > 100 || name == "vec" || !window && forms(aggregates, name) != nil {
			continue // vec() has a type of its own, and aggregates are told by their first argument
		}
		text := name + "(" + strings.TrimSuffix(strings.Repeat("i64, ", n), ", ") + ")"
		if e, found := checkText(t, text, window); e != nil || len(found) != 1 || found[0].Code != ast.CodeArity || found[0].Hint == "" {
			t.Errorf("%s: %v %v", text, e, found)
		}
	}
}

// TestCasts casts every type to every target, by AS and by TRY_CAST.
func TestCasts(t *testing.T) {
	var b strings.Builder
	for _, from := range matrixTypes {
		fmt.Fprintf(&b, "%s:", from.of)
		for _, to := range matrixTypes[:14] {
			e, found := checkText(t, from.name+" AS "+to.of.String(), false)
			tried, _ := checkText(t, "TRY_CAST("+from.name+" AS "+to.of.String()+")", false)
			if (e == nil) != (tried == nil) || tried != nil && (tried.Fallible || !tried.Optional || !tried.Type.Equal(to.of)) {
				t.Errorf("TRY_CAST(%s AS %s) differs", from.name, to.of)
			}
			switch {
			case e == nil && len(found) == 1 && found[0].Code == ast.CodeUnsupportedCast:
				fmt.Fprintf(&b, " -")
			case e == nil:
				t.Errorf("%s AS %s: %v", from.name, to.of, found)
			case e.Fallible:
				fmt.Fprintf(&b, " %s?", to.of)
			default:
				fmt.Fprintf(&b, " %s", to.of)
			}
		}
		b.WriteString("\n")
	}
	compareFile(t, "testdata/casts.txt", b.String())
}

// TestOperators tries every type on both sides of every operator, and as operand of
// conditionals, IN and BETWEEN.
func TestOperators(t *testing.T) {
	var b strings.Builder
	for _, text := range []string{"%1 AND %1", "%1 OR %1", "NOT %1", "%1 = %1", "%1 != %1", "%1 < %1", "%1 <= %1", "%1 > %1", "%1 >= %1", "%1 IS DISTINCT FROM %1",
		"%1 IS NOT DISTINCT FROM %1", "%1 + %1", "%1 - %1", "%1 * %1", "%1 / %1", "%1 % %1", "-%1", "%1 BETWEEN %1 AND %1", "%1 NOT BETWEEN %1 AND %1", "%1 IN ()", "%1 NOT IN ()",
		"IF bool THEN %1 ELSE %1 END", "CASE WHEN bool THEN %1 END", "CASE %1 WHEN %1 THEN 1 ELSE 2 END", "[%1, %1]", "IF %1 THEN 1 ELSE 2 END", "JSON_VALUE(%1, '$' AS I64)",
		"TRY_JSON_VALUE(%1, '$' AS VEC<STRING>)", "JSON_EXISTS(%1, '$')"} {
		fmt.Fprintf(&b, "%s:", text)
		m := matrixCall{text: text}
		for _, of := range matrixTypes {
			e, found := checkText(t, m.with(of.name), false)
			switch {
			case e != nil && e.Type.Equal(of.of):
				fmt.Fprintf(&b, " %s", of.of)
			case e != nil:
				fmt.Fprintf(&b, " %s->%s", of.of, strings.ReplaceAll(typeWords(e), " ", "+"))
			case len(found) == 0:
				t.Errorf("%s is refused without a fault", m.with(of.name))
			}
			// The other side is of another type: nothing is converted.
			if e != nil && strings.Count(text, "%1") > 1 {
				other := "u8"
				if of.name == other {
					other = "u16"
				}
				mixed := strings.Replace(text, "%1", of.name, 1)
				mixed = strings.ReplaceAll(mixed, "%1", other)
				if e, found := checkText(t, mixed, false); e != nil || len(found) == 0 || found[0].Code != ast.CodeTypeMismatch {
					t.Errorf("%s: %v %v", mixed, e, found)
				}
			}
		}
		b.WriteString("\n")
	}
	compareFile(t, "testdata/operators.txt", b.String())
}

// compareFile compares with a file, or writes it with -update.
func compareFile(t *testing.T, file, got string) {
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if string(want) != got {
		t.Errorf("%s: got\n%s", file, got)
	}
}
