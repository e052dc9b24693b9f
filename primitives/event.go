package primitives

import (
	"context"
	"sync"
	"sync/atomic"
)

// Event happens once and wakes everyone who waits for it, now or later.
type Event struct {
	tasks   Tasks
	set     atomic.Bool
	mu      sync.Mutex
	waiters waitList[struct{}]
}

// NewEvent returns an event that has not happened.
func NewEvent(w World) *Event { return &Event{tasks: w.Tasks()} }

// Set lets the event happen. Setting it again changes nothing.
func (e *Event) Set() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.set.Store(true)
	for e.waiters.wake() {
	}
}

// IsSet reports whether the event has happened.
func (e *Event) IsSet() bool { return e.set.Load() }

// Wait blocks until the event has happened.
func (e *Event) Wait(ctx context.Context) error { return waitFor(ctx, e.tasks, "event", e) }

// OnSet is ready once the event has happened.
func (e *Event) OnSet() Case { return Case{e, nil} }

func (e *Event) poll(any) bool { return e.set.Load() }

func (e *Event) enlist(_ any, w *Waiter, i int) (any, enlistment) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.set.Load() {
		return e.waiters.add(w, i, struct{}{}), enlisted
	}
	return nil, claimReady(w, i)
}

func (e *Event) delist(_, entry any, _ bool) {
	e.mu.Lock()
	e.waiters.recycle(entry.(*waitEntry[struct{}]))
	e.mu.Unlock()
}

// waitFor is Select of a single case without a slot.
func waitFor(ctx context.Context, t Tasks, reason string, s selectable) error {
	if err := Canceled(ctx); err != nil {
		return err
	}
	t.Yield()
	if s.poll(nil) {
		return nil
	}
	w := newWaiter(t, reason)
	entry, outcome := s.enlist(nil, w, 0)
	fired := true
	if outcome == enlisted {
		fired = await(ctx, w)
		s.delist(nil, entry, fired)
	}
	t.Release(w)
	if !fired {
		return Canceled(ctx)
	}
	return nil
}

// claimReady is the end of an enlist that found its case ready and has nothing
// to exchange.
func claimReady(w *Waiter, i int) enlistment {
	if w.claim(i) {
		return completed
	}
	return taken
}
