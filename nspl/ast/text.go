package ast

import (
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
func (d *Diagnostic) Explain(text string) string {
	var b strings.Builder
	b.WriteString("error")
	if d.Span != (vocab.Span{}) {
		at := PositionOf(text, d.Span.Start)
		b.WriteString(" at line " + strconv.Itoa(at.Line) + ", column " + strconv.Itoa(at.Column))
	}
	b.WriteString(": " + d.Brief() + "\n")
	if d.Span != (vocab.Span{}) {
		writeExcerpt(&b, maskSecrets(text), d.Span)
	}
	if d.Hint != "" {
		b.WriteString("hint: " + d.Hint + "\n")
	}
	return b.String()
}

// Explain renders all diagnostics one after the other.
func (d Diagnostics) Explain(text string) string {
	var b strings.Builder
	for _, one := range d {
		b.WriteString(one.Explain(text))
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
	before := []rune(text[begin:start])
	after := []rune(strings.TrimRight(text[start:end], "\r"))
	width := utf8.RuneCountInString(text[start:min(max(span.End, start), end)])
	if cut := len(before) - excerptBefore; cut > 0 {
		before = append([]rune("…"), before[cut:]...)
	}
	if len(after) > excerptAfter {
		after = append(after[:excerptAfter:excerptAfter], '…')
	}
	b.WriteString(string(before) + string(after) + "\n")
	for i, r := range before {
		if r != '\t' {
			before[i] = ' '
		}
	}
	b.WriteString(string(before) + strings.Repeat("^", min(max(width, 1), max(len(after), 1))) + "\n")
}
