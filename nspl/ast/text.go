package ast

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"plexus/nspl/vocab"
)

// Position is a place in a text as people count: from 1, columns in characters.
type Position struct{ Line, Column int }

// PositionOf returns the position of a byte offset.
func PositionOf(text string, offset int) Position {
	before := text[:min(max(offset, 0), len(text))]
	line := strings.LastIndexByte(before, '\n') + 1
	return Position{
		Line:   strings.Count(before, "\n") + 1,
		Column: utf8.RuneCountInString(before[line:]) + 1,
	}
}

// Explain renders the diagnostic for people: place and message, the line of the
// text with the span underlined, and the hint. Strings that may be secrets are
// masked, and a long list of what was expected is shortened.
func (d *Diagnostic) Explain(text string) string { return NewExcerpts(text).Explain(d) }

// Excerpts explain the faults of one text.
type Excerpts struct {
	text    string
	secrets *Secrets
}

// NewExcerpts looks for what may be a secret in a text.
func NewExcerpts(text string) *Excerpts { return &Excerpts{text, FindSecrets(text)} }

// Explain is [Diagnostic.Explain].
func (e *Excerpts) Explain(d *Diagnostic) string {
	var b strings.Builder
	b.WriteString("error")
	if d.Span != (vocab.Span{}) {
		at := PositionOf(e.text, d.Span.Start)
		b.WriteString(" at line " + strconv.Itoa(at.Line) + ", column " + strconv.Itoa(at.Column))
	}
	b.WriteString(": " + string(d.Code) + ": " + d.Brief() + "\n")
	if d.Span != (vocab.Span{}) {
		writeExcerpt(&b, e.secrets.shown(d), d.Span)
	}
	if d.Hint != "" {
		b.WriteString("hint: " + d.Hint + "\n")
	}
	return b.String()
}

// Explain renders all diagnostics one after the other.
func (d Diagnostics) Explain(text string) string {
	var b strings.Builder
	e := NewExcerpts(text)
	for _, one := range d {
		b.WriteString(e.Explain(one))
	}
	return b.String()
}

// excerptBefore and excerptAfter bound how much of a long line is shown around
// the start of a span, in characters.
const (
	excerptBefore = 80
	excerptAfter  = 80
)

// writeExcerpt writes the line a span starts in and a line of carets below it. A
// span that goes on is underlined to the end of its first line.
func writeExcerpt(b *strings.Builder, text string, span vocab.Span) {
	start := min(max(span.Start, 0), len(text))
	begin := strings.LastIndexByte(text[:start], '\n') + 1
	end := len(text)
	if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
		end = start + i
	}
	before := text[begin:start]
	after := strings.TrimRight(text[start:end], "\r")
	if from := runesBack(before, excerptBefore); from > 0 {
		before = "…" + before[from:]
	}
	under := after[:min(max(span.End-start, 0), len(after))]
	if to := runesOn(after, excerptAfter); to < len(after) {
		under = after[:min(len(under), to)]
		after = after[:to] + "…"
		if span.End-start > to {
			under = after
		}
	}
	before = Visible(before)
	b.WriteString(before + Visible(after) + "\n")
	for _, r := range before {
		if r != '\t' {
			r = ' '
		}
		b.WriteRune(r)
	}
	b.WriteString(strings.Repeat("^", max(utf8.RuneCountInString(Visible(under)), 1)) + "\n")
}

// runesBack returns where the last n characters of a text begin.
func runesBack(text string, n int) int {
	at := len(text)
	for ; n > 0 && at > 0; n-- {
		_, size := utf8.DecodeLastRuneInString(text[:at])
		at -= size
	}
	return at
}

// runesOn returns where the first n characters of a text end.
func runesOn(text string, n int) int {
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// Visible returns the text with what terminals obey or hide written as escapes:
// control characters, and marks of direction. Line breaks and tabs stay.
func Visible(text string) string {
	if strings.IndexFunc(text, hidden) < 0 && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRuneInString(text[at:])
		switch {
		case r == utf8.RuneError && size == 1, hidden(r) && r < utf8.RuneSelf:
			fmt.Fprintf(&b, `\x%02x`, text[at])
		case hidden(r):
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteString(text[at : at+size])
		}
		at += size
	}
	return b.String()
}

// hidden reports whether a terminal obeys or hides a character.
func hidden(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < ' ', r >= 0x7f && r < 0xa0:
		return true
	}
	return r == '\u2028' || r == '\u2029' || r >= '\u200b' && r <= '\u200f' || r >= '\u202a' && r <= '\u202e' ||
		r >= '\u2060' && r <= '\u2069' || r == '\ufeff'
}
