package expr

import "plexus/nspl/vocab"

// text builds a column of texts in row order.
type text struct {
	f      *frame
	valid  bitmap // rows that are not null; nil for all
	over   bitmap // rows that found no room; nil for none
	lo, hi []int32
	data   []byte
}

// text starts a column whose rows in valid get a text. size is the expected sum.
func (f *frame) text(valid bitmap, size int) text {
	s := f.scratch
	size = min(size, s.columnBytes)
	return text{f: f, valid: valid, lo: s.int32s(f.n), hi: s.int32s(f.n), data: s.bytes(size)[:0]}
}

// room reports whether row i may append n bytes; if not, it overflows.
func (t *text) room(i, n int) bool {
	if t.f.fits(len(t.data), n) {
		return true
	}
	t.overflow(i)
	return false
}

func (t *text) overflow(i int) {
	if t.over == nil {
		t.over = t.f.scratch.empty(t.f.n)
	}
	t.over.set(i)
}

// close ends row i, whose bytes start at from. Rows are closed in order, every
// one of them.
func (t *text) close(i, from int) {
	if len(t.data) > t.f.scratch.columnBytes {
		t.data = t.data[:from]
		t.overflow(i)
	}
	t.lo[i], t.hi[i] = int32(from), int32(len(t.data))
}

// append makes b the text of row i.
func (t *text) append(i int, b []byte) {
	from := len(t.data)
	if t.room(i, len(b)) {
		t.data = append(t.data, b...)
	}
	t.close(i, from)
}

// finish returns the column; fault, unless nil, is reported for the rows that
// found no room. Either way they are null.
func (t *text) finish(fault *Fault) vec {
	valid := t.valid
	if t.over != nil {
		if fault != nil {
			t.f.fail(t.over, fault)
		}
		valid = t.f.scratch.without(t.f.n, valid, t.over)
	}
	return vec{kind: vocab.String, lo: t.lo, hi: t.hi, data: t.data, dense: true, valid: valid}
}

// size returns the sum of the lengths of a column's texts. Views can show the same
// bytes many times: the sum stops at what one column holds.
func (v *vec) size() int {
	var n int64
	for i := range v.lo {
		n += int64(v.hi[i] - v.lo[i])
	}
	return int(min(n, columnBytesMax))
}

// mapText makes a kernel that appends the image of each text. Every operand but
// the first is ignored.
func (c *compiler) mapText(name string, image func(dst, src []byte) []byte) kernel {
	fault := c.columnFull(name)
	return func(f *frame, args []vec) vec {
		a := &args[0]
		t := f.text(a.valid, a.size())
		todo := f.todo(a.valid)
		for i := range f.n {
			from := len(t.data)
			if todo == nil || todo.has(i) {
				if t.room(i, int(a.hi[i]-a.lo[i])) {
					t.data = image(t.data, a.data[a.lo[i]:a.hi[i]])
				}
			}
			t.close(i, from)
		}
		return t.finish(fault)
	}
}

func (c *compiler) columnFull(name string) *Fault {
	return c.fault(Overflow, name, "the texts of the batch pass what one column holds")
}

// viewText makes a kernel whose results are parts of the texts of the first
// operand; nothing is copied. part returns the part of row i, given its text.
func viewText(part func(args []vec, i int, s []byte) (lo, hi int)) kernel {
	return func(f *frame, args []vec) vec {
		a := &args[0]
		valid := f.strict(args)
		out := vec{data: a.data, lo: f.scratch.int32s(f.n), hi: f.scratch.int32s(f.n), valid: valid}
		for i := range f.n {
			lo, hi := 0, 0
			if valid == nil || valid.has(i) {
				lo, hi = part(args, i, a.data[a.lo[i]:a.hi[i]])
			}
			out.lo[i], out.hi[i] = a.lo[i]+int32(lo), a.lo[i]+int32(hi)
		}
		return out
	}
}

// countText makes a kernel that computes an I64 from each text.
func countText(count func(s []byte) int64) kernel {
	return func(f *frame, args []vec) vec {
		a := &args[0]
		out, raw := fixed[int64](f.scratch, f.n)
		for i := range out {
			out[i] = 0
			if a.valid == nil || a.valid.has(i) {
				out[i] = count(a.data[a.lo[i]:a.hi[i]])
			}
		}
		return vec{fixed: raw, valid: a.valid}
	}
}

// integer reads row i of an integer column of any width, saturated to int64.
func (v *vec) integer(i int) int64 {
	i = v.at(i)
	switch v.kind {
	case vocab.U8:
		return int64(as[uint8](v.fixed)[i])
	case vocab.U16:
		return int64(as[uint16](v.fixed)[i])
	case vocab.U32:
		return int64(as[uint32](v.fixed)[i])
	case vocab.U64:
		return int64(min(as[uint64](v.fixed)[i], 1<<63-1))
	case vocab.I8:
		return int64(as[int8](v.fixed)[i])
	case vocab.I16:
		return int64(as[int16](v.fixed)[i])
	case vocab.I32:
		return int64(as[int32](v.fixed)[i])
	default:
		return as[int64](v.fixed)[i]
	}
}
