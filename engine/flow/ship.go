package flow

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/exchange"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// Exchange carries batches between the nodes of a cluster.
type Exchange interface {
	// Encode encodes a batch of a relay once for every destination and retry,
	// waiting for memory. exchange.ErrTooLarge asks for a smaller batch.
	Encode(ctx context.Context, domain, relay string, l *exchange.Layout, rec arrow.RecordBatch, low, high []int64) (*exchange.Body, error)
	// Deliver blocks until the other node admitted the batch, and holds its shares
	// from then on. Otherwise it is an *exchange.NotAdmitted and the shares have
	// failed; only one that was cancelled, and certainly not admitted, leaves them
	// as they were. The note goes with the batch.
	Deliver(ctx context.Context, ch exchange.Channel, b *exchange.Body, note []byte, acks *ack.Set) error
}

var (
	batchHalved  = invariant.Sometimes("a batch was halved to fit a relay body")
	bareAgain    = invariant.Sometimes("rows without a share were offered to a node again")
	shipReturned = invariant.Sometimes("a cancelled delivery came back with its shares")
)

// packet is an encoded batch that several deliveries share.
type packet struct {
	body    *exchange.Body
	holders atomic.Int32
}

func (p *packet) retain() *packet {
	p.holders.Add(1)
	return p
}

func (p *packet) release() {
	if p != nil && p.holders.Add(-1) == 0 {
		p.body.Release()
	}
}

// parcel is a batch on its way to another node.
type parcel struct {
	carrier *Carrier
	packet  *packet // one hold; nil until it is encoded
}

func (p *parcel) fail(now primitives.Instant, why ack.Reason) {
	p.packet.release()
	p.carrier.Fail(now, why)
}

// ship delivers parcels in order and consumes them. It returns when every row was
// admitted or has failed, or when ctx ended: rest is then what nobody has
// admitted, with its shares. Rows without a share are offered until they are
// admitted: backpressure and a moving owner lose none. admit hears of every
// parcel that was admitted.
func (r *Relay) ship(ctx context.Context, ch exchange.Channel, note []byte, parcels []parcel, admit func(*Carrier)) (rest []*Carrier) {
	for len(parcels) > 0 && ctx.Err() == nil {
		p := &parcels[0]
		if p.packet == nil {
			parcels = r.pack(ctx, parcels)
			continue
		}
		c := p.carrier
		err := r.d.deps.Exchange.Deliver(ctx, ch, p.packet.body, note, c.Acks)
		p.packet.release()
		p.packet = nil
		if err == nil {
			admit(c)
			c.Release()
			parcels = parcels[1:]
			continue
		}
		again := r.notAdmitted(err, c)
		if again == nil {
			parcels = parcels[1:]
			continue
		}
		p.carrier = again
		_ = primitives.Sleep(ctx, r.d.world, againAfter)
	}
	for i := range parcels {
		parcels[i].packet.release()
		rest = append(rest, parcels[i].carrier)
	}
	return rest
}

// againAfter is the pause before rows are offered to a node that did not take
// them: the schedule may have to be read first.
const againAfter = 200 * time.Millisecond

// notAdmitted consumes a carrier that was not admitted and returns what of it is
// to be offered again.
func (r *Relay) notAdmitted(err error, c *Carrier) (again *Carrier) {
	var no *exchange.NotAdmitted
	if !errors.As(err, &no) {
		invariant.Thatf(false, "F7: a delivery ends with a verdict, not with %v", err)
	}
	if no.Cause == exchange.Cancelled && no.Again {
		shipReturned.HitIf(c.Acks != nil)
		return c
	}
	bare := no.Bare
	if no.Cause == exchange.Refused && no.Refusal != nil {
		switch no.Refusal.Class {
		case exchange.Rejected, exchange.Unavailable:
			if r.d.deps.Stale != nil {
				r.d.deps.Stale(r.d.name)
			}
		case exchange.Failed:
			// Neither side can carry it: another try ends the same way.
			r.d.Report(r.endpoint(), err)
			c.Release()
			return nil
		}
	}
	if !no.Again || c.Acks != nil && len(bare) == 0 {
		c.Release()
		return nil
	}
	bareAgain.Hit()
	if c.Acks == nil {
		return c
	}
	again = c.gather(r.d, bare)
	c.Release()
	return again
}

