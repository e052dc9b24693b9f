package real

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"
)

// TaskInfo describes one running task.
type TaskInfo struct {
	ID   uint64        `json:"id"`
	Name string        `json:"name"`
	Age  time.Duration `json:"age"`
	// Wait is the call the task is blocked in, such as "primitives.(*Queue).Recv";
	// empty while it runs.
	Wait string `json:"wait,omitempty"`
	// At is the code that waits: the innermost frame outside the boundary.
	At string `json:"at,omitempty"`
}

func (t TaskInfo) String() string {
	if t.Wait == "" {
		return fmt.Sprintf("%s %d running", t.Name, t.ID)
	}
	return fmt.Sprintf("%s %d in %s at %s", t.Name, t.ID, t.Wait, t.At)
}

// TaskList lists the running tasks in the order of their start. It stops the world
// for the time it takes to copy every stack; it is for people, not for metrics.
func (w *World) TaskList() []TaskInfo {
	list := w.tasks.snapshot()
	stacks := labelledStacks()
	for i := range list {
		list[i].Wait, list[i].At = whereabouts(stacks[strconv.FormatUint(list[i].ID, 10)])
	}
	return list
}

// frame is one line of a goroutine's stack.
type frame struct{ function, place string }

// labelledStacks returns the stack of each goroutine with a task label, innermost
// frame first, from the text form of the goroutine profile: a block per stack
// with a line "# labels: {...}" and one of "# address function place" per frame,
// those of the runtime left out.
func labelledStacks() map[string][]frame {
	var profile bytes.Buffer
	if err := pprof.Lookup("goroutine").WriteTo(&profile, 1); err != nil {
		return nil
	}
	stacks := map[string][]frame{}
	id := ""
	for line := range strings.Lines(profile.String()) {
		line = strings.TrimSuffix(line, "\n")
		if text, ok := strings.CutPrefix(line, "# labels: "); ok {
			var labels map[string]string
			if json.Unmarshal([]byte(text), &labels) == nil {
				id = labels[taskLabel]
			}
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 4 || fields[0] != "#" {
			id = ""
			continue
		}
		if id != "" {
			function, _, _ := strings.Cut(fields[2], "+0x")
			stacks[id] = append(stacks[id], frame{function, fields[3]})
		}
	}
	return stacks
}

// blocking are the innermost functions of a task that waits: for another task,
// for the network poller, in a system call, for a lock of a library.
var blocking = []string{"plexus/real.(*tasks).Park", "internal/poll.", "syscall.", "sync.", "internal/sync."}

// whereabouts reads from a stack which call blocks and which code made it. The
// blocking call is the outermost frame of the innermost run of standard library
// and boundary frames.
func whereabouts(stack []frame) (wait, at string) {
	parked := len(stack) > 0 && slices.ContainsFunc(blocking, func(prefix string) bool { return strings.HasPrefix(stack[0].function, prefix) })
	for i, f := range stack {
		if isPlumbing(f.function) {
			continue
		}
		if parked && i > 0 {
			wait = strings.ReplaceAll(path.Base(stack[i-1].function), "[...]", "")
		}
		return wait, fmt.Sprintf("%s (%s)", path.Base(f.function), path.Base(f.place))
	}
	return "", ""
}

// isPlumbing reports whether a function belongs to the boundary or to the
// standard library, whose import paths have no dot in their first element.
func isPlumbing(function string) bool {
	if strings.HasPrefix(function, "plexus/primitives.") || strings.HasPrefix(function, "plexus/real.") {
		return true
	}
	first, _, nested := strings.Cut(function, "/")
	if !nested {
		first, _, _ = strings.Cut(first, ".")
	}
	return first != "plexus" && first != "main" && !strings.Contains(first, ".")
}
