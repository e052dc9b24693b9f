package flow

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"plexus/engine/batch"
	"plexus/engine/expr"
	"plexus/engine/observe"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// FrameKind says what a subscription frame carries.
type FrameKind uint8

// The kinds.
const (
	FrameRows    FrameKind = iota
	FrameLost              // Count rows did not fit a DROPPING subscription's queue
	FrameSkipped           // Count rows, Cause says why
	FrameEnded             // the last frame; End says why
)

// EndCause is why a subscription ended by itself.
type EndCause uint8

// The causes.
const (
	RelayChanged EndCause = iota
	RelayRemoved
)

var endCauseNames = [...]string{"relay_changed", "relay_removed"}

// String returns the word of the protocol.
func (c EndCause) String() string { return endCauseNames[c] }

// SkipFilterFailed is the cause of rows whose predicate could not be evaluated.
const SkipFilterFailed = "filter_failed"

// Frame is one message of a subscription to its session.
type Frame struct {
	Subscription *Subscription
	Kind         FrameKind
	Batch        arrow.RecordBatch // FrameRows: one reference, at most 256 rows
	Count        int
	Cause        string
	End          EndCause
}

// NewFrameQueue returns the queue a session shares among its subscriptions.
func NewFrameQueue(w primitives.World) *primitives.Queue[Frame] {
	return primitives.NewQueue[Frame](w, subscriptionFrames)
}

// SubscribeOptions are the clauses of CREATE SUBSCRIPTION.
type SubscribeOptions struct {
	Name       string
	Dropping   bool
	SampleRate float64     // 0 or 1 keeps every row
	Where      *typed.Expr // nil keeps every row
	Queue      *primitives.Queue[Frame]
}

// Subscription is a read-only consumer of a relay. It touches no share; a
// blocking one holds the relay's slot while its session's queue is full.
type Subscription struct {
	d       *Domain
	relay   *Relay
	release func() // of the interest
	options SubscribeOptions
	where   *expr.Filter
	sample  primitives.Entropy
	schema  *vocab.Schema

	consumer *consumer
	task     *Task
	ending   *primitives.Queue[EndCause]
	dropped  *observe.Counter
	open     *observe.Gauge

	lost int // rows not yet reported
}

// Subscribe attaches to a relay, wherever it is owned, once every live node knows
// that this one reads it. Rows admitted later are delivered, at most once; the
// subscription goes on when the relay's owner moves.
func (d *Domain) Subscribe(ctx context.Context, relay string, o SubscribeOptions) (*Subscription, error) {
	where, err := expr.CompileFilter(o.Where, expr.FilterWhere)
	if err != nil {
		return nil, &ProgramError{o.Name, err}
	}
	if d.views.Load().relays[relay] == nil {
		return nil, fmt.Errorf("%w: %s", ErrNoRelay, relay)
	}
	release := func() {}
	if d.deps.Interest != nil {
		if release, err = d.deps.Interest.Lease(ctx, d.name, relay); err != nil {
			return nil, &InterestError{relay, err}
		}
	}
	r := d.views.Load().relays[relay] // it may have been replaced meanwhile
	if r == nil {
		release()
		return nil, fmt.Errorf("%w: %s", ErrNoRelay, relay)
	}
	s := &Subscription{
		d: d, relay: r, release: release, options: o, where: where, schema: r.schema,
		sample:  d.world.Entropy().Stream("subscription " + o.Name),
		ending:  primitives.NewQueue[EndCause](d.world, 1),
		dropped: d.deps.Metrics.Counter(observe.SubscriptionDrops, d.name, relay),
		open:    d.deps.Metrics.Gauge(observe.Subscriptions, d.name, relay),
	}
	// Its batches are nobody's outstanding work: a drain does not wait for a
	// session.
	lane := newLane(d.world, &Load{settled: primitives.NewNotice(d.world)})
	lane.feeders.Store(&[]*Relay{r})
	s.consumer = &consumer{name: o.Name, order: orderSubscription, lane: lane, subscription: s}
	s.open.Add(1)
	s.task = d.Start("subscription", s.run)
	r.connect(s.consumer)
	return s, nil
}

