package parse

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// tokenKind says what a token is. A punctuation mark of one byte is its own
// kind.
type tokenKind uint8

const (
	tokenEnd    tokenKind = iota
	tokenWord             // letters, digits, underscores
	tokenQuoted           // a name in backticks
	tokenString           // any form of string
	tokenNumber           // digits, or digits '.' digits
	tokenNe               // !=
	tokenGe               // >=
	tokenLe               // <=
	tokenScope            // ::
	tokenBroken           // no token, see recovered
)

// token is one token; its text is src[start:end].
type token struct {
	kind       tokenKind
	start, end int32
}

type lexer struct {
	src     string
	pos     int
	secrets *ast.Secrets // nil until it is asked for
}

// byteOrderMark may begin a text.
const byteOrderMark = "\uFEFF"

// lex splits a text into tokens, the last of which is tokenEnd.
func lex(src string) ([]token, *ast.Diagnostic) {
	if len(src) > TextBytesMax {
		return nil, ast.Errorf(ast.CodeLex, vocab.Span{}, "statement text exceeds 4 MiB")
	}
	if !utf8.ValidString(src) {
		return nil, badUTF8(src)
	}
	begin := 0
	if strings.HasPrefix(src, byteOrderMark) {
		begin = len(byteOrderMark)
	}
	return lexPart(src, begin, len(src))
}

// lexPart splits a part of a text that has been found sound into tokens, the last
// of which is tokenEnd.
func lexPart(src string, begin, end int) ([]token, *ast.Diagnostic) {
	l := &lexer{src: src[:end], pos: begin}
	tokens := make([]token, 0, (end-begin)/5+4)
	for {
		l.skipSpace()
		start := l.pos
		kind, err := l.next()
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, token{kind, int32(start), int32(l.pos)})
		if kind == tokenEnd {
			return tokens, nil
		}
	}
}

func badUTF8(src string) *ast.Diagnostic {
	for i, r := range src {
		if r == utf8.RuneError {
			if _, n := utf8.DecodeRuneInString(src[i:]); n == 1 {
				return ast.Errorf(ast.CodeLex, vocab.Span{Start: i, End: i + 1}, "invalid UTF-8")
			}
		}
	}
	return ast.Errorf(ast.CodeLex, vocab.Span{}, "invalid UTF-8")
}

// skipSpace skips white space and comments.
func (l *lexer) skipSpace() {
	for l.pos < len(l.src) {
		switch b := l.src[l.pos]; {
		case b == ' ' || b >= '\t' && b <= '\r':
			l.pos++
		case b == '/' && strings.HasPrefix(l.src[l.pos:], "//"):
			if i := strings.IndexByte(l.src[l.pos:], '\n'); i >= 0 {
				l.pos += i + 1
			} else {
				l.pos = len(l.src)
			}
		case b >= utf8.RuneSelf:
			r, n := utf8.DecodeRuneInString(l.src[l.pos:])
			if !unicode.IsSpace(r) {
				return
			}
			l.pos += n
		default:
			return
		}
	}
}

// next reads one token and leaves pos behind it.
func (l *lexer) next() (tokenKind, *ast.Diagnostic) {
	if l.pos == len(l.src) {
		return tokenEnd, nil
	}
	switch b := l.src[l.pos]; {
	case wordStart(b):
		l.skip(inWord)
		return tokenWord, nil
	case digit(b):
		l.skip(inNumber)
		if l.at(0) == '.' && digit(l.at(1)) {
			l.pos++
			l.skip(inNumber)
		}
		return tokenNumber, nil
	case b == '\'' || b == '"':
		return l.quoted(b)
	case b == '$':
		return l.dollar()
	case b == '`':
		return l.backtick()
	default:
		return l.punctuation(b)
	}
}

// twoBytes are the punctuation marks of two bytes.
var twoBytes = [...]struct {
	text string
	kind tokenKind
}{{"!=", tokenNe}, {">=", tokenGe}, {"<=", tokenLe}, {"::", tokenScope}}

