package primitives

import (
	"context"
	"sync"

	"plexus/primitives/invariant"
)

// Queue is a bounded first-in, first-out channel between tasks. A value sent
// while a receiver waits goes straight to it; senders that wait for room are
// served in order.
type Queue[T any] struct {
	tasks Tasks

	mu        sync.Mutex
	ring      []T
	head      int
	length    int
	closed    bool
	senders   waitList[T] // only while the ring is full
	receivers waitList[T] // only while the ring is empty
}

// NewQueue returns an open queue for capacity values, at least one.
func NewQueue[T any](w World, capacity int) *Queue[T] {
	invariant.That(capacity >= 1, "queue capacity below one")
	return &Queue[T]{tasks: w.Tasks(), ring: make([]T, capacity)}
}

// Send hands v over, waiting for room. It returns ErrClosed when the queue is or
// gets closed; v then has not been sent.
func (q *Queue[T]) Send(ctx context.Context, v T) error {
	if err := Canceled(ctx); err != nil {
		return err
	}
	q.tasks.Yield()
	q.mu.Lock()
	if q.closed {
		q.mu.Unlock()
		return ErrClosed
	}
	if q.length < len(q.ring) {
		receiver := q.put(v)
		q.mu.Unlock()
		q.unpark(receiver)
		return nil
	}
	_, err := q.senders.wait(ctx, &q.mu, q.tasks, "queue room", v)
	return err
}

// Recv takes the oldest value, waiting for one. It returns ErrClosed when the
// queue is closed and drained.
func (q *Queue[T]) Recv(ctx context.Context) (T, error) {
	var zero T
	if err := Canceled(ctx); err != nil {
		return zero, err
	}
	q.tasks.Yield()
	q.mu.Lock()
	if q.length > 0 {
		v, sender := q.take()
		q.mu.Unlock()
		q.unpark(sender)
		return v, nil
	}
	if q.closed {
		q.mu.Unlock()
		return zero, ErrClosed
	}
	return q.receivers.wait(ctx, &q.mu, q.tasks, "queue value", zero)
}

// TrySend hands v over if that is possible at once.
func (q *Queue[T]) TrySend(v T) bool {
	q.mu.Lock()
	if q.closed || q.length == len(q.ring) {
		q.mu.Unlock()
		return false
	}
	receiver := q.put(v)
	q.mu.Unlock()
	q.unpark(receiver)
	return true
}

// TryRecv takes the oldest value if there is one.
func (q *Queue[T]) TryRecv() (T, bool) {
	q.mu.Lock()
	if q.length == 0 {
		q.mu.Unlock()
		var zero T
		return zero, false
	}
	v, sender := q.take()
	q.mu.Unlock()
	q.unpark(sender)
	return v, true
}

// Close lets no further value in. Values already inside can still be received.
// Closing twice is harmless.
func (q *Queue[T]) Close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.senders.close()
	q.receivers.close()
}

// Closed reports whether the queue was closed; values may still be inside.
func (q *Queue[T]) Closed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// Len returns the number of values inside.
func (q *Queue[T]) Len() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.length
}

// OnSend is ready when v can be handed over; firing sends it. On a closed queue
// it fires without sending, and Closed tells.
func (q *Queue[T]) OnSend(v T) Case { return Case{(*sending[T])(q), &v} }

// OnRecv is ready when a value can be taken; firing stores it in dst. On a closed
// and drained queue it fires with the zero value, and Closed tells.
func (q *Queue[T]) OnRecv(dst *T) Case { return Case{(*receiving[T])(q), dst} }

// put admits v, for which there is room, and returns the receiver that got it
// directly, claimed and still parked.
func (q *Queue[T]) put(v T) *Waiter {
	if e := q.receivers.claim(); e != nil {
		e.value, e.done = v, true
		return e.waiter
	}
	i := q.head + q.length
	if i >= len(q.ring) {
		i -= len(q.ring)
	}
	q.ring[i] = v
	q.length++
	return nil
}

// take removes the oldest value, of which there is one, and returns the sender
// whose value took the free place, claimed and still parked.
func (q *Queue[T]) take() (T, *Waiter) {
	var zero T
	v := q.ring[q.head]
	q.ring[q.head] = zero
	q.head++
	if q.head == len(q.ring) {
		q.head = 0
	}
	q.length--
	e := q.senders.claim()
	if e == nil {
		return v, nil
	}
	q.put(e.value)
	e.done = true
	return v, e.waiter
}

func (q *Queue[T]) unpark(w *Waiter) {
	if w != nil {
		q.tasks.Unpark(w)
	}
}

// sending is the queue as the object of an OnSend case.
type sending[T any] Queue[T]

// sendable reports whether an OnSend case is ready; send completes it.
func (q *Queue[T]) sendable() bool { return q.closed || q.length < len(q.ring) }

func (q *Queue[T]) send(v T) {
	if !q.closed {
		q.unpark(q.put(v))
	}
}

func (s *sending[T]) poll(slot any) bool {
	q := (*Queue[T])(s)
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.sendable() {
		return false
	}
	q.send(*slot.(*T))
	return true
}

func (s *sending[T]) enlist(slot any, w *Waiter, i int) (any, enlistment) {
	q := (*Queue[T])(s)
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.sendable() {
		return q.senders.add(w, i, *slot.(*T)), enlisted
	}
	if !w.claim(i) {
		return nil, taken
	}
	q.send(*slot.(*T))
	return nil, completed
}

func (s *sending[T]) delist(_, entry any, _ bool) {
	q := (*Queue[T])(s)
	q.mu.Lock()
	q.senders.recycle(entry.(*waitEntry[T]))
	q.mu.Unlock()
}

// receiving is the queue as the object of an OnRecv case.
type receiving[T any] Queue[T]

// receivable reports whether an OnRecv case is ready; receive completes it.
func (q *Queue[T]) receivable() bool { return q.closed || q.length > 0 }

func (q *Queue[T]) receive() (v T) {
	if q.length > 0 {
		var sender *Waiter
		v, sender = q.take()
		q.unpark(sender)
	}
	return v
}

func (r *receiving[T]) poll(slot any) bool {
	q := (*Queue[T])(r)
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.receivable() {
		return false
	}
	*slot.(*T) = q.receive()
	return true
}

func (r *receiving[T]) enlist(slot any, w *Waiter, i int) (any, enlistment) {
	q := (*Queue[T])(r)
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.receivable() {
		var none T
		return q.receivers.add(w, i, none), enlisted
	}
	if !w.claim(i) {
		return nil, taken
	}
	*slot.(*T) = q.receive()
	return nil, completed
}

func (r *receiving[T]) delist(slot, entry any, fired bool) {
	q := (*Queue[T])(r)
	q.mu.Lock()
	defer q.mu.Unlock()
	e := entry.(*waitEntry[T])
	if fired {
		*slot.(*T) = e.value
	}
	q.receivers.recycle(e)
}
