package primitives

import (
	"context"
	"sync"
)

// Cond lets tasks wait for a condition on state that a Mutex guards.
type Cond struct {
	tasks   Tasks
	lock    *Mutex
	mu      sync.Mutex
	waiters waitList[struct{}]
}

// NewCond returns a condition on state guarded by lock.
func NewCond(w World, lock *Mutex) *Cond { return &Cond{tasks: w.Tasks(), lock: lock} }

// Wait releases the lock, waits for Signal or Broadcast, and takes the lock
// again, which it holds on return even when ctx was cancelled. Callers test
// their condition in a loop.
func (c *Cond) Wait(ctx context.Context) error {
	if err := Canceled(ctx); err != nil {
		return err
	}
	w := newWaiter(c.tasks, "condition")
	c.mu.Lock()
	e := c.waiters.add(w, 0, struct{}{})
	c.mu.Unlock()
	c.lock.Unlock()
	fired := await(ctx, w)
	c.mu.Lock()
	c.waiters.recycle(e)
	c.mu.Unlock()
	c.tasks.Release(w)
	// A holder of the lock is never stopped by this context, so the wait ends.
	_ = c.lock.Lock(context.Background())
	if !fired {
		return Canceled(ctx)
	}
	return nil
}

// Signal wakes the task that has waited longest.
func (c *Cond) Signal() {
	c.mu.Lock()
	c.waiters.wake()
	c.mu.Unlock()
}

// Broadcast wakes every waiting task.
func (c *Cond) Broadcast() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.waiters.wake() {
	}
}
