package expr

import (
	"bytes"
	"unicode"
	"unicode/utf8"
)

func trim(_ []vec, _ int, s []byte) (int, int) {
	lo := len(s) - len(bytes.TrimLeftFunc(s, unicode.IsSpace))
	return lo, max(lo, len(bytes.TrimRightFunc(s, unicode.IsSpace)))
}

func ltrim(_ []vec, _ int, s []byte) (int, int) {
	return len(s) - len(bytes.TrimLeftFunc(s, unicode.IsSpace)), len(s)
}

func rtrim(_ []vec, _ int, s []byte) (int, int) {
	return 0, len(bytes.TrimRightFunc(s, unicode.IsSpace))
}

// skip returns the byte position behind the first n characters, or the end.
func skip(s []byte, n int64) int {
	p := 0
	for ; n > 0 && p < len(s); n-- {
		_, size := utf8.DecodeRune(s[p:])
		p += size
	}
	return p
}

// skipLast returns the byte position before the last n characters, or 0.
func skipLast(s []byte, n int64) int {
	p := len(s)
	for ; n > 0 && p > 0; n-- {
		_, size := utf8.DecodeLastRune(s[:p])
		p -= size
	}
	return p
}

// magnitude returns -n for a negative n, saturated.
func magnitude(n int64) int64 { return -max(n, -1<<63+1) }

func left(args []vec, i int, s []byte) (int, int) {
	n := args[1].integer(i)
	if n < 0 {
		return 0, skipLast(s, magnitude(n))
	}
	return 0, skip(s, n)
}

func right(args []vec, i int, s []byte) (int, int) {
	n := args[1].integer(i)
	if n < 0 {
		return skip(s, magnitude(n)), len(s)
	}
	return skipLast(s, n), len(s)
}

func substr(args []vec, i int, s []byte) (int, int) {
	lo := skip(s, max(args[1].integer(i), 1)-1)
	if len(args) < 3 {
		return lo, len(s)
	}
	return lo, lo + skip(s[lo:], args[2].integer(i))
}

// splitPart returns the i-th part between delimiters, counted from 1.
func splitPart(args []vec, i int, s []byte) (int, int) {
	delimiter, part := args[1].text(i), args[2].integer(i)
	if part < 1 || len(delimiter) == 0 && part > 1 {
		return 0, 0
	}
	lo := 0
	for ; part > 1; part-- {
		k := bytes.Index(s[lo:], delimiter)
		if k < 0 {
			return 0, 0
		}
		lo += k + len(delimiter)
	}
	if len(delimiter) == 0 {
		return 0, len(s)
	}
	if k := bytes.Index(s[lo:], delimiter); k >= 0 {
		return lo, lo + k
	}
	return lo, len(s)
}
