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
	lane     uint32
	batch    []uint64 // numbers of the batch in flight
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
			b.intake.add(number, w.lane)
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
