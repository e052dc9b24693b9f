package exchangetest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"

	"plexus/engine/ack"
	"plexus/engine/exchange"
	"plexus/primitives"
)

// graph is what deliveries arrive at: it takes batches after a while and ends
// their rows in pieces.
type graph struct {
	c     *Cluster
	w     primitives.World
	tasks *primitives.Group
	room  *primitives.Semaphore
}

// Layout implements exchange.Receiver.
func (g *graph) Layout(_ exchange.Role, _, relay string, note []byte) (*exchange.Layout, error) {
	if relay == "nowhere" {
		return nil, &exchange.Refusal{Class: exchange.Rejected, Subject: "relay", Detail: "not here"}
	}
	if string(note) != Note(relay) {
		return nil, &exchange.Refusal{Class: exchange.Failed, Subject: "note", Detail: "it is another one"}
	}
	return g.c.Layout, nil
}

// Note is what goes beside a batch of a relay.
func Note(relay string) string { return "note of " + relay }

// Accept implements exchange.Receiver.
func (g *graph) Accept(ctx context.Context, _ exchange.Process, ch exchange.Channel, b *exchange.Batch, acks *ack.Set) error {
	c := g.c
	if err := g.room.Acquire(ctx, 1); err != nil {
		return err
	}
	defer g.room.Release(1)
	if string(b.Note) != Note(ch.Relay) {
		return &exchange.Refusal{Class: exchange.Failed, Subject: "note", Detail: "it is another one"}
	}
	if err := primitives.Sleep(ctx, g.w, time.Duration(c.draw(uint64(c.Work)))); err != nil {
		return err
	}
	if c.chance(c.Refuses) {
		return &exchange.Refusal{Class: exchange.NotReady, Subject: "gate", Detail: "closed"}
	}
	numbers := slices.Clone(b.Record.Column(0).(*array.Int64).Int64Values())
	b.Record.Release()
	for i, at := range numbers {
		if b.Low[i] != at*10 || b.High[i] != at*10+1 {
			c.Fail("watermarks", fmt.Sprintf("row %d has %d and %d", at, b.Low[i], b.High[i]))
		}
		r := &c.Rows[at]
		r.Seen++
		if !r.acked && r.Seen > 1 {
			c.Fail("no-duplicates", fmt.Sprintf("row %d without a share was seen %d times", at, r.Seen))
		}
	}
	consumers := 1 + int(c.draw(2))
	left := map[int64]int{}
	for _, at := range numbers {
		left[at] = consumers
	}
	for _, child := range acks.Fork(consumers, g.w.Clock().Now()) {
		g.tasks.Go("graph", func(context.Context) error {
			g.finish(numbers, left, child)
			return nil
		})
	}
	return nil
}

// finish ends the rows of one consumer in pieces.
func (g *graph) finish(numbers []int64, left map[int64]int, acks *ack.Set) {
	c := g.c
	background := context.Background()
	for len(numbers) > 0 {
		for wait := time.Duration(c.draw(uint64(3 * c.Work))); wait > 0; wait -= 100 * time.Millisecond {
			_ = primitives.Sleep(background, g.w, min(wait, 100*time.Millisecond))
			acks.Touch(g.w.Clock().Now())
		}
		var listed []int32
		var now, later []int64
		for i, at := range numbers {
			if c.draw(3) > 0 {
				listed, now = append(listed, int32(i)), append(now, at)
			} else {
				later = append(later, at)
			}
		}
		var rest *ack.Set
		ends := acks
		if len(later) > 0 {
			ends, rest = acks.Partition(listed)
		}
		if c.chance(c.Fails) {
			ends.Fail(g.w.Clock().Now(), ack.Reason{Class: ack.ClassMessage, Text: "the graph failed it"})
		} else {
			for _, at := range now {
				if left[at]--; left[at] == 0 {
					c.Rows[at].Good++
				}
			}
			ends.OK(g.w.Clock().Now())
		}
		numbers, acks = later, rest
	}
}
