package exchange

import (
	"encoding/binary"
	"fmt"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
)

// Batch is what a body held. Its record refers to the body's bytes.
type Batch struct {
	Record    arrow.RecordBatch // one reference
	Low, High []int64
	Note      []byte // what the sender sent beside the batch
}

// MalformedError says where a body breaks the format.
type MalformedError struct {
	What  string // the place
	Found int64
	Want  int64
}

func (e *MalformedError) Error() string {
	return fmt.Sprintf("malformed relay body: %s is %d, expected %d", e.What, e.Found, e.Want)
}

func malformed(what string, found, want int64) error { return &MalformedError{what, found, want} }

// Decode reads a body of the layout in place: the record shares its bytes, which
// are an allocation of their own and must not change any more. Every length,
// offset, bit count and text is checked before an array is made of it.
func Decode(l *Layout, body []byte) (*Batch, error) {
	if len(body) > BodyMax {
		return nil, malformed("length", int64(len(body)), BodyMax)
	}
	rows, flags, at, err := readHead(body)
	if err != nil {
		return nil, err
	}
	d := decoder{layout: l, body: body}
	if err := d.open(at, rows); err != nil {
		return nil, err
	}
	columns := make([]arrow.Array, 0, l.Schema.NumFields())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, f := range l.Schema.Fields() {
		data, err := d.array(f.Type, f.Nullable, rows)
		if err != nil {
			return nil, fmt.Errorf("column %d: %w", i, err)
		}
		columns = append(columns, array.MakeFromData(data))
		data.Release()
	}
	if d.at != d.data {
		return nil, malformed("end of the buffers", int64(d.at), int64(d.data))
	}
	out := &Batch{Record: array.NewRecordBatch(l.Schema, columns, int64(rows))}
	out.Low, out.High = readSidecar(body, rows, flags)
	return out, nil
}

// readHead reads the row count and how watermarks are written, and returns where
// the message begins.
func readHead(b []byte) (rows int, flags uint32, at int, err error) {
	if len(b) < bodyHead {
		return 0, 0, 0, malformed("length", int64(len(b)), bodyHead)
	}
	n, flags := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if n == 0 || n > RowsMax {
		return 0, 0, 0, malformed("row count", int64(n), RowsMax)
	}
	if flags&^flagsKnown != 0 || flags&highConstant != 0 && flags&highIsLow != 0 {
		return 0, 0, 0, malformed("flags", int64(flags), int64(flagsKnown))
	}
	at = sidecarSize(int(n), flags)
	if len(b) < at {
		return 0, 0, 0, malformed("length", int64(len(b)), int64(at))
	}
	return int(n), flags, at, nil
}

// readSidecar reads the watermarks. It comes last: only then is it known that
// there are bytes for as many rows.
func readSidecar(b []byte, rows int, flags uint32) (low, high []int64) {
	low, at := readWatermarks(b, bodyHead, rows, flags&lowConstant != 0)
	high = low
	if flags&highIsLow == 0 {
		high, _ = readWatermarks(b, at, rows, flags&highConstant != 0)
	}
	return low, high
}

func readWatermarks(b []byte, at, rows int, constant bool) ([]int64, int) {
	out := make([]int64, rows)
	if constant {
		v := int64(binary.LittleEndian.Uint64(b[at:]))
		for i := range out {
			out[i] = v
		}
		return out, at + 8
	}
	for i := range out {
		out[i] = int64(binary.LittleEndian.Uint64(b[at+8*i:]))
	}
	return out, at + 8*rows
}

// decoder walks the nodes and buffers of one message.
type decoder struct {
	layout  *Layout
	body    []byte
	nodes   []byte // entries not read yet
	entries []byte
	start   int // of the buffers in the body
	data    int // their length
	at      int // end of the last buffer, from start
}

// open checks the metadata of the message, which begins at the given place.
func (d *decoder) open(at, rows int) error {
	b := d.body[at:]
	size := metaSize(d.layout.nodes, d.layout.buffers)
	if len(b) < framing+size {
		return malformed("length", int64(len(b)), int64(framing+size))
	}
	le := binary.LittleEndian
	if mark := le.Uint32(b); mark != continuation {
		return malformed("continuation mark", int64(mark), continuation)
	}
	if n := le.Uint32(b[4:]); n != uint32(size) {
		return malformed("metadata length", int64(n), int64(size))
	}
	meta := b[framing : framing+size]
	d.start, d.data = at+framing+size, len(b)-framing-size
	buffers := atBuffers(d.layout.nodes)
	want := metaHead
	le.PutUint64(want[atBodyLength:], uint64(d.data))
	le.PutUint64(want[atRows:], uint64(rows))
	le.PutUint32(want[atBuffersOffset:], uint32(buffers-4-atBuffersOffset))
	le.PutUint32(want[atNodeCount:], uint32(d.layout.nodes))
	for i, w := range want {
		if meta[i] != w {
			return malformed(fmt.Sprintf("metadata byte %d", i), int64(meta[i]), int64(w))
		}
	}
	if n := le.Uint32(meta[buffers-8:]); n != 0 {
		return malformed("metadata padding", int64(n), 0)
	}
	if n := le.Uint32(meta[buffers-4:]); n != uint32(d.layout.buffers) {
		return malformed("buffer count", int64(n), int64(d.layout.buffers))
	}
	d.nodes, d.entries = meta[atNodes:buffers-8], meta[buffers:]
	return nil
}

