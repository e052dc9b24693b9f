package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

// array makes an Arrow column of the rows at the given positions, nil for all.
func (f *frame) array(v *vec, t arrow.DataType, positions []int32, rows int) arrow.Array {
	if v.source != nil {
		return f.passOn(v.source, positions)
	}
	s, mem := f.scratch, f.ctx.Memory
	column := *v
	if v.scalar {
		column, positions = s.expand(*v, rows), nil
	}
	if !v.kind.Scalar() {
		return f.listArray(&column, t, positions, rows)
	}
	validity, nulls := storeValidity(s, mem, column.valid, positions, rows)
	var offsets, values *memory.Buffer
	switch v.kind {
	case vocab.Bool:
		bits := column.bits
		if positions != nil {
			bits = s.gatherBits(bits, positions)
		}
		values = storeBits(mem, bits, rows)
	case vocab.String, vocab.Bytes:
		offsets, values = storeText(mem, &column, positions, rows)
	default:
		width := batch.Width(v.kind)
		raw := mem.Allocate(rows * width)
		if positions == nil {
			copy(raw, column.fixed)
		} else {
			takeFixed(raw, column.fixed, width, positions)
		}
		values = memory.NewBufferWithAllocator(raw, mem)
	}
	return newArray(t, rows, nulls, validity, offsets, values)
}

// newArray wraps buffers, which it takes over; offsets may be nil.
func newArray(t arrow.DataType, rows, nulls int, validity, offsets, values *memory.Buffer) arrow.Array {
	buffers := []*memory.Buffer{validity, offsets, values}
	if offsets == nil {
		buffers = []*memory.Buffer{validity, values}
	}
	data := array.NewData(t, rows, buffers, nil, nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	defer data.Release()
	return array.MakeFromData(data)
}

// passOn returns an input column, or a copy of some of its rows.
func (f *frame) passOn(c *column, positions []int32) arrow.Array {
	selection := f.in.Select
	if c.aligned {
		selection = batch.All(f.n)
	}
	if positions != nil {
		selection = selection.Narrow(positions)
	}
	return batch.GatherArray(f.ctx.Memory, c.array, selection)
}

func (f *frame) listArray(v *vec, t arrow.DataType, positions []int32, rows int) arrow.Array {
	if v.list == nil {
		return batch.Nulls(f.ctx.Memory, t, rows)
	}
	picked := v.rows
	if positions != nil {
		picked = f.scratch.int32s(rows)
		take(picked, v.rows, positions)
	}
	return batch.GatherRows(f.ctx.Memory, v.list, picked)
}

// bounded fails the rows of a scalar text that do not find room in a column.
func (f *frame) bounded(v vec, full *Fault) vec {
	if !v.scalar || v.kind != vocab.String && v.kind != vocab.Bytes || v.null(0) || len(v.text(0)) == 0 {
		return v
	}
	room := f.scratch.columnBytes / len(v.text(0))
	if f.n <= room {
		return v
	}
	v = f.scratch.expand(v, f.n)
	over := f.scratch.full(f.n)
	for i := range room {
		over.unset(i)
	}
	v.valid = f.failing(v.valid, over, full)
	return v
}

func storeValidity(s *Scratch, mem memory.Allocator, valid bitmap, positions []int32, rows int) (*memory.Buffer, int) {
	if valid == nil {
		return nil, 0
	}
	if positions != nil {
		valid = s.gatherBits(valid, positions)
	}
	nulls := rows - valid.count()
	if nulls == 0 {
		return nil, 0
	}
	return storeBits(mem, valid, rows), nulls
}

func storeBits(mem memory.Allocator, bits bitmap, rows int) *memory.Buffer {
	raw := mem.Allocate((rows + 7) / 8)
	bits.store(raw)
	return memory.NewBufferWithAllocator(raw, mem)
}

func storeText(mem memory.Allocator, v *vec, positions []int32, rows int) (offsets, values *memory.Buffer) {
	rawOffsets := mem.Allocate(4 * (rows + 1))
	to := as[int32](rawOffsets)
	to[0] = 0
	var raw []byte
	if v.dense && positions == nil && rows > 0 {
		first := v.lo[0]
		for i, end := range v.hi {
			to[i+1] = end - first
		}
		raw = mem.Allocate(int(to[rows]))
		copy(raw, v.data[first:])
	} else {
		raw = storeViews(mem, to, v, positions, rows)
	}
	return memory.NewBufferWithAllocator(rawOffsets, mem), memory.NewBufferWithAllocator(raw, mem)
}

func storeViews(mem memory.Allocator, to []int32, v *vec, positions []int32, rows int) []byte {
	var size int32
	for i := range rows {
		p := int32(i)
		if positions != nil {
			p = positions[i]
		}
		if v.valid == nil || v.valid.has(int(p)) {
			size += v.hi[p] - v.lo[p]
		}
		to[i+1] = size
	}
	raw := mem.Allocate(int(size))
	for i := range rows {
		p := int32(i)
		if positions != nil {
			p = positions[i]
		}
		copy(raw[to[i]:to[i+1]], v.data[v.lo[p]:])
	}
	return raw
}
