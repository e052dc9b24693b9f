package exchange

import (
	"encoding/binary"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/zeebo/xxh3"

	"plexus/primitives/invariant"
)

// The limits of one delivery.
const (
	BodyMax    = 32 << 20 // encoded
	DecodedMax = 32 << 20
	ScratchMax = 16 << 20
)

// Digest tells two contents apart that come under one identity.
type Digest [16]byte

// Body is a batch encoded once for every destination and retry: watermarks, then
// one Arrow IPC record batch message without its schema.
//
// Its bytes are never changed and never recycled: a connection may hold them for
// longer than the delivery lasts.
type Body struct {
	layout   *Layout
	rows     int
	digest   Digest
	bytes    []byte
	released atomic.Bool
	free     func() // gives back what was reserved for the bytes; nil for nothing
}

func digestOf(b []byte) Digest { return xxh3.Hash128(b).Bytes() }

// Rows returns the number of rows.
func (b *Body) Rows() int { return b.rows }

// Size returns the number of encoded bytes.
func (b *Body) Size() int { return len(b.bytes) }

// Bytes returns the encoded bytes, which nobody changes.
func (b *Body) Bytes() []byte { return b.bytes }

// Layout returns the schema of the batch.
func (b *Body) Layout() *Layout { return b.layout }

// Digest returns the digest of the bytes.
func (b *Body) Digest() Digest { return b.digest }

// Release gives back the memory that was reserved for the body. Its owner calls
// it once, when every delivery of it has returned.
func (b *Body) Release() {
	invariant.That(b.released.CompareAndSwap(false, true), "E9: a body is released once")
	if b.free != nil {
		b.free()
	}
}

// The flags of a body say how its watermarks are written: one value when every
// row has the same, and nothing for high when it equals low in every row.
const (
	lowConstant uint32 = 1 << iota
	highConstant
	highIsLow
	flagsKnown = lowConstant | highConstant | highIsLow
)

const bodyHead = 8 // rows, flags

// Encode encodes a batch. The watermarks have its rows. A batch that does not fit
// a body is ErrTooLarge.
func Encode(l *Layout, rec arrow.RecordBatch, low, high []int64) (*Body, error) {
	e, err := measure(l, rec, low, high)
	if err != nil {
		return nil, err
	}
	return e.write(), nil
}

// encoding is a measured batch.
type encoding struct {
	layout    *Layout
	rec       arrow.RecordBatch
	low, high []int64
	flags     uint32
	parts     []part
	meta      int // bytes of the message's metadata
	data      int // bytes of its buffers
	size      int // bytes of the body
}

func measure(l *Layout, rec arrow.RecordBatch, low, high []int64) (*encoding, error) {
	rows := int(rec.NumRows())
	invariant.That(rows > 0 && len(low) == rows && len(high) == rows, "E9: watermarks have the batch's rows")
	e := &encoding{layout: l, rec: rec, low: low, high: high}
	e.parts = make([]part, 0, l.nodes)
	for i, col := range rec.Columns() {
		data := col.Data()
		var err error
		if e.parts, err = appendParts(e.parts, l.Schema.Field(i), false, data, data.Offset(), data.Len()); err != nil {
			return nil, err
		}
	}
	if constant(low) {
		e.flags |= lowConstant
	}
	switch {
	case equal(low, high):
		e.flags |= highIsLow
	case constant(high):
		e.flags |= highConstant
	}
	for i := range e.parts {
		e.data += e.parts[i].size()
	}
	e.meta = metaSize(l.nodes, l.buffers)
	e.size = sidecarSize(rows, e.flags) + framing + e.meta + e.data
	if rows > RowsMax || e.size > BodyMax {
		return nil, ErrTooLarge
	}
	return e, nil
}

func (e *encoding) write() *Body {
	rows := len(e.low)
	out := make([]byte, e.size)
	binary.LittleEndian.PutUint32(out, uint32(rows))
	binary.LittleEndian.PutUint32(out[4:], e.flags)
	at := putWatermarks(out, bodyHead, e.low, e.flags&lowConstant != 0)
	if e.flags&highIsLow == 0 {
		at = putWatermarks(out, at, e.high, e.flags&highConstant != 0)
	}
	e.putMessage(out[at:], rows)
	return &Body{layout: e.layout, rows: rows, digest: digestOf(out), bytes: out}
}

// sidecarSize is the length of everything in front of the message.
func sidecarSize(rows int, flags uint32) int {
	size := bodyHead + 8*watermarks(rows, flags&lowConstant != 0)
	if flags&highIsLow == 0 {
		size += 8 * watermarks(rows, flags&highConstant != 0)
	}
	return size
}

func watermarks(rows int, constant bool) int {
	if constant {
		return 1
	}
	return rows
}

func putWatermarks(out []byte, at int, values []int64, constant bool) int {
	for _, v := range values[:watermarks(len(values), constant)] {
		binary.LittleEndian.PutUint64(out[at:], uint64(v))
		at += 8
	}
	return at
}

func constant(values []int64) bool {
	for _, v := range values[1:] {
		if v != values[0] {
			return false
		}
	}
	return true
}

func equal(a, b []int64) bool {
	if &a[0] == &b[0] {
		return true
	}
	for i, v := range a {
		if v != b[i] {
			return false
		}
	}
	return true
}
