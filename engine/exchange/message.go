package exchange

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"plexus/engine/batch"
)

// The message is an Arrow IPC record batch in the one form that this build
// writes: tables, vectors and buffers at places that follow from the schema and
// the row count. A reader therefore compares places instead of following
// offsets, and any Arrow implementation can read what is written.
//
//	 0  root offset                  40  vtable of RecordBatch
//	 4  vtable of Message            52  RecordBatch: length, nodes, buffers
//	20  Message: body length,        72  (padding)
//	    header, version, kind        76  count of nodes, nodes
//	                                  …  (padding), count of buffers, buffers
const (
	framing = 8 // continuation mark, length of the metadata

	continuation = 0xffffffff
	versionV5    = 4 // MetadataVersion
	kindBatch    = 3 // MessageHeader: RecordBatch

	atBodyLength = 24
	atRows       = 56
	atNodes      = 80
	entrySize    = 16 // of a node and of a buffer
)

// metaHead is everything in front of the nodes, with the three values that
// differ - body length, rows, place of the buffers - left zero.
var metaHead = func() (head [atNodes]byte) {
	le := binary.LittleEndian
	le.PutUint32(head[0:], 20) // root
	le.PutUint16(head[4:], 12) // vtable of Message: size, size of the table, fields
	le.PutUint16(head[6:], 20)
	le.PutUint16(head[8:], 16)  // version
	le.PutUint16(head[10:], 18) // kind of header
	le.PutUint16(head[12:], 12) // header
	le.PutUint16(head[14:], 4)  // body length
	le.PutUint32(head[20:], 16) // Message: back to its vtable
	le.PutUint32(head[32:], 20) // header
	le.PutUint16(head[36:], versionV5)
	head[38] = kindBatch
	le.PutUint16(head[40:], 10) // vtable of RecordBatch
	le.PutUint16(head[42:], 20)
	le.PutUint16(head[44:], 4)  // length
	le.PutUint16(head[46:], 12) // nodes
	le.PutUint16(head[48:], 16) // buffers
	le.PutUint32(head[52:], 12) // RecordBatch: back to its vtable
	le.PutUint32(head[64:], 12) // nodes
	return head
}()

const (
	atBuffersOffset = 68 // of the RecordBatch table
	atNodeCount     = 76
)

// metaSize is the length of the metadata.
func metaSize(nodes, buffers int) int { return atNodes + entrySize*nodes + 8 + entrySize*buffers }

// atBuffers is the place of the first buffer entry; its count is in front of it.
func atBuffers(nodes int) int { return atNodes + entrySize*nodes + 8 }

// part is one array of a batch as it will be written: a node and its buffers.
type part struct {
	data     arrow.ArrayData
	start, n int // physical rows
	nulls    int
	validity int // bytes of each buffer, without padding
	fixed    int
	offsets  int
	values   int
	from     int // first byte or element that the offsets address
}

// size is the length of the part's buffers with their padding.
func (p *part) size() int {
	return padded(p.validity) + padded(p.fixed) + padded(p.offsets) + padded(p.values)
}

func padded(n int) int { return (n + 7) &^ 7 }

// appendParts measures an array and those below it, in the order of the format.
// Elements of lists are never null: where builders mark those below a null list,
// nobody can see them.
func appendParts(parts []part, f arrow.Field, element bool, data arrow.ArrayData, start, n int) ([]part, error) {
	p := part{data: data, start: start, n: n}
	if validity := data.Buffers()[0]; !element && data.NullN() != 0 && validity != nil && validity.Len() > 0 {
		p.nulls = n - bitutil.CountSetBits(validity.Bytes(), start, n)
		if p.nulls > 0 {
			p.validity = (n + 7) / 8
		}
	}
	if p.nulls > 0 && !f.Nullable {
		return nil, fmt.Errorf("field %s: %d nulls in a required field", f.Name, p.nulls)
	}
	switch t := data.DataType().(type) {
	case *arrow.BooleanType:
		p.fixed = (n + 7) / 8
		return append(parts, p), nil
	case *arrow.StringType, *arrow.BinaryType:
		p.offsets = 4 * (n + 1)
		p.from, p.values = addressed(data, start, n)
		return append(parts, p), nil
	case *arrow.ListType:
		p.offsets = 4 * (n + 1)
		var count int
		p.from, count = addressed(data, start, n)
		child := data.Children()[0]
		return appendParts(append(parts, p), f, true, child, child.Offset()+p.from, count)
	case *arrow.FixedSizeListType:
		child, size := data.Children()[0], int(t.Len())
		return appendParts(append(parts, p), f, true, child, child.Offset()+start*size, n*size)
	}
	width := batch.ArrowWidth(data.DataType())
	if width == 0 {
		return nil, fmt.Errorf("field %s: type %v does not travel", f.Name, data.DataType())
	}
	p.fixed = n * width
	return append(parts, p), nil
}

