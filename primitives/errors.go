package primitives

import (
	"context"
	"errors"
	"os"
)

var (
	// ErrClosed ends waits on a queue, an executor or another object that was
	// closed while they waited.
	ErrClosed = errors.New("closed")
	// ErrDeadline ends a wait whose instant has come. It is also
	// context.DeadlineExceeded for libraries that ask.
	ErrDeadline error = deadlineError{}
	// ErrLocked says that another process holds the file lock.
	ErrLocked = errors.New("locked by another process")
	// ErrBusy refuses work because the queue before it is full. The refused work
	// has had no effect and may be offered again.
	ErrBusy = errors.New("too much queued work")
)

// CanceledError is the error of a context that was cancelled with a cause. It
// is context.Canceled and the cause.
type CanceledError struct{ Cause error }

func (e *CanceledError) Error() string { return context.Canceled.Error() + ": " + e.Cause.Error() }

// Unwrap returns what the error is.
func (e *CanceledError) Unwrap() []error { return []error{context.Canceled, e.Cause} }

type deadlineError struct{}

func (deadlineError) Error() string   { return "deadline exceeded" }
func (deadlineError) Timeout() bool   { return true }
func (deadlineError) Temporary() bool { return true }
func (deadlineError) Is(target error) bool {
	return target == context.DeadlineExceeded || target == os.ErrDeadlineExceeded
}
