package contract

import (
	"context"
	"time"

	"plexus/primitives"
)

// Sink is the lifecycle every sink has. One emitter task calls it (C1).
type Sink interface {
	// Finish empties a client-side queue until the deadline.
	Finish(ctx context.Context, deadline primitives.Instant) error
	// KeepsClient reports that a failed publish does not call for reopening.
	KeepsClient() bool
	// Close releases everything; it is called once, in any state.
	Close(ctx context.Context) error
}

// RecordSink takes records that a codec encoded.
type RecordSink interface {
	Sink
	// Publish writes the records in order. One call is one write, never one row.
	// Records and everything they point to are lent until it returns.
	Publish(ctx context.Context, records []Record) Outcome
}

// HTTPRequestSink takes prepared HTTP requests.
type HTTPRequestSink interface {
	Sink
	Publish(ctx context.Context, requests []HTTPRequest) Outcome
}

// RecordID names a record within one write. The host assigns it.
type RecordID uint64

// Record is one encoded payload.
type Record struct {
	ID      RecordID
	Key     string // text of the concrete branch key
	HasKey  bool
	Payload []byte
	Headers []Header // written order
}

// HTTPRequest is one request whose method, target and headers have passed
// CheckMethod, NormalizeTarget and HeaderSet.
type HTTPRequest struct {
	ID      RecordID
	Method  string
	Target  string // path and query
	Headers []Header
	Body    []byte
	HasBody bool
}

// Outcome answers one write. What it does not name is unresolved (C3).
type Outcome struct {
	Delivered []RecordID
	Rejected  []Rejection
	Failure   *AttemptFailure // nil: nothing failed as a whole
}

// Rejection is the final answer for one record, which follows ON MESSAGE ERROR.
type Rejection struct {
	ID        RecordID
	Code      RejectionCode
	Operation RejectionOperation
	// Message says what was refused: codes, sizes and limits, never values.
	Message string
}

// RejectionCode is the error.code of a rejected record.
type RejectionCode string

// The codes connectors use.
const (
	CodeExternal   RejectionCode = "external"   // the destination, or a limit it announced
	CodeValidation RejectionCode = "validation" // a limit or a rule of the statement
)

// RejectionOperation is the error.operation of a rejected record.
type RejectionOperation string

// The operations connectors use.
const (
	OperationPublish RejectionOperation = "publish"
	OperationInvoke  RejectionOperation = "invoke"
)

// AttemptFailure ends an attempt; unanswered records are offered again unless
// the class is terminal.
type AttemptFailure struct {
	Err   error
	Class FailureClass
	// ReceiverDelay is how long the destination asked to wait; 0 for no wish. It
	// lengthens one wait and never shortens it.
	ReceiverDelay time.Duration
}

// FailureClass says what failed.
type FailureClass uint8

// The classes. Only Misconfigured is terminal.
const (
	FailurePublish FailureClass = iota
	FailureMisconfigured
)

var failureClassNames = [...]string{"publish", "misconfigured"}

// String returns the word that metrics and events show.
func (c FailureClass) String() string { return failureClassNames[c] }

// Terminal reports whether repeating the attempt is pointless.
func (c FailureClass) Terminal() bool { return c == FailureMisconfigured }

// Failed returns an outcome in which the attempt failed before any answer.
func Failed(class FailureClass, err error) Outcome {
	return Outcome{Failure: &AttemptFailure{Err: err, Class: class}}
}
