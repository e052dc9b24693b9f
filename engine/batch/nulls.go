package batch

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Nulls returns a column of n nulls. Unlike Arrow's own it asks nothing of the
// content of fresh buffers, which a [Pool] hands out as they are.
func Nulls(mem memory.Allocator, t arrow.DataType, n int) arrow.Array {
	data := blank(mem, t, n, true)
	defer data.Release()
	return array.MakeFromData(data)
}

// blank makes n zero values, or nulls.
func blank(mem memory.Allocator, t arrow.DataType, n int, null bool) arrow.ArrayData {
	var buffers []*memory.Buffer
	add := func(size int) {
		raw := mem.Allocate(size)
		clear(raw)
		buffers = append(buffers, memory.NewBufferWithAllocator(raw, mem))
	}
	nulls := 0
	if null {
		nulls = n
		add((n + 7) / 8)
	} else {
		buffers = append(buffers, nil)
	}
	var child arrow.ArrayData
	switch t := t.(type) {
	case *arrow.BooleanType:
		add((n + 7) / 8)
	case *arrow.StringType, *arrow.BinaryType:
		add(4 * (n + 1))
		add(0)
	case *arrow.ListType:
		add(4 * (n + 1))
		child = blank(mem, t.Elem(), 0, false)
	case *arrow.FixedSizeListType:
		child = blank(mem, t.Elem(), n*int(t.Len()), false)
	default:
		add(n * ArrowWidth(t))
	}
	var children []arrow.ArrayData
	if child != nil {
		children = []arrow.ArrayData{child}
		defer child.Release()
	}
	data := array.NewData(t, n, buffers, children, nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	return data
}