// node reads the next node and checks its length.
func (d *decoder) node(n int, nullable bool) (nulls int, err error) {
	le := binary.LittleEndian
	length, count := le.Uint64(d.nodes), le.Uint64(d.nodes[8:])
	d.nodes = d.nodes[entrySize:]
	if length != uint64(n) {
		return 0, malformed("length of an array", int64(length), int64(n))
	}
	most := 0
	if nullable {
		most = n
	}
	if count > uint64(most) {
		return 0, malformed("null count", int64(count), int64(most))
	}
	return int(count), nil
}

// buffer reads the next entry, whose length is given; -1 takes any.
func (d *decoder) buffer(n int) ([]byte, error) {
	le := binary.LittleEndian
	at, length := le.Uint64(d.entries), le.Uint64(d.entries[8:])
	d.entries = d.entries[entrySize:]
	if at != uint64(d.at) {
		return nil, malformed("place of a buffer", int64(at), int64(d.at))
	}
	if n >= 0 && length != uint64(n) {
		return nil, malformed("length of a buffer", int64(length), int64(n))
	}
	left := d.data - d.at
	if length > uint64(left) || padded(int(length)) > left {
		return nil, malformed("length of a buffer", int64(length), int64(left))
	}
	from := d.start + d.at
	d.at += padded(int(length))
	return d.body[from : from+int(length) : from+int(length)], nil
}

// wrap returns nil for an empty buffer, as the builders do.
func wrap(b []byte) *memory.Buffer {
	if len(b) == 0 {
		return nil
	}
	return memory.NewBufferBytes(b)
}

// validity reads the validity buffer of n rows.
func (d *decoder) validity(n, nulls int) (*memory.Buffer, error) {
	size := 0
	if nulls > 0 {
		size = (n + 7) / 8
	}
	bits, err := d.buffer(size)
	if err != nil || nulls == 0 {
		return nil, err
	}
	if set := bitutil.CountSetBits(bits, 0, n); set != n-nulls {
		return nil, malformed("count of valid rows", int64(set), int64(n-nulls))
	}
	return wrap(bits), nil
}

// array reads an array of n values.
func (d *decoder) array(t arrow.DataType, nullable bool, n int) (arrow.ArrayData, error) {
	nulls, err := d.node(n, nullable)
	if err != nil {
		return nil, err
	}
	validity, err := d.validity(n, nulls)
	if err != nil {
		return nil, err
	}
	buffers := []*memory.Buffer{validity}
	var children []arrow.ArrayData
	switch t := t.(type) {
	case *arrow.StringType, *arrow.BinaryType:
		offsets, last, err := d.offsets(n)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, wrap(offsets))
		values, err := d.buffer(last)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, wrap(values))
		if t.ID() == arrow.STRING {
			if err := checkText(offsets, values); err != nil {
				return nil, err
			}
		}
	case *arrow.ListType:
		offsets, last, err := d.offsets(n)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, wrap(offsets))
		child, err := d.array(t.Elem(), false, last)
		if err != nil {
			return nil, err
		}
		defer child.Release()
		children = []arrow.ArrayData{child}
	case *arrow.FixedSizeListType:
		count := int64(n) * int64(t.Len())
		if count > 8*BodyMax { // not even a bit for each
			return nil, malformed("length of an array", count, 8*BodyMax)
		}
		child, err := d.array(t.Elem(), false, int(count))
		if err != nil {
			return nil, err
		}
		defer child.Release()
		children = []arrow.ArrayData{child}
	default:
		size := (n + 7) / 8
		if t.ID() != arrow.BOOL {
			size = n * batch.ArrowWidth(t)
		}
		values, err := d.buffer(size)
		if err != nil {
			return nil, err
		}
		buffers = append(buffers, wrap(values))
	}
	return array.NewData(t, n, buffers, children, nulls, 0), nil
}

// offsets reads n+1 offsets that begin at zero and never fall, and returns the
// last one.
func (d *decoder) offsets(n int) (b []byte, last int, err error) {
	if b, err = d.buffer(4 * (n + 1)); err != nil {
		return nil, 0, err
	}
	le := binary.LittleEndian
	if first := int32(le.Uint32(b)); first != 0 {
		return nil, 0, malformed("first offset", int64(first), 0)
	}
	before := int32(0)
	for i := 4; i < len(b); i += 4 {
		o := int32(le.Uint32(b[i:]))
		if o < before {
			return nil, 0, malformed("offset", int64(o), int64(before))
		}
		before = o
	}
	return b, int(before), nil
}

// checkText checks that the values are UTF-8 and that no row begins inside a
// character.
func checkText(offsets, values []byte) error {
	if !utf8.Valid(values) {
		return malformed("text that is UTF-8", 0, 1)
	}
	for i := 4; i < len(offsets); i += 4 {
		if o := int(binary.LittleEndian.Uint32(offsets[i:])); o < len(values) && !utf8.RuneStart(values[o]) {
			return malformed("text row at a character", int64(o), 1)
		}
	}
	return nil
}
