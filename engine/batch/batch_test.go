package batch

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"plexus/nspl/vocab"
)

// fatal lets arrow's assertions end a rapid test.
type fatal struct{ *rapid.T }

func (f fatal) Helper() {}

func drawType(t *rapid.T, depth int) vocab.Type {
	k := vocab.Kind(rapid.IntRange(int(vocab.U8), int(vocab.Vec)).Draw(t, "kind"))
	switch {
	case k.Scalar():
		return vocab.Scalar(k)
	case depth == 0:
		return vocab.Scalar(vocab.String)
	case k == vocab.Vec:
		return vocab.VecOf(drawType(t, depth-1))
	default:
		return vocab.ArrayOf(drawType(t, depth-1), rapid.Uint32Range(1, 3).Draw(t, "length"))
	}
}

func drawSchema(t *rapid.T) *vocab.Schema {
	s := &vocab.Schema{Name: "s"}
	for i := range rapid.IntRange(1, 4).Draw(t, "fields") {
		s.Fields = append(s.Fields, vocab.Field{Name: fmt.Sprint("f", i), Type: drawType(t, 2), Optional: rapid.Bool().Draw(t, "optional")})
	}
	return s
}

// fill appends one value that depends on seed.
func fill(b array.Builder, seed int) {
	switch b := b.(type) {
	case *array.Uint8Builder:
		b.Append(uint8(seed))
	case *array.Uint16Builder:
		b.Append(uint16(seed))
	case *array.Uint32Builder:
		b.Append(uint32(seed))
	case *array.Uint64Builder:
		b.Append(uint64(seed))
	case *array.Int8Builder:
		b.Append(int8(seed))
	case *array.Int16Builder:
		b.Append(int16(seed))
	case *array.Int32Builder:
		b.Append(int32(seed))
	case *array.Int64Builder:
		b.Append(int64(seed))
	case *array.Float32Builder:
		b.Append(float32(seed))
	case *array.Float64Builder:
		b.Append(float64(seed))
	case *array.BooleanBuilder:
		b.Append(seed%2 == 0)
	case *array.StringBuilder:
		b.Append(fmt.Sprint("text", seed)[:seed%6])
	case *array.BinaryBuilder:
		b.Append([]byte(fmt.Sprint("bytes", seed)[:seed%5]))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(seed))
	case *array.ListBuilder:
		b.Append(true)
		for k := range seed % 4 {
			fill(b.ValueBuilder(), seed+k)
		}
	case *array.FixedSizeListBuilder:
		b.Append(true)
		for k := range int(b.Type().(*arrow.FixedSizeListType).Len()) {
			fill(b.ValueBuilder(), seed+k)
		}
	}
}

func drawRecord(t *rapid.T, mem memory.Allocator, s *vocab.Schema, rows int) arrow.RecordBatch {
	b := array.NewRecordBuilder(mem, ArrowSchema(s))
	defer b.Release()
	for i, f := range s.Fields {
		for range rows {
			seed := rapid.IntRange(0, 100).Draw(t, "seed")
			if f.Optional && seed < 30 {
				b.Field(i).AppendNull()
			} else {
				fill(b.Field(i), seed)
			}
		}
	}
	return b.NewRecordBatch()
}

func show(rec arrow.RecordBatch, row int) string {
	out := ""
	for _, c := range rec.Columns() {
		out += c.ValueStr(row) + "|"
	}
	return out
}

// TestSelectionsOfRows compares gathering, slicing and concatenation with rows
// shown one by one, and the logical size of a view with that of its dense copy.
func TestSelectionsOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(&Pool{})
		defer mem.AssertSize(fatal{t}, 0)
		rows := rapid.IntRange(0, 40).Draw(t, "rows")
		whole := drawRecord(t, mem, drawSchema(t), rows)
		defer whole.Release()
		from := rapid.IntRange(0, rows).Draw(t, "from")
		to := rapid.IntRange(from, rows).Draw(t, "to")
		rec := whole.NewSlice(int64(from), int64(to))
		defer rec.Release()
		n := to - from
		chosen := rapid.SliceOfNDistinct(rapid.IntRange(0, max(n-1, 0)), 0, n, rapid.ID).Draw(t, "chosen")
		slices.Sort(chosen)
		selected := make([]int32, len(chosen))
		for i, r := range chosen {
			selected[i] = int32(r)
		}
		s := Rows(n, selected)
		got := Gather(mem, rec, s)
		defer got.Release()
		if int(got.NumRows()) != s.Len() {
			t.Fatalf("%d rows of %d", got.NumRows(), s.Len())
		}
		for i := range s.Len() {
			if a, b := show(got, i), show(rec, int(s.At(i))); a != b {
				t.Fatalf("row %d: %s, want %s", i, a, b)
			}
		}
		parts := []arrow.RecordBatch{got, rec, got}
		joined, err := Concat(mem, parts)
		if err != nil {
			t.Fatal(err)
		}
		defer joined.Release()
		at := 0
		for _, part := range parts {
			for i := range int(part.NumRows()) {
				if a, b := show(joined, at), show(part, i); a != b {
					t.Fatalf("joined row %d: %s, want %s", at, a, b)
				}
				at++
			}
		}
		// The copy of a view that GatherRows makes is dense.
		every := All(n).AppendRows(nil)
		columns := make([]arrow.Array, rec.NumCols())
		for i := range columns {
			columns[i] = GatherRows(mem, rec.Column(i), every)
			defer columns[i].Release()
		}
		dense := array.NewRecordBatch(rec.Schema(), columns, int64(n))
		defer dense.Release()
		if a, b := LogicalSize(rec), LogicalSize(dense); a != b {
			t.Fatalf("a view measures %d, its copy %d", a, b)
		}
	})
}