// addressed returns where the values of n rows begin and how many there are.
func addressed(data arrow.ArrayData, start, n int) (from, count int) {
	if n == 0 {
		return 0, 0
	}
	offsets := offsetsOf(data)
	return int(offsets[start]), int(offsets[start+n] - offsets[start])
}

func offsetsOf(data arrow.ArrayData) []int32 {
	return arrow.Int32Traits.CastFromBytes(data.Buffers()[1].Bytes())
}

// putMessage writes the message over out, which has exactly its length.
func (e *encoding) putMessage(out []byte, rows int) {
	le := binary.LittleEndian
	le.PutUint32(out, continuation)
	le.PutUint32(out[4:], uint32(e.meta))
	meta, body := out[framing:framing+e.meta], out[framing+e.meta:]
	copy(meta, metaHead[:])
	le.PutUint64(meta[atBodyLength:], uint64(e.data))
	le.PutUint64(meta[atRows:], uint64(rows))
	buffers := atBuffers(e.layout.nodes)
	le.PutUint32(meta[atBuffersOffset:], uint32(buffers-4-atBuffersOffset))
	le.PutUint32(meta[atNodeCount:], uint32(e.layout.nodes))
	le.PutUint32(meta[buffers-4:], uint32(e.layout.buffers))
	w := bufferWriter{entries: meta[buffers:], body: body}
	for i := range e.parts {
		p := &e.parts[i]
		node := meta[atNodes+entrySize*i:]
		le.PutUint64(node, uint64(p.n))
		le.PutUint64(node[8:], uint64(p.nulls))
		p.put(&w)
	}
}

// bufferWriter places buffers one behind the other.
type bufferWriter struct {
	entries []byte
	body    []byte
	at      int
}

// next returns the place of the next buffer. All bytes are zero so far, those
// that pad it too.
func (w *bufferWriter) next(n int) []byte {
	binary.LittleEndian.PutUint64(w.entries, uint64(w.at))
	binary.LittleEndian.PutUint64(w.entries[8:], uint64(n))
	w.entries = w.entries[entrySize:]
	out := w.body[w.at : w.at+n]
	w.at += padded(n)
	return out
}

func (p *part) put(w *bufferWriter) {
	if out := w.next(p.validity); p.validity > 0 {
		putBits(out, p.data.Buffers()[0].Bytes(), p.start, p.n)
	}
	switch t := p.data.DataType().(type) {
	case *arrow.BooleanType:
		if out := w.next(p.fixed); p.fixed > 0 {
			putBits(out, p.data.Buffers()[1].Bytes(), p.start, p.n)
		}
	case *arrow.StringType, *arrow.BinaryType:
		p.putOffsets(w)
		out := w.next(p.values)
		if p.values > 0 {
			copy(out, p.data.Buffers()[2].Bytes()[p.from:])
		}
	case *arrow.ListType:
		p.putOffsets(w)
	case *arrow.FixedSizeListType:
	default:
		out := w.next(p.fixed)
		if p.fixed > 0 {
			width := batch.ArrowWidth(t)
			copy(out, p.data.Buffers()[1].Bytes()[p.start*width:])
		}
	}
}

// putBits copies n bits.
func putBits(out, bits []byte, start, n int) { bitutil.CopyBitmap(bits, start, n, out, 0) }

// putOffsets writes the offsets of the part so that they begin at zero.
func (p *part) putOffsets(w *bufferWriter) {
	out := w.next(p.offsets)
	if p.n == 0 {
		return
	}
	from := int32(p.from)
	for i, o := range offsetsOf(p.data)[p.start : p.start+p.n+1] {
		binary.LittleEndian.PutUint32(out[4*i:], uint32(o-from))
	}
}
