package codec

import (
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// number reads a number token of any form.
func (p *parser) number() bool {
	if p.b[p.i] == '-' {
		p.i++
	}
	start := p.i
	n := p.digits()
	if n == 0 || p.b[start] == '0' && n > 1 {
		return false
	}
	if p.i < len(p.b) && p.b[p.i] == '.' {
		p.i++
		if p.digits() == 0 {
			return false
		}
	}
	if p.i < len(p.b) && p.b[p.i]|0x20 == 'e' {
		p.i++
		if p.i < len(p.b) && (p.b[p.i] == '+' || p.b[p.i] == '-') {
			p.i++
		}
		return p.digits() > 0
	}
	return true
}

// digits skips digits and returns how many.
func (p *parser) digits() int {
	start := p.i
	for p.i < len(p.b) && p.b[p.i]-'0' <= 9 {
		p.i++
	}
	return p.i - start
}

// integer reads a number without fraction and exponent into a column.
func (p *parser) integer(v *value, c *column) Cause {
	start := p.i
	negative := p.i < len(p.b) && p.b[p.i] == '-'
	if negative {
		p.i++
	}
	first := p.i
	var size uint64
	for p.i < len(p.b) {
		digit := p.b[p.i] - '0'
		if digit > 9 {
			break
		}
		size = size*10 + uint64(digit)
		p.i++
	}
	n := p.i - first
	switch {
	case n == 0 && !negative:
		return p.mismatch()
	case n == 0 || p.b[first] == '0' && n > 1:
		return p.syntax()
	case p.i < len(p.b) && (p.b[p.i] == '.' || p.b[p.i]|0x20 == 'e'):
		p.i = start
		if !p.number() {
			return p.syntax()
		}
		return CauseType
	case n > 19 && !exact(p.b[first:p.i]):
		return CauseRange
	case negative && size > v.below || !negative && size > v.above:
		return CauseRange
	}
	if negative {
		size = -size
	}
	c.appendFixed(size)
	return accepted
}

// exact reports whether digits, the first of them not zero, fit 64 bits.
func exact(digits []byte) bool {
	if len(digits) > 20 {
		return false
	}
	var size uint64
	for _, d := range digits[:19] {
		size = size*10 + uint64(d-'0')
	}
	high, low := bits.Mul64(size, 10)
	_, carry := bits.Add64(low, uint64(digits[19]-'0'), 0)
	return high+carry == 0
}

// powers10 and powers10F32 are the powers of ten that are exact at their width.
var (
	powers10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
		1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}
	powers10F32 = [...]float32{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10}
)

// float reads any number into a column of the given width, rounding the decimal
// text once.
func (p *parser) float(c *column, width int) Cause {
	if p.i >= len(p.b) || p.b[p.i] != '-' && p.b[p.i]-'0' > 9 {
		return p.mismatch()
	}
	start := p.i
	mantissa, exponent, short := p.shortDecimal()
	if !short {
		p.i = start
		if !p.number() {
			return p.syntax()
		}
		return p.longFloat(c, p.b[start:p.i], width)
	}
	// With an exact mantissa and an exact power the one operation rounds once.
	negative := p.b[start] == '-'
	switch {
	case width == 64 && mantissa <= 1<<53:
		x := float64(mantissa) / powers10[exponent]
		if negative {
			x = -x
		}
		c.appendFixed(math.Float64bits(x))
	case width == 32 && mantissa <= 1<<24 && exponent < len(powers10F32):
		x := float32(mantissa) / powers10F32[exponent]
		if negative {
			x = -x
		}
		c.appendFixed(uint64(math.Float32bits(x)))
	default:
		return p.longFloat(c, p.b[start:p.i], width)
	}
	return accepted
}

// shortDecimal reads a number of at most 19 digits without exponent, which is
// mantissa / 10^fraction. Otherwise, and where it is no number, short is false.
func (p *parser) shortDecimal() (mantissa uint64, fraction int, short bool) {
	if p.b[p.i] == '-' {
		p.i++
	}
	first := p.i
	for p.i < len(p.b) && p.b[p.i]-'0' <= 9 {
		mantissa = mantissa*10 + uint64(p.b[p.i]-'0')
		p.i++
	}
	whole := p.i - first
	if whole == 0 || p.b[first] == '0' && whole > 1 {
		return 0, 0, false
	}
	if p.i < len(p.b) && p.b[p.i] == '.' {
		p.i++
		point := p.i
		for p.i < len(p.b) && p.b[p.i]-'0' <= 9 {
			mantissa = mantissa*10 + uint64(p.b[p.i]-'0')
			p.i++
		}
		if fraction = p.i - point; fraction == 0 {
			return 0, 0, false
		}
	}
	if p.i < len(p.b) && p.b[p.i]|0x20 == 'e' {
		return 0, 0, false
	}
	return mantissa, fraction, whole+fraction <= 19
}

// longFloat converts a number token of any length.
func (p *parser) longFloat(c *column, token []byte, width int) Cause {
	x, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(token), len(token)), width)
	if err != nil {
		return CauseRange // the token is a number, so only its size is left to refuse
	}
	if width == 64 {
		c.appendFixed(math.Float64bits(x))
	} else {
		c.appendFixed(uint64(math.Float32bits(float32(x))))
	}
	return accepted
}
