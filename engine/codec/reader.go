package codec

import (
	"encoding/binary"
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

// reader reads the values of one column of a batch.
type reader struct {
	kind    vocab.Kind
	width   int
	start   int    // row 0 of the batch in validity and bits
	valid   []byte // nil when no row is null
	bits    []byte
	fixed   []byte
	offsets []byte
	data    []byte
	child   *reader
	length  int // of an ARRAY
}

func newReader(t vocab.Type) *reader {
	r := &reader{kind: t.Kind, width: batch.Width(t.Kind), length: int(t.Size)}
	if t.Elem != nil {
		r.child = newReader(*t.Elem)
	}
	return r
}

// bind points the reader at a column.
func (r *reader) bind(data arrow.ArrayData) {
	buffers := data.Buffers()
	r.start = data.Offset()
	r.valid = nil
	if data.NullN() != 0 { // a slice does not know its count
		r.valid = content(buffers[0])
	}
	switch r.kind {
	case vocab.Bool:
		r.bits = content(buffers[1])
	case vocab.String, vocab.Bytes:
		r.offsets, r.data = from(content(buffers[1]), 4*r.start), content(buffers[2])
	case vocab.Vec:
		r.offsets = from(content(buffers[1]), 4*r.start)
		r.child.bind(data.Children()[0])
	case vocab.Array:
		r.child.bind(data.Children()[0])
	default:
		r.fixed = from(content(buffers[1]), r.width*r.start)
	}
}

// unbind forgets the column, so that it is not kept alive.
func (r *reader) unbind() {
	r.valid, r.bits, r.fixed, r.offsets, r.data = nil, nil, nil, nil, nil
	if r.child != nil {
		r.child.unbind()
	}
}

func content(b *memory.Buffer) []byte {
	if b == nil {
		return nil
	}
	return b.Bytes()
}

func from(b []byte, at int) []byte { return b[min(at, len(b)):] }

func (r *reader) null(row int) bool {
	i := r.start + row
	return r.valid != nil && r.valid[i>>3]>>(i&7)&1 == 0
}

func (r *reader) uint(row int) uint64 {
	switch at := r.fixed[row*r.width:]; r.width {
	case 8:
		return binary.NativeEndian.Uint64(at)
	case 4:
		return uint64(binary.NativeEndian.Uint32(at))
	case 2:
		return uint64(binary.NativeEndian.Uint16(at))
	default:
		return uint64(at[0])
	}
}

// int reads a signed integer.
func (r *reader) int(row int) int64 {
	shift := 64 - 8*r.width
	return int64(r.uint(row)<<shift) >> shift
}

// span returns where the bytes or elements of a row start and end.
func (r *reader) span(row int) (start, end int) {
	at := r.offsets[4*row : 4*row+8]
	return int(binary.NativeEndian.Uint32(at)), int(binary.NativeEndian.Uint32(at[4:]))
}

// append writes a value that is not null. It is false for a float that JSON has
// no number for.
func (r *reader) append(dst []byte, row int) (_ []byte, ok bool) {
	switch r.kind {
	case vocab.String:
		start, end := r.span(row)
		return appendString(dst, r.data[start:end]), true
	case vocab.Bytes:
		start, end := r.span(row)
		return appendBase64(dst, r.data[start:end]), true
	case vocab.Bool:
		i := r.start + row
		return strconv.AppendBool(dst, r.bits[i>>3]>>(i&7)&1 != 0), true
	case vocab.Datetime:
		return appendDatetime(dst, r.int(row)), true
	case vocab.F32:
		return appendFinite(dst, float64(math.Float32frombits(uint32(r.uint(row)))), 32)
	case vocab.F64:
		return appendFinite(dst, math.Float64frombits(r.uint(row)), 64)
	case vocab.Array:
		first := (r.start + row) * r.length
		return r.appendList(dst, first, first+r.length)
	case vocab.Vec:
		start, end := r.span(row)
		return r.appendList(dst, start, end)
	case vocab.I8, vocab.I16, vocab.I32, vocab.I64:
		return strconv.AppendInt(dst, r.int(row), 10), true
	default:
		return strconv.AppendUint(dst, r.uint(row), 10), true
	}
}

func appendFinite(dst []byte, x float64, width int) ([]byte, bool) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return dst, false
	}
	return appendFloat(dst, x, width), true
}

func (r *reader) appendList(dst []byte, start, end int) ([]byte, bool) {
	dst = append(dst, '[')
	for k := start; k < end; k++ {
		if k > start {
			dst = append(dst, ',')
		}
		var ok bool
		if dst, ok = r.child.append(dst, k); !ok {
			return dst, false
		}
	}
	return append(dst, ']'), true
}
