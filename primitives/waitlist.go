package primitives

import (
	"context"
	"sync"
)

// waitList holds the waiters registered with one object, oldest first, each with
// a value that the wait gives or receives. The object's lock guards it. Used
// entries are kept for reuse, so a wait allocates nothing once the object has
// seen its peak of simultaneous waits.
type waitList[T any] struct {
	first, last *waitEntry[T]
	free        *waitEntry[T]
	length      int
}

// waitEntry is one registration of a waiter.
type waitEntry[T any] struct {
	waiter     *Waiter
	index      int
	value      T
	done       bool // the waker completed the exchange; false at a close
	linked     bool
	prev, next *waitEntry[T]
}

// add registers w as case i.
func (l *waitList[T]) add(w *Waiter, i int, v T) *waitEntry[T] {
	e := l.free
	if e == nil {
		e = new(waitEntry[T])
	} else {
		l.free = e.next
	}
	*e = waitEntry[T]{waiter: w, index: i, value: v, linked: true, prev: l.last}
	if l.last == nil {
		l.first = e
	} else {
		l.last.next = e
	}
	l.last = e
	l.length++
	return e
}

// unlink takes e off the list, if it still is there.
func (l *waitList[T]) unlink(e *waitEntry[T]) {
	if !e.linked {
		return
	}
	if e.prev == nil {
		l.first = e.next
	} else {
		e.prev.next = e.next
	}
	if e.next == nil {
		l.last = e.prev
	} else {
		e.next.prev = e.prev
	}
	e.prev, e.next, e.linked = nil, nil, false
	l.length--
}

// recycle ends the registration. Only its owner calls it, once.
func (l *waitList[T]) recycle(e *waitEntry[T]) {
	l.unlink(e)
	*e = waitEntry[T]{next: l.free}
	l.free = e
}

// claim takes the oldest waiter that no other object has claimed, or returns
// nil. The caller completes the exchange in the entry and then unparks.
func (l *waitList[T]) claim() *waitEntry[T] {
	for e := l.first; e != nil; e = l.first {
		l.unlink(e)
		if e.waiter.claim(e.index) {
			return e
		}
	}
	return nil
}

// wake claims and unparks the oldest waiter, and reports whether there was one.
func (l *waitList[T]) wake() bool {
	e := l.claim()
	if e == nil {
		return false
	}
	e.done = true
	e.waiter.tasks.Unpark(e.waiter)
	return true
}

// close claims and unparks every waiter; their exchanges stay undone.
func (l *waitList[T]) close() {
	for e := l.claim(); e != nil; e = l.claim() {
		e.waiter.tasks.Unpark(e.waiter)
	}
}

// wait parks the running task until its exchange is completed, and returns the
// value then in its entry; ErrClosed when the list was closed first, the error of
// ctx when that was cancelled first. lock is the one that guards the list: held at
// the call, free from then on (P2).
func (l *waitList[T]) wait(ctx context.Context, lock *sync.Mutex, tasks Tasks, reason string, v T) (T, error) {
	w := newWaiter(tasks, reason)
	e := l.add(w, 0, v)
	lock.Unlock()
	fired := await(ctx, w)
	lock.Lock()
	v, done := e.value, e.done
	l.recycle(e)
	lock.Unlock()
	tasks.Release(w)
	var none T
	switch {
	case done:
		return v, nil
	case fired:
		return none, ErrClosed
	}
	return none, Canceled(ctx)
}
