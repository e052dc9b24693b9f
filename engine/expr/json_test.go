package expr

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// extract is JSON_VALUE, TRY_JSON_VALUE or JSON_EXISTS of an expression.
func extract(t testing.TB, op typed.Op, doc *typed.Expr, path string, to vocab.Type) *typed.Expr {
	steps, err := vocab.JSONPath(path)
	if err != nil {
		t.Fatal(err)
	}
	if op == typed.OpJSONExists {
		to = vocab.Scalar(vocab.Bool)
	}
	return &typed.Expr{Op: op, Type: to, Optional: true, Fallible: true, Args: []*typed.Expr{doc}, Path: steps}
}

func TestJSONText(t *testing.T) {
	text, i64, u8, f64, f32, truth := vocab.Scalar(vocab.String), vocab.Scalar(vocab.I64), vocab.Scalar(vocab.U8), vocab.Scalar(vocab.F64), vocab.Scalar(vocab.F32), vocab.Scalar(vocab.Bool)
	deep := strings.Repeat("[", jsonDepthMax) + strings.Repeat("]", jsonDepthMax)
	const cast, argument = "failed: cast_failed", "failed: invalid_argument"
	for _, c := range []struct {
		doc, path string
		to        vocab.Type
		want, try string
		exists    string
	}{
		{`{"a":{"b":[1,2,3]}}`, `$.a.b[1]`, i64, "2", "2", "true"}, {`{"a":1}`, `$.b`, i64, "(null)", "(null)", "false"}, {`{"a":null}`, `$.a`, i64, "(null)", "(null)", "true"},
		{`null`, `$`, i64, "(null)", "(null)", "true"}, {`7`, `$`, i64, "7", "7", "true"}, {` "x" `, `$`, text, "x", "x", "true"}, {`[1]`, `$.a`, i64, "(null)", "(null)", "false"}, {`{"a":1}`, `$[0]`, i64, "(null)", "(null)", "false"},
		{`[1]`, `$[1]`, i64, "(null)", "(null)", "false"}, {`{"a b":"\u00e9\n\ud83d\ude00"}`, `$["a b"]`, text, "é\n😀", "é\n😀", "true"}, {`{"\u0061":1}`, `$.a`, i64, "1", "1", "true"},
		// Of a repeated member the last one counts, whatever it is.
		{`{"a":1,"a":2}`, `$.a`, i64, "2", "2", "true"}, {`{"a":{"b":1},"a":{}}`, `$.a.b`, i64, "(null)", "(null)", "true"}, {`{"a":{"b":1},"a":7}`, `$.a.b`, i64, "(null)", "(null)", "true"},
		// All of the document has to be JSON.
		{``, `$`, i64, cast, "(null)", cast}, {`{`, `$`, i64, cast, "(null)", cast}, {`{"a":1}x`, `$.a`, i64, cast, "(null)", cast}, {`{"a":1,}`, `$.a`, i64, cast, "(null)", cast}, {`[1,]`, `$[0]`, i64, cast, "(null)", cast},
		{`{"a":01}`, `$.a`, i64, cast, "(null)", cast}, {`{"a":1.}`, `$.a`, f64, cast, "(null)", cast}, {`{"a":1,"b":+1}`, `$.a`, i64, cast, "(null)", cast}, {`{"a":NaN}`, `$.a`, f64, cast, "(null)", cast}, {`{'a':1}`, `$.a`, i64, cast, "(null)", cast},
		{"\"a\tb\"", `$`, text, cast, "(null)", cast}, {`"\x"`, `$`, text, cast, "(null)", cast}, {`"\ud800"`, `$`, text, cast, "(null)", cast}, {`"\udc00"`, `$`, text, cast, "(null)", cast}, {`"\u12"`, `$`, text, cast, "(null)", cast}, {`"a`, `$`, text, cast, "(null)", cast},
		{`{"a":1,"b":1e400}`, `$.a`, i64, cast, "(null)", cast}, {`{"a":1,"b":truex}`, `$.a`, i64, cast, "(null)", cast}, {`{"a" 1}`, `$.a`, i64, cast, "(null)", cast}, {`-`, `$`, i64, cast, "(null)", cast}, {`1e`, `$`, f64, cast, "(null)", cast},
		{deep, `$[0]`, i64, cast, "(null)", "true"}, {"[" + deep + "]", `$[0]`, i64, argument, "(null)", argument}, {deep[1:], `$`, i64, cast, "(null)", cast},
		// Numbers are numbers, text is text.
		{`"7"`, `$`, i64, cast, "(null)", "true"}, {`7`, `$`, text, cast, "(null)", "true"}, {`true`, `$`, truth, "true", "true", "true"}, {`1`, `$`, truth, cast, "(null)", "true"}, {`"true"`, `$`, truth, cast, "(null)", "true"}, {`{}`, `$`, text, cast, "(null)", "true"},
		{`2.0`, `$`, i64, "2", "2", "true"}, {`2e0`, `$`, u8, "2", "2", "true"}, {`2.5`, `$`, i64, cast, "(null)", "true"}, {`256`, `$`, u8, cast, "(null)", "true"}, {`-1`, `$`, u8, cast, "(null)", "true"}, {`-0`, `$`, u8, "0", "0", "true"},
		{`9223372036854775807`, `$`, i64, "9223372036854775807", "9223372036854775807", "true"}, {`9223372036854775808`, `$`, i64, cast, "(null)", "true"}, {`-9223372036854775808`, `$`, i64, "-9223372036854775808", "-9223372036854775808", "true"},
		{`18446744073709551615`, `$`, vocab.Scalar(vocab.U64), "18446744073709551615", "18446744073709551615", "true"}, {`18446744073709551616`, `$`, vocab.Scalar(vocab.U64), cast, "(null)", "true"}, {`1e3`, `$`, vocab.Scalar(vocab.I16), "1000", "1000", "true"}, {`1e5`, `$`, vocab.Scalar(vocab.I16), cast, "(null)", "true"},
		{`0.1`, `$`, f64, "0.1", "0.1", "true"}, {`1e39`, `$`, f32, cast, "(null)", "true"}, {`0.1`, `$`, f32, "0.1", "0.1", "true"}, {`1e-400`, `$`, f64, "0", "0", "true"},
		// Lists.
		{`[1,2]`, `$`, vocab.VecOf(i64), "[1,2]", "[1,2]", "true"}, {`[]`, `$`, vocab.VecOf(i64), "[]", "[]", "true"}, {`[1,null]`, `$`, vocab.VecOf(i64), cast, "(null)", "true"}, {`[1,"2"]`, `$`, vocab.VecOf(i64), cast, "(null)", "true"}, {`7`, `$`, vocab.VecOf(i64), cast, "(null)", "true"},
		{`[1,2]`, `$`, vocab.ArrayOf(i64, 2), "[1,2]", "[1,2]", "true"}, {`[1,2,3]`, `$`, vocab.ArrayOf(i64, 2), cast, "(null)", "true"}, {`[ [1] , [ 2,3 ] ]`, `$`, vocab.VecOf(vocab.VecOf(i64)), "[[1],[2,3]]", "[[1],[2,3]]", "true"},
		{`{"t":["a","\u0062"]}`, `$.t`, vocab.VecOf(text), `["a","b"]`, `["a","b"]`, "true"}, {`{"t":["a"]}`, `$.t[0]`, text, "a", "a", "true"},
	} {
		for _, x := range []struct {
			op   typed.Op
			want string
		}{{typed.OpJSONValue, c.want}, {typed.OpTryJSONValue, c.try}, {typed.OpJSONExists, c.exists}} {
			if got := evaluate(t, extract(t, x.op, lit(c.doc), c.path, c.to)); got != x.want {
				t.Errorf("%d of %.60s at %s as %s: %q, want %q", x.op, c.doc, c.path, c.to, got, x.want)
			}
		}
	}
	if got := evaluate(t, extract(t, typed.OpJSONValue, nullLit(vocab.String), "$", i64)); got != "(null)" {
		t.Error(got)
	}
	huge := `"` + strings.Repeat("x", jsonBytesMax) + `"`
	if got := evaluate(t, extract(t, typed.OpJSONValue, lit(huge), "$", text)); got != argument {
		t.Error(got)
	}
}

