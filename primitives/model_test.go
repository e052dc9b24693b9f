package primitives

import (
	"context"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// heldWait is a wait that a model test keeps blocked: registered, not parked.
type heldWait struct {
	*Waiter
	object selectable
	slot   any
	entry  any
	value  int
}

// hold registers a wait that is not ready.
func hold(r *rapid.T, w *bare, c Case, value int) *heldWait {
	h := &heldWait{Waiter: newWaiter(w, "model"), object: c.object, slot: c.slot, value: value}
	var outcome enlistment
	if h.entry, outcome = c.object.enlist(c.slot, h.Waiter, 0); outcome != enlisted {
		r.Fatalf("a wait that is not ready had outcome %d", outcome)
	}
	return h
}

// end finishes a wait that the object woke.
func (h *heldWait) end(r *rapid.T) {
	if !h.claimed.Load() {
		r.Fatal("the wait was not woken")
	}
	h.tasks.Park(h.Waiter)
	h.object.delist(h.slot, h.entry, true)
}

// give cancels the wait.
func (h *heldWait) give() {
	h.Abandon()
	h.object.delist(h.slot, h.entry, false)
}

// TestQueueAgainstModel drives a queue with blocked senders and receivers that
// come, go and are served, and compares it with two slices.
func TestQueueAgainstModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newBare()
		capacity := rapid.IntRange(1, 4).Draw(r, "capacity")
		q := NewQueue[int](w, capacity)
		var inside []int
		var senders, receivers []*heldWait
		next, closed := 0, false
		pick := func(r *rapid.T, list *[]*heldWait) *heldWait {
			if len(*list) == 0 {
				r.Skip("nobody waits")
			}
			i := rapid.IntRange(0, len(*list)-1).Draw(r, "waiter")
			h := (*list)[i]
			*list = slices.Delete(*list, i, i+1)
			return h
		}
		r.Repeat(map[string]func(*rapid.T){
			"send": func(r *rapid.T) {
				next++
				sent := q.TrySend(next)
				if sent != (!closed && len(inside) < capacity) {
					r.Fatalf("sent %v with %d of %d inside, closed %v", sent, len(inside), capacity, closed)
				}
				switch {
				case !sent:
				case len(receivers) > 0:
					first := receivers[0]
					receivers = receivers[1:]
					first.end(r)
					if got := *first.slot.(*int); got != next {
						r.Fatalf("first receiver got %d, want %d", got, next)
					}
				default:
					inside = append(inside, next)
				}
			},
			"receive": func(r *rapid.T) {
				v, ok := q.TryRecv()
				if ok != (len(inside) > 0) || ok && v != inside[0] {
					r.Fatalf("received %d, %v; inside %v", v, ok, inside)
				}
				if !ok {
					return
				}
				inside = inside[1:]
				if len(senders) > 0 {
					senders[0].end(r)
					inside = append(inside, senders[0].value)
					senders = senders[1:]
				}
			},
			"block sender": func(r *rapid.T) {
				if closed || len(inside) < capacity {
					r.Skip("would not block")
				}
				next++
				senders = append(senders, hold(r, w, q.OnSend(next), next))
			},
			"block receiver": func(r *rapid.T) {
				if closed || len(inside) > 0 {
					r.Skip("would not block")
				}
				receivers = append(receivers, hold(r, w, q.OnRecv(new(int)), 0))
			},
			"cancel sender":   func(r *rapid.T) { pick(r, &senders).give() },
			"cancel receiver": func(r *rapid.T) { pick(r, &receivers).give() },
			"close": func(r *rapid.T) {
				q.Close()
				closed = true
				for _, h := range slices.Concat(senders, receivers) {
					h.end(r)
					if *h.slot.(*int) != h.value {
						r.Fatalf("a close handed over %d", *h.slot.(*int))
					}
				}
				senders, receivers = nil, nil
			},
			"": func(r *rapid.T) {
				for i := len(inside); i < capacity; i++ {
					if q.ring[(q.head+i)%capacity] != 0 {
						r.Fatal("the ring holds on to a value that left")
					}
				}
				if q.Len() != len(inside) || q.Closed() != closed {
					r.Fatalf("%d inside, want %v; closed %v", q.Len(), inside, q.Closed())
				}
				for _, h := range slices.Concat(senders, receivers) {
					if h.claimed.Load() {
						r.Fatal("a wait was woken out of turn")
					}
				}
			},
		})
	})
}

// TestSemaphoreAgainstModel drives a semaphore with blocked requests.
func TestSemaphoreAgainstModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := newBare()
		size := int64(rapid.IntRange(1, 6).Draw(r, "size"))
		s := NewSemaphore(w, size)
		type request struct {
			n      int64
			cancel context.CancelFunc
			done   chan error
		}
		var waiting []*request
		free := size
		var held []int64
		grant := func() {
			for len(waiting) > 0 && waiting[0].n <= free {
				first := waiting[0]
				waiting = waiting[1:]
				if err := <-first.done; err != nil {
					r.Fatalf("a request that fits ended with %v", err)
				}
				first.cancel()
				free -= first.n
				held = append(held, first.n)
			}
		}
		units := rapid.Int64Range(1, size)
		r.Repeat(map[string]func(*rapid.T){
			"try": func(r *rapid.T) {
				n := units.Draw(r, "units")
				got := s.TryAcquire(n)
				if got != (len(waiting) == 0 && n <= free) {
					r.Fatalf("acquired %d: %v with %d free, %d waiting", n, got, free, len(waiting))
				}
				if got {
					free -= n
					held = append(held, n)
				}
			},
			"acquire": func(r *rapid.T) {
				n := units.Draw(r, "units")
				if len(waiting) == 0 && n <= free {
					r.Skip("would not block")
				}
				ctx, cancel := WithCancel(context.Background(), w)
				q := &request{n, cancel, make(chan error, 1)}
				go func() { q.done <- s.Acquire(ctx, n) }()
				waiting = append(waiting, q)
				for blocked := 0; blocked < len(waiting); { // until it is in the list
					s.mu.Lock()
					blocked = s.waiters.length
					s.mu.Unlock()
				}
			},
			"cancel": func(r *rapid.T) {
				if len(waiting) == 0 {
					r.Skip("nobody waits")
				}
				i := rapid.IntRange(0, len(waiting)-1).Draw(r, "request")
				q := waiting[i]
				waiting = slices.Delete(waiting, i, i+1)
				q.cancel()
				if err := <-q.done; err == nil {
					r.Fatal("a cancelled request was granted")
				}
				grant()
			},
			"release": func(r *rapid.T) {
				if len(held) == 0 {
					r.Skip("nothing held")
				}
				i := rapid.IntRange(0, len(held)-1).Draw(r, "grant")
				free += held[i]
				s.Release(held[i])
				held = slices.Delete(held, i, i+1)
				grant()
			},
			"": func(r *rapid.T) {
				s.mu.Lock()
				defer s.mu.Unlock()
				if s.free != free || s.waiters.length != len(waiting) {
					r.Fatalf("%d free, %d waiting; want %d, %d", s.free, s.waiters.length, free, len(waiting))
				}
			},
		})
		for _, q := range waiting {
			q.cancel()
			<-q.done
		}
	})
}
