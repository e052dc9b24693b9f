package sim

// callback is what a timer runs. It runs outside every task and must not block.
type callback interface{ fire() }

type callbackFunc func()

func (f callbackFunc) fire() { f() }

// timer is one armed callback. Structs that wait for time embed it, so arming
// allocates nothing.
type timer struct {
	index int32    // place in the heap plus one; 0 while it is not armed
	owner *Process // nil: the universe's own
	run   callback
}

func (t *timer) armed() bool { return t.index != 0 }

type timerEntry struct {
	at  int64 // virtual nanoseconds
	seq uint64
	t   *timer
}

func (e timerEntry) before(o timerEntry) bool {
	return e.at < o.at || e.at == o.at && e.seq < o.seq
}

// timers is a four-ary heap in firing order; equal instants fire in the order
// they were armed.
type timers struct {
	heap []timerEntry
	seq  uint64
}

func (h *timers) arm(t *timer, at int64) {
	h.seq++
	h.heap = append(h.heap, timerEntry{at, h.seq, t})
	h.up(len(h.heap) - 1)
}

func (h *timers) disarm(t *timer) {
	i := int(t.index) - 1
	t.index = 0
	last := len(h.heap) - 1
	moved := h.heap[last]
	h.heap[last] = timerEntry{}
	h.heap = h.heap[:last]
	if i == last {
		return
	}
	h.heap[i] = moved
	moved.t.index = int32(i + 1)
	h.down(i)
	h.up(int(moved.t.index) - 1)
}

func (h *timers) up(i int) {
	e := h.heap[i]
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(h.heap[parent]) {
			break
		}
		h.heap[i] = h.heap[parent]
		h.heap[i].t.index = int32(i + 1)
		i = parent
	}
	h.heap[i] = e
	e.t.index = int32(i + 1)
}

func (h *timers) down(i int) {
	e := h.heap[i]
	for {
		first := 4*i + 1
		if first >= len(h.heap) {
			break
		}
		least := first
		for c := first + 1; c < min(first+4, len(h.heap)); c++ {
			if h.heap[c].before(h.heap[least]) {
				least = c
			}
		}
		if !h.heap[least].before(e) {
			break
		}
		h.heap[i] = h.heap[least]
		h.heap[i].t.index = int32(i + 1)
		i = least
	}
	h.heap[i] = e
	e.t.index = int32(i + 1)
}
