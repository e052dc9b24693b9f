package expr

import (
	"bytes"
	"math"
	"strconv"
	"unsafe"

	"plexus/nspl/rfc3339"
	"plexus/nspl/vocab"
)

// formatter converts to STRING.
func (c *compiler) formatter(from vocab.Kind) conversion {
	full := c.columnFull("AS STRING")
	write := writer(from)
	return func(f *frame, v *vec, todo bitmap) (vec, bitmap) {
		t := f.text(v.valid, 16*f.n)
		for i := range f.n {
			start := len(t.data)
			if todo == nil || todo.has(i) {
				t.data = write(t.data, v, i)
			}
			t.close(i, start)
		}
		return t.finish(full), nil
	}
}

// writer appends the text of row i of a column.
func writer(kind vocab.Kind) func(dst []byte, v *vec, i int) []byte {
	switch kind {
	case vocab.U64:
		return func(dst []byte, v *vec, i int) []byte { return strconv.AppendUint(dst, as[uint64](v.fixed)[i], 10) }
	case vocab.Bool:
		return func(dst []byte, v *vec, i int) []byte { return strconv.AppendBool(dst, v.bits.has(i)) }
	case vocab.Datetime:
		return func(dst []byte, v *vec, i int) []byte { return rfc3339.Append(dst, as[int64](v.fixed)[i]) }
	case vocab.F32:
		return func(dst []byte, v *vec, i int) []byte { return appendFloat(dst, float64(as[float32](v.fixed)[i]), 32) }
	case vocab.F64:
		return func(dst []byte, v *vec, i int) []byte { return appendFloat(dst, as[float64](v.fixed)[i], 64) }
	default:
		return func(dst []byte, v *vec, i int) []byte { return strconv.AppendInt(dst, v.integer(i), 10) }
	}
}

// appendFloat writes the shortest decimal that reads back, without exponent.
func appendFloat(dst []byte, x float64, size int) []byte {
	switch {
	case math.IsInf(x, 1):
		return append(dst, "inf"...)
	case math.IsInf(x, -1):
		return append(dst, "-inf"...)
	default:
		return strconv.AppendFloat(dst, x, 'f', -1, size)
	}
}

// parser converts from STRING.
func parser(to vocab.Kind) conversion {
	switch to {
	case vocab.U8:
		return parseUnsigned[uint8](math.MaxUint8)
	case vocab.U16:
		return parseUnsigned[uint16](math.MaxUint16)
	case vocab.U32:
		return parseUnsigned[uint32](math.MaxUint32)
	case vocab.U64:
		return parseUnsigned[uint64](math.MaxUint64)
	case vocab.I8:
		return parseSigned[int8](math.MaxInt8)
	case vocab.I16:
		return parseSigned[int16](math.MaxInt16)
	case vocab.I32:
		return parseSigned[int32](math.MaxInt32)
	case vocab.I64:
		return parseSigned[int64](math.MaxInt64)
	case vocab.F32:
		return parseTexts(func(s []byte) (float32, bool) { x, ok := readFloat(s, 32); return float32(x), ok })
	case vocab.F64:
		return parseTexts(func(s []byte) (float64, bool) { return readFloat(s, 64) })
	case vocab.Datetime:
		return parseTexts(func(s []byte) (int64, bool) { x, v := rfc3339.Parse(s); return x, v == rfc3339.OK })
	case vocab.Bool:
		return parseBools
	default:
		return nil
	}
}

// parseTexts reads every text of todo.
func parseTexts[T number](read func(s []byte) (T, bool)) conversion {
	return func(f *frame, v *vec, todo bitmap) (vec, bitmap) {
		out, raw := fixed[T](f.scratch, f.n)
		bad := f.scratch.empty(f.n)
		for i := range out {
			out[i] = 0
			if todo != nil && !todo.has(i) {
				continue
			}
			x, ok := read(v.data[v.lo[i]:v.hi[i]])
			if !ok {
				bad.set(i)
				continue
			}
			out[i] = x
		}
		return vec{fixed: raw}, bad
	}
}

