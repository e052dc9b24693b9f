// Copyright 2009 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// licence that can be found in the LICENSE file of this directory.

package elementary

import "math"

// powers10 are the powers of ten that a float64 holds exactly.
var powers10 = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// Log10 returns the decimal logarithm of x. That of an exact power of ten is exact.
// The special cases are the same as for [Log].
func Log10(x float64) float64 {
	y := float64(Log(x) * (1 / math.Ln10))
	if near := math.Round(y); near >= 0 && near < float64(len(powers10)) && x == powers10[int(near)] {
		return near
	}
	return y
}

// Log2 returns the binary logarithm of x. That of an exact power of two is exact.
// The special cases are the same as for [Log].
func Log2(x float64) float64 {
	frac, exp := math.Frexp(x)
	if frac == 0.5 {
		return float64(exp - 1)
	}
	return float64(Log(frac)*(1/math.Ln2)) + float64(exp)
}