func (l *lexer) punctuation(b byte) (tokenKind, *ast.Diagnostic) {
	for _, two := range twoBytes {
		if strings.HasPrefix(l.src[l.pos:], two.text) {
			l.pos += len(two.text)
			return two.kind, nil
		}
	}
	if strings.IndexByte("{}[](),;:.-=><+*/%", b) >= 0 {
		l.pos++
		return tokenKind(b), nil
	}
	r, n := utf8.DecodeRuneInString(l.src[l.pos:])
	if l.hides(l.pos) {
		return 0, l.fault(l.pos, l.pos+n, "unexpected character in %s", ast.NotShown).WithHint("put text in quotes")
	}
	d := l.fault(l.pos, l.pos+n, "unexpected character '%c'", r)
	switch r {
	case '|':
		d.Hint = "concat(a, b) joins text, OR joins conditions"
	case '&':
		d.Hint = "AND joins conditions"
	case '!':
		d.Hint = "NOT negates, != means not equal"
	case '#':
		d.Hint = "a comment begins with //"
	case '?':
		d.Hint = "IF a THEN b ELSE c END chooses one of two values; a statement has no parameters"
		if before := strings.TrimRight(l.src[:l.pos], " \t\r\n"); before != "" && strings.Contains("=<>(,+-*/%", before[len(before)-1:]) {
			d.Hint = "a statement has no parameters: the value itself stands here"
		}
	case '‘', '’', '‚', '“', '”', '„', '«', '»', '‹', '›', '´':
		d.Hint = "quotes are ' or \""
	case '–', '—', '−':
		d.Hint = "minus is -"
	case '≤', '≥', '≠':
		d.Hint = "comparisons are <=, >= and !="
	default:
		d.Hint = "outside of strings there are letters, digits and the marks of the language; put text in quotes"
	}
	return 0, d
}

// quoted reads a string in single or double quotes, which ends on its line.
func (l *lexer) quoted(quote byte) (tokenKind, *ast.Diagnostic) {
	start := l.pos
	end := strings.IndexAny(l.src[start+1:], string(quote)+"\r\n")
	if end < 0 || l.src[start+1+end] != quote {
		if end < 0 {
			end = len(l.src) - start - 1
		}
		hint := "a string in quotes ends on its line; write $$ … $$ around text with line breaks"
		if line := l.src[strings.LastIndexByte(l.src[:start], '\n')+1 : start+1]; strings.Contains(line, "\\"+string(quote)) {
			hint = "a backslash escapes nothing: a quote stands inside of the other quotes, or between dollars, $$it's$$"
		}
		return 0, l.fault(start, start+1+end, "unterminated string").WithHint("%s", hint)
	}
	l.pos = start + end + 2
	return tokenString, nil
}

// dollar reads $tag$ … $tag$.
func (l *lexer) dollar() (tokenKind, *ast.Diagnostic) {
	start := l.pos
	l.pos++
	l.skip(inWord)
	if l.at(0) != '$' {
		hint := "text between dollars begins and ends with $$, or with the same $name$"
		if digit(l.src[max(l.pos-1, start)]) && digit(l.src[start+1]) {
			hint = "a statement has no parameters: the value itself stands here"
		}
		return 0, l.fault(start, max(l.pos, start+1), "dollar-quote tag must be letters, digits or underscores").WithHint("%s", hint)
	}
	l.pos++
	delimiter := l.src[start:l.pos]
	end := strings.Index(l.src[l.pos:], delimiter)
	if end < 0 {
		if l.hides(start) {
			delimiter = "the same delimiter"
		}
		return 0, l.fault(start, l.pos, "unterminated dollar-quoted string; expected %s", delimiter).
			WithHint("the text goes on to the next %s", strings.TrimPrefix(delimiter, "the same "))
	}
	l.pos += end + len(delimiter)
	return tokenString, nil
}

// backtick reads a quoted name.
func (l *lexer) backtick() (tokenKind, *ast.Diagnostic) {
	start := l.pos
	l.pos++
	l.skip(inName)
	if n := l.pos - start - 1; l.at(0) != '`' || n == 0 || n > nameBytesMax {
		return 0, l.fault(start, max(l.pos, start+1), "a name in backticks is 1 to %d letters, digits or any of _ . ~ -", nameBytesMax)
	}
	l.pos++
	return tokenQuoted, nil
}

// byteSet is what a byte may be part of.
type byteSet uint8

const (
	inNumber byteSet = 1 << iota
	inWord
	inName // in backticks
)

var sets = func() (sets [256]byteSet) {
	for i := range sets {
		b := byte(i)
		if digit(b) {
			sets[i] |= inNumber
		}
		if wordStart(b) || digit(b) {
			sets[i] |= inWord | inName
		}
		if b == '.' || b == '~' || b == '-' {
			sets[i] |= inName
		}
	}
	return sets
}()

func (l *lexer) skip(in byteSet) {
	for l.pos < len(l.src) && sets[l.src[l.pos]]&in != 0 {
		l.pos++
	}
}

// at returns the byte n places ahead, 0 beyond the end.
func (l *lexer) at(n int) byte {
	if l.pos+n < len(l.src) {
		return l.src[l.pos+n]
	}
	return 0
}

// hides reports whether some of what begins at an offset and was read may be a secret.
func (l *lexer) hides(offset int) bool {
	if l.secrets == nil {
		l.secrets = ast.FindSecrets(l.src)
	}
	return l.secrets.Hides(vocab.Span{Start: offset, End: l.pos})
}

func (l *lexer) fault(start, end int, format string, args ...any) *ast.Diagnostic {
	return ast.Errorf(ast.CodeLex, vocab.Span{Start: start, End: end}, format, args...)
}

func wordStart(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_'
}

func digit(b byte) bool { return b >= '0' && b <= '9' }
