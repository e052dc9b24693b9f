package expr

import (
	"math/bits"
)

// bitmap holds one bit per row, row 0 in the lowest bit of the first word. Bits
// beyond the last row are zero (X5). A nil bitmap stands for "every row" where a
// function says so.
type bitmap []uint64

// wordsFor returns the words that hold n bits.
func wordsFor(n int) int { return (n + 63) / 64 }

// tail returns the bits of the last word that belong to rows.
func tail(n int) uint64 {
	if n%64 == 0 {
		return ^uint64(0)
	}
	return 1<<(n%64) - 1
}

func (b bitmap) has(i int) bool { return b[i>>6]>>(i&63)&1 != 0 }
func (b bitmap) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitmap) unset(i int)    { b[i>>6] &^= 1 << (i & 63) }

func (b bitmap) count() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

func (b bitmap) any() bool {
	var all uint64
	for _, w := range b {
		all |= w
	}
	return all != 0
}

// fill sets the first n bits.
func (b bitmap) fill(n int) {
	for i := range b {
		b[i] = ^uint64(0)
	}
	if len(b) > 0 {
		b[len(b)-1] = tail(n)
	}
}

// both returns the rows in a and b, where nil is every row.
func (s *Scratch) both(a, b bitmap) bitmap {
	if a == nil {
		return b
	}
	if b == nil {
		return a
	}
	out := s.bits(64 * len(a))
	for i := range out {
		out[i] = a[i] & b[i]
	}
	return out
}

// without returns the rows of a, of n rows where nil, that are not in b.
func (s *Scratch) without(n int, a, b bitmap) bitmap {
	out := s.bits(n)
	if a == nil {
		out.fill(n)
	} else {
		copy(out, a)
	}
	for i := range out {
		out[i] &^= b[i]
	}
	return out
}

// full returns n set bits.
func (s *Scratch) full(n int) bitmap {
	out := s.bits(n)
	out.fill(n)
	return out
}

// empty returns n unset bits.
func (s *Scratch) empty(n int) bitmap {
	out := s.bits(n)
	clear(out)
	return out
}

// loadBits copies n bits that start at bit offset of an Arrow bitmap.
func (s *Scratch) loadBits(from []byte, offset, n int) bitmap {
	out := s.bits(n)
	shift := uint(offset & 7)
	from = from[offset>>3:]
	for i := range out {
		out[i] = word(from, i*8) >> shift
		if shift != 0 && i*8+8 < len(from) {
			out[i] |= uint64(from[i*8+8]) << (64 - shift)
		}
	}
	if len(out) > 0 {
		out[len(out)-1] &= tail(n)
	}
	return out
}

// word reads up to eight bytes from position i on.
func word(b []byte, i int) uint64 {
	if i+8 <= len(b) {
		b = b[i : i+8 : i+8]
		return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
			uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
	}
	var w uint64
	for k := 0; i+k < len(b); k++ {
		w |= uint64(b[i+k]) << (8 * k)
	}
	return w
}

// gatherBits picks the bits at the given positions.
func (s *Scratch) gatherBits(from bitmap, rows []int32) bitmap {
	out := s.empty(len(rows))
	for i, r := range rows {
		out[i>>6] |= (from[r>>6] >> (r & 63) & 1) << (i & 63)
	}
	return out
}

// appendPositions appends the set positions to dst.
func (b bitmap) appendPositions(dst []int32) []int32 {
	for i, w := range b {
		for w != 0 {
			dst = append(dst, int32(i*64+bits.TrailingZeros64(w)))
			w &= w - 1
		}
	}
	return dst
}

// positions lists the set positions.
func (s *Scratch) positions(b bitmap) []int32 { return b.appendPositions(s.int32s(b.count())[:0]) }

// store writes n bits as an Arrow bitmap.
func (b bitmap) store(to []byte) {
	for i := range to {
		to[i] = byte(b[i>>3] >> (8 * (i & 7)))
	}
}
