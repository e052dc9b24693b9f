package ast

import (
	"math"
	"time"

	"plexus/nspl/vocab"
)

// Statement is one parsed statement.
type Statement interface {
	// Place is the span of the statement without its semicolon.
	Place() vocab.Span
	setPlace(vocab.Span)
}

// SetPlace gives a statement its span, once the parser knows where it ends.
func SetPlace(s Statement, span vocab.Span) { s.setPlace(span) }

// Head is what every statement has.
type Head struct{ Span vocab.Span }

// Place returns the span of the statement.
func (h Head) Place() vocab.Span { return h.Span }

func (h *Head) setPlace(span vocab.Span) { h.Span = span }

// Name is a name of Plexus, lower-cased.
type Name struct {
	Text string
	Span vocab.Span
}

// Text is a string, or a name of the outside world, as it was written.
type Text struct {
	Text string
	Span vocab.Span
}

// Uint is a whole number.
type Uint struct {
	Value uint64
	Span  vocab.Span
}

// Float is a number with an optional fraction.
type Float struct {
	Value float64
	Span  vocab.Span
}

// Duration is a length of time. Text is its spelling without white space, which
// rendering keeps.
type Duration struct {
	Nanos uint64
	Text  string
	Span  vocab.Span
}

// Value returns the duration. What the language can write beyond 292 years is
// 292 years.
func (d Duration) Value() time.Duration {
	return time.Duration(min(d.Nanos, math.MaxInt64))
}

// Size is a byte size with its spelling.
type Size struct {
	vocab.Size
	Span vocab.Span
}

// Type is a written type.
type Type struct {
	vocab.Type
	Span vocab.Span
}
