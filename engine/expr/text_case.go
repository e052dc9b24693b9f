package expr

import (
	"bytes"
	"encoding/binary"
	"slices"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
)

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// letterCase is one of the two mappings: ASCII eight bytes at a time, the rest by
// the full Unicode mapping.
type letterCase struct {
	first, last byte // the ASCII letters that change
	full        func(dst, src []byte) []byte
}

var (
	toUpper = letterCase{'a', 'z', appendUpper}
	toLower = letterCase{'A', 'Z', appendLower}
)

// ascii writes the image of src to dst, which is as long, and reports whether
// all of src was ASCII. If not, dst is of no use.
func (m letterCase) ascii(dst, src []byte) bool {
	low := uint64(lowBits) * uint64(0x80-m.first)
	high := uint64(lowBits) * uint64(0x80-m.last-1)
	var beyond uint64
	i := 0
	for ; i+32 <= len(src); i += 32 {
		from, to := src[i:i+32:i+32], dst[i:i+32:i+32]
		for k := 0; k < 32; k += 8 {
			w := binary.LittleEndian.Uint64(from[k:])
			beyond |= w
			binary.LittleEndian.PutUint64(to[k:], flip(w, low, high))
		}
	}
	for ; i+8 <= len(src); i += 8 {
		w := binary.LittleEndian.Uint64(src[i:])
		beyond |= w
		binary.LittleEndian.PutUint64(dst[i:], flip(w, low, high))
	}
	for ; i < len(src); i++ {
		b := src[i]
		beyond |= uint64(b)
		if b-m.first <= m.last-m.first {
			b ^= 0x20
		}
		dst[i] = b
	}
	return beyond&highBits == 0
}

// flip changes the case of the letters among eight ASCII bytes: those whose sum
// with low reaches the high bit and whose sum with high does not.
func flip(w, low, high uint64) uint64 {
	seven := w &^ highBits
	letters := (seven + low) &^ (seven + high) & highBits
	return w ^ letters>>2
}

// append appends the image of one text.
func (m letterCase) append(dst, src []byte) []byte {
	from := len(dst)
	dst = grow(dst, len(src))
	if m.ascii(dst[from:], src) {
		return dst
	}
	return m.full(dst[:from], src)
}

// expansion is a character whose upper case is more than one.
type expansion struct {
	r     rune
	upper string
}

// expansions are all of them, in order, from the ranges that hold any.
var expansions = func() []expansion {
	caser := cases.Upper(language.Und)
	var all []expansion
	for _, block := range [...][2]rune{{0xdf, 0xdf}, {0x149, 0x149}, {0x1f0, 0x1f0}, {0x390, 0x390}, {0x3b0, 0x3b0}, {0x587, 0x587},
		{0x1e96, 0x1e9a}, {0x1f50, 0x1ffc}, {0xfb00, 0xfb17}} {
		for r := block[0]; r <= block[1]; r++ {
			if upper := caser.String(string(r)); utf8.RuneCountInString(upper) > 1 {
				all = append(all, expansion{r, upper})
			}
		}
	}
	return all
}()

func appendUpper(dst, src []byte) []byte {
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		src = src[size:]
		if r >= expansions[0].r {
			at, found := slices.BinarySearchFunc(expansions, r, func(e expansion, r rune) int { return int(e.r - r) })
			if found {
				dst = append(dst, expansions[at].upper...)
				continue
			}
		}
		dst = utf8.AppendRune(dst, unicode.ToUpper(r))
	}
	return dst
}

// The two characters whose lower case is not simple: the first becomes two, the
// second depends on whether it ends a word.
const (
	dottedI      = 'İ'
	lowerDottedI = "i\u0307"
	sigma        = "Σ"
)

func appendLower(dst, src []byte) []byte {
	if bytes.Contains(src, []byte(sigma)) {
		return appendLowerGreek(dst, src)
	}
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		src = src[size:]
		if r == dottedI {
			dst = append(dst, lowerDottedI...)
			continue
		}
		dst = utf8.AppendRune(dst, unicode.ToLower(r))
	}
	return dst
}

// appendLowerGreek leaves the rule of the final sigma to the library, which
// allocates; other texts do not.
func appendLowerGreek(dst, src []byte) []byte {
	caser := cases.Lower(language.Und)
	// A character's image is at most three times as long as itself.
	from := len(dst)
	dst = grow(dst, 3*len(src))
	n, _, _ := caser.Transform(dst[from:], src, true)
	return dst[:from+n]
}

// grow lengthens dst by n bytes of unspecified content.
func grow(dst []byte, n int) []byte {
	if have := len(dst); n <= cap(dst)-have {
		return dst[:have+n]
	}
	return append(dst, make([]byte, n)...)
}

// mapCase makes the kernel of upper or lower. A dense column without characters
// beyond ASCII is mapped in one pass over its bytes.
func (c *compiler) mapCase(name string, m letterCase) kernel {
	each := c.mapText(name, m.append)
	return func(f *frame, args []vec) vec {
		a := &args[0]
		if !a.dense || f.n == 0 || f.active != nil {
			return each(f, args)
		}
		first, last := a.lo[0], a.hi[f.n-1]
		data := f.scratch.bytes(int(last - first))
		if !m.ascii(data, a.data[first:last]) {
			return each(f, args)
		}
		lo, hi := a.lo, a.hi
		if first != 0 {
			lo, hi = f.scratch.int32s(f.n), f.scratch.int32s(f.n)
			for i := range lo {
				lo[i], hi[i] = a.lo[i]-first, a.hi[i]-first
			}
		}
		return vec{data: data, lo: lo, hi: hi, dense: true, valid: a.valid}
	}
}

// initcap appends a text with the first character of each run of letters and
// digits in upper case and the others in lower case.
func initcap(dst, src []byte) []byte {
	inWord := false
	for len(src) > 0 {
		r, size := utf8.DecodeRune(src)
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		switch {
		case !word:
			dst = append(dst, src[:size]...)
		case inWord:
			dst = toLower.append(dst, src[:size])
		default:
			dst = toUpper.append(dst, src[:size])
		}
		inWord = word
		src = src[size:]
	}
	return dst
}
