package expr

import (
	"bytes"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// listed makes a column of lists of a child that holds their elements side by side;
// offsets say where each begins, nil for lists of one length. The child is taken over.
func (f *frame) listed(t vocab.Type, child arrow.Array, offsets []int32, valid bitmap) vec {
	defer child.Release()
	mem := f.ctx.Memory
	validity, nulls := storeValidity(f.scratch, mem, valid, nil, f.n)
	buffers := []*memory.Buffer{validity}
	if offsets != nil {
		raw := mem.Allocate(4 * len(offsets))
		copy(as[int32](raw), offsets)
		buffers = append(buffers, memory.NewBufferWithAllocator(raw, mem))
	}
	data := array.NewData(batch.ArrowType(t), f.n, buffers, []arrow.ArrayData{child.Data()}, nulls, 0)
	defer data.Release()
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	return vec{list: f.keep(array.MakeFromData(data)), rows: f.scratch.sequence(f.n), valid: valid}
}

// noLists is a column of nulls, where nothing can be computed.
func (f *frame) noLists(t vocab.Type) vec {
	return vec{list: f.keep(batch.Nulls(f.ctx.Memory, batch.ArrowType(t), f.n)), rows: f.scratch.sequence(f.n), valid: f.scratch.empty(f.n)}
}

// listOf binds array(…) and vec(…). A row with a null element is null.
func (c *compiler) listOf(e *typed.Expr) kernel {
	t := e.Type
	full := c.fault(Overflow, e.Func, "the lists of the batch pass what one column holds")
	return func(f *frame, args []vec) vec {
		n := f.n
		valid := f.strict(args)
		if len(args) == 0 { // vec()
			return f.listed(t, batch.Nulls(f.ctx.Memory, batch.ArrowType(*t.Elem), 0), make([]int32, n+1), nil)
		}
		// The columns of the elements, one behind the other, and then row by row.
		parts := make([]arrow.Array, len(args))
		for k := range args {
			parts[k] = f.array(&args[k], batch.ArrowType(*t.Elem), nil, n)
			defer parts[k].Release()
		}
		all, err := array.Concatenate(parts, f.ctx.Memory)
		if err != nil {
			f.fail(f.scratch.full(n), full)
			return f.noLists(t)
		}
		defer all.Release()
		rows := make([]int32, 0, n*len(args))
		for i := range n {
			for k := range args {
				rows = append(rows, int32(k*n+i))
			}
		}
		child := withoutNulls(batch.GatherRows(f.ctx.Memory, all, rows))
		if t.Kind == vocab.Array {
			return f.listed(t, child, nil, valid)
		}
		offsets := f.scratch.int32s(n + 1)
		for i := range offsets {
			offsets[i] = int32(i * len(args))
		}
		return f.listed(t, child, offsets, valid)
	}
}

// withoutNulls makes null elements values: they belong to null lists only, and the
// layout of lists has no null elements.
func withoutNulls(a arrow.Array) arrow.Array {
	if a.NullN() == 0 {
		return a
	}
	defer a.Release()
	old := a.Data()
	buffers := append([]*memory.Buffer{nil}, old.Buffers()[1:]...)
	data := array.NewData(old.DataType(), old.Len(), buffers, old.Children(), 0, old.Offset())
	defer data.Release()
	return array.MakeFromData(data)
}

// gatheredLists makes lists of some elements of a column of elements.
func (f *frame) gatheredLists(t vocab.Type, from arrow.Array, picked, offsets []int32, valid bitmap) vec {
	child := batch.GatherRows(f.ctx.Memory, from, picked)
	if t.Kind == vocab.Array {
		offsets = nil
	}
	return f.listed(t, child, offsets, valid)
}

// slice is a part of each list, counted from 0 and clipped.
func (c *compiler) slice(e *typed.Expr) kernel {
	t, kind := e.Type, elementKind(e)
	return func(f *frame, args []vec) vec {
		lists := f.elements(&args[0], kind)
		if lists.lists == nil {
			return f.noLists(t)
		}
		valid := f.strict(args)
		offsets := f.scratch.int32s(f.n + 1)
		offsets[0] = 0
		var picked []int32
		for i := range f.n {
			if valid == nil || valid.has(i) {
				lo, hi := lists.span(i)
				start := min(max(args[1].integer(i), 0), int64(hi-lo))
				length := min(max(args[2].integer(i), 0), int64(hi-lo)-start)
				for k := lo + int(start); k < lo+int(start+length); k++ {
					picked = append(picked, int32(k))
				}
			}
			offsets[i+1] = int32(len(picked))
		}
		return f.gatheredLists(t, lists.lists.ListValues(), picked, offsets, valid)
	}
}

// concatLists makes one list of several.
func (c *compiler) concatLists(e *typed.Expr) kernel {
	t, kind := e.Type, elementKind(e)
	full := c.fault(Overflow, e.Func, "the lists of the batch pass what one column holds")
	return func(f *frame, args []vec) vec {
		valid := f.strict(args)
		lists := make([]elements, len(args))
		parts, base, next := []arrow.Array{}, make([]int, len(args)), 0
		for k := range args {
			if lists[k] = f.elements(&args[k], kind); lists[k].lists == nil {
				return f.noLists(t)
			}
			values := lists[k].lists.ListValues()
			base[k], next = next, next+values.Len()
			parts = append(parts, values)
		}
		all, err := array.Concatenate(parts, f.ctx.Memory)
		if err != nil {
			f.fail(f.scratch.full(f.n), full)
			return f.noLists(t)
		}
		defer all.Release()
		offsets := f.scratch.int32s(f.n + 1)
		offsets[0] = 0
		var picked []int32
		for i := range f.n {
			present := valid == nil || valid.has(i)
			for k := range lists {
				lo, hi := lists[k].span(i)
				if !present && t.Kind == vocab.Array {
					lo, hi = 0, int(e.Args[k].Type.Size) // of whatever: the list is null
				}
				for m := lo; m < hi && (present || t.Kind == vocab.Array); m++ {
					picked = append(picked, int32(base[k]+m))
				}
			}
			offsets[i+1] = int32(len(picked))
		}
		return f.gatheredLists(t, all, picked, offsets, valid)
	}
}

// textLists builds a column of lists of texts.
type textLists struct {
	f       *frame
	valid   bitmap
	offsets []int32
	builder *array.StringBuilder
	size    int
	over    bitmap
}

func (f *frame) textLists(valid bitmap) *textLists {
	return &textLists{f: f, valid: valid, offsets: append(f.scratch.int32s(f.n + 1)[:0], 0), builder: array.NewStringBuilder(f.ctx.Memory)}
}

// add appends a text to the list of row i, unless the column is full.
func (t *textLists) add(i int, b []byte) bool {
	if !t.f.fits(t.size, len(b)) {
		t.overflow(i)
		return false
	}
	t.size += len(b)
	t.builder.BinaryBuilder.Append(b)
	return true
}

func (t *textLists) overflow(i int) {
	if t.over == nil {
		t.over = t.f.scratch.empty(t.f.n)
	}
	t.over.set(i)
}

// close ends the list of a row.
func (t *textLists) close() { t.offsets = append(t.offsets, int32(t.builder.Len())) }

func (t *textLists) finish(list vocab.Type, full *Fault) vec {
	defer t.builder.Release()
	valid := t.valid
	if t.over != nil {
		valid = t.f.failing(valid, t.over, full)
	}
	return t.f.listed(list, t.builder.NewArray(), t.offsets, valid)
}

// splitMax bounds the parts of one text.
const splitMax = 65_536

// split gives all parts between delimiters; without a delimiter the text is one part.
func (c *compiler) split(e *typed.Expr) kernel {
	full := c.fault(Overflow, e.Func, "there are more than 65,536 parts, or the texts of the batch pass what one column holds")
	return func(f *frame, args []vec) vec {
		t := f.textLists(f.strict(args))
		todo := f.todo(t.valid)
		for i := range f.n {
			if todo == nil || todo.has(i) {
				splitRow(t, i, args[0].text(i), args[1].text(i))
			}
			t.close()
		}
		return t.finish(e.Type, full)
	}
}

func splitRow(t *textLists, i int, s, delimiter []byte) {
	if len(delimiter) > 0 && bytes.Count(s, delimiter) >= splitMax {
		t.overflow(i)
		return
	}
	for len(delimiter) > 0 {
		k := bytes.Index(s, delimiter)
		if k < 0 {
			break
		}
		if !t.add(i, s[:k]) {
			return
		}
		s = s[k+len(delimiter):]
	}
	t.add(i, s)
}

// readHeaders lists all values of a transport header of each row's message, those
// that are text, in the order they arrived. A null name has none.
func (c *compiler) readHeaders(e *typed.Expr) kernel {
	full := c.columnFull(e.Func)
	return func(f *frame, args []vec) vec {
		t := f.textLists(nil)
		todo := f.todo(args[0].valid)
		for i := range f.n {
			if f.ctx.Headers != nil && (todo == nil || todo.has(i)) {
				f.addHeaders(t, i, args[0].text(i))
			}
			t.close()
		}
		return t.finish(e.Type, full)
	}
}

func (f *frame) addHeaders(t *textLists, i int, name []byte) {
	for nth := 0; ; nth++ {
		value, present := f.ctx.Headers.Header(int(f.in.Select.At(i)), name, nth)
		if !present || utf8.ValidString(value) && !t.add(i, []byte(value)) {
			return
		}
	}
}
