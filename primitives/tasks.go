package primitives

import (
	"sync/atomic"
	"time"
)

// Tasks starts units of concurrency and lets them wait for each other. Product
// code starts tasks through [Group]; Park, Unpark and the waiter pool exist for
// the blocking constructs of this package.
type Tasks interface {
	// Go starts a task that belongs to this World's node and dies with it. The
	// name is a constant role such as "emitter" or "raft append"; it appears in
	// reports and traces.
	Go(name string, f func())
	// Yield is a scheduling point: another runnable task may run.
	Yield()
	// Charge says that the running task just did work that takes the given time
	// on a production machine. The real build ignores it, because the work did
	// take it; the simulated build lets that much virtual time pass.
	Charge(d time.Duration)

	// Park blocks the running task until Unpark is called for w. An Unpark that
	// comes first makes the next Park return at once.
	Park(w *Waiter)
	Unpark(w *Waiter)
	// Waiter takes an armed waiter from the pool, Release returns it.
	Waiter() *Waiter
	Release(w *Waiter)
	// Pick returns a number in [0,n): the polling order of Select.
	Pick(n int) int
}

// Waiter is one blocked task. It may be registered with several objects at
// once; the first that claims it wakes it.
type Waiter struct {
	claimed atomic.Bool
	// fired is the index of the case that claimed the waiter.
	fired int
	// tasks is the core that parks and unparks the waiter.
	tasks Tasks
	// Reason says what the task waits for, in a report's words. It is set before
	// Park, from constants.
	Reason string
	// Build is the build's own half of the waiter. No other code touches it.
	Build any
}

// Arm makes a pooled waiter claimable again.
func (w *Waiter) Arm() {
	w.claimed.Store(false)
	w.fired = 0
	w.Reason = ""
}

// claim wins the right to wake the waiter with case index i (P1).
func (w *Waiter) claim(i int) bool {
	if !w.claimed.CompareAndSwap(false, true) {
		return false
	}
	w.fired = i
	return true
}

// wake claims the waiter for case index i and unparks it. The caller holds the
// lock of the object the waiter is registered with: past a lost claim the waiter
// may belong to another wait.
func (w *Waiter) wake(i int) bool {
	if !w.claim(i) {
		return false
	}
	w.tasks.Unpark(w)
	return true
}

// Abandon claims the waiter for nobody: no object hands anything to it any more.
// A build calls it for the parked waiters of a task it kills.
func (w *Waiter) Abandon() { w.claim(byCancel) }

// newWaiter takes an armed waiter for a wait that reports the given reason.
func newWaiter(t Tasks, reason string) *Waiter {
	w := t.Waiter()
	w.tasks = t
	w.Reason = reason
	return w
}
