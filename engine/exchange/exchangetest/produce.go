package exchangetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/exchange"
	"plexus/primitives"
)

// Record makes the batch that holds rows.
func Record(numbers []int64) (rec arrow.RecordBatch, low, high []int64) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, Schema)
	defer b.Release()
	for _, at := range numbers {
		b.Field(0).(*array.Int64Builder).Append(at)
		low, high = append(low, at*10), append(high, at*10+1)
	}
	return b.NewRecordBatch(), low, high
}

// relays is how many each node sends to on each other one.
const relays = 3

// produce sends batches to every other node until the run is over, and again what
// failed, as a source does.
func (n *Node) produce(ctx context.Context, w primitives.World) {
	group := primitives.NewGroup(ctx, w)
	for _, to := range n.c.Nodes {
		if to == n {
			continue
		}
		for relay := range relays {
			for _, acked := range []bool{true, false} {
				p := &producer{
					n: n, w: w, acked: acked, ledger: ack.NewLedger("d", nil, nil),
					ch: exchange.Channel{
						Node: to.Name, Role: exchange.Role(1 + relay%2), Domain: "d", Relay: fmt.Sprintf("r%d", relay), Branch: fmt.Sprint(acked),
					},
				}
				group.Go("producer", p.run)
			}
		}
	}
	_ = group.Wait(context.Background())
}

type producer struct {
	n      *Node
	w      primitives.World
	ch     exchange.Channel
	acked  bool
	ledger *ack.Ledger
	again  [][]int64
}

func (p *producer) run(ctx context.Context) error {
	c := p.n.c
	for primitives.Canceled(ctx) == nil {
		var numbers []int64
		switch {
		case len(p.again) > 0:
			numbers, p.again = p.again[0], p.again[1:]
		case c.Over():
			_ = primitives.Sleep(ctx, p.w, time.Second)
			continue
		default:
			numbers = p.n.Birth(p.acked, 1+int(c.draw(6)))
		}
		p.deliver(ctx, numbers)
		_ = primitives.Sleep(ctx, p.w, time.Duration(c.draw(uint64(400*time.Millisecond))))
	}
	return nil
}

// deliver offers rows until they are admitted or their shares have failed.
func (p *producer) deliver(ctx context.Context, numbers []int64) {
	c, n := p.n.c, p.n
	rec, low, high := Record(numbers)
	defer rec.Release()
	body, err := n.Exchange.Encode(ctx, p.ch.Domain, p.ch.Relay, c.Layout, rec, low, high)
	if err != nil {
		p.again = append(p.again, numbers)
		return
	}
	defer body.Release()
	var acks *ack.Set
	if p.acked {
		_, acks = p.ledger.Open(len(numbers), p.w.Clock().Now(), func(out ack.Outcome) { p.outcome(numbers, out) })
	}
	inner, stop := primitives.WithCancel(ctx, p.w)
	defer stop()
	if !c.Calm() && c.draw(20) == 0 {
		at := p.w.Clock().Now().Add(time.Duration(c.draw(uint64(2 * c.Work))))
		timer := p.w.Clock().At(at, stop)
		defer timer.Stop()
	}
	err = n.Exchange.Deliver(inner, p.ch, body, []byte(Note(p.ch.Relay)), acks)
	if err == nil {
		return
	}
	var refused *exchange.NotAdmitted
	if !errors.As(err, &refused) {
		c.Fail("typed-errors", fmt.Sprintf("Deliver failed with %v", err))
		return
	}
	if refused.Cause == exchange.Refused {
		c.Fail("no-refusal", fmt.Sprintf("nobody refuses for good here: %v", err))
	}
	switch {
	case refused.Cause == exchange.Cancelled && acks != nil:
		acks.Fail(p.w.Clock().Now(), ack.Dropped)
	case acks != nil:
	case refused.Again:
		for _, at := range numbers {
			if c.Rows[at].Seen > 0 {
				c.Fail("again", fmt.Sprintf("row %d was seen and may be offered again: %v", at, err))
			}
		}
		p.again = append(p.again, numbers)
	default:
		for _, at := range numbers {
			c.Rows[at].lost = true
		}
	}
}

// outcome is the end of the roots of one batch: what failed comes again.
func (p *producer) outcome(numbers []int64, out ack.Outcome) {
	c := p.n.c
	if out.Failed {
		p.again = append(p.again, numbers)
		return
	}
	for _, at := range numbers {
		c.Rows[at].done = true
		if c.Rows[at].Good == 0 {
			c.Fail("no-acknowledged-loss", fmt.Sprintf("row %d was acknowledged and no graph ended it well", at))
		}
	}
}
