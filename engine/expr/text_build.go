package expr

import (
	"bytes"
	"crypto/md5"
	"encoding/hex"
	"math/bits"
	"strconv"
	"unicode/utf8"

	"plexus/engine/batch"
	"plexus/nspl/vocab"
)

// buildText makes a kernel that builds each row's text from all operands. A row
// with a null operand is null.
func (c *compiler) buildText(name string, build func(t *text, args []vec, i int)) kernel {
	fault := c.columnFull(name)
	return func(f *frame, args []vec) vec {
		valid := f.strict(args)
		t := f.text(valid, args[0].size())
		todo := f.todo(valid)
		for i := range f.n {
			from := len(t.data)
			if todo == nil || todo.has(i) {
				build(&t, args, i)
			}
			t.close(i, from)
		}
		return t.finish(fault)
	}
}

// concat joins its operands; a null one contributes nothing.
func (c *compiler) concat(name string) kernel {
	fault := c.columnFull(name)
	return func(f *frame, args []vec) vec {
		var size int64
		for k := range args {
			size += int64(args[k].size())
		}
		t := f.text(nil, int(min(size, columnBytesMax)))
		todo := f.todo(nil)
		for i := range f.n {
			from := len(t.data)
			if todo == nil || todo.has(i) {
				for k := range args {
					if !args[k].null(i) && t.room(i, len(args[k].text(i))) {
						t.data = append(t.data, args[k].text(i)...)
					}
				}
			}
			t.close(i, t.undo(i, from))
		}
		return t.finish(fault)
	}
}

// undo drops what row i has built so far if a part found no room, and returns
// where the row starts.
func (t *text) undo(i, from int) int {
	if t.over != nil && t.over.has(i) {
		t.data = t.data[:from]
	}
	return from
}

// concatWS joins its operands but the first with the first between them; null
// operands are left out, empty ones are not.
func (c *compiler) concatWS(name string) kernel {
	fault := c.columnFull(name)
	return func(f *frame, args []vec) vec {
		valid := args[0].valid
		t := f.text(valid, args[0].size())
		todo := f.todo(valid)
		for i := range f.n {
			from := len(t.data)
			if todo == nil || todo.has(i) {
				joinRow(&t, args, i)
			}
			t.close(i, t.undo(i, from))
		}
		return t.finish(fault)
	}
}

func joinRow(t *text, args []vec, i int) {
	separator := args[0].text(i)
	first := true
	for k := 1; k < len(args); k++ {
		if args[k].null(i) {
			continue
		}
		part := args[k].text(i)
		if !t.room(i, len(separator)+len(part)) {
			return
		}
		if !first {
			t.data = append(t.data, separator...)
		}
		t.data = append(t.data, part...)
		first = false
	}
}

func repeat(t *text, args []vec, i int) {
	s, n := args[0].text(i), args[1].integer(i)
	if n <= 0 || len(s) == 0 {
		return
	}
	high, size := bits.Mul64(uint64(len(s)), uint64(n))
	if high != 0 || size > columnBytesMax || !t.room(i, int(size)) {
		t.overflow(i)
		return
	}
	for range n {
		t.data = append(t.data, s...)
	}
}

func replace(t *text, args []vec, i int) {
	s, from, to := args[0].text(i), args[1].text(i), args[2].text(i)
	if len(from) == 0 {
		insertAround(t, i, s, to)
		return
	}
	count := bytes.Count(s, from)
	if !t.roomFor(i, len(s)-count*len(from), count, len(to)) {
		return
	}
	for ; count > 0; count-- {
		k := bytes.Index(s, from)
		t.data = append(append(t.data, s[:k]...), to...)
		s = s[k+len(from):]
	}
	t.data = append(t.data, s...)
}

// insertAround writes to before, between and behind the characters of s.
func insertAround(t *text, i int, s, to []byte) {
	if !t.roomFor(i, len(s), utf8.RuneCount(s)+1, len(to)) {
		return
	}
	for len(s) > 0 {
		_, size := utf8.DecodeRune(s)
		t.data = append(append(t.data, to...), s[:size]...)
		s = s[size:]
	}
	t.data = append(t.data, to...)
}

// roomFor is room for fixed bytes and count times each, without wrapping.
func (t *text) roomFor(i, fixed, count, each int) bool {
	high, size := bits.Mul64(uint64(count), uint64(each))
	if high == 0 && size <= columnBytesMax && t.f.fits(len(t.data), fixed) && t.f.fits(len(t.data)+fixed, int(size)) {
		return true
	}
	t.overflow(i)
	return false
}

func reverse(dst, src []byte) []byte {
	for len(src) > 0 {
		_, size := utf8.DecodeLastRune(src)
		dst = append(dst, src[len(src)-size:]...)
		src = src[:len(src)-size]
	}
	return dst
}

// translate replaces each character that from holds by the one at the same
// position of to, and removes it where to is shorter. The first position of a
// repeated character counts.
func translate(t *text, args []vec, i int) {
	s, from, to := args[0].text(i), args[1].text(i), args[2].text(i)
	for len(s) > 0 {
		_, size := utf8.DecodeRune(s)
		k := bytes.Index(from, s[:size])
		switch {
		case k < 0:
			t.data = append(t.data, s[:size]...)
		default:
			start := skip(to, characters(from[:k]))
			t.data = append(t.data, to[start:start+skip(to[start:], 1)]...)
		}
		s = s[size:]
		if len(t.data) > t.f.scratch.columnBytes {
			return // close reports it
		}
	}
}

// pad makes the row function of lpad and rpad.
func pad(before bool) func(t *text, args []vec, i int) {
	return func(t *text, args []vec, i int) {
		s, fill := args[0].text(i), args[2].text(i)
		want := max(args[1].integer(i), 0)
		have := characters(s)
		if have >= want || len(fill) == 0 {
			s = s[:skip(s, want)]
			if t.room(i, len(s)) {
				t.data = append(t.data, s...)
			}
			return
		}
		missing := want - have
		perFill := characters(fill)
		whole, rest := missing/perFill, fill[:skip(fill, missing%perFill)]
		if whole > columnBytesMax || !t.roomFor(i, len(s)+len(rest), int(whole), len(fill)) {
			t.overflow(i)
			return
		}
		if !before {
			t.data = append(t.data, s...)
		}
		for range whole {
			t.data = append(t.data, fill...)
		}
		t.data = append(t.data, rest...)
		if before {
			t.data = append(t.data, s...)
		}
	}
}

func appendMD5(dst, src []byte) []byte {
	sum := md5.Sum(src)
	return hex.AppendEncode(dst, sum[:])
}

// toHex writes integers in two's complement at their width.
func (c *compiler) toHex(kind vocab.Kind) kernel {
	fault := c.columnFull("to_hex")
	mask := uint64(1)<<(8*batch.Width(kind)-1)<<1 - 1
	return func(f *frame, args []vec) vec {
		a := &args[0]
		t := f.text(a.valid, 8*f.n)
		for i := range f.n {
			from := len(t.data)
			if a.valid == nil || a.valid.has(i) {
				t.data = strconv.AppendUint(t.data, a.pattern(i)&mask, 16)
			}
			t.close(i, from)
		}
		return t.finish(fault)
	}
}

// pattern returns the bits of an integer, sign-extended.
func (v *vec) pattern(i int) uint64 {
	if v.kind == vocab.U64 {
		return as[uint64](v.fixed)[v.at(i)]
	}
	return uint64(v.integer(i))
}
