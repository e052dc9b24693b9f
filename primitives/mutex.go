package primitives

import (
	"context"
	"sync"

	"plexus/primitives/invariant"
)

// Mutex is a lock between tasks that may be held across waits. It is handed over
// in the order of asking. State that no wait happens under is better owned by
// one task.
type Mutex struct {
	tasks   Tasks
	mu      sync.Mutex
	held    bool
	waiters waitList[struct{}]
}

// NewMutex returns a free lock.
func NewMutex(w World) *Mutex { return &Mutex{tasks: w.Tasks()} }

// Lock takes the lock.
func (m *Mutex) Lock(ctx context.Context) error { return waitFor(ctx, m.tasks, "mutex", m) }

// TryLock takes the lock if it is free.
func (m *Mutex) TryLock() bool { return m.poll(nil) }

// Unlock hands the lock to the task that has waited longest, or frees it. Any
// task may unlock.
func (m *Mutex) Unlock() {
	m.mu.Lock()
	defer m.mu.Unlock()
	invariant.That(m.held, "unlock of a free mutex")
	m.held = m.waiters.wake()
}

func (m *Mutex) poll(any) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held {
		return false
	}
	m.held = true
	return true
}

func (m *Mutex) enlist(_ any, w *Waiter, i int) (any, enlistment) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.held {
		return m.waiters.add(w, i, struct{}{}), enlisted
	}
	outcome := claimReady(w, i)
	m.held = outcome == completed
	return nil, outcome
}

func (m *Mutex) delist(_, entry any, _ bool) {
	m.mu.Lock()
	m.waiters.recycle(entry.(*waitEntry[struct{}]))
	m.mu.Unlock()
}
