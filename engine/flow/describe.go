package flow

import (
	"time"

	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/primitives"
)

// Transient is the failure an operator is waiting out.
type Transient struct {
	Err     error // nil: none
	Backoff time.Duration
	Until   primitives.Instant // when the next attempt is due
}

// InstanceStatus is one instance of a source.
type InstanceStatus struct {
	Ready     bool
	Stopped   string // why it will not go on by itself; "" while it does
	Transient Transient
}

// IngestorStatus is what DESCRIBE INGESTOR shows of a running ingestor.
type IngestorStatus struct {
	Plan                              *decide.IngestorPlan
	Status                            string // running, quiesced, stopped
	Ready                             bool
	Held                              bool
	Instances                         []InstanceStatus
	Buffered                          int // payloads and bytes held by ON QUIESCE
	BufferedBytes, Dropped, Rejected  uint64
	Acknowledged, Returned, Abandoned uint64 // positions by outcome
	DecodeDropped                     uint64
	OpenRoots                         int
	Edges                             []observe.EdgeSummary
}

// EmitterStatus is what DESCRIBE EMITTER shows of a running emitter.
type EmitterStatus struct {
	Plan      *decide.EmitterPlan
	Status    string // OK, WAITING, ERROR
	Detail    string
	Transient Transient
	Buffered  int // rows
	Retained  int // prepared payloads
	Edges     []observe.EdgeSummary
}

// RelayStatus is what DESCRIBE RELAY shows.
type RelayStatus struct {
	Plan                              *decide.RelayPlan
	Buffered                          int // batches
	Waiting                           int // dispatches
	Admitted                          uint64
	Attached, Detached, Subscriptions int
	// Nodes are the other nodes that get a copy of every batch.
	Nodes []string
}

// JunctionStatus is what DESCRIBE JUNCTION shows of a running junction.
type JunctionStatus struct {
	Plan    *decide.JunctionPlan
	Batches int // in hand
	Edges   []observe.EdgeSummary
}

// DescribeRelay reads a relay; false where another node owns it.
func (d *Domain) DescribeRelay(name string) (RelayStatus, bool) {
	r := d.views.Load().relays[name]
	if r == nil {
		return RelayStatus{}, false
	}
	r.lock()
	if r.mirror {
		r.mu.Unlock()
		return RelayStatus{}, false
	}
	s := RelayStatus{Plan: r.plan, Buffered: len(r.buffer), Waiting: len(r.waiting), Admitted: r.admitted}
	r.mu.Unlock()
	for _, t := range *r.consumers.Load() {
		switch t.order {
		case orderAttached:
			s.Attached++
		case orderRemote:
			s.Nodes = append(s.Nodes, t.name)
		case orderDetached:
			s.Detached++
		default:
			s.Subscriptions++
		}
	}
	for _, other := range d.readersOf(d.revision.Load())[name] {
		switch {
		case other.node == "":
		case other.attached:
			s.Attached++
		default:
			s.Detached++
		}
	}
	return s, true
}

// DescribeJunction reads a junction; false while it does not run.
func (d *Domain) DescribeJunction(name string) (JunctionStatus, bool) {
	j := d.views.Load().junctions[name]
	if j == nil {
		return JunctionStatus{}, false
	}
	return JunctionStatus{Plan: j.plan, Batches: j.processor.load.Count(), Edges: j.processor.edges()}, true
}

// DescribeIngestor reads an ingestor; false while it does not run.
func (d *Domain) DescribeIngestor(name string) (IngestorStatus, bool) {
	in := d.views.Load().ingestors[name]
	if in == nil {
		return IngestorStatus{}, false
	}
	s := in.host.Describe()
	s.Plan, s.OpenRoots = in.plan, in.intake.Load.Count()
	s.Edges = append(s.Edges, in.processor.edges()...)
	return s, true
}

// DescribeEmitter reads an emitter; false while it does not run.
func (d *Domain) DescribeEmitter(name string) (EmitterStatus, bool) {
	e := d.views.Load().emitters[name]
	if e == nil {
		return EmitterStatus{}, false
	}
	s := e.host.Describe()
	s.Plan = e.plan
	return s, true
}

// edges summarises the edges of the processor. They are fixed after start.
func (p *processor) edges() []observe.EdgeSummary {
	now := p.d.now()
	var out []observe.EdgeSummary
	for _, c := range p.collectors {
		out = append(out, c.edge.Summary(now))
	}
	for _, r := range p.routes {
		out = append(out, r.outlet.edge.Summary(now))
		if r.errors.outlet != nil {
			out = append(out, r.errors.outlet.edge.Summary(now))
		}
	}
	return out
}