func TestLogicalSize(t *testing.T) {
	schema := &vocab.Schema{Fields: []vocab.Field{
		{Name: "n", Type: vocab.Scalar(vocab.I32)}, {Name: "b", Type: vocab.Scalar(vocab.Bool)},
		{Name: "s", Type: vocab.Scalar(vocab.String), Optional: true}, {Name: "v", Type: vocab.VecOf(vocab.ArrayOf(vocab.Scalar(vocab.F64), 2))},
	}}
	b := array.NewRecordBuilder(memory.DefaultAllocator, ArrowSchema(schema))
	defer b.Release()
	for i := range 10 {
		b.Field(0).(*array.Int32Builder).Append(int32(i))
		b.Field(1).(*array.BooleanBuilder).Append(true)
		if i == 0 {
			b.Field(2).AppendNull()
		} else {
			b.Field(2).(*array.StringBuilder).Append("abc")
		}
		list := b.Field(3).(*array.ListBuilder)
		list.Append(true)
		pair := list.ValueBuilder().(*array.FixedSizeListBuilder)
		pair.Append(true)
		pair.ValueBuilder().(*array.Float64Builder).AppendValues([]float64{1, 2}, nil)
	}
	rec := b.NewRecordBatch()
	defer rec.Release()
	// 40 numbers; 2 bits; validity 2, offsets 44 and 27 bytes; offsets 44 and 160.
	if got, want := LogicalSize(rec), int64(40+2+2+44+27+44+160); got != want {
		t.Errorf("all rows: %d, want %d", got, want)
	}
	slice := rec.NewSlice(8, 10) // without the null
	defer slice.Release()
	if got, want := LogicalSize(slice), int64(8+1+12+6+12+32); got != want {
		t.Errorf("two rows: %d, want %d", got, want)
	}
}

func TestSelection(t *testing.T) {
	if s := Rows(3, []int32{0, 1, 2}); !s.IsAll() {
		t.Error("every row is not all")
	}
	s := Rows(10, []int32{1, 3, 5, 7}).Narrow([]int32{0, 2})
	if got := fmt.Sprint(s.AppendRows(nil), s.Total(), s.Len()); got != "[1 5] 10 2" {
		t.Error(got)
	}
	if got := All(4).Narrow([]int32{1, 2}); got.At(0) != 1 || got.Len() != 2 {
		t.Error(got)
	}
	if got := Select(s, []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"}); fmt.Sprint(got) != "[b f]" {
		t.Error(got)
	}
	if Rows(3, nil).Len() != 0 || Rows(0, nil).Len() != 0 || All(0).Len() != 0 {
		t.Error("none selects something")
	}
}

func TestPoolHandsBuffersOutAgain(t *testing.T) {
	p := new(Pool)
	for _, size := range []int{1, 63, 64, 65, 1000, 1 << 22, 1<<22 + 1} {
		b := p.Allocate(size)
		if len(b) != size {
			t.Fatalf("%d bytes of %d", len(b), size)
		}
		b[0], b[size-1] = 1, 2
		p.Free(b)
		again := p.Allocate(size)
		if shared := &again[0] == &b[0]; shared != (size <= 1<<22) {
			t.Errorf("%d bytes: handed out again %t", size, shared)
		}
	}
	b := p.Allocate(100)
	copy(b, "content")
	b = p.Reallocate(5000, b)
	if string(b[:7]) != "content" || len(b) != 5000 {
		t.Error("reallocation loses content")
	}
	if small := p.Reallocate(10, b); &small[0] != &b[0] || len(small) != 10 {
		t.Error("shrinking moves")
	}
	p.Free(p.Allocate(0))
}

// TestPoolGivesEachBufferOnce lets tasks write their number into every buffer
// they hold and look whether it stays.
func TestPoolGivesEachBufferOnce(t *testing.T) {
	p := new(Pool)
	var tasks sync.WaitGroup
	for id := range byte(4) {
		tasks.Go(func() {
			for i := range 20_000 {
				a, b := p.Allocate(64+i%200), p.Allocate(64+i%100)
				a[0], b[0] = id, id
				runtime.Gosched()
				if a[0] != id || b[0] != id {
					t.Error("a buffer has two owners")
				}
				p.Free(a)
				p.Free(b)
			}
		})
	}
	tasks.Wait()
}

func BenchmarkGather(b *testing.B) {
	mem := new(Pool)
	schema := &vocab.Schema{Fields: []vocab.Field{{Name: "s", Type: vocab.Scalar(vocab.String)}, {Name: "n", Type: vocab.Scalar(vocab.I64)}}}
	builder := array.NewRecordBuilder(mem, ArrowSchema(schema))
	for i := range 1024 {
		builder.Field(0).(*array.StringBuilder).Append(fmt.Sprintf("a text of forty or so bytes, number %4d", i))
		builder.Field(1).(*array.Int64Builder).Append(int64(i))
	}
	rec := builder.NewRecordBatch()
	builder.Release()
	defer rec.Release()
	var rows []int32
	for i := int32(0); i < 1024; i += 2 {
		rows = append(rows, i)
	}
	b.ReportAllocs()
	for b.Loop() {
		Gather(mem, rec, Rows(1024, rows)).Release()
	}
	b.ReportMetric(float64(b.N)*512/b.Elapsed().Seconds(), "rows/s")
}
