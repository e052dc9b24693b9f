package batch

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/primitives/invariant"
)

// Gather returns the selected rows as a batch. Rows that lie side by side share
// the buffers of rec; others are copied.
func Gather(mem memory.Allocator, rec arrow.RecordBatch, s Selection) arrow.RecordBatch {
	invariant.That(int(rec.NumRows()) == s.Total(), "B2: a selection belongs to another batch")
	if s.all {
		rec.Retain()
		return rec
	}
	columns := make([]arrow.Array, rec.NumCols())
	for i := range columns {
		columns[i] = GatherArray(mem, rec.Column(i), s)
	}
	out := array.NewRecordBatch(rec.Schema(), columns, int64(s.Len()))
	for _, column := range columns {
		column.Release()
	}
	return out
}

// GatherArray is Gather for one column.
func GatherArray(mem memory.Allocator, column arrow.Array, s Selection) arrow.Array {
	if s.all {
		column.Retain()
		return column
	}
	if first, ok := s.span(); ok {
		return array.NewSlice(column, int64(first), int64(first+s.Len()))
	}
	data := gather(mem, column.Data(), s.rows)
	defer data.Release()
	return array.MakeFromData(data)
}

// GatherRows copies the given rows of a column in the given order; a row may
// occur several times.
func GatherRows(mem memory.Allocator, column arrow.Array, rows []int32) arrow.Array {
	data := gather(mem, column.Data(), rows)
	defer data.Release()
	return array.MakeFromData(data)
}

// gather copies rows, counted from the visible start of data.
func gather(mem memory.Allocator, data arrow.ArrayData, rows []int32) arrow.ArrayData {
	validity, nulls := gatherValidity(mem, data, rows)
	var values, offsets *memory.Buffer
	var child arrow.ArrayData
	switch t := data.DataType().(type) {
	case *arrow.BooleanType:
		values = gatherBits(mem, bytesOf(data.Buffers()[1]), data.Offset(), rows)
	case *arrow.StringType, *arrow.BinaryType:
		offsets, values = gatherBytes(mem, data, rows)
	case *arrow.ListType:
		offsets, child = gatherList(mem, data, rows)
	case *arrow.FixedSizeListType:
		length := int(t.Len())
		elements := make([]int32, 0, len(rows)*length)
		for _, r := range rows {
			first := (data.Offset() + int(r)) * length
			for k := range length {
				elements = append(elements, int32(first+k))
			}
		}
		child = gather(mem, data.Children()[0], elements)
	default:
		values = gatherFixed(mem, data, ArrowWidth(t), rows)
	}
	buffers := []*memory.Buffer{validity}
	if offsets != nil {
		buffers = append(buffers, offsets)
	}
	if values != nil {
		buffers = append(buffers, values)
	}
	var children []arrow.ArrayData
	if child != nil {
		children = []arrow.ArrayData{child}
		defer child.Release()
	}
	out := array.NewData(data.DataType(), len(rows), buffers, children, nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	return out
}

func gatherValidity(mem memory.Allocator, data arrow.ArrayData, rows []int32) (*memory.Buffer, int) {
	if !hasNull(data, data.Offset(), data.Len()) {
		return nil, 0
	}
	b := gatherBits(mem, data.Buffers()[0].Bytes(), data.Offset(), rows)
	return b, len(rows) - bitutil.CountSetBits(b.Bytes(), 0, len(rows))
}

func gatherBits(mem memory.Allocator, bits []byte, offset int, rows []int32) *memory.Buffer {
	out := mem.Allocate((len(rows) + 7) / 8)
	clear(out)
	for i, r := range rows {
		p := uint(offset) + uint(r)
		out[i>>3] |= (bits[p>>3] >> (p & 7) & 1) << (i & 7)
	}
	return memory.NewBufferWithAllocator(out, mem)
}

func gatherFixed(mem memory.Allocator, data arrow.ArrayData, width int, rows []int32) *memory.Buffer {
	out := mem.Allocate(len(rows) * width)
	in := bytesOf(data.Buffers()[1])
	in = in[min(data.Offset()*width, len(in)):]
	switch width {
	case 1:
		for i, r := range rows {
			out[i] = in[r]
		}
	case 2:
		take(arrow.Uint16Traits.CastFromBytes(out), arrow.Uint16Traits.CastFromBytes(in), rows)
	case 4:
		take(arrow.Uint32Traits.CastFromBytes(out), arrow.Uint32Traits.CastFromBytes(in), rows)
	default:
		take(arrow.Uint64Traits.CastFromBytes(out), arrow.Uint64Traits.CastFromBytes(in), rows)
	}
	return memory.NewBufferWithAllocator(out, mem)
}

func take[T any](out, in []T, rows []int32) {
	for i, r := range rows {
		out[i] = in[r]
	}
}

func gatherBytes(mem memory.Allocator, data arrow.ArrayData, rows []int32) (offsets, values *memory.Buffer) {
	from := offsetsOf(data)[data.Offset():]
	raw := mem.Allocate(4 * (len(rows) + 1))
	to := arrow.Int32Traits.CastFromBytes(raw)
	var size int32
	for i, r := range rows {
		to[i] = size
		size += from[r+1] - from[r]
	}
	to[len(rows)] = size
	out := mem.Allocate(int(size))
	in := bytesOf(data.Buffers()[2])
	for i, r := range rows {
		copy(out[to[i]:to[i+1]], in[from[r]:from[r+1]])
	}
	return memory.NewBufferWithAllocator(raw, mem), memory.NewBufferWithAllocator(out, mem)
}

func gatherList(mem memory.Allocator, data arrow.ArrayData, rows []int32) (*memory.Buffer, arrow.ArrayData) {
	from := offsetsOf(data)[data.Offset():]
	raw := mem.Allocate(4 * (len(rows) + 1))
	to := arrow.Int32Traits.CastFromBytes(raw)
	var elements []int32
	for i, r := range rows {
		to[i] = int32(len(elements))
		for e := from[r]; e < from[r+1]; e++ {
			elements = append(elements, e)
		}
	}
	to[len(rows)] = int32(len(elements))
	return memory.NewBufferWithAllocator(raw, mem), gather(mem, data.Children()[0], elements)
}

func bytesOf(b *memory.Buffer) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()
}
