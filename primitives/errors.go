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
)

type deadlineError struct{}

func (deadlineError) Error() string   { return "deadline exceeded" }
func (deadlineError) Timeout() bool   { return true }
func (deadlineError) Temporary() bool { return true }
func (deadlineError) Is(target error) bool {
	return target == context.DeadlineExceeded || target == os.ErrDeadlineExceeded
}
