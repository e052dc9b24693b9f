package host

import (
	"context"
	"sync/atomic"

	"plexus/connectors/contract"
	"plexus/engine/codec"
	"plexus/engine/decide"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// ingestor hosts the instances of one source. Tasks of the instances and
// callers of its methods share only what is atomic.
type ingestor struct {
	host    *Host
	d       *flow.Domain
	intake  *flow.Intake
	plan    *decide.IngestorPlan
	caps    *vocab.SourceCapabilities
	self    observe.Endpoint
	decoder *codec.Decoder
	edge    *observe.Edge

	suspended atomic.Int32 // a flow.Suspension
	stopping  atomic.Bool

	instances []*instance

	positions     [3]*observe.Counter // by outcome
	decodeDropped *observe.Counter
	saves         [2]*observe.Counter // by success
	stateBytes    *observe.Gauge
	lastDelivery  *observe.Counter
	buffered      *observe.Gauge
	bufferedBytes *observe.Gauge
	dropped       *observe.Counter
	groupsClosed  [closeCauses]*observe.Counter
}

// The outcomes of positions.
const (
	acknowledged = iota
	rejected
	abandoned
)

func (h *Host) newIngestor(d *flow.Domain, in *flow.Intake) (*ingestor, error) {
	plan := in.Plan
	g := &ingestor{
		host: h, d: d, intake: in, plan: plan, caps: plan.Source.Entity.Capabilities(),
		self: observe.Endpoint{Kind: "ingestor", Name: plan.Name},
	}
	g.suspended.Store(int32(in.Suspended))
	decoder, err := codec.NewDecoder(&plan.Codec)
	if err != nil {
		return nil, &StartError{"ingestor " + plan.Name, "codec", err}
	}
	g.decoder = decoder
	r := d.Deps().Metrics
	for i, outcome := range []string{"acknowledged", "rejected", "abandoned"} {
		g.positions[i] = r.Counter(observe.Positions, d.Name(), plan.Name, outcome)
	}
	for i, outcome := range []string{"failed", "saved"} {
		g.saves[i] = r.Counter(observe.CursorSaves, d.Name(), plan.Name, outcome)
	}
	g.decodeDropped = r.Counter(observe.DecodeDropped, d.Name(), plan.Name)
	g.stateBytes = r.Gauge(observe.CursorStateBytes, d.Name(), plan.Name)
	g.lastDelivery = r.Counter(observe.LastDelivery, d.Name(), plan.Name)
	g.buffered = r.Gauge(observe.QuiesceRecords, d.Name(), plan.Name)
	g.bufferedBytes = r.Gauge(observe.QuiesceBytes, d.Name(), plan.Name)
	g.dropped = r.Counter(observe.QuiesceDropped, d.Name(), plan.Name)
	for i := range closeCauses {
		g.groupsClosed[i] = r.Counter(observe.IngestGroups, d.Name(), plan.Name, closeCauseNames[i])
	}
	g.edge = d.Edge(g.self, "received", "-", observe.Endpoint{Kind: "source", Name: plan.Source.Entity.String()})
	return g, nil
}

// StartIngestor implements flow.External.
func (h *Host) StartIngestor(d *flow.Domain, in *flow.Intake) (flow.IngestorHost, error) {
	g, err := h.newIngestor(d, in)
	if err != nil {
		return nil, err
	}
	if in.Plan.Source.Entity == vocab.SourceHTTPEndpoint {
		return h.startEndpoint(g), nil
	}
	open := h.connectors.Sources[in.Plan.Source.Entity]
	for n := range max(in.Plan.Source.Instances, 1) {
		i := newInstance(g, n, open)
		g.instances = append(g.instances, i)
		i.task = d.Start("source", i.run)
	}
	return g, nil
}

// newGroup returns an empty ingest group for one task.
func (g *ingestor) newGroup() *group {
	deps := g.d.Deps()
	return &group{
		world: g.d.World(), intake: g.intake, scope: g.caps.Scope, decoder: g.decoder, memory: deps.Memory, closed: g.groupsClosed,
		rows: g.decoder.NewGroup(deps.Memory), emit: g.emit, ackTimeout: g.plan.Source.Mode.AckTimeout,
		headered: g.caps.Headers, typed: len(g.caps.Scope.Fields()) > 0,
	}
}

func (g *ingestor) emit(e observe.Event) {
	e.Domain, e.Name = g.d.Name(), g.self.Name
	observe.Emit(g.d.Deps().Tap, e)
}

// held reports whether intake is suspended; shut, that it is whatever ON QUIESCE
// says.
func (g *ingestor) held() bool { return g.suspension() != flow.Flowing }
func (g *ingestor) shut() bool { return g.suspension() == flow.Shut }

func (g *ingestor) suspension() flow.Suspension { return flow.Suspension(g.suspended.Load()) }

// Suspend implements flow.IngestorHost.
func (g *ingestor) Suspend(s flow.Suspension) {
	g.suspended.Store(int32(s))
	for _, i := range g.instances {
		i.interrupt()
	}
}

// Stop implements flow.IngestorHost.
func (g *ingestor) Stop(ctx context.Context, deadline primitives.Instant) {
	g.stopping.Store(true)
	for _, i := range g.instances {
		i.interrupt()
	}
	for _, i := range g.instances {
		// At the deadline, or when the caller gives up, the task is cancelled.
		_, _ = primitives.Select(ctx, g.d.World(), i.task.Done().OnSet(), primitives.AtCase(g.d.World(), deadline))
		i.task.Stop()
	}
}

// Describe implements flow.IngestorHost.
func (g *ingestor) Describe() flow.IngestorStatus {
	s := flow.IngestorStatus{
		Status: "running", Held: g.held(), Ready: true,
		Buffered: int(g.buffered.Value()), BufferedBytes: uint64(g.bufferedBytes.Value()), Dropped: g.dropped.Value(),
		Acknowledged: g.positions[acknowledged].Value(), Returned: g.positions[rejected].Value(), Abandoned: g.positions[abandoned].Value(),
		DecodeDropped: g.decodeDropped.Value(),
	}
	for _, i := range g.instances {
		one := flow.InstanceStatus{Ready: i.ready.Load(), Transient: i.status.read()}
		if why := i.stopped.Load(); why != nil {
			one.Stopped = *why
			s.Status = "stopped"
		}
		s.Ready = s.Ready && one.Ready
		s.Instances = append(s.Instances, one)
	}
	if s.Held && s.Status == "running" {
		s.Status = "quiesced"
	}
	s.Edges = []observe.EdgeSummary{g.edge.Summary(g.d.World().Clock().Now())}
	return s
}

// undecodable applies ON GENERAL ERROR to a payload that does not decode, and
// reports whether it is consumed.
func (g *ingestor) undecodable(err error) (consumed bool) {
	if g.plan.GeneralError == decide.GeneralLog {
		g.d.Report(g.self, err)
	}
	if !g.plan.Source.Mode.Acknowledged || g.plan.GeneralError == decide.GeneralIgnore {
		g.decodeDropped.Add(1)
		return true
	}
	return false
}

// env is what a connector of this ingestor may use.
func (g *ingestor) env(s *status) contract.Env {
	return contract.Env{
		World:    g.d.World(),
		Events:   &events{g.d, g.self, s, g.lastDelivery},
		Identity: contract.Identity{Node: g.host.node, Domain: g.d.Name(), Name: g.plan.Name},
	}
}
