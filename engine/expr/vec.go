package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

// vec is a column under evaluation: a view of an input column or memory of the
// Scratch. It is never written after the kernel that made it returned.
type vec struct {
	kind   vocab.Kind
	scalar bool   // its one element stands for every row
	valid  bitmap // present rows; nil when all are

	fixed []byte // numbers and DATETIME
	bits  bitmap // BOOL
	// STRING and BYTES: row i is data[lo[i]:hi[i]]. A view such as a trimmed text
	// costs two offsets. dense says that the rows lie side by side in order.
	lo, hi []int32
	data   []byte
	dense  bool

	// list is the column that a list value comes from and rows picks its rows; a
	// negative row is null. source is set, for every kind, while the column is
	// unchanged input, so that it can be passed on without copying.
	list   arrow.Array
	rows   []int32
	source *column
}

// column is an input column and how the rows of a run lie in it.
type column struct {
	array   arrow.Array
	aligned bool // one row for each selected row, not one for each row of the input
}

// at returns the index of row i: a scalar's element stands for all.
func (v *vec) at(i int) int {
	if v.scalar {
		return 0
	}
	return i
}

// null reports whether row i is null.
func (v *vec) null(i int) bool { return v.valid != nil && !v.valid.has(v.at(i)) }

// text returns the bytes of row i.
func (v *vec) text(i int) []byte {
	i = v.at(i)
	return v.data[v.lo[i]:v.hi[i]]
}

// load makes the selected rows of an input column a vec. All rows selected share
// the column's memory; a selection of texts copies offsets only.
func (f *frame) load(c *column, kind vocab.Kind) vec {
	s, data := f.scratch, c.array.Data()
	rows := f.picked(c)
	start, n := data.Offset(), data.Len()
	v := vec{kind: kind, source: c}
	buffers := data.Buffers()
	if validity := buffers[0]; validity != nil && validity.Len() > 0 && data.NullN() != 0 { // a slice does not know its count
		v.valid = s.pickBits(validity, start, n, rows)
	}
	switch kind {
	case vocab.Bool:
		v.bits = s.pickBits(buffers[1], start, n, rows)
	case vocab.String, vocab.Bytes:
		v.lo, v.hi, v.dense = s.pickOffsets(buffers[1], start, n, rows)
		if buffers[2] != nil {
			v.data = buffers[2].Bytes()
		}
	case vocab.Array, vocab.Vec:
		v.list, v.rows = c.array, rows
		if rows == nil {
			v.rows = s.sequence(n)
		}
	default:
		v.fixed = s.pickFixed(buffers[1], batch.Width(kind), start, n, rows)
	}
	return v
}

// picked returns the rows of a column that belong to the run, nil for all.
func (f *frame) picked(c *column) []int32 {
	if c.aligned || f.in.Select.IsAll() {
		return nil
	}
	return f.selected
}

func (s *Scratch) pickBits(b *memory.Buffer, start, n int, rows []int32) bitmap {
	if n == 0 || b == nil {
		return bitmap{}
	}
	all := s.loadBits(b.Bytes(), start, n)
	if rows == nil {
		return all
	}
	return s.gatherBits(all, rows)
}

func (s *Scratch) pickOffsets(b *memory.Buffer, start, n int, rows []int32) (lo, hi []int32, dense bool) {
	if n == 0 || b == nil {
		return nil, nil, true
	}
	offsets := as[int32](b.Bytes())[start : start+n+1]
	if rows == nil {
		return offsets[:n], offsets[1:], true
	}
	lo, hi = s.int32s(len(rows)), s.int32s(len(rows))
	for i, r := range rows {
		lo[i], hi[i] = offsets[r], offsets[r+1]
	}
	return lo, hi, false
}

func (s *Scratch) pickFixed(b *memory.Buffer, width, start, n int, rows []int32) []byte {
	if n == 0 || b == nil {
		return nil
	}
	from := b.Bytes()[start*width : (start+n)*width]
	if rows == nil {
		return from
	}
	to := s.bytes(len(rows) * width)
	takeFixed(to, from, width, rows)
	return to
}

// takeFixed copies the values at the given rows.
func takeFixed(to, from []byte, width int, rows []int32) {
	switch width {
	case 1:
		take(to, from, rows)
	case 2:
		take(as[uint16](to), as[uint16](from), rows)
	case 4:
		take(as[uint32](to), as[uint32](from), rows)
	default:
		take(as[uint64](to), as[uint64](from), rows)
	}
}

func take[T any](to, from []T, rows []int32) {
	for i, r := range rows {
		to[i] = from[r]
	}
}

// sequence returns 0, 1, ..., n-1.
func (s *Scratch) sequence(n int) []int32 {
	out := s.int32s(n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// expand makes a scalar a column of n rows.
func (s *Scratch) expand(v vec, n int) vec {
	if !v.scalar {
		return v
	}
	out := vec{kind: v.kind}
	if v.valid != nil && !v.valid.has(0) {
		out.valid = s.empty(n)
	}
	switch {
	case v.kind == vocab.Bool:
		out.bits = s.empty(n)
		if v.bits.has(0) {
			out.bits.fill(n)
		}
	case v.kind == vocab.String || v.kind == vocab.Bytes:
		out.data = v.data
		out.lo, out.hi = s.int32s(n), s.int32s(n)
		for i := range out.lo {
			out.lo[i], out.hi[i] = v.lo[0], v.hi[0]
		}
	case v.kind.Scalar():
		width := batch.Width(v.kind)
		out.fixed = s.bytes(n * width)
		if n > 0 {
			copy(out.fixed, v.fixed[:width])
			for have := width; have < len(out.fixed); have *= 2 {
				copy(out.fixed[have:], out.fixed[:have])
			}
		}
	default:
		out.list = v.list
		out.rows = s.int32s(n)
		for i := range out.rows {
			out.rows[i] = v.rows[0]
		}
	}
	return out
}

// nullOf returns a scalar null of a type.
func nullOf(kind vocab.Kind) vec {
	v := vec{kind: kind, scalar: true, valid: bitmap{0}}
	switch {
	case kind == vocab.Bool:
		v.bits = bitmap{0}
	case kind == vocab.String || kind == vocab.Bytes:
		v.lo, v.hi = []int32{0}, []int32{0}
	case kind.Scalar():
		v.fixed = make([]byte, 8)
	default:
		v.rows = []int32{-1}
	}
	return v
}
