package render

import (
	"slices"
	"strconv"
	"strings"

	"plexus/nspl/ast"
	"plexus/nspl/parse"
)

// writer collects the text of one statement.
type writer struct {
	text []byte
	line int // where the current line begins
	// aggregates is set in the routes of a window, where count and its like are
	// aggregates.
	aggregates bool
	// altering is set in the operations of ALTER, where a bare field that is
	// spelled like an operation would be taken for one.
	altering bool
}

func (w *writer) put(parts ...string) *writer {
	for _, s := range parts {
		w.text = append(w.text, s...)
	}
	return w
}

// clause begins a line at an indentation.
func (w *writer) clause(indent int, parts ...string) *writer {
	w.text = append(w.text, '\n')
	w.line = len(w.text)
	for range indent {
		w.text = append(w.text, ' ')
	}
	return w.put(parts...)
}

// column is where the next byte of the line stands.
func (w *writer) column() int { return len(w.text) - w.line }

func (w *writer) uint(n uint64) *writer {
	w.text = strconv.AppendUint(w.text, n, 10)
	return w
}

// name writes a name where the grammar takes any word.
func (w *writer) name(n string) *writer {
	if word(n) {
		return w.put(n)
	}
	return w.put("`", n, "`")
}

// bareName writes a name where an expression reads it bare.
func (w *writer) bareName(n string) *writer {
	if w.altering && slices.Contains(operationWords, n) {
		return w.put("`", n, "`")
	}
	return w.function(n)
}

// function writes the name of a function.
func (w *writer) function(n string) *writer {
	if word(n) && !parse.Reserved(n) {
		return w.put(n)
	}
	return w.put("`", n, "`")
}

func (w *writer) names(list []ast.Name, write func(string) *writer) {
	for i, n := range list {
		if i > 0 {
			w.put(", ")
		}
		write(n.Text)
	}
}

// string writes a string in the first form that can hold it.
func (w *writer) string(s string) *writer {
	single, double := strings.Contains(s, "'"), strings.Contains(s, `"`)
	switch {
	case strings.ContainsAny(s, "\r\n") || single && double:
		tag := dollarTag(s)
		return w.put(tag, s, tag)
	case single:
		return w.put(`"`, s, `"`)
	default:
		return w.put("'", s, "'")
	}
}

// dollarTag returns the first delimiter of $$, $q$, $q1$, … that does not occur
// in the text, nor across its end.
func dollarTag(s string) string {
	for tag, n := "$$", 0; ; n++ {
		if strings.Index(s+tag, tag) == len(s) {
			return tag
		}
		tag = "$q$"
		if n > 0 {
			tag = "$q" + strconv.Itoa(n) + "$"
		}
	}
}

// external writes a name of the outside world, bare where it has a bare form.
func (w *writer) external(s string) *writer {
	for segment := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == '.' || r == '-' }) {
		if !word(segment) && !digits(segment) {
			return w.string(s)
		}
	}
	if s == "" || !alnum(s[0]) || !alnum(s[len(s)-1]) || doubled(s) {
		return w.string(s)
	}
	return w.put(s)
}

// doubled reports whether two separators of an external name stand together.
func doubled(s string) bool {
	for i := 1; i < len(s); i++ {
		if !alnum(s[i]) && !alnum(s[i-1]) {
			return true
		}
	}
	return false
}

// word reports whether the text is one word token.
func word(s string) bool {
	if s == "" || digit(s[0]) {
		return false
	}
	for i := range len(s) {
		if !alnum(s[i]) {
			return false
		}
	}
	return true
}

func digits(s string) bool {
	for i := range len(s) {
		if !digit(s[i]) {
			return false
		}
	}
	return s != ""
}

func digit(b byte) bool { return b >= '0' && b <= '9' }

// alnum reports whether the byte can stand in a word.
func alnum(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || digit(b) || b == '_'
}
