package expr

import (
	"unicode"
	"unicode/utf8"

	"plexus/nspl/typed"
)

// likePatternMax bounds the pattern of like and ilike, in bytes.
const likePatternMax = 4096

// wildcard is one element of a pattern: a character, or one of the two below.
type wildcard rune

const (
	anyText      wildcard = -1 // %
	anyCharacter wildcard = -2 // _
)

// appendPattern reads a pattern. A backslash takes the next character as it is; one
// at the end is itself. Neighbouring % are one.
func appendPattern(to []wildcard, pattern []byte, fold bool) []wildcard {
	for len(pattern) > 0 {
		r, size := utf8.DecodeRune(pattern)
		pattern = pattern[size:]
		switch {
		case r == '%' && len(to) > 0 && to[len(to)-1] == anyText:
			continue
		case r == '%':
			to = append(to, anyText)
			continue
		case r == '_':
			to = append(to, anyCharacter)
			continue
		case r == '\\' && len(pattern) > 0:
			r, size = utf8.DecodeRune(pattern)
			pattern = pattern[size:]
		}
		if fold {
			r = simpleFold(r)
		}
		to = append(to, wildcard(r))
	}
	return to
}

// simpleFold returns the smallest of the characters that differ by case only.
func simpleFold(r rune) rune {
	if r < utf8.RuneSelf && r != 'k' && r != 'K' && r != 's' && r != 'S' {
		if 'a' <= r && r <= 'z' {
			return r - ('a' - 'A')
		}
		return r
	}
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

// matches reports whether a pattern takes the whole text. On a mismatch behind a %
// only the last % has to take one character more: earlier ones have the shortest
// text that suffices.
func matches(pattern []wildcard, s []byte, fold bool) bool {
	p, retry := 0, -1
	var again []byte // where the last % tries next
	for {
		if p < len(pattern) && pattern[p] == anyText {
			p++
			retry, again = p, s
			continue
		}
		if len(s) == 0 {
			return p == len(pattern)
		}
		r, size := utf8.DecodeRune(s)
		if fold {
			r = simpleFold(r)
		}
		switch {
		case p < len(pattern) && (pattern[p] == anyCharacter || pattern[p] == wildcard(r)):
			p++
			s = s[size:]
		case retry >= 0:
			_, size = utf8.DecodeRune(again)
			again = again[size:]
			p, s = retry, again
		default:
			return false
		}
	}
}

// like binds like and ilike, the latter without regard to case.
func (c *compiler) like(e *typed.Expr) kernel {
	fold := e.Func == "ilike"
	var known []wildcard
	if p := e.Args[1]; p.Op == typed.OpLiteral && !p.Literal.Null && len(p.Literal.Str) <= likePatternMax {
		known = appendPattern([]wildcard{}, []byte(p.Literal.Str), fold)
	}
	return checkedBools(func(args []vec, i int) (bool, outcome) {
		if known != nil {
			return matches(known, args[0].text(i), fold), present
		}
		pattern := args[1].text(i)
		if len(pattern) > likePatternMax {
			return false, refused
		}
		var room [64]wildcard
		return matches(appendPattern(room[:0], pattern, fold), args[0].text(i), fold), present
	}, c.fault(InvalidArgument, e.Func, "a pattern has at most 4096 bytes"))
}