func parseUnsigned[T unsigned](limit uint64) conversion {
	return parseTexts(func(s []byte) (T, bool) {
		negative, size, ok := readInteger(s)
		return T(size), ok && size <= limit && (!negative || size == 0)
	})
}

func parseSigned[T signed](limit uint64) conversion {
	return parseTexts(func(s []byte) (T, bool) {
		negative, size, ok := readInteger(s)
		if negative {
			return T(-size), ok && size <= limit+1
		}
		return T(size), ok && size <= limit
	})
}

// readInteger reads [+-]?[0-9]+ as sign and magnitude.
func readInteger(s []byte) (negative bool, size uint64, ok bool) {
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		negative = s[0] == '-'
		s = s[1:]
	}
	if len(s) == 0 {
		return false, 0, false
	}
	for _, b := range s {
		digit := uint64(b - '0')
		if digit > 9 || size > (math.MaxUint64-digit)/10 {
			return false, 0, false
		}
		size = size*10 + digit
	}
	return negative, size, true
}

// readFloat reads a decimal with optional sign, fraction and exponent, or one of
// the words for values that are not finite.
func readFloat(s []byte, size int) (float64, bool) {
	if !decimalShape(s) {
		return readFloatWord(s)
	}
	// A value beyond the range comes back as infinity, which is what it reads as.
	x, _ := strconv.ParseFloat(unsafe.String(unsafe.SliceData(s), len(s)), size)
	return x, true
}

// decimalShape reports whether s is a decimal; strconv accepts more.
func decimalShape(s []byte) bool {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	whole := run(s, i)
	i += whole
	fraction := 0
	if i < len(s) && s[i] == '.' {
		fraction = run(s, i+1)
		i += 1 + fraction
	}
	if whole+fraction == 0 {
		return false
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '-' || s[i] == '+') {
			i++
		}
		n := run(s, i)
		if n == 0 {
			return false
		}
		i += n
	}
	return i == len(s)
}

// run counts the digits from position i on.
func run(s []byte, i int) int {
	n := 0
	for i+n < len(s) && s[i+n]-'0' <= 9 {
		n++
	}
	return n
}

func readFloatWord(s []byte) (float64, bool) {
	sign := 1
	if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
		if s[0] == '-' {
			sign = -1
		}
		s = s[1:]
	}
	switch {
	case equalFold(s, "nan"):
		return math.NaN(), true
	case equalFold(s, "inf"), equalFold(s, "infinity"):
		return math.Inf(sign), true
	default:
		return 0, false
	}
}

// equalFold compares with a lower-case ASCII word, ignoring ASCII case.
func equalFold(s []byte, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i := range s {
		b := s[i]
		if 'A' <= b && b <= 'Z' {
			b += 'a' - 'A'
		}
		if b != word[i] {
			return false
		}
	}
	return true
}

var (
	trueWords  = []string{"true", "t", "tr", "tru", "y", "ye", "yes", "on", "1"}
	falseWords = []string{"false", "f", "fa", "fal", "fals", "n", "no", "of", "off", "0"}
)

func parseBools(f *frame, v *vec, todo bitmap) (vec, bitmap) {
	out, bad := f.scratch.empty(f.n), f.scratch.empty(f.n)
	for i := range f.n {
		if todo != nil && !todo.has(i) {
			continue
		}
		s := bytes.TrimSpace(v.data[v.lo[i]:v.hi[i]])
		switch {
		case oneOf(s, trueWords):
			out.set(i)
		case !oneOf(s, falseWords):
			bad.set(i)
		}
	}
	return vec{bits: out}, bad
}

func oneOf(s []byte, words []string) bool {
	for _, w := range words {
		if equalFold(s, w) {
			return true
		}
	}
	return false
}
