package flow

import (
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// Carrier is a batch on its way along an edge, with its sidecars (F2). Whoever
// holds it releases it and consumes its shares.
type Carrier struct {
	Batch arrow.RecordBatch // one reference
	// Low and High are the watermarks of each row, UTC nanoseconds. Carriers share
	// them: they are never written after construction.
	Low, High []int64
	Acks      *ack.Set // nil when no row has a share
	Bytes     int64    // logical size
}

// NewCarrier takes over one reference to the batch and the shares.
func NewCarrier(rec arrow.RecordBatch, low, high []int64, acks *ack.Set) *Carrier {
	rows := int(rec.NumRows())
	invariant.That(len(low) == rows && len(high) == rows, "F2: watermarks have the batch's rows")
	invariant.That(acks == nil || acks.Rows() == rows, "F2: shares have the batch's rows")
	return &Carrier{Batch: rec, Low: low, High: high, Acks: acks, Bytes: batch.LogicalSize(rec)}
}

// Rows returns the number of rows.
func (c *Carrier) Rows() int { return int(c.Batch.NumRows()) }

// Release gives the reference back. The shares are not touched.
func (c *Carrier) Release() { c.Batch.Release() }

// Fail resolves every share as failed and releases the carrier.
func (c *Carrier) Fail(now primitives.Instant, why ack.Reason) {
	c.Acks.Fail(now, why)
	c.Release()
}

// share returns a carrier over the same rows with other shares.
func (c *Carrier) share(acks *ack.Set) *Carrier {
	c.Batch.Retain()
	return &Carrier{Batch: c.Batch, Low: c.Low, High: c.High, Acks: acks, Bytes: c.Bytes}
}

// join concatenates carriers in order and consumes them. When one column could
// not hold all rows it joins as many from the front as fit and returns the rest.
func join(mem memory.Allocator, parts []*Carrier) (joined *Carrier, rest []*Carrier, err error) {
	if len(parts) == 1 {
		return parts[0], nil, nil
	}
	recs := make([]arrow.RecordBatch, len(parts))
	for i, p := range parts {
		recs[i] = p.Batch
	}
	n := len(parts)
	rec, err := batch.Concat(mem, recs)
	for errors.Is(err, batch.ErrColumnFull) && n > 1 {
		n = (n + 1) / 2
		if n == 1 {
			return parts[0], parts[1:], nil
		}
		rec, err = batch.Concat(mem, recs[:n])
	}
	if err != nil {
		return nil, parts, err
	}
	rows := int(rec.NumRows())
	c := &Carrier{Batch: rec, Low: make([]int64, 0, rows), High: make([]int64, 0, rows)}
	sets := make([]*ack.Set, n)
	counts := make([]int, n)
	for i, p := range parts[:n] {
		c.Low = append(c.Low, p.Low...)
		c.High = append(c.High, p.High...)
		c.Bytes += p.Bytes
		sets[i], counts[i] = p.Acks, p.Rows()
		p.Release()
	}
	c.Acks = ack.Join(sets, counts)
	return c, parts[n:], nil
}
