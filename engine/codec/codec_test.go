package codec

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/engine/decide"
	"plexus/nspl/vocab"
)

// planOf returns a plan whose members are the fields of a schema in order.
func planOf(strict bool, fields ...vocab.Field) *decide.CodecPlan {
	plan := &decide.CodecPlan{Name: "c", Schema: &vocab.Schema{Name: "s", Fields: fields}, Wire: decide.WirePlan{Strict: strict}}
	for i, f := range fields {
		plan.Wire.Fields = append(plan.Wire.Fields, decide.WireField{Name: f.Name, Column: i, RFC3339: f.Type.Kind == vocab.Datetime})
	}
	return plan
}

func fieldOf(name string, t vocab.Type, optional bool) vocab.Field {
	return vocab.Field{Name: name, Type: t, Optional: optional}
}

func scalar(name string, k vocab.Kind) vocab.Field { return fieldOf(name, vocab.Scalar(k), false) }

func decoderOf(t testing.TB, plan *decide.CodecPlan) *Decoder {
	t.Helper()
	d, err := NewDecoder(plan)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

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

// decodeAll decodes payloads into one group and returns the batch and verdicts.
func decodeAll(t testing.TB, mem memory.Allocator, d *Decoder, payloads ...string) (arrow.RecordBatch, []string) {
	t.Helper()
	g := d.NewGroup(mem)
	defer g.Release()
	var verdicts []string
	for _, p := range payloads {
		n, err := d.Decode([]byte(p), g)
		switch {
		case err == nil && n == 1:
			verdicts = append(verdicts, "")
		case err == nil:
			t.Fatalf("%q gave %d messages", p, n)
		default:
			verdicts = append(verdicts, err.Error())
		}
	}
	return g.Finish(), verdicts
}

// encodeAll returns the documents of a batch.
func encodeAll(t testing.TB, plan *decide.CodecPlan, rec arrow.RecordBatch) []string {
	t.Helper()
	e, err := NewEncoder(plan)
	if err != nil {
		t.Fatal(err)
	}
	page := e.NewPage()
	page.Bind(rec)
	defer page.Unbind()
	var m Members
	if failed := page.EncodeRows(&m, batch.All(int(rec.NumRows()))); failed != nil {
		t.Fatal(failed[0].Err)
	}
	var out []string
	for i := range m.Ends {
		out = append(out, string(m.Member(i)))
	}
	return out
}

// TestCanonical decodes documents and encodes them again.
func TestCanonical(t *testing.T) {
	f64, f32, str := vocab.F64, vocab.F32, vocab.String
	for _, c := range []struct {
		kind     vocab.Kind
		in, want string // want "" when in is canonical
	}{
		{vocab.U8, `0`, ``}, {vocab.U8, `255`, ``}, {vocab.U8, `-0`, `0`},
		{vocab.U16, `65535`, ``}, {vocab.U32, `4294967295`, ``}, {vocab.U64, `18446744073709551615`, ``},
		{vocab.I8, `-128`, ``}, {vocab.I8, `127`, ``}, {vocab.I16, `-32768`, ``}, {vocab.I16, `32767`, ``},
		{vocab.I32, `-2147483648`, ``}, {vocab.I32, `2147483647`, ``},
		{vocab.I64, `-9223372036854775808`, ``}, {vocab.I64, `9223372036854775807`, ``}, {vocab.I64, `9007199254740993`, ``},
		{f64, `2`, `2.0`}, {f64, `-0.0`, ``}, {f64, `-0`, `-0.0`}, {f64, `0.1`, ``}, {f64, `1e3`, `1000.0`}, {f64, `1E+2`, `100.0`},
		{f64, `1e21`, `1e+21`}, {f64, `999999999999999900000`, `999999999999999900000.0`}, {f64, `0.000001`, ``},
		{f64, `0.0000009`, `9e-7`}, {f64, `9007199254740993`, `9007199254740992.0`}, {f64, `5e-324`, ``},
		{f64, `2.2250738585072011e-308`, `2.225073858507201e-308`}, {f64, `1.7976931348623157e308`, `1.7976931348623157e+308`},
		{f64, `1e-400`, `0.0`}, {f64, `123456.789`, ``}, {f64, `0.30000000000000004`, ``}, {f64, `100000000000000000000000e-20`, `1000.0`},
		{f64, `179769313486231580793e288`, `1.7976931348623157e+308`}, {f64, `12345678901234567890.5`, `12345678901234567000.0`},
		{f32, `0.1`, ``}, {f32, `16777217`, `16777216.0`}, {f32, `1e-45`, ``}, {f32, `3.4028235e38`, `3.4028235e+38`},
		{f32, `0.30000001192092896`, `0.3`}, {f32, `1.00000017881393432617187499`, `1.0000001`}, {f32, `-0.0`, ``},
		{vocab.Bool, `true`, ``}, {vocab.Bool, `false`, ``},
		{str, `""`, ``}, {str, `"plain text of more than eight bytes"`, ``}, {str, `"\"\\\b\f\n\r\t\u0001\u001f"`, ``},
		{str, `"\/\u0041\u00e9\u20ac\ud83d\ude00"`, `"/Aé€😀"`}, {str, `"é€😀"`, ``}, {str, `"\u007f"`, "\"\x7f\""},
		{vocab.Bytes, `""`, ``}, {vocab.Bytes, `"AA=="`, ``}, {vocab.Bytes, `"\/w=="`, `"/w=="`}, {vocab.Bytes, `"AAECAw=="`, ``},
		{vocab.Datetime, `"2024-02-29T12:00:00Z"`, `"2024-02-29T12:00:00+00:00"`},
		{vocab.Datetime, `"1677-09-21T00:12:43.145224192+00:00"`, ``}, {vocab.Datetime, `"2262-04-11T23:47:16.854775807+00:00"`, ``},
	} {
		want := c.want
		if want == "" {
			want = c.in
		}
		plan := planOf(true, scalar("f", c.kind))
		rec, verdicts := decodeAll(t, checked(t), decoderOf(t, plan), `{"f":`+c.in+`}`)
		if verdicts[0] != "" {
			t.Errorf("%s %s: %s", c.kind, c.in, verdicts[0])
		} else if got := encodeAll(t, plan, rec)[0]; got != `{"f":`+want+`}` {
			t.Errorf("%s %s became %s", c.kind, c.in, got)
		}
		rec.Release()
	}
}

// TestRefusals has every cause, each with the text of its diagnostic.
func TestRefusals(t *testing.T) {
	vec := vocab.VecOf(vocab.Scalar(vocab.U8))
	matrix := vocab.ArrayOf(vocab.Scalar(vocab.I64), 2, 2)
	fields := []vocab.Field{
		fieldOf("n", vocab.Scalar(vocab.U8), true), fieldOf("m", vocab.Scalar(vocab.I64), true),
		fieldOf("x", vocab.Scalar(vocab.F64), true), fieldOf("y", vocab.Scalar(vocab.F32), true),
		fieldOf("s", vocab.Scalar(vocab.String), true), fieldOf("b", vocab.Scalar(vocab.Bytes), true),
		fieldOf("t", vocab.Scalar(vocab.Datetime), true), fieldOf("v", vec, true), fieldOf("a", matrix, true),
		fieldOf("o", vocab.Scalar(vocab.Bool), true), scalar("r", vocab.Bool),
	}
	deep := strings.Repeat(`[`, nestingMax) + strings.Repeat(`]`, nestingMax)
	for _, c := range []struct{ in, want string }{
		{``, "syntax (byte 0)"}, {` `, "syntax (byte 1)"}, {"\xef\xbb\xbf{}", "syntax (byte 0)"}, {`[]`, "syntax (byte 0)"},
		{`{"r":true}x`, "syntax (byte 10)"}, {`{"r":true}{}`, "syntax (byte 10)"}, {`{"r":true`, "syntax (byte 9)"},
		{`{"r":true,}`, "syntax (byte 10)"}, {`{"r" true}`, "syntax (byte 5)"}, {`{r:true}`, "syntax (byte 1)"},
		{`{"r":tru}`, "syntax (byte 5)"}, {`{"r":NaN}`, "syntax (byte 5)"}, {`{"r":}`, "syntax (byte 5)"},
		{`{"r":true /*c*/}`, "syntax (byte 10)"}, {`{"x":01}`, "syntax (byte 7)"}, {`{"n":01}`, "syntax (byte 7)"},
		{`{"x":1.}`, "syntax (byte 7)"}, {`{"x":.5}`, "syntax (byte 5)"}, {`{"x":1e}`, "syntax (byte 7)"}, {`{"x":-}`, "syntax (byte 6)"},
		{`{"n":-}`, "syntax (byte 6)"}, {`{"n":+1}`, "syntax (byte 5)"}, {`{"x":Infinity}`, "syntax (byte 5)"},
		{"{\"s\":\"a\nb\"}", "syntax (byte 7)"}, {`{"s":"\x"}`, "syntax (byte 6)"}, {`{"s":"\u12g4"}`, "syntax (byte 6)"},
		{`{"s":"abc}`, "syntax (byte 10)"}, {`{"s":"\`, "syntax (byte 6)"}, {`{"v":[1 2]}`, "syntax (byte 8)"}, {`{"v":[1,]}`, "syntax (byte 8)"},
		{`{"s":nul}`, "syntax (byte 5)"},
		{`{"s":"\ud800"}`, "utf8 (byte 6)"}, {`{"s":"\udc00"}`, "utf8 (byte 6)"}, {`{"s":"\ud800\u0041"}`, "utf8 (byte 6)"},
		{"{\"s\":\"\xff\",\"r\":true}", "utf8 (byte 6)"}, {"{\"s\":\"\xed\xa0\x80\",\"r\":true}", "utf8 (byte 6)"},
		{`{}`, "field 'r': missing"}, {`{"r":null}`, "field 'r': null"}, {`{"v":[null]}`, "field 'v': null"},
		{`{"n":1.0}`, "field 'n': type (U8)"}, {`{"n":1e3}`, "field 'n': type (U8)"}, {`{"n":"7"}`, "field 'n': type (U8)"},
		{`{"n":true}`, "field 'n': type (U8)"}, {`{"n":[1]}`, "field 'n': type (U8)"}, {`{"s":7}`, "field 's': type (STRING)"},
		{`{"x":"1"}`, "field 'x': type (F64)"}, {`{"r":1}`, "field 'r': type (BOOL)"}, {`{"v":{}}`, "field 'v': type (VEC<U8>)"},
		{`{"b":1}`, "field 'b': type (BYTES)"}, {`{"t":1}`, "field 't': type (DATETIME)"},
		{`{"n":256}`, "field 'n': range (U8)"}, {`{"n":-1}`, "field 'n': range (U8)"}, {`{"n":99999999999999999999999}`, "field 'n': range (U8)"},
		{`{"m":9223372036854775808}`, "field 'm': range (I64)"}, {`{"m":-9223372036854775809}`, "field 'm': range (I64)"},
		{`{"m":18446744073709551616}`, "field 'm': range (I64)"}, {`{"x":1e309}`, "field 'x': range (F64)"},
		{`{"y":3.4028236e38}`, "field 'y': range (F32)"}, {`{"t":"2262-04-11T23:47:16.854775808Z"}`, "field 't': range (DATETIME)"},
		{`{"a":[[1,2]]}`, "field 'a': length (ARRAY<I64, 2, 2>)"}, {`{"a":[[1,2],[3]]}`, "field 'a': length (ARRAY<I64, 2, 2>)"},
		{`{"a":[[1,2],[3,4],[5,6]]}`, "field 'a': length (ARRAY<I64, 2, 2>)"}, {`{"a":[]}`, "field 'a': length (ARRAY<I64, 2, 2>)"},
		{`{"zz":1}`, "undeclared"}, {`{"o":true,"o":true}`, "field 'o': duplicate"},
		{`{"b":"AA="}`, "field 'b': base64 (BYTES)"}, {`{"b":"AB=="}`, "field 'b': base64 (BYTES)"}, {`{"b":"AA==\n"}`, "field 'b': base64 (BYTES)"},
		{`{"b":"A A="}`, "field 'b': base64 (BYTES)"}, {`{"b":"_-8="}`, "field 'b': base64 (BYTES)"},
		{`{"t":"yesterday"}`, "field 't': rfc3339 (DATETIME)"},
	} {
		rec, verdicts := decodeAll(t, checked(t), decoderOf(t, planOf(true, fields...)), c.in, `{"r":true,"n":7,"v":[1]}`)
		if want := "codec 'c': input 0: " + c.want; verdicts[0] != want {
			t.Errorf("%q: %q, want %q", c.in, verdicts[0], want)
		}
		if verdicts[1] != "" || rec.NumRows() != 1 {
			t.Errorf("%q: its neighbour: %q, %d rows", c.in, verdicts[1], rec.NumRows())
		}
		rec.Release()
	}
	loose := decoderOf(t, planOf(false, scalar("r", vocab.Bool)))
	for _, c := range []struct{ in, want string }{
		{`{"z":` + deep + `,"r":true}`, "codec 'c': input 0: depth (byte 132)"},
		{`{"z":` + deep[1:len(deep)-1] + `,"r":true}`, ""},
		{`{"z":{"a":[1,"\ud83d\ude00",null,true,false,{}],"b":-1.5e3},"r":true}`, ""},
		{`{"z":{"a":01},"r":true}`, "codec 'c': input 0: syntax (byte 12)"},
		{`{"z":{"a":"\ud83d"},"r":true}`, "codec 'c': input 0: utf8 (byte 11)"},
		{`{"z":{"a" 1},"r":true}`, "codec 'c': input 0: syntax (byte 10)"},
		{`{"z":[1,],"r":true}`, "codec 'c': input 0: syntax (byte 8)"},
		{`{"r":1,"r":true}`, "codec 'c': input 0: field 'r': type (BOOL)"},
		{`{"r":false,"z":1,"r":true}`, ""},
		{"\t{ \"r\" :\r\n true }\n", ""},
		{`{"\u0072":true}`, ""},
	} {
		rec, verdicts := decodeAll(t, checked(t), loose, c.in)
		if verdicts[0] != c.want {
			t.Errorf("LOOSE %q: %q, want %q", c.in, verdicts[0], c.want)
		}
		rec.Release()
	}
}

// TestIntegerRanges decodes both ends of every width and the values beyond.
func TestIntegerRanges(t *testing.T) {
	for _, c := range []struct {
		kind                    vocab.Kind
		below, low, high, above string
	}{
		{vocab.U8, "-1", "0", "255", "256"}, {vocab.U16, "-1", "0", "65535", "65536"},
		{vocab.U32, "-1", "0", "4294967295", "4294967296"}, {vocab.U64, "-1", "0", "18446744073709551615", "18446744073709551616"},
		{vocab.I8, "-129", "-128", "127", "128"}, {vocab.I16, "-32769", "-32768", "32767", "32768"},
		{vocab.I32, "-2147483649", "-2147483648", "2147483647", "2147483648"},
		{vocab.I64, "-9223372036854775809", "-9223372036854775808", "9223372036854775807", "9223372036854775808"},
	} {
		for _, list := range []bool{false, true} {
			typ, open, end := vocab.Scalar(c.kind), "", ""
			if list {
				typ, open, end = vocab.VecOf(vocab.ArrayOf(typ, 1)), "[[", "]]"
			}
			plan := planOf(true, fieldOf("f", typ, false))
			doc := func(number string) string { return `{"f":` + open + number + end + `}` }
			rec, verdicts := decodeAll(t, checked(t), decoderOf(t, plan), doc(c.below), doc(c.low), doc(c.high), doc(c.above))
			refused := fmt.Sprintf("codec 'c': input 0: field 'f': range (%s)", typ)
			if want := []string{refused, "", "", refused}; !slices.Equal(verdicts, want) {
				t.Errorf("%s: %q", typ, verdicts)
			}
			if got := encodeAll(t, plan, rec); !slices.Equal(got, []string{doc(c.low), doc(c.high)}) {
				t.Errorf("%s: %q", typ, got)
			}
			rec.Release()
		}
	}
}

func TestLastDuplicateWins(t *testing.T) {
	plan := planOf(false, fieldOf("v", vocab.VecOf(vocab.Scalar(vocab.String)), true), fieldOf("s", vocab.Scalar(vocab.String), true))
	rec, verdicts := decodeAll(t, checked(t), decoderOf(t, plan),
		`{"v":["a","b"],"s":"x","v":["c"],"s":null}`, `{"v":null,"v":["d","e"],"s":null,"s":"y"}`)
	defer rec.Release()
	if verdicts[0]+verdicts[1] != "" {
		t.Fatal(verdicts)
	}
	if got := strings.Join(encodeAll(t, plan, rec), " "); got != `{"v":["c"]} {"v":["d","e"],"s":"y"}` {
		t.Fatal(got)
	}
}

func TestPayloadTooLarge(t *testing.T) {
	d := decoderOf(t, planOf(false, fieldOf("s", vocab.Scalar(vocab.String), true)))
	g := d.NewGroup(memory.DefaultAllocator)
	defer g.Release()
	_, err := d.Decode(make([]byte, PayloadBytesMax+1), g)
	if failure := (*DecodeError)(nil); !errors.As(err, &failure) || failure.Cause != CauseSize {
		t.Fatal(err)
	}
	g.bytes = groupBytesMax
	if _, err := d.Decode([]byte(`{}`), g); !errors.Is(err, ErrGroupFull) {
		t.Fatal(err)
	}
}

func TestEncodeRefusesFloatsWithoutNumber(t *testing.T) {
	mem := checked(t)
	plan := planOf(true, scalar("k", vocab.I8), scalar("x", vocab.F64))
	b := array.NewRecordBuilder(mem, batch.ArrowSchema(plan.Schema))
	defer b.Release()
	zero := 0.0
	b.Field(0).(*array.Int8Builder).AppendValues([]int8{1, 2, 3}, nil)
	b.Field(1).(*array.Float64Builder).AppendValues([]float64{1, zero / zero, 1 / zero}, nil)
	rec := b.NewRecordBatch()
	defer rec.Release()
	e, _ := NewEncoder(plan)
	page := e.NewPage()
	page.Bind(rec)
	var m Members
	failed := page.EncodeRows(&m, batch.All(3))
	if len(failed) != 2 || failed[0].Row != 1 || failed[1].Row != 2 || len(m.Ends) != 1 {
		t.Fatal(failed, m.Ends)
	}
	var failure *EncodeError
	if !errors.As(failed[0].Err, &failure) || failure.Field != "x" {
		t.Fatal(failed[0].Err)
	}
	r := NewRenderer(plan.Schema)
	r.Bind(rec)
	if got := string(r.Append(nil, 1)) + string(r.Append(nil, 2)); got != `{"k":2,"x":"NaN"}{"k":3,"x":"inf"}` {
		t.Fatal(got)
	}
}

func TestContainers(t *testing.T) {
	plan := planOf(true, scalar("s", vocab.String))
	var payloads []string
	for i := range 20 {
		payloads = append(payloads, fmt.Sprintf(`{"s":%q}`, strings.Repeat("x", i)))
	}
	rec, _ := decodeAll(t, checked(t), decoderOf(t, plan), payloads...)
	defer rec.Release()
	e, _ := NewEncoder(plan)
	page := e.NewPage()
	page.Bind(rec)
	var m Members
	page.EncodeRows(&m, batch.All(20))
	for start := range 20 {
		for end := start + 1; end <= 20; end++ {
			want := "[" + strings.Join(payloads[start:end], ",") + "]"
			if got := string(m.AppendContainer(nil, start, end)); got != want || m.ContainerSize(start, end) != int64(len(want)) {
				t.Fatalf("%d..%d: %s of %d", start, end, got, m.ContainerSize(start, end))
			}
		}
	}
}

func TestRendererMasksAndSorts(t *testing.T) {
	schema := planOf(true, fieldOf("z", vocab.Scalar(vocab.U8), false), fieldOf("b", vocab.VecOf(vocab.Scalar(vocab.F32)), false),
		fieldOf("a", vocab.Scalar(vocab.String), true), fieldOf("secret", vocab.Scalar(vocab.String), true))
	schema.Schema.Fields[3].Sensitive = true
	rec, verdicts := decodeAll(t, checked(t), decoderOf(t, schema),
		`{"z":1,"b":[1,2.5],"secret":"hush"}`, `{"z":2,"b":[],"a":"x"}`)
	defer rec.Release()
	if verdicts[0]+verdicts[1] != "" {
		t.Fatal(verdicts)
	}
	r := NewRenderer(schema.Schema)
	r.Bind(rec)
	if got := string(r.Append(nil, 0)) + string(r.Append(nil, 1)); got != `{"b":[1.0,2.5],"secret":"<masked>","z":1}{"a":"x","b":[],"z":2}` {
		t.Fatal(got)
	}
}
