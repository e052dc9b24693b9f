package flow

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/decide"
	"plexus/engine/expr"
	"plexus/engine/observe"
	"plexus/primitives"
)

// Group is a closed ingest group: the decoded messages of one source instance
// that run as one unit of work.
type Group struct {
	Batch    arrow.RecordBatch // one reference
	Metadata arrow.RecordBatch // one reference, aligned with Batch; nil without a typed scope
	Headers  expr.Headers      // nil without headers
	// Origin is the connector's event time of each message, Unix nanoseconds; nil
	// when it has none.
	Origin []int64
	Acks   *ack.Set // nil without acknowledgement
	// Executed, when set, happens once the group ran; Refused is final by then.
	Executed *primitives.Event
	Refused  bool // the operator stopped before the group ran
}

func (g *Group) release() {
	g.Batch.Release()
	if g.Metadata != nil {
		g.Metadata.Release()
	}
}

func (g *Group) fail(now primitives.Instant, why ack.Reason) {
	g.Acks.Fail(now, why)
	g.release()
	g.Refused = true
	if g.Executed != nil {
		g.Executed.Set()
	}
}

// Intake is where a source host hands over its groups. Several instances share
// one intake; groups run in the order of arrival.
type Intake struct {
	Plan *decide.IngestorPlan
	// Suspended is how the source begins: a hold may last.
	Suspended Suspension
	// Ledger is where the roots of acknowledged messages are opened.
	Ledger *ack.Ledger
	// Load counts what the source host has in hand beyond its groups: batches
	// whose confirmation is open.
	Load *Load

	p *processor
}

// Execute hands the group over, waiting for room, and takes it over whatever it
// returns.
func (in *Intake) Execute(ctx context.Context, g *Group) error {
	in.p.load.Add(1)
	err := in.p.groups.Send(ctx, g)
	if err != nil {
		g.fail(in.p.d.now(), reasonStopped)
		in.p.load.Add(-1)
	}
	return err
}

// execute runs the group as one unit of work.
func (p *processor) execute(g *Group) {
	u := p.d.Unit()
	u.Context.Headers = g.Headers
	rows := int(g.Batch.NumRows())
	times, nulls := p.eventTimes(u, g)
	c := NewCarrier(g.Batch, times, times, g.Acks)
	in := &expr.Rows{Input: g.Batch, Metadata: g.Metadata, Select: batch.All(rows)}
	var early []RowFault
	if nulls != nil {
		for _, row := range nulls {
			early = append(early, RowFault{Row: row, Code: "validation", Operation: "admit", Index: expr.NoIndex,
				Fields:  []string{"message." + p.program.ingest.Codec.Schema.Fields[p.program.ingest.TimestampField].Name},
				Message: "validation: admit: the declared timestamp is null"})
		}
		in.Select = without(rows, nulls)
	}
	var failed []expr.RowError
	in.Select, failed = p.program.filter.Run(&u.Context, in, p.scratch)
	early = MergeFaults(early, Evaluation(failed))
	p.distribute(u, c, in, early, true)
	if g.Metadata != nil {
		g.Metadata.Release()
	}
	if g.Executed != nil {
		g.Executed.Set()
	}
	observe.Emit(p.d.deps.Tap, observe.Event{Kind: observe.ConsumerTook, Domain: p.d.name, Name: p.self.Name, Peer: "source", Count: rows})
	p.load.Add(-1)
}

// eventTimes returns the event time of every row and the rows whose declared
// timestamp is null.
func (p *processor) eventTimes(u *Unit, g *Group) (times []int64, nulls []int32) {
	plan := p.program.ingest
	rows := int(g.Batch.NumRows())
	if !plan.TimestampNow && plan.TimestampField < 0 && g.Origin != nil {
		return g.Origin, nil
	}
	times = make([]int64, rows)
	if plan.TimestampNow || plan.TimestampField < 0 {
		for i := range times {
			times[i] = u.Context.Now
		}
		return times, nil
	}
	column := g.Batch.Column(plan.TimestampField).(*array.Timestamp)
	for i := range times {
		if column.IsNull(i) {
			nulls = append(nulls, int32(i))
			times[i] = u.Context.Now
			continue
		}
		times[i] = int64(column.Value(i))
	}
	return times, nulls
}

// without selects every row but the listed ones, which ascend.
func without(total int, rows []int32) batch.Selection {
	kept := make([]int32, 0, total-len(rows))
	for i := range int32(total) {
		if len(rows) > 0 && rows[0] == i {
			rows = rows[1:]
			continue
		}
		kept = append(kept, i)
	}
	return batch.Rows(total, kept)
}
