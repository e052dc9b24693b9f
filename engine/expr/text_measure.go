package expr

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// characters counts the bytes that start a character, eight at a time.
func characters(s []byte) int64 {
	n := 0
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		// A continuation byte is 10xxxxxx.
		n += 8 - bits.OnesCount64(w>>7&(^w>>6)&lowBits)
	}
	for ; i < len(s); i++ {
		if s[i]&0xc0 != 0x80 {
			n++
		}
	}
	return int64(n)
}

func octets(s []byte) int64    { return int64(len(s)) }
func bitLength(s []byte) int64 { return 8 * int64(len(s)) }

func firstCodePoint(s []byte) int64 {
	if len(s) == 0 {
		return 0
	}
	r, _ := utf8.DecodeRune(s)
	return int64(r)
}

// position is the kernel of strpos.
func position(f *frame, args []vec) vec {
	out, raw := fixed[int64](f.scratch, f.n)
	valid := f.strict(args)
	for i := range out {
		out[i] = 0
		if valid != nil && !valid.has(i) {
			continue
		}
		s := args[0].text(i)
		if k := bytes.Index(s, args[1].text(i)); k >= 0 {
			out[i] = characters(s[:k]) + 1
		}
	}
	return vec{fixed: raw, valid: valid}
}

// contains is the kernel of contains over texts. One needle for a dense column
// is looked for in all its bytes at once: rows without it are never visited.
func contains(f *frame, args []vec) vec {
	out := f.scratch.empty(f.n)
	valid := f.strict(args)
	a, needle := &args[0], &args[1]
	if needle.scalar && a.dense && f.n > 1 && !needle.null(0) && len(needle.text(0)) > 0 {
		scan(out, a, needle.text(0))
		return vec{bits: out, valid: valid}
	}
	for i := range f.n {
		if (valid == nil || valid.has(i)) && bytes.Contains(a.text(i), needle.text(i)) {
			out.set(i)
		}
	}
	return vec{bits: out, valid: valid}
}

// scan sets the rows of a dense column that hold the needle.
func scan(out bitmap, a *vec, needle []byte) {
	n := len(a.lo)
	end := int(a.hi[n-1])
	at := int(a.lo[0])
	for row := 0; row < n; {
		var k int
		if len(needle) == 1 {
			k = bytes.IndexByte(a.data[at:end], needle[0])
		} else {
			k = bytes.Index(a.data[at:end], needle)
		}
		if k < 0 {
			return
		}
		at += k
		for int(a.hi[row]) <= at {
			row++
		}
		if at+len(needle) <= int(a.hi[row]) {
			out.set(row)
			row++
			if row < n {
				at = int(a.lo[row])
			}
			continue
		}
		at++ // the find crosses into the next row
	}
}

// textPredicate makes the kernel of starts_with and ends_with.
func textPredicate(test func(s, part []byte) bool) kernel {
	return func(f *frame, args []vec) vec {
		out := f.scratch.empty(f.n)
		valid := f.strict(args)
		for i := range f.n {
			if (valid == nil || valid.has(i)) && test(args[0].text(i), args[1].text(i)) {
				out.set(i)
			}
		}
		return vec{bits: out, valid: valid}
	}
}
