package host

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/connectors/contract"
	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/codec"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var groupIdle = invariant.Sometimes("an ingest group closed because no message followed")

// closeCause is why an ingest group closed.
type closeCause uint8

const (
	closedRows closeCause = iota
	closedIdle
	closedRequest
	closedFlush
	closeCauses
)

var closeCauseNames = [closeCauses]string{"rows", "idle", "request", "flush"}

// payload is one message as the host handles it.
type payload struct {
	bytes    []byte
	headers  []contract.Header
	metadata contract.Metadata
}

// group is the open ingest group of one source instance and its decode scratch.
type group struct {
	world   primitives.World
	intake  *flow.Intake
	scope   vocab.MetadataScope
	decoder *codec.Decoder
	memory  memory.Allocator
	closed  [closeCauses]*observe.Counter
	emit    func(observe.Event)

	rows       *codec.Group
	ackTimeout time.Duration
	headered   bool // the entity has headers
	typed      bool // the entity's scope has fields
	headers    headerRows
	metadata   []contract.Metadata // only for a typed scope
	last       primitives.Instant  // last append
	open       bool                // counted in the intake's load
}

// headerRows are the headers of a group's messages.
type headerRows [][]contract.Header

// Header implements expr.Headers.
func (h headerRows) Header(row int, name []byte, nth int) (string, bool) {
	for i := range h[row] {
		if h[row][i].Name != string(name) {
			continue
		}
		if nth == 0 {
			return h[row][i].Value, true
		}
		nth--
	}
	return "", false
}

// add decodes a payload into the group and closes the group when it is full.
// An error speaks of the payload; its neighbours are untouched.
func (g *group) add(ctx context.Context, p payload, tally *ack.Tally) error {
	messages, err := g.decoder.Decode(p.bytes, g.rows)
	if errors.Is(err, codec.ErrGroupFull) {
		if _, err := g.close(ctx, closedRows, tally, nil); err != nil {
			return err
		}
		messages, err = g.decoder.Decode(p.bytes, g.rows)
	}
	if err != nil {
		return &DecodeError{err}
	}
	for range messages {
		if g.headered {
			g.headers = append(g.headers, p.headers)
		}
		if g.typed {
			g.metadata = append(g.metadata, p.metadata)
		}
	}
	if !g.open {
		g.open = true
		g.intake.Load.Add(1)
	}
	g.last = g.world.Clock().Now()
	if g.rows.Rows() >= groupRowsMax {
		_, err := g.close(ctx, closedRows, tally, nil)
		return err
	}
	return nil
}

// close hands the group over for execution and returns it; nothing happens to an
// empty one. With a tally every message gets a root of it.
func (g *group) close(ctx context.Context, cause closeCause, tally *ack.Tally, executed *primitives.Event) (*flow.Group, error) {
	n := g.rows.Rows()
	if n == 0 {
		return nil, nil
	}
	g.closed[cause].Add(1)
	out := &flow.Group{Batch: g.rows.Finish(), Executed: executed}
	if g.headered {
		out.Headers = slices.Clone(g.headers)
	}
	out.Metadata, out.Origin = g.sidecars(n)
	clear(g.headers)
	g.headers, g.metadata = g.headers[:0], g.metadata[:0]
	if tally != nil {
		// Waiting for room is no progress: it ends the attempt like any stall.
		now := g.world.Clock().Now()
		out.Acks = tally.Open(n, now)
		bounded, cancel := primitives.WithDeadline(ctx, g.world, now.Add(g.ackTimeout))
		defer cancel()
		ctx = bounded
	}
	g.emit(observe.Event{Kind: observe.GroupClosed, Count: n, Text: closeCauseNames[cause]})
	err := g.intake.Execute(ctx, out)
	g.open = false
	g.intake.Load.Add(-1)
	return out, err
}

// sidecars builds the metadata columns and the connector's event times.
func (g *group) sidecars(n int) (metadata arrow.RecordBatch, origin []int64) {
	if !g.typed {
		return nil, nil
	}
	b := array.NewRecordBuilder(g.memory, batch.ArrowSchema(&vocab.Schema{Fields: g.scope.Fields()}))
	defer b.Release()
	ids, times := b.Field(0).(*array.StringBuilder), b.Field(1).(*array.TimestampBuilder)
	origin = make([]int64, 0, n)
	for _, m := range g.metadata {
		if m.RecordID == "" {
			ids.AppendNull()
		} else {
			ids.Append(m.RecordID)
		}
		if m.HasOriginTime {
			times.Append(arrow.Timestamp(m.OriginTime))
			origin = append(origin, m.OriginTime)
		} else {
			times.AppendNull()
		}
	}
	if len(origin) < n {
		origin = nil // a group whose messages have no common clock takes the snapshot
	}
	return b.NewRecordBatch(), origin
}

// idleAt is when the group closes for want of messages.
func (g *group) idleAt() primitives.Instant {
	if g.rows.Rows() == 0 {
		return primitives.Never
	}
	return g.last.Add(groupIdleMax)
}

// release gives the scratch back and forgets what was not executed.
func (g *group) release() {
	if g.open {
		g.open = false
		g.intake.Load.Add(-1)
	}
	g.rows.Release()
}
