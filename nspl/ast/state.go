package ast

import "plexus/nspl/vocab"

// StatePolicy says what happens to a batch while a state has no record.
type StatePolicy uint8

// The policies.
const (
	StateWait    StatePolicy = iota // REQUIRED WAIT
	StateSkip                       // REQUIRED SKIP
	StateDefault                    // DEFAULT { … }
)

// StateDep is USING MATERIALIZED STATE. Default belongs to StateDefault.
type StateDep struct {
	Relay   Name
	Policy  StatePolicy
	Default []Assign
	Span    vocab.Span
}
