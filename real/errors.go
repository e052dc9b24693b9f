package real

import (
	"errors"
	"fmt"
	"strings"
)

// ErrNoResolver is the answer of a World whose resolver was not loaded.
var ErrNoResolver = errors.New("no node resolver")

// TasksRunningError says that tasks did not end in the time given to them.
type TasksRunningError struct{ Tasks []TaskInfo }

func (e *TasksRunningError) Error() string {
	names := make([]string, len(e.Tasks))
	for i, t := range e.Tasks {
		names[i] = t.String()
	}
	return fmt.Sprintf("%d tasks still running: %s", len(e.Tasks), strings.Join(names, "; "))
}
