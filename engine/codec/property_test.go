package codec

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/engine/decide"
	"plexus/nspl/rfc3339"
	"plexus/nspl/vocab"
)

// drawType draws a type with at most depth levels of lists.
func drawType(t *rapid.T, depth int) vocab.Type {
	kinds := []vocab.Kind{vocab.U8, vocab.U16, vocab.U32, vocab.U64, vocab.I8, vocab.I16, vocab.I32, vocab.I64,
		vocab.F32, vocab.F64, vocab.Bool, vocab.String, vocab.Bytes, vocab.Datetime}
	if depth > 0 {
		kinds = append(kinds, vocab.Array, vocab.Vec, vocab.Vec)
	}
	switch k := rapid.SampledFrom(kinds).Draw(t, "kind"); k {
	case vocab.Vec:
		return vocab.VecOf(drawType(t, depth-1))
	case vocab.Array:
		return vocab.ArrayOf(drawType(t, depth-1), rapid.Uint32Range(1, 3).Draw(t, "length"))
	default:
		return vocab.Scalar(k)
	}
}

func drawPlan(t *rapid.T, strict bool) *decide.CodecPlan {
	var fields []vocab.Field
	for i := range rapid.IntRange(1, 6).Draw(t, "fields") {
		name := fmt.Sprintf("f%d%s", i, rapid.SampledFrom([]string{"", "_long_name", "é", `"q\`, " "}).Draw(t, "name"))
		fields = append(fields, fieldOf(name, drawType(t, 3), rapid.Bool().Draw(t, "optional")))
	}
	return planOf(strict, fields...)
}

// drawValue draws the JSON text of a value in one of its accepted spellings.
func drawValue(t *rapid.T, typ vocab.Type) string {
	switch typ.Kind {
	case vocab.U8:
		return strconv.FormatUint(uint64(rapid.Uint8().Draw(t, "u8")), 10)
	case vocab.U16:
		return strconv.FormatUint(uint64(rapid.Uint16().Draw(t, "u16")), 10)
	case vocab.U32:
		return strconv.FormatUint(uint64(rapid.Uint32().Draw(t, "u32")), 10)
	case vocab.U64:
		return strconv.FormatUint(rapid.Uint64().Draw(t, "u64"), 10)
	case vocab.I8:
		return strconv.FormatInt(int64(rapid.Int8().Draw(t, "i8")), 10)
	case vocab.I16:
		return strconv.FormatInt(int64(rapid.Int16().Draw(t, "i16")), 10)
	case vocab.I32:
		return strconv.FormatInt(int64(rapid.Int32().Draw(t, "i32")), 10)
	case vocab.I64:
		return strconv.FormatInt(rapid.Int64().Draw(t, "i64"), 10)
	case vocab.F32:
		format := rapid.SampledFrom([]byte{'f', 'e', 'g'}).Draw(t, "format")
		return strconv.FormatFloat(float64(drawFinite32(t)), format, -1, 32)
	case vocab.F64:
		format := rapid.SampledFrom([]byte{'f', 'e', 'g'}).Draw(t, "format")
		return strconv.FormatFloat(drawFinite(t), format, -1, 64)
	case vocab.Bool:
		return strconv.FormatBool(rapid.Bool().Draw(t, "bool"))
	case vocab.String:
		return drawString(t)
	case vocab.Bytes:
		return strconv.Quote(base64.StdEncoding.EncodeToString(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes")))
	case vocab.Datetime:
		return strconv.Quote(string(rfc3339.Append(nil, rapid.Int64().Draw(t, "nanos"))))
	default:
		n := int(typ.Size)
		if typ.Kind == vocab.Vec {
			n = rapid.IntRange(0, 4).Draw(t, "n")
		}
		items := make([]string, n)
		for i := range items {
			items[i] = drawValue(t, *typ.Elem)
		}
		return "[" + strings.Join(items, rapid.SampledFrom([]string{",", " , "}).Draw(t, "comma")) + "]"
	}
}

func drawFinite(t *rapid.T) float64 {
	if rapid.Bool().Draw(t, "short") {
		return float64(rapid.IntRange(-1e7, 1e7).Draw(t, "cents")) / 100
	}
	x := math.Float64frombits(rapid.Uint64().Draw(t, "f64"))
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return math.Copysign(0, -1)
	}
	return x
}

func drawFinite32(t *rapid.T) float32 {
	x := math.Float32frombits(rapid.Uint32().Draw(t, "f32"))
	if x != x || math.IsInf(float64(x), 0) {
		return float32(math.Copysign(0, -1))
	}
	return x
}

func drawString(t *rapid.T) string {
	s := rapid.OneOf(rapid.String(), rapid.StringMatching(`[a-z ]{0,40}`)).Draw(t, "string")
	text, _ := json.Marshal(s) // escapes <, > and & too, as any producer may
	return string(text)
}

// drawDocument draws a document of a plan with its members in any order.
func drawDocument(t *rapid.T, plan *decide.CodecPlan) string {
	var members []string
	for _, f := range plan.Schema.Fields {
		name, _ := json.Marshal(f.Name)
		switch {
		case f.Optional && rapid.Bool().Draw(t, "absent"):
		case f.Optional && rapid.Bool().Draw(t, "null"):
			members = append(members, string(name)+":null")
		default:
			members = append(members, string(name)+":"+drawValue(t, f.Type))
		}
	}
	if rapid.Bool().Draw(t, "shuffled") {
		members = rapid.Permutation(members).Draw(t, "order")
	}
	return "{" + strings.Join(members, ",") + "}"
}

// corrupt makes most documents undecodable, late in the document if it can.
func corrupt(t *rapid.T, doc string) string {
	at := rapid.IntRange(0, len(doc)-1).Draw(t, "at")
	junk := rapid.SampledFrom([]string{"", "\x00", "null", "[", "]", "}", `"`, "1e999", "\xff", ","}).Draw(t, "junk")
	return doc[:at] + junk + doc[at+1:]
}

func equal(t *rapid.T, what string, a, b arrow.RecordBatch) {
	if !array.RecordEqual(a, b) {
		t.Fatalf("%s:\n%v\n%v", what, a, b)
	}
}

func TestEncodeThenDecodeIsIdentity(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(&batch.Pool{})
		defer mem.AssertSize(fatal{t}, 0)
		plan := drawPlan(t, rapid.Bool().Draw(t, "strict"))
		var docs []string
		for range rapid.IntRange(1, 20).Draw(t, "rows") {
			docs = append(docs, drawDocument(t, plan))
		}
		d, err := NewDecoder(plan)
		if err != nil {
			t.Fatal(err)
		}
		first := decodeOnly(t, mem, d, docs)
		defer first.Release()
		if int(first.NumRows()) != len(docs) {
			t.Fatalf("%d of %d documents decode: %q", first.NumRows(), len(docs), docs)
		}
		e, _ := NewEncoder(plan)
		page := e.NewPage()
		page.Bind(first)
		var m Members
		if failed := page.EncodeRows(&m, batch.All(len(docs))); failed != nil {
			t.Fatal(failed)
		}
		var again []string
		for i := range docs {
			again = append(again, string(m.Member(i)))
			if !json.Valid(m.Member(i)) || !utf8.Valid(m.Member(i)) {
				t.Fatalf("%q is no JSON", m.Member(i))
			}
		}
		second := decodeOnly(t, mem, d, again)
		defer second.Release()
		equal(t, "encoded and decoded", first, second)
		// A slice of the batch encodes like the rows it shows.
		from := rapid.IntRange(0, len(docs)-1).Draw(t, "from")
		slice := first.NewSlice(int64(from), int64(len(docs)))
		defer slice.Release()
		page.Bind(slice)
		m.Reset()
		page.EncodeRows(&m, batch.All(len(docs)-from))
		for i := from; i < len(docs); i++ {
			if doc := string(m.Member(i - from)); doc != again[i] {
				t.Fatalf("row %d of a slice: %s, want %s", i, doc, again[i])
			}
		}
	})
}

// decodeOnly decodes what decodes.
func decodeOnly(t *rapid.T, mem memory.Allocator, d *Decoder, docs []string) arrow.RecordBatch {
	g := d.NewGroup(mem)
	defer g.Release()
	for _, doc := range docs {
		before := g.Rows()
		n, err := d.Decode([]byte(doc), g)
		if g.Rows() != before+n || (err == nil) != (n == 1) {
			t.Fatalf("%d messages, %v: %d rows became %d", n, err, before, g.Rows())
		}
	}
	return g.Finish()
}

func TestGroupEqualsSingles(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(batchtest.Soiled{})
		defer mem.AssertSize(fatal{t}, 0)
		plan := drawPlan(t, rapid.Bool().Draw(t, "strict"))
		var docs []string
		for range rapid.IntRange(1, 20).Draw(t, "rows") {
			doc := drawDocument(t, plan)
			if rapid.Bool().Draw(t, "corrupt") {
				doc = corrupt(t, doc)
			}
			docs = append(docs, doc)
		}
		d, err := NewDecoder(plan)
		if err != nil {
			t.Fatal(err)
		}
		together := decodeOnly(t, mem, d, docs)
		defer together.Release()
		var singles []arrow.RecordBatch
		for _, doc := range docs {
			single := decodeOnly(t, mem, d, []string{doc})
			defer single.Release()
			if single.NumRows() > 0 {
				singles = append(singles, single)
				if !json.Valid([]byte(doc)) {
					t.Fatalf("%q decodes and is no JSON", doc)
				}
			}
		}
		if len(singles) == 0 {
			if together.NumRows() != 0 {
				t.Fatal("rows from nowhere")
			}
			return
		}
		want, err := batch.Concat(mem, singles)
		if err != nil {
			t.Fatal(err)
		}
		defer want.Release()
		equal(t, "one group and one each", together, want)
	})
}

