package primitives

import (
	"context"
	"sync"

	"plexus/primitives/invariant"
)

// Semaphore is a budget that tasks take parts of. Requests are granted strictly
// in order: a large one at the head is never overtaken by small ones behind it.
type Semaphore struct {
	tasks   Tasks
	mu      sync.Mutex
	size    int64
	free    int64
	closed  bool
	drained Event
	waiters waitList[int64]
}

// NewSemaphore returns a semaphore with n units free.
func NewSemaphore(w World, n int64) *Semaphore {
	return &Semaphore{tasks: w.Tasks(), size: n, free: n, drained: Event{tasks: w.Tasks()}}
}

// Acquire takes n units, at most the whole size, waiting for them.
func (s *Semaphore) Acquire(ctx context.Context, n int64) error {
	return s.acquire(ctx, n, unlimited)
}

// unlimited is a bound on waiting requests that none reaches.
const unlimited = int(^uint(0) >> 1)

// acquire takes n units unless waitingMax other requests already wait.
func (s *Semaphore) acquire(ctx context.Context, n int64, waitingMax int) error {
	invariant.That(n >= 0 && n <= s.size, "semaphore request larger than the semaphore")
	if err := Canceled(ctx); err != nil {
		return err
	}
	s.tasks.Yield()
	s.mu.Lock()
	switch {
	case s.closed:
		s.mu.Unlock()
		return ErrClosed
	case s.take(n):
		s.mu.Unlock()
		return nil
	case s.waiters.length >= waitingMax:
		s.mu.Unlock()
		return ErrBusy
	}
	_, err := s.waiters.wait(ctx, &s.mu, s.tasks, "semaphore", n)
	if err != nil {
		s.mu.Lock()
		s.grant() // the request may have held up smaller ones
		s.mu.Unlock()
	}
	return err
}

// TryAcquire takes n units if they are free and nobody waits.
func (s *Semaphore) TryAcquire(n int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return !s.closed && s.take(n)
}

// Release gives n units back.
func (s *Semaphore) Release(n int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free += n
	invariant.That(n >= 0 && s.free <= s.size, "semaphore released more than acquired")
	s.grant()
	s.checkDrained()
}

// take takes n units if they are free and no request comes before it.
func (s *Semaphore) take(n int64) bool {
	if s.waiters.first != nil || s.free < n {
		return false
	}
	s.free -= n
	return true
}

// grant serves waiting requests in order while the head fits.
func (s *Semaphore) grant() {
	for e := s.waiters.first; e != nil && e.value <= s.free; e = s.waiters.first {
		n := e.value
		s.waiters.unlink(e)
		// A cancelled request is passed over.
		if e.waiter.claim(e.index) {
			s.free -= n
			e.done = true
			s.tasks.Unpark(e.waiter)
		}
	}
}

// close refuses waiting and later requests.
func (s *Semaphore) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	s.waiters.close()
	s.checkDrained()
}

// drain waits until every unit of a closed semaphore is back.
func (s *Semaphore) drain(ctx context.Context) error { return s.drained.Wait(ctx) }

func (s *Semaphore) checkDrained() {
	if s.closed && s.free == s.size {
		s.drained.Set()
	}
}
