package contract

import (
	"context"
	"fmt"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

// AnswerKind is what a broker said about one record.
type AnswerKind uint8

// The kinds.
const (
	Confirmed     AnswerKind = iota
	Refused                  // this record, for good
	AnswerUnknown            // the broker may have taken it or not
)

// Answer is what a broker said about one record.
type Answer struct {
	Kind   AnswerKind
	Reason string // Refused: the text of the message error
	Err    error  // AnswerUnknown
}

// Pending is a record that a driver took and a broker has not answered yet.
type Pending interface {
	// Ready returns the answer if it was given, without waiting.
	Ready() (Answer, bool)
	// Wait returns the answer as soon as it is given; false when the instant came
	// or the context ended first. An answer given at the instant is an answer.
	Wait(ctx context.Context, until primitives.Instant) (Answer, bool)
}

// ConfirmationWindow awaits a broker's answers for one write. Every brokered sink
// in an ACK mode uses it and keeps no window of its own.
//
//	W1  At most Max records await answers.
//	W2  A record's deadline is the timeout after its own hand-over.
//	W3  A failure ends the publish at once, after settling every answer already
//	    given: a retry never resends a record the broker had confirmed.
//	W4  A record without an answer, or whose answer failed, is unresolved.
type ConfirmationWindow struct {
	max     int
	timeout time.Duration
	clock   primitives.Clock

	open     []awaited // oldest first, from head
	head     int
	outcome  Outcome
	finished bool
}

type awaited struct {
	id       RecordID
	deadline primitives.Instant
	pending  Pending
}

// WindowError is a failure of the window itself: the oldest record missed its
// deadline, or the clock cannot represent one.
type WindowError struct {
	Timeout time.Duration
	Beyond  bool // the deadline is beyond the clock's range
}

func (e *WindowError) Error() string {
	if e.Beyond {
		return fmt.Sprintf("ACK TIMEOUT %s ends beyond the range of the clock", e.Timeout)
	}
	return fmt.Sprintf("no confirmation within ACK TIMEOUT %s", e.Timeout)
}

var (
	windowSettled = invariant.Sometimes("confirmation window settled a given answer after a failure")
	windowFull    = invariant.Sometimes("confirmation window was full")
	windowExpired = invariant.Sometimes("confirmation window missed a deadline")
)

// NewConfirmationWindow returns a window for one write. max is at least 1.
func NewConfirmationWindow(max int, timeout time.Duration, clock primitives.Clock) *ConfirmationWindow {
	invariant.That(max >= 1, "W1: a window holds at least one record")
	return &ConfirmationWindow{max: max, timeout: timeout, clock: clock}
}

// HandOver takes a record that the driver just took, and waits for the oldest
// answer while the window is full. False means that the publish has failed: hand
// over nothing more and Finish.
func (w *ConfirmationWindow) HandOver(ctx context.Context, id RecordID, p Pending) bool {
	invariant.That(!w.finished, "confirmation window used after its end")
	if w.outcome.Failure != nil {
		return false
	}
	deadline := w.clock.Now().Add(w.timeout)
	w.open = append(w.open, awaited{id, deadline, p})
	if deadline == primitives.Never {
		w.fail(&WindowError{w.timeout, true})
		return false
	}
	for len(w.open)-w.head >= w.max {
		windowFull.Hit()
		if !w.awaitOldest(ctx) {
			return false
		}
	}
	return true
}

// RefuseLocally rejects a record that was never handed to the driver.
func (w *ConfirmationWindow) RefuseLocally(rejection Rejection) {
	invariant.That(!w.finished, "confirmation window used after its end")
	w.outcome.Rejected = append(w.outcome.Rejected, rejection)
}

// DriverFailed ends the publish because the driver could not take a record for a
// reason that is not the record's own.
func (w *ConfirmationWindow) DriverFailed(err error) Outcome {
	w.fail(err)
	return w.end()
}

// Finish waits for every remaining answer, oldest first, each until its own
// deadline, and ends the publish.
func (w *ConfirmationWindow) Finish(ctx context.Context) Outcome {
	for w.outcome.Failure == nil && w.head < len(w.open) {
		w.awaitOldest(ctx)
	}
	return w.end()
}

func (w *ConfirmationWindow) awaitOldest(ctx context.Context) bool {
	oldest := w.open[w.head]
	answer, given := oldest.pending.Wait(ctx, oldest.deadline)
	switch {
	case given && answer.Kind == AnswerUnknown:
		w.fail(answer.Err)
	case given:
		w.head++
		w.apply(oldest.id, answer)
		return true
	case ctx.Err() != nil:
		w.fail(context.Cause(ctx))
	default:
		windowExpired.Hit()
		w.fail(&WindowError{w.timeout, false})
	}
	return false
}

func (w *ConfirmationWindow) apply(id RecordID, answer Answer) {
	switch answer.Kind {
	case Confirmed:
		w.outcome.Delivered = append(w.outcome.Delivered, id)
	case Refused:
		w.outcome.Rejected = append(w.outcome.Rejected,
			Rejection{ID: id, Code: CodeExternal, Operation: OperationPublish, Message: answer.Reason})
	}
}

func (w *ConfirmationWindow) fail(err error) {
	if w.outcome.Failure == nil {
		w.outcome.Failure = &AttemptFailure{Err: err, Class: FailurePublish}
	}
}

// end settles (W3) and closes the window.
func (w *ConfirmationWindow) end() Outcome {
	invariant.That(!w.finished, "confirmation window used after its end")
	w.finished = true
	if planted.Active(planted.ResendConfirmed) {
		return w.outcome
	}
	for _, a := range w.open[w.head:] {
		if answer, given := a.pending.Ready(); given {
			windowSettled.HitIf(answer.Kind != AnswerUnknown)
			w.apply(a.id, answer)
		}
	}
	return w.outcome
}
