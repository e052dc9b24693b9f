package ast

import "plexus/nspl/vocab"

// CreateCorrelator is CREATE CORRELATOR.
type CreateCorrelator struct {
	Create
	Attachment      Attachment
	Left, Right     Inputs
	Where           Expr // CORRELATE WHERE
	Latest          bool // MATCH LATEST instead of EARLIEST
	MaxTime         Duration
	OnLeft, OnRight CorrelationTimeout
	Branch          BranchUse
	States          []StateDep
	Routes          []Route
}

// CorrelationTimeout is what happens to a row of one side that found no match in
// time: SEND TO a relay, or DROP where To is nil.
type CorrelationTimeout struct {
	To   *Name
	Span vocab.Span
}