// drawJSON draws a document, most of them sound.
func drawJSON(t *rapid.T, depth int) string {
	if depth == 0 || rapid.IntRange(0, 2).Draw(t, "leaf") == 0 {
		return rapid.SampledFrom([]string{`1`, `-2`, `2.0`, `1e2`, `0.5`, `300`, `9223372036854775808`, `"x"`, `"é\n"`, `""`, `true`, `false`, `null`, ` 7 `}).Draw(t, "scalar")
	}
	var parts []string
	object := rapid.Bool().Draw(t, "object")
	for range rapid.IntRange(0, 3).Draw(t, "members") {
		part := drawJSON(t, depth-1)
		if object {
			part = rapid.SampledFrom([]string{`"a":`, `"b" :`, `"\u0061": `}).Draw(t, "name") + part
		}
		parts = append(parts, part)
	}
	if object {
		return "{" + strings.Join(parts, ",") + "}"
	}
	return "[" + strings.Join(parts, " , ") + "]"
}

// jsonAt is the value of a document at a path, by the library.
func jsonAt(doc string, path []vocab.JSONStep) (value any, there, sound bool) {
	d := json.NewDecoder(strings.NewReader(doc))
	d.UseNumber()
	if !json.Valid([]byte(doc)) || d.Decode(&value) != nil {
		return nil, false, false
	}
	for _, step := range path {
		switch x := value.(type) {
		case map[string]any:
			var ok bool
			if value, ok = x[step.Member]; step.IsIndex || !ok {
				return nil, false, true
			}
		case []any:
			if !step.IsIndex || int(step.Index) >= len(x) {
				return nil, false, true
			}
			value = x[step.Index]
		default:
			return nil, false, true
		}
	}
	return value, true, true
}