// Schema returns the schema of the rows.
func (s *Subscription) Schema() *vocab.Schema { return s.schema }

// Close detaches. No frame follows.
func (s *Subscription) Close() {
	s.task.Stop()
}

func (s *Subscription) run(ctx context.Context) error {
	defer s.end()
	scratch := expr.NewScratch()
	for {
		var v Delivery
		var why EndCause
		fired, err := primitives.Select(ctx, s.d.world, s.consumer.lane.OnTake(&v), s.ending.OnRecv(&why))
		if err != nil {
			return nil
		}
		if fired == 1 {
			_ = s.options.Queue.Send(ctx, Frame{Subscription: s, Kind: FrameEnded, End: why})
			return nil
		}
		s.consumer.lane.Took()
		err = s.deliver(ctx, v.Carrier, scratch)
		v.Carrier.Release()
		s.consumer.lane.Done(1)
		if err != nil {
			return nil
		}
	}
}

// end detaches from the relay and lets go of what waits.
func (s *Subscription) end() {
	s.consumer.lane.Close(reasonGone)
	s.relay.disconnect(s.consumer)
	s.release()
	s.open.Add(-1)
}

// deliver sends the rows of a batch that the predicate and the sample select.
func (s *Subscription) deliver(ctx context.Context, c *Carrier, scratch *expr.Scratch) error {
	u := s.d.Unit()
	in := &expr.Rows{Input: c.Batch, Select: batch.All(c.Rows())}
	keep, failed := s.where.Run(&u.Context, in, scratch)
	if len(failed) > 0 {
		if err := s.send(ctx, Frame{Kind: FrameSkipped, Count: len(failed), Cause: SkipFilterFailed}); err != nil {
			return err
		}
	}
	keep = s.sampled(keep)
	if keep.Len() == 0 {
		return nil
	}
	rows := batch.Gather(s.d.deps.Memory, c.Batch, keep)
	defer rows.Release()
	for first := int64(0); first < rows.NumRows(); first += frameRowsMax {
		part := rows.NewSlice(first, min(first+frameRowsMax, rows.NumRows()))
		if err := s.send(ctx, Frame{Kind: FrameRows, Batch: part}); err != nil {
			return err
		}
	}
	return nil
}

// sampled draws per selected row.
func (s *Subscription) sampled(keep batch.Selection) batch.Selection {
	if s.options.SampleRate <= 0 || s.options.SampleRate >= 1 {
		return keep
	}
	var rows []int32
	for i := range keep.Len() {
		// 53 random bits make a float in [0, 1) without a rounding step.
		if float64(s.sample.Uint64()>>11)/(1<<53) < s.options.SampleRate {
			rows = append(rows, int32(i))
		}
	}
	return keep.Narrow(rows)
}

// send hands a frame to the session. A blocking subscription waits for room; a
// dropping one counts the rows and tells before its next ones.
func (s *Subscription) send(ctx context.Context, f Frame) error {
	f.Subscription = s
	if !s.options.Dropping {
		if err := s.options.Queue.Send(ctx, f); err != nil {
			f.release()
			return err
		}
		return nil
	}
	if s.lost > 0 && s.options.Queue.TrySend(Frame{Subscription: s, Kind: FrameLost, Count: s.lost}) {
		s.lost = 0
	}
	if s.lost > 0 || !s.options.Queue.TrySend(f) {
		if f.Kind == FrameRows {
			s.lost += int(f.Batch.NumRows())
			s.dropped.Add(int(f.Batch.NumRows()))
		}
		f.release()
	}
	return nil
}

func (f *Frame) release() {
	if f.Batch != nil {
		f.Batch.Release()
	}
}

// endSubscriptions tells the relay's subscriptions that their generation is
// over.
func (r *Relay) endSubscriptions(why EndCause) {
	r.lock()
	defer r.mu.Unlock()
	r.ended = &why
	for _, t := range *r.consumers.Load() {
		if t.subscription != nil {
			t.subscription.ending.TrySend(why)
		}
	}
}
