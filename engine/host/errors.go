package host

import (
	"errors"
	"fmt"

	"plexus/engine/ack"
)

var (
	errStopping    = errors.New("stopping")
	errNotOpen     = errors.New("the sink is not open")
	errNoConnector = errors.New("this node has no connector for it")
	errNoListener  = errors.New("this node has no endpoint listener")
	errStateStore  = errors.New("cursor state was not saved")
)

// Reasons of shares that this package fails.
var (
	reasonIntake  = ack.Reason{Class: ack.ClassMessage, Text: "payload does not decode"}
	reasonStopped = ack.Reason{Class: ack.ClassTeardown, Text: "stopped before the sink answered"}
	reasonWindow  = ack.Reason{Class: ack.ClassTimeout, Text: "result window passed"}
)

// AbandonedError says that an instance stopped while positions were open. The
// transport's own redelivery applies to them.
type AbandonedError struct{ Positions int }

func (e *AbandonedError) Error() string {
	return fmt.Sprintf("stopped with unconfirmed positions: %d", e.Positions)
}

// DecodeError wraps the codec's diagnostic of one payload.
type DecodeError struct{ Err error }

func (e *DecodeError) Error() string { return "payload does not decode" }
func (e *DecodeError) Unwrap() error { return e.Err }

// AnswerError is a connector that broke the contract: it answered for a record
// the write did not carry, or twice for one.
type AnswerError struct {
	Twice bool
}

func (e *AnswerError) Error() string {
	if e.Twice {
		return "the sink answered twice for one record"
	}
	return "the sink answered for a record the write did not carry"
}

// UnansweredError says that a publish left records without an answer and did
// not say why.
type UnansweredError struct{ Records int }

func (e *UnansweredError) Error() string {
	return fmt.Sprintf("%d record(s) were left without an answer", e.Records)
}

// StartError names the step at which an operator of this node could not start.
type StartError struct {
	Operator string
	Step     string
	Err      error
}

func (e *StartError) Error() string { return e.Operator + ": " + e.Step }
func (e *StartError) Unwrap() error { return e.Err }