// fatal lets arrow's assertions end a rapid test.
type fatal struct{ *rapid.T }

func (f fatal) Helper() {}

// FuzzDecode compares the verdict on well-formedness with the standard library
// and looks for payload content in diagnostics.
func FuzzDecode(f *testing.F) {
	const marker = "Zq7xPw2K"
	plan := planOf(false, fieldOf("i", vocab.Scalar(vocab.I64), true), fieldOf("x", vocab.Scalar(vocab.F64), true),
		fieldOf("s", vocab.Scalar(vocab.String), true), fieldOf("v", vocab.VecOf(vocab.VecOf(vocab.Scalar(vocab.String))), true),
		fieldOf("b", vocab.Scalar(vocab.Bytes), true), fieldOf("t", vocab.Scalar(vocab.Datetime), true))
	f.Add([]byte(`{"i":1,"x":2.5,"s":"a\n","v":[["a"],[]],"b":"AA==","t":"2024-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"` + marker + `":{"a":[1,2,{"b":null}]},"i":-9223372036854775808}`))
	d := decoderOf(f, plan)
	e, _ := NewEncoder(plan)
	f.Fuzz(func(t *testing.T, payload []byte) {
		g := d.NewGroup(memory.DefaultAllocator)
		defer g.Release()
		_, err := d.Decode(payload, g)
		if err != nil {
			if strings.Contains(err.Error(), marker) {
				t.Fatalf("%q quotes the payload", err)
			}
			return
		}
		if !json.Valid(payload) || !utf8.Valid(payload) {
			t.Fatalf("%q is accepted and is no JSON", payload)
		}
		rec := g.Finish()
		defer rec.Release()
		page := e.NewPage()
		page.Bind(rec)
		var m Members
		if failed := page.EncodeRows(&m, batch.All(1)); failed != nil || !json.Valid(m.Bytes) {
			t.Fatalf("%q, %v", m.Bytes, failed)
		}
		doc := m.Bytes
		if n, err := d.Decode(slices.Clone(doc), g); n != 1 || err != nil {
			t.Fatalf("%q does not decode again: %v", doc, err)
		}
	})
}
