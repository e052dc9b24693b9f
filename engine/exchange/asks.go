package exchange

import "plexus/primitives"

// asks are the dispatches with one kind of question for a peer. One message is on
// its way at a time and carries what is due.
type asks struct {
	list   []*dispatch
	busy   bool // a message is on its way
	closed bool
}

func (a *asks) add(d *dispatch) { a.list = append(a.list, d) }

func (a *asks) remove(d *dispatch) bool {
	for i, other := range a.list {
		if other == d {
			a.list = append(a.list[:i], a.list[i+1:]...)
			return true
		}
	}
	return false
}

// questionsMax keeps the answers within one message, whatever they say.
const questionsMax = 100

// take removes what is due, as much as one message holds by the given measure,
// and returns when to look again.
func (a *asks) take(now primitives.Instant, room int, size func(*dispatch) int) (due []*dispatch, next primitives.Instant) {
	next = primitives.Never
	kept := a.list[:0]
	full := false
	for _, d := range a.list {
		if !full && !now.Before(d.retryAt) {
			if n := size(d); n <= room && len(due) < questionsMax {
				room -= n
				due = append(due, d)
				continue
			}
			full = true
		}
		kept = append(kept, d)
		next = min(next, d.retryAt)
	}
	clear(a.list[len(kept):])
	a.list = kept
	return due, next
}
