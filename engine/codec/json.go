package codec

import (
	"encoding/base64"
	"math"
	"strconv"

	"plexus/nspl/rfc3339"
)

const hexDigits = "0123456789abcdef"

// appendString writes a JSON string: quotes, backslashes and controls are
// escaped, nothing else.
func appendString(dst, s []byte) []byte {
	dst = append(dst, '"')
	for {
		at, _ := special(s, 0)
		dst = append(dst, s[:at]...)
		if at == len(s) {
			return append(dst, '"')
		}
		switch c := s[at]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\b':
			dst = append(dst, '\\', 'b')
		case '\f':
			dst = append(dst, '\\', 'f')
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		s = s[at+1:]
	}
}

// Floats from floatFixedMin to below floatFixedMax are written without exponent.
const (
	floatFixedMin = 1e-6
	floatFixedMax = 1e21
)

// appendFloat writes the shortest number that reads back at its width, with a
// fraction or an exponent. It must be finite.
func appendFloat(dst []byte, x float64, width int) []byte {
	size := math.Abs(x)
	if size != 0 && (size < floatFixedMin || size >= floatFixedMax) {
		return appendExponent(dst, x, width)
	}
	if width == 64 {
		if out, ok := appendShortFloat(dst, x, size); ok {
			return out
		}
	}
	from := len(dst)
	dst = strconv.AppendFloat(dst, x, 'f', -1, width)
	for _, c := range dst[from:] {
		if c == '.' {
			return dst
		}
	}
	return append(dst, '.', '0')
}

// appendShortFloat writes a float that is a decimal of at most 15 digits, six of
// them behind the point. Such decimals differ as floats, so the one that reads
// back is the shortest. Zero is left to the general case for its sign.
func appendShortFloat(dst []byte, x, size float64) ([]byte, bool) {
	const scale = 1_000_000
	scaled := math.Round(size * scale)
	if scaled == 0 || scaled >= 1e15 || scaled/scale != size {
		return dst, false
	}
	if x < 0 {
		dst = append(dst, '-')
	}
	whole, fraction := uint64(scaled)/scale, uint64(scaled)%scale
	dst = append(strconv.AppendUint(dst, whole, 10), '.')
	from := len(dst)
	dst = append(dst, "000000"...)
	for k := from + 5; fraction > 0; k-- {
		dst[k] = byte('0' + fraction%10)
		fraction /= 10
	}
	end := len(dst)
	for end > from+1 && dst[end-1] == '0' {
		end--
	}
	return dst[:end], true
}

// appendExponent writes the exponent without the zero that strconv pads it with.
func appendExponent(dst []byte, x float64, width int) []byte {
	dst = strconv.AppendFloat(dst, x, 'e', -1, width)
	if n := len(dst); dst[n-2] == '0' && (dst[n-3] == '-' || dst[n-3] == '+') {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

func appendDatetime(dst []byte, nanos int64) []byte {
	return append(rfc3339.Append(append(dst, '"'), nanos), '"')
}

func appendBase64(dst, octets []byte) []byte {
	return append(base64.StdEncoding.AppendEncode(append(dst, '"'), octets), '"')
}
