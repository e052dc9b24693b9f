package codec

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

// buffer grows an allocator's memory. bytes is all of it; how much is used is
// known to the column.
type buffer struct {
	mem   memory.Allocator
	owner *memory.Buffer
	bytes []byte
	hint  int // what the last group used
}

// need makes the first n bytes usable.
func (b *buffer) need(n int) {
	if n > len(b.bytes) {
		b.grow(n)
	}
}

func (b *buffer) grow(n int) {
	if b.owner == nil {
		b.owner = memory.NewResizableBuffer(b.mem)
	}
	b.owner.Reserve(max(n, 2*len(b.bytes), b.hint, 64))
	b.bytes = b.owner.Buf()
}

// take hands the first n bytes over; the caller releases them.
func (b *buffer) take(n int) *memory.Buffer {
	b.need(n)
	b.hint = n
	if b.owner == nil {
		b.owner = memory.NewResizableBuffer(b.mem)
	}
	out := b.owner
	out.ResizeNoShrink(n)
	b.owner, b.bytes = nil, nil
	return out
}

func (b *buffer) release() {
	if b.owner != nil {
		b.owner.Release()
		b.owner, b.bytes = nil, nil
	}
}

// column collects the values of one field, or the elements of a list.
type column struct {
	layout   arrow.DataType
	width    int // bytes of a value, 0 where variable or BOOL
	kind     vocab.Kind
	optional bool
	length   int // of an ARRAY

	rows    int
	nulls   int
	data    int    // bytes used in values, for STRING and BYTES
	values  buffer // numbers, bits of BOOL, bytes of STRING and BYTES
	offsets buffer // STRING, BYTES and VEC
	valid   buffer // of an optional column
	child   *column
}

func newColumn(mem memory.Allocator, t vocab.Type, optional bool) *column {
	c := &column{layout: batch.ArrowType(t), width: batch.Width(t.Kind), kind: t.Kind, optional: optional, length: int(t.Size)}
	c.values.mem, c.offsets.mem, c.valid.mem = mem, mem, mem
	if t.Elem != nil {
		c.child = newColumn(mem, *t.Elem, false)
	}
	return c
}

// variable reports whether the column has offsets.
func (c *column) variable() bool {
	return c.kind == vocab.String || c.kind == vocab.Bytes || c.kind == vocab.Vec
}

// present marks the row that was just written as present.
func (c *column) present() {
	if c.optional {
		c.mark(true)
	}
	c.rows++
}

func (c *column) mark(present bool) {
	c.valid.need(c.rows>>3 + 1)
	setBit(c.valid.bytes, c.rows, present)
}

func setBit(bits []byte, i int, on bool) {
	if on {
		bits[i>>3] |= 1 << (i & 7)
	} else {
		bits[i>>3] &^= 1 << (i & 7)
	}
}

func (c *column) appendFixed(v uint64) {
	at := c.rows * c.width
	c.values.need(at + c.width)
	switch to := c.values.bytes[at:]; c.width {
	case 8:
		binary.NativeEndian.PutUint64(to, v)
	case 4:
		binary.NativeEndian.PutUint32(to, uint32(v))
	case 2:
		binary.NativeEndian.PutUint16(to, uint16(v))
	default:
		to[0] = byte(v)
	}
	c.present()
}

func (c *column) appendBool(v bool) {
	c.values.need(c.rows>>3 + 1)
	setBit(c.values.bytes, c.rows, v)
	c.present()
}

// closeVariable ends a row of a column with offsets: end bytes or elements
// belong to it and the rows before.
func (c *column) closeVariable(end int) {
	c.setEnd(end)
	c.present()
}

func (c *column) setEnd(end int) {
	at := 4 * (c.rows + 1)
	c.offsets.need(at + 4)
	binary.NativeEndian.PutUint32(c.offsets.bytes[at:], uint32(end))
}

// end returns where row i-1 ends and row i starts.
func (c *column) end(i int) int {
	if i == 0 {
		return 0
	}
	return int(binary.NativeEndian.Uint32(c.offsets.bytes[4*i:]))
}

// appendNull adds a null; the elements of an ARRAY under it are zero.
func (c *column) appendNull() {
	c.mark(false)
	c.nulls++
	c.appendZero()
}

// appendZero adds the bytes of a value that nobody reads.
func (c *column) appendZero() {
	switch {
	case c.kind == vocab.Bool:
		c.values.need(c.rows>>3 + 1)
		setBit(c.values.bytes, c.rows, false)
	case c.variable():
		c.setEnd(c.end(c.rows))
	case c.kind == vocab.Array:
		for range c.length {
			c.child.appendZero()
		}
	default:
		at := c.rows * c.width
		c.values.need(at + c.width)
		clear(c.values.bytes[at : at+c.width])
	}
	c.rows++
}

// truncate drops the rows from n on and everything an unfinished row has left
// behind, at any depth (C1).
func (c *column) truncate(n int) {
	for i := n; c.optional && i < c.rows; i++ {
		if c.valid.bytes[i>>3]>>(i&7)&1 == 0 {
			c.nulls--
		}
	}
	c.rows = min(c.rows, n)
	switch c.kind {
	case vocab.String, vocab.Bytes:
		c.data = c.end(c.rows)
	case vocab.Vec:
		c.child.truncate(c.end(c.rows))
	case vocab.Array:
		c.child.truncate(c.rows * c.length)
	}
}

// finish hands the rows over and starts the column again.
func (c *column) finish() arrow.ArrayData {
	var buffers []*memory.Buffer
	var children []arrow.ArrayData
	if c.nulls > 0 {
		buffers = append(buffers, c.valid.take((c.rows+7)/8))
	} else {
		buffers = append(buffers, nil)
	}
	if c.variable() {
		c.offsets.need(4)
		binary.NativeEndian.PutUint32(c.offsets.bytes, 0)
		buffers = append(buffers, c.offsets.take(4*(c.rows+1)))
	}
	switch {
	case c.child != nil:
		children = []arrow.ArrayData{c.child.finish()}
	case c.kind == vocab.Bool:
		buffers = append(buffers, c.values.take((c.rows+7)/8))
	case c.variable():
		buffers = append(buffers, c.values.take(c.data))
	default:
		buffers = append(buffers, c.values.take(c.rows*c.width))
	}
	out := array.NewData(c.layout, c.rows, buffers, children, c.nulls, 0)
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	for _, child := range children {
		child.Release()
	}
	c.rows, c.nulls, c.data = 0, 0, 0
	return out
}

func (c *column) release() {
	c.values.release()
	c.offsets.release()
	c.valid.release()
	if c.child != nil {
		c.child.release()
	}
}
