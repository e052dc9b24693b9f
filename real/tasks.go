package real

import (
	"cmp"
	"context"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strconv"
	"sync"
	"time"

	"plexus/primitives"
)

// tasks runs every task on a goroutine of its own.
type tasks struct {
	clock    *clock
	panicked func(task string, cause any, stack []byte)
	pool     sync.Pool

	mu      sync.Mutex
	last    uint64
	running map[uint64]task
	idle    *sync.Cond
}

// task is what the listing knows of a running task.
type task struct {
	name    string
	started primitives.Instant
}

// parking is the real half of a waiter: a token per Unpark.
type parking struct{ token chan struct{} }

func newTasks(c *clock, panicked func(task string, cause any, stack []byte)) *tasks {
	t := &tasks{clock: c, panicked: panicked, running: map[uint64]task{}}
	t.idle = sync.NewCond(&t.mu)
	t.pool.New = func() any {
		return &primitives.Waiter{Build: &parking{token: make(chan struct{}, 1)}}
	}
	return t
}

// Go implements primitives.Tasks. The goroutine carries the task's number as a
// profiler label, by which the listing finds its stack.
func (t *tasks) Go(name string, f func()) {
	t.mu.Lock()
	t.last++
	id := t.last
	t.running[id] = task{name: name, started: t.clock.Now()}
	t.mu.Unlock()
	go func() {
		defer t.ended(id)
		if t.panicked != nil {
			defer func() {
				if cause := recover(); cause != nil {
					t.panicked(name, cause, debug.Stack())
				}
			}()
		}
		labels := pprof.Labels(taskLabel, strconv.FormatUint(id, 10), "name", name)
		pprof.SetGoroutineLabels(pprof.WithLabels(context.Background(), labels))
		f()
	}()
}

const taskLabel = "task"

func (t *tasks) ended(id uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.running, id)
	if len(t.running) == 0 {
		t.idle.Broadcast()
	}
}

// join waits until no task runs, at most for the given time.
func (t *tasks) join(bound time.Duration) bool {
	late := false
	timer := time.AfterFunc(bound, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		late = true
		t.idle.Broadcast()
	})
	defer timer.Stop()
	t.mu.Lock()
	defer t.mu.Unlock()
	for len(t.running) > 0 && !late {
		t.idle.Wait()
	}
	return len(t.running) == 0
}

// snapshot returns the running tasks in the order of their start.
func (t *tasks) snapshot() []TaskInfo {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock.Now()
	list := make([]TaskInfo, 0, len(t.running))
	for id, k := range t.running {
		list = append(list, TaskInfo{ID: id, Name: k.name, Age: now.Sub(k.started)})
	}
	slices.SortFunc(list, func(a, b TaskInfo) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// Yield implements primitives.Tasks. The Go scheduler preempts by itself.
func (t *tasks) Yield() {}

// Charge implements primitives.Tasks. The work took its time already.
func (t *tasks) Charge(time.Duration) {}

// Park implements primitives.Tasks. It gives way once before it sleeps: the peer
// that the task waits for is often about to run, and a token that is already
// there costs neither a sleep nor a wake-up.
func (t *tasks) Park(w *primitives.Waiter) {
	token := w.Build.(*parking).token
	select {
	case <-token:
		return
	default:
		runtime.Gosched()
	}
	<-token
}

// Unpark implements primitives.Tasks.
func (t *tasks) Unpark(w *primitives.Waiter) { w.Build.(*parking).token <- struct{}{} }

// Waiter implements primitives.Tasks.
func (t *tasks) Waiter() *primitives.Waiter {
	w := t.pool.Get().(*primitives.Waiter)
	w.Arm()
	return w
}

// Release implements primitives.Tasks.
func (t *tasks) Release(w *primitives.Waiter) { t.pool.Put(w) }

// Pick implements primitives.Tasks.
func (t *tasks) Pick(n int) int { return rand.IntN(n) }
