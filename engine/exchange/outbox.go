package exchange

import "plexus/primitives"

// outbox holds what a peer must hear of and has not confirmed. One message is on
// its way at a time.
type outbox[T any] struct {
	waiting []queued[T]
	flight  []queued[T]
}

type queued[T any] struct {
	since primitives.Instant
	in    *inbound // whose rows it is about; nil for a verdict
	what  T
}

func (o *outbox[T]) add(now primitives.Instant, in *inbound, what T) {
	o.waiting = append(o.waiting, queued[T]{now, in, what})
}

// take moves what one message holds, by the given measure, to the message on its
// way; nil when there is nothing or one is on its way.
func (o *outbox[T]) take(room int, size func(*T) int) []T {
	if len(o.flight) > 0 {
		return nil
	}
	n := 0
	for n < len(o.waiting) {
		if room -= size(&o.waiting[n].what); room < 0 && n > 0 {
			break
		}
		n++
	}
	o.flight = append(o.flight, o.waiting[:n]...)
	o.waiting = append(o.waiting[:0], o.waiting[n:]...)
	list := make([]T, n)
	for i := range o.flight {
		list[i] = o.flight[i].what
	}
	return list
}

// sent ends the message: confirmed, or to be tried again in front of the others.
func (o *outbox[T]) sent(confirmed bool) (done []queued[T]) {
	flight := o.flight
	o.flight = nil
	if confirmed {
		return flight
	}
	o.waiting = append(flight, o.waiting...)
	return nil
}

// overdue takes out what is older than the instant.
func (o *outbox[T]) overdue(before primitives.Instant) (late []queued[T]) {
	n := 0
	for n < len(o.waiting) && o.waiting[n].since.Before(before) {
		n++
	}
	late = append(late, o.waiting[:n]...)
	o.waiting = append(o.waiting[:0], o.waiting[n:]...)
	return late
}

func (o *outbox[T]) drop() { o.waiting, o.flight = nil, nil }
