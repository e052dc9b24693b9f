package oracle

import (
	"context"
	"fmt"
	"time"

	"plexus/connectors/contract"
)

// sourceWatch is a source under watch.
type sourceWatch struct {
	contract.BatchSource
	boundary *Boundary
	instance int
	batch    []uint64 // numbers of the batch in flight
}

// instancesMax is how many instances of a source are told apart.
const instancesMax = 8

// arrival is when a copy of a record arrived, and at which instance of its
// source; zero is none.
type arrival uint64

func (a arrival) at() uint64    { return uint64(a) / instancesMax }
func (a arrival) instance() int { return int(a % instancesMax) }

// arrivals are those of every record, by number.
type arrivals struct {
	first []arrival
	more  map[uint64][]arrival // of records that arrived more than once
}

func (l *arrivals) add(number uint64, a arrival) {
	for uint64(len(l.first)) <= number {
		l.first = append(l.first, 0)
	}
	if l.first[number] == 0 {
		l.first[number] = a
		return
	}
	if l.more == nil {
		l.more = map[uint64][]arrival{}
	}
	l.more[number] = append(l.more[number], a)
}

// behind returns the copies of a record that arrived after what was last offered
// of their instance: how many, and one of them.
func (l *arrivals) behind(number uint64, offered *[instancesMax]uint64) (n int, one arrival) {
	consider := func(a arrival) {
		if a != 0 && a.at() > offered[a.instance()] {
			n, one = n+1, a
		}
	}
	if number < uint64(len(l.first)) {
		consider(l.first[number])
	}
	for _, a := range l.more[number] {
		consider(a)
	}
	return n, one
}

// NextBatch notes what arrives, in its order.
func (w *sourceWatch) NextBatch(ctx context.Context, req contract.BatchRequest) (contract.Batch, error) {
	batch, err := w.BatchSource.NextBatch(ctx, req)
	w.batch = w.batch[:0]
	for i := range batch.Messages {
		b := w.boundary
		if b.number == nil {
			break
		}
		if number, ok := b.number(batch.Messages[i].Payload); ok {
			b.arrived++
			b.arrivals.add(number, arrival(b.arrived*instancesMax+uint64(w.instance)))
			w.batch = append(w.batch, number)
			if b.Arrived != nil {
				b.Arrived(number, batch.Messages[i].Payload)
			}
		}
	}
	return batch, err
}

// Acknowledge checks that the host acknowledges only what is delivered.
func (w *sourceWatch) Acknowledge(ctx context.Context, positions []contract.Position) error {
	w.boundary.confirmed(w.batch, "acknowledges")
	err := w.BatchSource.Acknowledge(ctx, positions)
	if err == nil && w.boundary.Acknowledged != nil {
		for _, number := range w.batch {
			w.boundary.Acknowledged(number)
		}
	}
	return err
}

// confirmed checks that every leaf has confirmed the records.
func (b *Boundary) confirmed(numbers []uint64, verb string) {
	for _, number := range numbers {
		if !b.deliveries.Complete(number) {
			b.fail("no-early-acknowledgement", fmt.Sprintf("the node %s record %d, which %s never confirmed",
				verb, number, b.deliveries.words(b.deliveries.missing(number))))
			return
		}
	}
}

// keptWatch is a source whose positions lapse.
type keptWatch struct {
	*sourceWatch
	inner contract.KeepAliveSource
}

func (w *keptWatch) KeepAliveEvery() time.Duration { return w.inner.KeepAliveEvery() }

func (w *keptWatch) KeepAlive(ctx context.Context, positions []contract.Position) error {
	return w.inner.KeepAlive(ctx, positions)
}

// cursorWatch is a cursor source. Its numbers are its sequence.
type cursorWatch struct {
	*sourceWatch
	inner contract.StatefulSource
}

// Restore checks that everything before the restored cursor was delivered.
func (w *cursorWatch) Restore(ctx context.Context, state contract.State, found bool) error {
	if found {
		w.boundary.cursor(state)
	}
	return w.inner.Restore(ctx, state, found)
}

// cursor holds a durable state against the deliveries.
func (b *Boundary) cursor(state contract.State) {
	fields, err := contract.DecodeState(state.Bytes)
	next, ok := fields.Uint("sequence")
	if err != nil || !ok {
		b.fail("cursor-behind-delivery", "the restored state has no sequence")
		return
	}
	for number := range next {
		if !b.deliveries.Complete(number) {
			b.fail("cursor-behind-delivery", fmt.Sprintf("the cursor was restored at %d and record %d is not delivered", next, number))
			return
		}
	}
}

var (
	_ contract.KeepAliveSource = (*keptWatch)(nil)
	_ contract.StatefulSource  = (*cursorWatch)(nil)
)
