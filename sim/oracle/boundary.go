package oracle

import (
	"context"

	"plexus/connectors/contract"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
)

// Boundary watches one process of a node where its hosts meet its connectors: it
// wraps what the node opens and compares what is read, offered, answered and
// acknowledged.
//
// It checks: an emitter offers records for the first time in the order in which
// they arrived; what a sink left unresolved is offered again byte for byte before
// anything else; what is resolved, or was confirmed to the driver, is never
// offered again; a position is acknowledged, and a cursor restored, only behind
// confirmed deliveries.
type Boundary struct {
	fail       Fail
	deliveries *Deliveries
	number     func(payload []byte) (uint64, bool) // of a record at its source

	// Arrived and Acknowledged are called for each record, where the source has no
	// ledger of its own; nil otherwise.
	Arrived      func(number uint64, payload []byte)
	Acknowledged func(number uint64)
	// Rejected is called for each payload that a sink refused for good; nil if
	// nobody cares.
	Rejected func(payload []byte)

	intake   *Intake
	lanes    map[laneID]uint32
	sources  map[string]*sourceWatch // by ingestor
	sinks    map[string]*sinkWatch   // by emitter
	subjects map[string]*sinkWatch   // by NATS subject
}

// NewBoundary returns a watch over one process. number reads the number of a
// record as its source holds it; a record without one is not followed. It is nil
// where records do not come through a source, as those of an endpoint. intake is
// shared by the processes of a cluster.
func NewBoundary(fail Fail, d *Deliveries, number func(payload []byte) (uint64, bool), intake *Intake) *Boundary {
	return &Boundary{
		fail: fail, deliveries: d, number: number, intake: intake, lanes: map[laneID]uint32{},
		sources: map[string]*sourceWatch{}, sinks: map[string]*sinkWatch{}, subjects: map[string]*sinkWatch{},
	}
}

// Connectors wraps a node's connectors.
func (b *Boundary) Connectors(c contract.Connectors) contract.Connectors {
	out := contract.Connectors{Sources: map[vocab.SourceEntity]contract.SourceOpener{}, Sinks: map[vocab.SinkEntity]contract.SinkOpener{}}
	for entity, open := range c.Sources { //plexus:orderfree every entry is wrapped
		out.Sources[entity] = b.source(open)
	}
	for entity, open := range c.Sinks { //plexus:orderfree every entry is wrapped
		out.Sinks[entity] = b.sink(open)
	}
	return out
}

// source wraps what a source opener opens.
func (b *Boundary) source(open contract.SourceOpener) contract.SourceOpener {
	return func(ctx context.Context, plan contract.SourcePlan, instance int, env contract.Env) (contract.Source, error) {
		s, err := open(ctx, plan, instance, env)
		if err != nil {
			return s, err
		}
		inner, ok := s.(contract.BatchSource)
		if !ok {
			return s, nil
		}
		w := &sourceWatch{BatchSource: inner, boundary: b, lane: b.lane(laneID{env.Identity.Name, instance})}
		b.sources[env.Identity.Name] = w
		switch inner := s.(type) {
		case contract.StatefulSource:
			return &cursorWatch{w, inner}, nil
		case contract.KeepAliveSource:
			return &keptWatch{w, inner}, nil
		}
		return w, nil
	}
}

// laneID is an instance of a source.
type laneID struct {
	ingestor string
	instance int
}

// lane returns the lane of an instance, which outlives its sources.
func (b *Boundary) lane(id laneID) uint32 {
	if b.lanes[id] == 0 {
		b.lanes[id] = b.intake.lane()
	}
	return b.lanes[id]
}

// sink wraps what a sink opener opens.
func (b *Boundary) sink(open contract.SinkOpener) contract.SinkOpener {
	return func(ctx context.Context, plan contract.SinkPlan, env contract.Env) (contract.Sink, error) {
		s, err := open(ctx, plan, env)
		if err != nil {
			return s, err
		}
		w := b.watch(env.Identity.Name)
		b.subjects[plan.Names.Get("SUBJECT")] = w
		switch inner := s.(type) {
		case contract.RecordSink:
			return &recordWatch{inner, w}, nil
		case contract.HTTPRequestSink:
			return &requestWatch{inner, w}, nil
		}
		return s, nil
	}
}

// watch returns the watch over an emitter, which outlives its sinks.
func (b *Boundary) watch(emitter string) *sinkWatch {
	w := b.sinks[emitter]
	if w == nil {
		w = &sinkWatch{boundary: b, emitter: emitter, offered: map[uint32]uint64{}}
		b.sinks[emitter] = w
	}
	return w
}

// Observe implements observe.Tap: an emitter that was stopped gives up what it
// retained, and a cursor is durable.
func (b *Boundary) Observe(e observe.Event) {
	switch e.Kind {
	case observe.PayloadDropped:
		b.watch(e.Name).retained = nil
	case observe.StateSaved:
		if s := b.sources[e.Name]; s != nil {
			b.confirmed(s.batch, "makes the cursor durable behind")
		}
	}
}

var _ observe.Tap = (*Boundary)(nil)
