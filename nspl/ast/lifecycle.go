package ast

import "plexus/nspl/vocab"

// Start is START. Without AT it goes on where the domain stood.
type Start struct {
	Head
	AtNow bool     // AT NOW
	At    *Instant // AT timestamp
	Rate  *Rate
}

// Instant is a point in time in RFC 3339. Text is what was written.
type Instant struct {
	Nanos int64 // since 1970, UTC
	Text  string
	Span  vocab.Span
}

// Rate is TIME RATE: finite and above zero.
type Rate struct {
	Value float64
	Span  vocab.Span
}

// Stop is STOP.
type Stop struct{ Head }

// Clock is ATTACH DOMAIN CLOCK or DETACH DOMAIN CLOCK.
type Clock struct {
	Head
	Attach bool
}

// ResetScope says which branches RESET WASM PROCESSOR is about.
type ResetScope uint8

// The scopes.
const (
	ResetUnbranched  ResetScope = iota // UNBRANCHED
	ResetAllBranches                   // ALL BRANCHES
	ResetBranch                        // BRANCH VALUES
)

// ResetWASM is RESET WASM PROCESSOR. Values belong to ResetBranch.
type ResetWASM struct {
	Head
	Name   Name
	Domain Name
	Scope  ResetScope
	Values []KeyValue
}

// KeyValue is name = literal of a branch key.
type KeyValue struct {
	Name  Name
	Value Literal
}

// LiteralKind is the form of a literal outside of expressions.
type LiteralKind uint8

// The forms.
const (
	LiteralString LiteralKind = iota
	LiteralInteger
	LiteralFloat
	LiteralBool
)

// Literal is a value where no expression stands. Text is the text of a string, the
// number as written with its sign, or TRUE or FALSE.
type Literal struct {
	Kind LiteralKind
	Text string
	Span vocab.Span
}
