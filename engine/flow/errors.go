package flow

import (
	"errors"
	"fmt"
	"strings"

	"plexus/engine/ack"
)

var (
	// ErrNoRelay says that the domain has no such relay.
	ErrNoRelay = errors.New("no such relay")
	// ErrStopped says that the operator or the domain no longer takes work.
	ErrStopped = errors.New("stopped")
)

// Reasons of shares that this package fails.
var (
	reasonGone      = ack.Reason{Class: ack.ClassDispatch, Text: "consumer is gone"}
	reasonWithdrawn = ack.Reason{Class: ack.ClassDispatch, Text: "dispatch cancelled"}
	reasonUnread    = ack.Reason{Class: ack.ClassDispatch, Text: "no attached consumer on the receiving node"}
	reasonSwapped   = ack.Reason{Class: ack.ClassDispatch, Text: "relay swapped"}
	reasonTooLarge  = ack.Reason{Class: ack.ClassInternal, Text: "batch exceeds the 32 MiB relay body"}
	reasonStopped   = ack.Reason{Class: ack.ClassTeardown, Text: "stopped before the row was finished"}
	reasonMessage   = ack.Reason{Class: ack.ClassMessage, Text: "message error"}
	reasonInternal  = ack.Reason{Class: ack.ClassInternal, Text: "internal failure"}
)

// DrainError says what a drain left unfinished. Nothing was changed.
type DrainError struct{ Outstanding Counts }

func (e *DrainError) Error() string {
	return "drain did not finish in time: " + e.Outstanding.String()
}

// ProgramError says that a checked plan could not be compiled: a mistake of
// this build, not of the definition.
type ProgramError struct {
	Operator string
	Err      error
}

func (e *ProgramError) Error() string { return fmt.Sprintf("program of %s", e.Operator) }
func (e *ProgramError) Unwrap() error { return e.Err }

// AloneError says that a revision needs other nodes and this one has no way to
// reach any.
type AloneError struct{ Elsewhere []string }

func (e *AloneError) Error() string {
	return "this node reaches no other: " + strings.Join(e.Elsewhere, ", ")
}

// InterestError says that the nodes of the cluster did not all learn in time that
// a session here reads a relay.
type InterestError struct {
	Relay string
	Err   error
}

func (e *InterestError) Error() string { return "advertise a reader of relay " + e.Relay }
func (e *InterestError) Unwrap() error { return e.Err }

// CrowdError says that a node hosts more attached consumers of one relay than a
// delivery can name.
type CrowdError struct {
	Relay, Node string
	Attached    int
}

func (e *CrowdError) Error() string {
	return fmt.Sprintf("relay %s: node '%s' hosts %d attached consumers, at most %d are supported", e.Relay, e.Node, e.Attached, meantMax)
}

// MessageError is the report of failed rows under ON MESSAGE ERROR LOG, or of an
// error record that failed itself.
type MessageError struct {
	Operator  string
	Reference string
	Code      string
	Operation string
	Rows      int
	Message   string // names types, fields and lengths, never a value
}

func (e *MessageError) Error() string {
	return fmt.Sprintf("%s: %d record(s) failed in %s: %s (reference %s)", e.Operator, e.Rows, e.Operation, e.Message, e.Reference)
}

// Counts is what is unfinished in a domain or a part of it.
type Counts struct {
	Roots        int // messages whose outcome or confirmation is open
	RelayBatches int
	Batches      int // accepted by operators, or buffered in their routes
	EmitterRows  int
}

func (c Counts) none() bool { return c == Counts{} }

func (c *Counts) add(o Counts) {
	c.Roots += o.Roots
	c.RelayBatches += o.RelayBatches
	c.Batches += o.Batches
	c.EmitterRows += o.EmitterRows
}

// String lists what is not zero.
func (c Counts) String() string {
	var parts []string
	for _, p := range []struct {
		n    int
		what string
	}{{c.Roots, "open roots"}, {c.RelayBatches, "batches in relays"}, {c.Batches, "batches in operators"}, {c.EmitterRows, "rows in emitters"}} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	if parts == nil {
		return "nothing outstanding"
	}
	return strings.Join(parts, ", ")
}
