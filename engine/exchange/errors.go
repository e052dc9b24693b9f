package exchange

import (
	"errors"
	"fmt"

	"plexus/engine/interconnect"
)

// Refusal is a typed answer of the receiver, Class what the caller does about it.
type (
	Refusal = interconnect.Refusal
	Class   = interconnect.RefusalClass
)

// The classes of refusals.
const (
	Rejected    = interconnect.Rejected
	Unavailable = interconnect.Unavailable
	NotReady    = interconnect.NotReady
	Failed      = interconnect.Failed
)

// Cause says why a delivery was not admitted.
type Cause uint8

// The causes.
const (
	Refused   Cause = iota + 1 // by the receiver for good, or by us before it was asked; see Refusal
	GaveUp                     // five minutes passed, or the exchange stalled, and the cancellation won
	Cancelled                  // the caller's context ended and the cancellation won
	Departed                   // the receiving process is gone or left membership before its verdict was known
	Unknown                    // the cancellation found no answer: the receiver may still admit it
	Closed                     // this exchange was closed
)

// String returns the cause in words.
func (c Cause) String() string {
	return [...]string{"no cause", "refused", "gave up", "cancelled", "receiver departed", "outcome unknown", "exchange closed"}[c]
}

// NotAdmitted is the only kind of error of Deliver. The shares of the delivery
// have failed, except where the caller's context ended and the cancellation won:
// then they are the caller's again.
type NotAdmitted struct {
	Channel Channel
	Cause   Cause
	Refusal *Refusal // of Refused
	Detail  string
	// Again says that no row of it was or will be admitted: rows without a share
	// may be offered anew without being doubled.
	Again bool
	// Bare are the rows without a share, when the delivery had a set and not every
	// row a share. A delivery without a set has none listed: every row is bare.
	Bare []int32
}

func (e *NotAdmitted) Error() string {
	text := fmt.Sprintf("%v: %v", e.Channel, e.Cause)
	if e.Refusal != nil {
		text += ": " + e.Refusal.Error()
	}
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	return text
}

func (e *NotAdmitted) Unwrap() error {
	if e.Refusal == nil {
		return nil
	}
	return e.Refusal
}

// ErrTooLarge says that a batch encodes to more than a body may hold. The caller
// halves it; a single row that is too large fails.
var ErrTooLarge = errors.New("batch exceeds the 32 MiB relay body")
