package exchange

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

func drawType(t *rapid.T, depth int) vocab.Type {
	most := 15
	if depth == 0 {
		most = 13
	}
	kinds := []vocab.Kind{vocab.U8, vocab.I8, vocab.U16, vocab.I16, vocab.U32, vocab.I32, vocab.U64, vocab.I64, vocab.F32, vocab.F64,
		vocab.Bool, vocab.String, vocab.Bytes, vocab.Datetime, vocab.Array, vocab.Vec}
	out := vocab.Type{Kind: kinds[rapid.IntRange(0, most).Draw(t, "kind")]}
	if out.Kind == vocab.Array || out.Kind == vocab.Vec {
		elem := drawType(t, depth-1)
		out.Elem = &elem
		out.Size = rapid.Uint32Range(1, 4).Draw(t, "size")
	}
	return out
}

func drawSchema(t *rapid.T) *vocab.Schema {
	s := &vocab.Schema{Name: "s"}
	for i := range rapid.IntRange(1, 6).Draw(t, "fields") {
		s.Fields = append(s.Fields, vocab.Field{Name: fmt.Sprintf("f%d", i), Type: drawType(t, 2), Optional: rapid.Bool().Draw(t, "optional")})
	}
	return s
}

func drawValue(t *rapid.T, b array.Builder) {
	n := rapid.Int64().Draw(t, "n")
	switch b := b.(type) {
	case *array.Uint8Builder:
		b.Append(uint8(n))
	case *array.Int8Builder:
		b.Append(int8(n))
	case *array.Uint16Builder:
		b.Append(uint16(n))
	case *array.Int16Builder:
		b.Append(int16(n))
	case *array.Uint32Builder:
		b.Append(uint32(n))
	case *array.Int32Builder:
		b.Append(int32(n))
	case *array.Uint64Builder:
		b.Append(uint64(n))
	case *array.Int64Builder:
		b.Append(n)
	case *array.Float32Builder:
		b.Append(float32(n))
	case *array.Float64Builder:
		b.Append(float64(n) / 3)
	case *array.BooleanBuilder:
		b.Append(n%2 == 0)
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(n))
	case *array.StringBuilder:
		b.Append(rapid.SampledFrom([]string{"", "a", "longer text", "žluť", "日本"}).Draw(t, "text"))
	case *array.BinaryBuilder:
		b.Append(rapid.SliceOfN(rapid.Byte(), 0, 9).Draw(t, "bytes"))
	case *array.ListBuilder:
		b.Append(true)
		for range rapid.IntRange(0, 3).Draw(t, "length") {
			drawValue(t, b.ValueBuilder())
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for range b.Type().(*arrow.FixedSizeListType).Len() {
			drawValue(t, b.ValueBuilder())
		}
	default:
		t.Fatalf("no values for %T", b)
	}
}

// drawRecord makes a record that may be a slice of a longer one.
func drawRecord(t *rapid.T, schema *arrow.Schema) arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	rows := rapid.IntRange(1, 20).Draw(t, "rows")
	for i, f := range schema.Fields() {
		for range rows {
			if f.Nullable && rapid.IntRange(0, 2).Draw(t, "null") == 0 {
				b.Field(i).AppendNull()
				continue
			}
			drawValue(t, b.Field(i))
		}
	}
	rec := b.NewRecordBatch()
	if rapid.Bool().Draw(t, "slice") {
		from := rapid.IntRange(0, rows-1).Draw(t, "from")
		to := rapid.IntRange(from+1, rows).Draw(t, "to")
		whole := rec
		rec = whole.NewSlice(int64(from), int64(to))
		whole.Release()
	}
	return rec
}

func drawWatermarks(t *rapid.T, rows int) (low, high []int64) {
	values := rapid.SampledFrom([]int{1, 1 << 40}).Draw(t, "spread")
	draw := func() []int64 {
		out := make([]int64, rows)
		for i := range out {
			out[i] = rapid.Int64Range(0, int64(values)).Draw(t, "w") / int64(values) * 7
		}
		return out
	}
	low = draw()
	if rapid.Bool().Draw(t, "same") {
		return low, append([]int64{}, low...)
	}
	return low, draw()
}

func TestBodyRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := batch.ArrowSchema(drawSchema(t))
		l, err := NewLayout(schema)
		if err != nil {
			t.Fatal(err)
		}
		rec := drawRecord(t, schema)
		defer rec.Release()
		low, high := drawWatermarks(t, int(rec.NumRows()))
		body, err := Encode(l, rec, low, high)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Decode(l, body.Bytes())
		if err != nil {
			t.Fatalf("%v\n%v", err, rec)
		}
		defer got.Record.Release()
		if !array.RecordEqual(rec, got.Record) || !got.Record.Schema().Equal(schema) {
			t.Fatalf("sent\n%v\ngot\n%v", rec, got.Record)
		}
		if fmt.Sprint(low, high) != fmt.Sprint(got.Low, got.High) {
			t.Fatalf("watermarks %v %v became %v %v", low, high, got.Low, got.High)
		}
		again, err := Encode(l, got.Record, got.Low, got.High)
		if err != nil || !bytes.Equal(again.Bytes(), body.Bytes()) || again.Digest() != body.Digest() {
			t.Fatalf("the decoded batch encodes to other bytes: %v", err)
		}
		if back := readByArrow(t, schema, body); !array.RecordEqual(rec, back) {
			t.Fatalf("sent\n%v\nArrow reads\n%v", rec, back)
		}
	})
}

