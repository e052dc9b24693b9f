package sim

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// ErrBound says that a condition did not come true within its virtual bound.
var ErrBound = errors.New("virtual time bound passed")

// FailureKind says what a run broke.
type FailureKind string

// The kinds.
const (
	FailurePanic     FailureKind = "panic"
	FailureInvariant FailureKind = "invariant"
	FailureDeadlock  FailureKind = "deadlock"
	FailureLivelock  FailureKind = "livelock"
	FailureGuard     FailureKind = "guard"
	FailureGoexit    FailureKind = "goexit"
	FailureLeak      FailureKind = "leak"
	FailureOracle    FailureKind = "oracle"
)

// Failure ends a run. Event and At name the place in its history.
type Failure struct {
	Kind    FailureKind   `json:"kind"`
	Oracle  string        `json:"oracle,omitempty"` // the oracle's name, for FailureOracle
	Message string        `json:"message"`
	Task    string        `json:"task,omitempty"` // "host/task", empty outside tasks
	At      time.Duration `json:"at"`
	Event   uint64        `json:"event"`
	Stack   string        `json:"stack,omitempty"`   // of the panicking task
	Waiting []TaskInfo    `json:"waiting,omitempty"` // every live task, for deadlocks and livelocks
	Err     error         `json:"-"`                 // the panic value, when it was an error
}

func (f *Failure) Error() string {
	var b strings.Builder
	b.WriteString(string(f.Kind))
	if f.Oracle != "" {
		b.WriteString(" " + f.Oracle)
	}
	b.WriteString(": " + f.Message)
	if f.Task != "" {
		b.WriteString(" in task " + f.Task)
	}
	return b.String()
}

func (f *Failure) Unwrap() error { return f.Err }

// Class is what must stay the same while a failing run is shrunk: kind, oracle
// and message without their digits.
func (f *Failure) Class() string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, string(f.Kind)+" "+f.Oracle+" "+f.Message)
}

// Report renders the failure with its tasks and stack.
func (f *Failure) Report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n  at %v, event %d\n", f.Error(), f.At, f.Event)
	for _, t := range f.Waiting {
		fmt.Fprintf(&b, "  %s\n", t)
	}
	if f.Stack != "" {
		b.WriteString(f.Stack)
	}
	return b.String()
}
