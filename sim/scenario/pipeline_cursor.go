package scenario

import (
	"bytes"
	"time"

	"plexus/sim/brokers/nats"
	"plexus/sim/campaign"
	"plexus/sim/oracle"
	"plexus/sim/workload"
)

// cursorPipeline is a pipeline whose source keeps its place on the node.
func cursorPipeline() campaign.Scenario {
	return campaign.Scenario{
		Name: "cursor-pipeline",
		About: "Rows of a seeded generator whose place the node keeps leave on a stream: the place is never ahead of " +
			"what was delivered, and rows are read again as they were.",
		Horizon: time.Minute, Steps: 40_000,
		Setup: func(r *campaign.Run) {
			if x := newCursor(r); x.start() {
				x.operate(workload.Operator{Replaceable: []string{"NATS SUBJECT EMITTER marks_out", "RELAY marks"}})
				x.due()
			}
		},
	}
}

// newCursor puts a pipeline there whose source keeps its place on its node.
func newCursor(r *campaign.Run) *rig {
	rows := &workload.Rows{}
	x := newRig(r, workload.Standard(workload.CursorPipeline, 0), rows.Reference(), workload.RowNumber)
	boundary := x.boundary
	x.boundary = func() *oracle.Boundary {
		b := boundary()
		b.Arrived = func(number uint64, payload []byte) {
			if !rows.Read(number, bytes.Clone(payload)) {
				r.Sim.Fail("same-row-again", "a row was read again and is another")
			}
			x.deliveries.Sourced(number)
		}
		b.Acknowledged = x.deliveries.Acknowledged
		return b
	}
	x.systems.Bus.CreateStream(nats.Stream{Name: "marks", Subjects: []string{"marks"}})
	ledger := x.systems.Bus.Ledger()
	ledger.Observe(x.deliveries.Sinks(ledger, oracle.Sink{Channel: "marks", Leaf: workload.LeafMarked}))
	return x
}

// due holds that every row arrives which was read a minute before the end: the
// generator goes on, so the rows of the last minute do not count.
func (x *rig) due() {
	x.client.World().Tasks().Go("due", func() {
		over(x.run)
		x.sim.Sleep(time.Minute, "rows that count")
		x.deliveries.Due()
	})
	// A cursor that became durable is an acknowledgement, whether or not the process
	// lived to tell its source.
	x.run.Hold(x.deliveries.Everything(false))
}