// pack encodes the first parcel, halving it until it fits. Rows that no body can
// carry fail.
func (r *Relay) pack(ctx context.Context, parcels []parcel) []parcel {
	p := &parcels[0]
	packet, why := r.encodeOne(ctx, p.carrier)
	switch {
	case packet != nil:
		p.packet = packet
		return parcels
	case why == nil && ctx.Err() == nil:
		a, b := p.carrier.halve()
		return append([]parcel{{carrier: a}, {carrier: b}}, parcels[1:]...)
	case why == nil:
		return parcels
	}
	p.fail(r.now(), *why)
	return parcels[1:]
}

// encodeOne encodes a batch. Without a packet and a reason the batch has to be
// halved, unless ctx ended.
func (r *Relay) encodeOne(ctx context.Context, c *Carrier) (*packet, *ack.Reason) {
	body, err := r.d.deps.Exchange.Encode(ctx, r.d.name, r.name, r.layout, c.Batch, c.Low, c.High)
	large := errors.Is(err, exchange.ErrTooLarge)
	switch {
	case err == nil:
		return (&packet{body: body}).retain(), nil
	case ctx.Err() != nil, large && c.Rows() > 1:
		batchHalved.HitIf(large)
		return nil, nil
	}
	r.d.Report(r.endpoint(), err)
	if large {
		return nil, &reasonTooLarge
	}
	return nil, &reasonInternal
}

func (r *Relay) endpoint() observe.Endpoint {
	return observe.Endpoint{Kind: "relay", Name: r.name}
}

// halve divides a carrier and consumes it.
func (c *Carrier) halve() (a, b *Carrier) {
	n := c.Rows() / 2
	a, b = c.part(0, n), c.part(n, c.Rows())
	a.Acks, b.Acks = divideAt(c.Acks, n)
	c.Release()
	return a, b
}

// divideAt consumes the shares of a batch and gives those of its first n rows
// apart.
func divideAt(acks *ack.Set, n int) (first, rest *ack.Set) {
	if acks == nil || n == acks.Rows() {
		return acks, nil
	}
	rows := make([]int32, n)
	for i := range rows {
		rows[i] = int32(i)
	}
	return acks.Partition(rows)
}

// part returns the rows from first to end without their shares.
func (c *Carrier) part(first, end int) *Carrier {
	return NewCarrier(c.Batch.NewSlice(int64(first), int64(end)), c.Low[first:end], c.High[first:end], nil)
}

// gather returns the listed rows without shares.
func (c *Carrier) gather(d *Domain, rows []int32) *Carrier {
	s := batch.Rows(c.Rows(), slices.Clone(rows))
	return NewCarrier(batch.Gather(d.deps.Memory, c.Batch, s), batch.Select(s, c.Low), batch.Select(s, c.High), nil)
}

// freight is a batch as it travels to several nodes: encoded once, in as many
// parts as its size needs.
type freight []part

type part struct {
	carrier *Carrier   // one reference, without shares
	packet  *packet    // one hold; nil for rows that cannot travel
	why     ack.Reason // of those
}

// encode encodes a batch for every node that gets it.
func (r *Relay) encode(ctx context.Context, c *Carrier) (f freight) {
	left := []*Carrier{c.share(nil)}
	for len(left) > 0 {
		next := left[0]
		left = left[1:]
		packet, why := r.encodeOne(ctx, next)
		switch {
		case packet != nil:
			f = append(f, part{carrier: next, packet: packet})
		case why != nil:
			f = append(f, part{carrier: next, why: *why})
		case ctx.Err() != nil:
			f = append(f, part{carrier: next, why: reasonStopped})
		default:
			a, b := next.halve()
			left = append([]*Carrier{a, b}, left...)
		}
	}
	return f
}

// parcels returns the batch with the shares of one node.
func (f freight) parcels(now primitives.Instant, acks *ack.Set) (out []parcel) {
	for i := range f {
		var mine *ack.Set
		mine, acks = divideAt(acks, f[i].carrier.Rows())
		if f[i].packet == nil {
			mine.Fail(now, f[i].why)
			continue
		}
		out = append(out, parcel{f[i].carrier.share(mine), f[i].packet.retain()})
	}
	return out
}

func (f freight) release() {
	for i := range f {
		f[i].carrier.Release()
		f[i].packet.release()
	}
}
