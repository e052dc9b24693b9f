package expr

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"unsafe"
)

// Beyond these digits a float has none left to round, or none before the digit
// that decides.
const (
	roundDigitsMax = 1074
	roundDigitsMin = -309
)

// powers10 are the powers of ten that a float64 holds exactly.
var powers10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// roundFloat rounds the exact value of x to d decimal digits, halves away from
// zero, and returns the nearest float of the given size. The sign of a zero
// result is that of x.
func roundFloat(x float64, d int64, size int) float64 {
	switch {
	case x == 0 || math.IsNaN(x) || math.IsInf(x, 0) || d > roundDigitsMax:
		return x
	case d < roundDigitsMin:
		return math.Copysign(0, x)
	case d == 0:
		return math.Round(x)
	case d < 0:
		return math.Copysign(roundTens(math.Abs(x), d, size), x)
	case math.Abs(x) >= 1<<52:
		return x // every such float is whole
	}
	if size == 64 && d < int64(len(powers10)) {
		scaled := float64(math.Abs(x) * powers10[d]) // never fused with what follows
		whole := math.Floor(scaled)
		// Scaling is off by less than 2^-12 below 2^40: away from the half, the
		// nearest integer is certain, and dividing two exact numbers rounds once.
		if scaled < 1<<40 && math.Abs(scaled-whole-0.5) > 1.0/(1<<11) {
			return math.Copysign(math.Round(scaled)/powers10[d], x)
		}
	}
	// Formatting rounds the exact value, but halves to even. A half at digit d has
	// exactly d+1 binary digits behind the point; its neighbour rounds as it must.
	if fractionBits(x) == d+1 {
		x = math.Nextafter(x, math.Copysign(math.Inf(1), x))
	}
	var buffer [64]byte
	text := strconv.AppendFloat(buffer[:0], x, 'f', int(d), 64)
	v, _ := strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), size)
	return v
}

// fractionBits returns the number of binary digits behind the point.
func fractionBits(x float64) int64 {
	pattern := math.Float64bits(x)
	exponent := int64(pattern >> 52 & 0x7ff)
	mantissa := pattern & (1<<52 - 1)
	if exponent == 0 {
		exponent = 1
	} else {
		mantissa |= 1 << 52
	}
	return 1075 - exponent - int64(bits.TrailingZeros64(mantissa))
}

// roundTens rounds x, which is positive, to a multiple of 10^-d for negative d.
func roundTens(x float64, d int64, size int) float64 {
	if x < 1<<63 {
		// What lies behind the point cannot decide: the step is even.
		rounded, fits := roundMagnitude(uint64(x), d)
		if fits && size == 32 {
			return float64(float32(rounded))
		}
		if fits {
			return float64(rounded)
		}
	}
	step := new(big.Int).Exp(big.NewInt(10), big.NewInt(-d), nil)
	whole, _ := new(big.Float).SetFloat64(x).Int(nil)
	// (whole + step/2) / step · step
	whole.Add(whole, new(big.Int).Rsh(step, 1))
	whole.Sub(whole, new(big.Int).Rem(whole, step))
	v, _ := strconv.ParseFloat(whole.String(), size)
	return v
}