// readByArrow reads the message of a body with the Arrow implementation, behind a
// schema message that it writes itself.
func readByArrow(t *rapid.T, schema *arrow.Schema, body *Body) arrow.RecordBatch {
	var stream bytes.Buffer
	w := ipc.NewWriter(&stream, ipc.WithSchema(schema))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	eos := []byte{0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0}
	head := bytes.TrimSuffix(stream.Bytes(), eos)
	b := body.Bytes()
	at := sidecarSize(body.Rows(), binary.LittleEndian.Uint32(b[4:]))
	r, err := ipc.NewReader(bytes.NewReader(append(append(append([]byte{}, head...), b[at:]...), eos...)))
	if err != nil {
		t.Fatal(err)
	}
	rec, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// Any change of a body is either refused with its place or still a batch.
func TestDamagedBodyIsRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schema := batch.ArrowSchema(drawSchema(t))
		l, err := NewLayout(schema)
		if err != nil {
			t.Fatal(err)
		}
		rec := drawRecord(t, schema)
		defer rec.Release()
		low, high := drawWatermarks(t, int(rec.NumRows()))
		body, err := Encode(l, rec, low, high)
		if err != nil {
			t.Fatal(err)
		}
		b := append([]byte{}, body.Bytes()...)
		switch rapid.IntRange(0, 2).Draw(t, "damage") {
		case 0:
			b = b[:rapid.IntRange(0, len(b)-1).Draw(t, "cut")]
		case 1:
			b = append(b, rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "surplus")...)
		default:
			for range rapid.IntRange(1, 3).Draw(t, "flips") {
				b[rapid.IntRange(0, len(b)-1).Draw(t, "at")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
			}
		}
		read(t, l, b)
	})
}

type fataler interface {
	Helper()
	Fatalf(format string, args ...any)
}

// read decodes hostile bytes and, when they pass, touches every value.
func read(t fataler, l *Layout, b []byte) {
	t.Helper()
	got, err := Decode(l, b)
	if err != nil {
		var m *MalformedError
		if !errors.As(err, &m) {
			t.Fatalf("untyped error %v", err)
		}
		return
	}
	defer got.Record.Release()
	if n := got.Record.NumRows(); n == 0 || len(got.Low) != int(n) || len(got.High) != int(n) {
		t.Fatalf("%d rows with %d and %d watermarks", n, len(got.Low), len(got.High))
	}
	if v, ok := got.Record.(interface{ Validate() error }); ok {
		if err := v.Validate(); err != nil {
			t.Fatalf("accepted %v", err)
		}
	}
	_, err = Encode(l, got.Record, got.Low, got.High)
	if err != nil && !errors.Is(err, ErrTooLarge) {
		t.Fatalf("an accepted batch does not encode: %v", err)
	}
	if got.Record.NumRows() <= 8 {
		_ = fmt.Sprint(got.Record)
	}
}

func TestLayoutTellsSchemasApart(t *testing.T) {
	i64 := arrow.PrimitiveTypes.Int64
	schemas := []*arrow.Schema{
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: i64}, {Name: "b", Type: i64}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "b", Type: i64}, {Name: "a", Type: i64}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "ab", Type: i64}, {Name: "", Type: i64}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: i64, Nullable: true}, {Name: "b", Type: i64}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Uint64}, {Name: "b", Type: i64}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.ListOfNonNullable(i64)}, {Name: "b", Type: i64}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.FixedSizeListOfNonNullable(2, i64)}, {Name: "b", Type: i64}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.FixedSizeListOfNonNullable(3, i64)}, {Name: "b", Type: i64}}, nil),
		arrow.NewSchema([]arrow.Field{{Name: "a", Type: i64}}, nil),
	}
	seen := map[Fingerprint]int{}
	for i, s := range schemas {
		l, err := NewLayout(s)
		if err != nil {
			t.Fatal(err)
		}
		if j, taken := seen[l.Fingerprint]; taken {
			t.Fatalf("schemas %d and %d have one fingerprint", i, j)
		}
		seen[l.Fingerprint] = i
	}
	for _, bad := range []arrow.DataType{
		arrow.ListOf(i64), arrow.BinaryTypes.LargeString, &arrow.TimestampType{Unit: arrow.Second, TimeZone: "+00:00"}, arrow.StructOf(),
		&arrow.DictionaryType{IndexType: i64, ValueType: arrow.BinaryTypes.String}, arrow.BinaryTypes.StringView, arrow.FixedWidthTypes.Float16,
	} {
		if _, err := NewLayout(arrow.NewSchema([]arrow.Field{{Name: "a", Type: bad}}, nil)); err == nil {
			t.Fatalf("%v may travel", bad)
		}
	}
}

func TestBodyLimit(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{{Name: "text", Type: arrow.BinaryTypes.String}}, nil)
	l, _ := NewLayout(schema)
	record := func(rows, size int) arrow.RecordBatch {
		b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
		defer b.Release()
		text := string(bytes.Repeat([]byte("x"), size))
		for range rows {
			b.Field(0).(*array.StringBuilder).Append(text)
		}
		return b.NewRecordBatch()
	}
	rec := record(4, 8<<20)
	defer rec.Release()
	marks := make([]int64, 4)
	if _, err := Encode(l, rec, marks, marks); !errors.Is(err, ErrTooLarge) {
		t.Fatalf("32 MiB of values and more around them: %v", err)
	}
	half := rec.NewSlice(2, 4)
	defer half.Release()
	body, err := Encode(l, half, marks[:2], marks[:2])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(l, body.Bytes()); err != nil {
		t.Fatal(err)
	}
	if _, err := Decode(l, make([]byte, BodyMax+1)); err == nil {
		t.Fatal("a body above the limit was read")
	}
}
