package ast

import "strings"

// lexKind says what a part of a text is, as far as secrets need to know.
type lexKind uint8

const (
	lexMark    lexKind = iota
	lexWord            // letters, digits and underscores
	lexName            // a name in backticks
	lexLiteral         // a string
	lexComment
)

// lexeme is a part of a text; first and last bound what is inside of a string or a
// comment.
type lexeme struct {
	kind                    lexKind
	begin, end, first, last int
}

// piecesOf cuts a text into statements, each with its semicolon. A string without
// an end makes all that is left one statement: nobody knows which quote was
// forgotten. Its strings and comments are no such, as some of them are not.
func piecesOf(text string) (pieces []piece) {
	x := piece{}
	for i := 0; i < len(text); {
		l, ok := lexemeAt(text, i, false)
		if !ok {
			return append(pieces, brokenPiece(text, x.begin))
		}
		if i = l.end; l.begin == len(text) {
			break
		}
		x.list = append(x.list, l)
		if text[l.begin] == ';' {
			x.end = l.end
			pieces, x = append(pieces, x), piece{begin: l.end}
		}
	}
	x.end = len(text)
	return append(pieces, x)
}

func brokenPiece(text string, begin int) piece {
	x := piece{begin: begin, end: len(text), broken: true}
	for i := begin; i < len(text); {
		l, _ := lexemeAt(text, i, true)
		if l.begin == len(text) {
			break
		}
		x.list, i = append(x.list, l), l.end
	}
	return x
}

// lexemeAt returns the next part of a text, one at its end where there is none. It is
// not ok where a string has no end. Raw texts have no strings and comments.
func lexemeAt(text string, i int, raw bool) (l lexeme, ok bool) {
	for i < len(text) && strings.IndexByte(spaces, text[i]) >= 0 {
		i++
	}
	l = lexeme{begin: i, end: min(i+1, len(text))}
	if i == len(text) {
		return l, true
	}
	open, closing := literalAt(text, i)
	switch {
	case wordRune(rune(text[i])):
		l.kind = lexWord
		for l.end < len(text) && wordRune(rune(text[l.end])) {
			l.end++
		}
	case raw:
	case open > 0:
		length := strings.Index(text[i+open:], closing)
		if length < 0 || len(closing) == 1 && strings.ContainsAny(text[i+open:i+open+length], "\r\n") {
			return l, false
		}
		l.kind, l.first, l.last = lexLiteral, i+open, i+open+length
		l.end = l.last + len(closing)
	case strings.HasPrefix(text[i:], "//"):
		l.kind, l.first, l.last = lexComment, i+2, len(text)
		if n := strings.IndexByte(text[i:], '\n'); n >= 0 {
			l.last = i + n
		}
		l.end = l.last
	case text[i] == '`':
		n := strings.IndexFunc(text[i+1:], func(r rune) bool { return !wordRune(r) && r != '.' && r != '~' && r != '-' })
		if n >= 0 && text[i+1+n] == '`' {
			l.kind, l.end = lexName, i+1+n+1
		}
	}
	return l, true
}

// literalAt tells whether a string begins at the offset: the length of its opening
// delimiter, 0 for none, and the closing one.
func literalAt(text string, i int) (open int, closing string) {
	switch text[i] {
	case '\'', '"':
		return 1, text[i : i+1]
	case '$':
		tag := strings.IndexFunc(text[i+1:], func(r rune) bool { return !wordRune(r) })
		if tag >= 0 && text[i+1+tag] == '$' {
			return tag + 2, text[i : i+tag+2]
		}
	}
	return 0, ""
}

func wordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z'
}