// jsonWant is what an extraction as I64, STRING, F64 or BOOL gives.
func jsonWant(value any, to vocab.Kind) string {
	switch x := value.(type) {
	case nil:
		return "(null)"
	case bool:
		if to == vocab.Bool {
			return fmt.Sprint(x)
		}
	case string:
		if to == vocab.String {
			return x
		}
	case json.Number:
		f, err := strconv.ParseFloat(x.String(), 64)
		switch {
		case err != nil:
			return "cast_failed"
		case to == vocab.F64:
			return fmt.Sprint(f)
		case to == vocab.I64:
			if n, ok := new(big.Int).SetString(x.String(), 10); ok {
				if n.IsInt64() {
					return n.String()
				}
			} else if f == math.Trunc(f) {
				return fmt.Sprint(int64(f))
			}
		}
	}
	return "cast_failed"
}

func TestJSONEqualsTheLibrary(t *testing.T) {
	kinds := []vocab.Kind{vocab.I64, vocab.String, vocab.F64, vocab.Bool}
	paths := []string{"$", "$.a", "$.b", "$[0]", "$.a.b", "$.a[1]", "$[1].a", "$[0][0]"}
	rapid.Check(t, func(t *rapid.T) {
		docs := make([]string, rapid.IntRange(1, 12).Draw(t, "docs"))
		for i := range docs {
			docs[i] = drawJSON(t, 3)
			if rapid.IntRange(0, 4).Draw(t, "broken") == 0 && len(docs[i]) > 1 {
				at := rapid.IntRange(0, len(docs[i])-1).Draw(t, "at")
				docs[i] = strings.ToValidUTF8(docs[i][:at]+rapid.SampledFrom([]string{"", "]", "}", ",", "x", `"`, "1"}).Draw(t, "with")+docs[i][at+1:], "?")
			}
		}
		path, to := rapid.SampledFrom(paths).Draw(t, "path"), rapid.SampledFrom(kinds).Draw(t, "to")
		steps, _ := vocab.JSONPath(path)
		doc := read(textSchema, typed.ScopeInput, "s")
		value := &typed.Expr{Op: typed.OpJSONValue, Type: vocab.Scalar(to), Optional: true, Fallible: true, Args: []*typed.Expr{doc}, Path: steps}
		exists := &typed.Expr{Op: typed.OpJSONExists, Type: vocab.Scalar(vocab.Bool), Fallible: true, Args: []*typed.Expr{doc}, Path: steps}
		mem := memory.NewCheckedAllocator(batchtest.Soiled{})
		defer mem.AssertSize(fatal{t}, 0)
		rec := textsOf(mem, docs)
		defer rec.Release()
		for _, e := range []*typed.Expr{value, exists} {
			p, err := CompileConstruction(&typed.Construction{Output: fieldsOf(vocab.Field{Name: "o", Type: e.Type, Optional: true}), Steps: []typed.Step{{Expr: e}}}, false)
			if err != nil {
				t.Fatal(err)
			}
			got := p.Run(&Context{Memory: mem}, &Rows{Input: rec, Select: batch.All(len(docs))}, NewScratch())
			failed, kept := 0, 0
			for i, doc := range docs {
				found, there, sound := jsonAt(doc, steps)
				want := "cast_failed"
				switch {
				case !sound:
				case e == exists:
					want = fmt.Sprint(there)
					if strings.Count(doc, `"a"`)+strings.Count(doc, `\u0061`) > 1 || strings.Count(doc, `"b"`) > 1 {
						want = "" // any of repeated members may have it
					}
				default:
					want = jsonWant(found, to)
				}
				if failed < len(got.Failed) && int(got.Failed[failed].Row) == i {
					if kind := got.Failed[failed].Fault.Kind.String(); kind != want {
						t.Fatalf("%q at %s fails by %s, want %s", doc, path, kind, want)
					}
					failed++
					continue
				}
				if shown := got.Batch.Column(0).ValueStr(kept); shown != want && want != "" {
					t.Fatalf("%q at %s is %s, want %s", doc, path, shown, want)
				}
				kept++
			}
			got.Release()
		}
	})
}

func FuzzJSONText(f *testing.F) {
	for _, s := range []string{`{"a":[1,{"b":"x"}]}`, `[1e5,"\u00e9",null,true]`, `{"a":1,"a":{}}`} {
		f.Add(s)
	}
	steps, _ := vocab.JSONPath("$.a[1]")
	f.Fuzz(func(t *testing.T, doc string) {
		doc = strings.ToValidUTF8(doc, "?")
		var p jsonText
		verdict := p.find([]byte(doc), steps)
		if sound := json.Valid([]byte(doc)); verdict == jsonSound && !sound {
			t.Fatalf("%q is taken for JSON", doc)
		} else if verdict == jsonMalformed && sound && !strings.Contains(doc, `\u`) && !strings.ContainsAny(doc, "eE") && len(doc) < 300 {
			t.Fatalf("%q is not taken for JSON", doc)
		}
	})
}
