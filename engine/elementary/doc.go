// Package elementary computes the elementary functions of the language, bit for
// bit the same on every platform and in every build.
//
// The functions of package math are not: some architectures have them in assembly,
// and on some the compiler fuses a product and a sum into one operation that rounds
// once. These are ports of the portable implementations in Go's standard library
// (see LICENSE in this directory) in which every product that is added to something
// is converted explicitly, which the language defines to round.
//
//	E1  A result depends on the bits of the arguments and nothing else.
//	E2  No function reads or keeps state, allocates, or fails: what has no result is
//	    NaN or infinite.
//
// From package math only what IEEE 754 defines exactly is used: square root,
// decomposition, constants. The package imports nothing else.
package elementary
