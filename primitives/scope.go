package primitives

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
)

// WithCancel returns a scope below ctx. Cancelling it ends every wait that was
// given the scope or one below it.
func WithCancel(ctx context.Context, w World) (context.Context, context.CancelFunc) {
	s := newScope(ctx)
	return s, func() { s.cancel(context.Canceled) }
}

// WithCancelCause is WithCancel with a reason: the error of the cancelled scope
// is context.Canceled and the cause.
func WithCancelCause(ctx context.Context, w World) (context.Context, context.CancelCauseFunc) {
	s := newScope(ctx)
	return s, func(cause error) { s.cancel(canceledBy(cause)) }
}

// WithDeadline returns a scope that cancels itself with ErrDeadline at the
// instant. It bounds work that takes a context only; where a call takes an
// instant, pass that (P4).
func WithDeadline(ctx context.Context, w World, at Instant) (context.Context, context.CancelFunc) {
	s := newScope(ctx)
	if at != Never {
		timer := w.Clock().At(at, func() { s.cancel(ErrDeadline) })
		s.onCancel(func() { timer.Stop() })
	}
	return s, func() { s.cancel(context.Canceled) }
}

// OnCancel runs f once ctx is cancelled, at once if it already is. f runs outside
// every task, must not block, and must not touch the scope. stop reports whether
// it kept f from running.
func OnCancel(ctx context.Context, f func()) (stop func() bool) {
	if s := scopeOf(ctx); s != nil {
		return s.onCancel(f)
	}
	return context.AfterFunc(ctx, f) //plexus:allow PX002 a foreign context has no other way to tell; none exists in a simulation
}

// canceledBy returns the error of a scope that is cancelled for a cause.
func canceledBy(cause error) error {
	switch {
	case cause == nil:
		return context.Canceled
	case errors.Is(cause, context.Canceled), errors.Is(cause, context.DeadlineExceeded):
		return cause
	}
	return &CanceledError{Cause: cause}
}

// scope is the context of this package. Beside the promises of context.Context
// it has AfterFunc, by which package context attaches its own scopes without
// starting a goroutine.
type scope struct {
	context.Context // the parent, for values

	canceled atomic.Bool
	err      error // written before canceled

	mu        sync.Mutex
	done      chan struct{} //plexus:allow PX003 context.Context promises a channel; only libraries ask for it
	observers waitList[func()]
	detach    func() bool
}

// scopeKey finds the scope a context derives from.
type scopeKey struct{}

func newScope(parent context.Context) *scope {
	s := &scope{Context: parent}
	if parent.Done() == nil {
		return s
	}
	follow := func() { s.cancel(canceledBy(context.Cause(parent))) }
	if p := scopeOf(parent); p != nil {
		follow = func() { s.cancel(p.err) }
	}
	stop := OnCancel(parent, follow)
	s.mu.Lock()
	s.detach = stop
	s.mu.Unlock()
	return s
}

// scopeOf returns the scope whose cancellation is that of ctx, or nil when ctx is
// never cancelled or is a foreign kind.
func scopeOf(ctx context.Context) *scope {
	if s, ok := ctx.(*scope); ok {
		return s
	}
	done := ctx.Done()
	if done == nil {
		return nil
	}
	if s, _ := ctx.Value(scopeKey{}).(*scope); s != nil && s.Done() == done {
		return s
	}
	return nil
}

// Err implements context.Context.
func (s *scope) Err() error {
	if s.canceled.Load() {
		return s.err
	}
	return nil
}

// Done implements context.Context. The channel is made for the first caller.
func (s *scope) Done() <-chan struct{} { //plexus:allow PX003 context.Context promises a channel
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done == nil {
		s.done = make(chan struct{}) //plexus:allow PX003 context.Context promises a channel
		if s.canceled.Load() {
			close(s.done) //plexus:allow PX003 context.Context promises a channel
		}
	}
	return s.done
}

// Value implements context.Context.
func (s *scope) Value(key any) any {
	if key == (scopeKey{}) {
		return s
	}
	return s.Context.Value(key)
}

// AfterFunc is the hook by which package context follows foreign parents.
func (s *scope) AfterFunc(f func()) func() bool { return s.onCancel(f) }

// cancel ends the scope with an error, the first one winning, and runs its
// observers in the order of their registration.
func (s *scope) cancel(err error) {
	s.mu.Lock()
	if s.canceled.Load() {
		s.mu.Unlock()
		return
	}
	s.err = err
	s.canceled.Store(true)
	if s.done != nil {
		close(s.done) //plexus:allow PX003 context.Context promises a channel
	}
	detach := s.detach
	s.mu.Unlock()
	for f := s.notify(); f != nil; f = s.notify() {
		f()
	}
	if detach != nil {
		detach()
	}
}

// notify wakes observing waiters up to the next observing function, which it
// returns: functions run without the lock. Their entries are not recycled,
// because stop may still ask for them.
func (s *scope) notify() func() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e := s.observers.first; e != nil; e = s.observers.first {
		s.observers.unlink(e)
		if e.waiter == nil {
			return e.value
		}
		e.waiter.wake(e.index)
	}
	return nil
}

func (s *scope) onCancel(f func()) (stop func() bool) {
	s.mu.Lock()
	if s.canceled.Load() {
		s.mu.Unlock()
		f()
		return func() bool { return false }
	}
	e := s.observers.add(nil, 0, f)
	s.mu.Unlock()
	return func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		linked := e.linked
		s.observers.unlink(e)
		return linked
	}
}

// watch registers w, or claims it at once when the scope is already cancelled;
// claimed then says whether the claim was won.
func (s *scope) watch(w *Waiter) (e *waitEntry[func()], claimed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.canceled.Load() {
		return nil, w.claim(byCancel)
	}
	return s.observers.add(w, byCancel, nil), false
}

func (s *scope) unwatch(e *waitEntry[func()]) {
	s.mu.Lock()
	s.observers.recycle(e)
	s.mu.Unlock()
}

// byCancel is the case index of cancellation.
const byCancel = -1

// Canceled returns the error of a cancelled context - context.Canceled or
// ErrDeadline, and the cause where there is one - and nil for another.
func Canceled(ctx context.Context) error {
	if ctx.Err() == nil {
		return nil
	}
	return canceledBy(context.Cause(ctx))
}

// await parks the running task, whose registrations are in place, until one of
// them or the cancellation of ctx claims w. It reports whether it was not the
// cancellation.
func await(ctx context.Context, w *Waiter) bool {
	s := scopeOf(ctx)
	if s == nil && ctx.Done() != nil {
		// A foreign context: borrow a scope that follows it.
		s = newScope(ctx)
		defer s.cancel(context.Canceled)
	}
	if s == nil {
		w.tasks.Park(w)
		return true
	}
	e, claimed := s.watch(w)
	if !claimed {
		w.tasks.Park(w)
	}
	if e != nil {
		s.unwatch(e)
	}
	return w.fired != byCancel
}
