package session

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/engine/session/document"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

// describe answers DESCRIBE, with what the owner of an operator says where that is
// another node.
func (q *request) describe(ctx context.Context, x *ast.Describe) (document.Value, ast.Diagnostics) {
	d, found := q.selected(x)
	if len(found) > 0 {
		return nil, found
	}
	if x.Kind == vocab.EntityDomain {
		return q.describeDomain(d), nil
	}
	m, found := q.model(x, x.Kind, x.Name)
	if len(found) > 0 {
		return nil, found
	}
	if p, ok := m.Definition.(*model.Placement); ok {
		return placementReport(decide.DescribePlacement(q.state(), d.Name, p.Name)), nil
	}
	if u, ok := m.Definition.(*model.UDF); ok {
		return q.describeUDF(d.Name, u), nil
	}
	if v := q.remote(ctx, d.Name, m.Key); v != nil {
		return v, nil
	}
	v, ok := q.describeModel(ctx, d, m)
	if !ok {
		return nil, ast.Diagnostics{ast.Errorf(ast.CodeUnavailable, x.Span, "%s cannot be described; use SHOW CREATE", m.Key)}
	}
	return v, nil
}

// describeModel describes a definition as this node executes it.
func (q *request) describeModel(ctx context.Context, d *catalog.Domain, m *catalog.Model) (document.Value, bool) {
	p := &describer{ctx: ctx, q: q, domain: d, model: m, runs: q.service.deps.Runtime.Domain(d.Name)}
	switch entity := m.Definition.(type) {
	case *model.Ingestor:
		p.ingestor(entity)
	case *model.Junction:
		p.junction(entity)
	case *model.Emitter:
		p.emitter(entity)
	case *model.Reingestor, *model.Generator, *model.Deduplicator, *model.Reorderer, *model.Correlator, *model.Window,
		*model.Inferencer, *model.WASM:
		p.processor(entity)
	case *model.Relay:
		p.relay(entity)
	case *model.Codec:
		p.codec(entity)
	case *model.Endpoint:
		p.endpoint(entity)
	default:
		return nil, false
	}
	return p.out.Value(), true
}

func (q *request) describeDomain(d *catalog.Domain) document.Value {
	counts := map[vocab.EntityKind]int{}
	for m := range q.state().Models(d.Name) {
		counts[m.Kind]++
	}
	entities := new(document.Map)
	for kind := vocab.EntitySchema; kind <= vocab.EntityEmitter; kind++ {
		if counts[kind] > 0 {
			entities.Set(kind.Words(), document.Int(counts[kind]))
		}
	}
	m := new(document.Map).Set("domain", document.Text(d.Name)).Set("status", document.Text(status(d.Running))).
		Set("pace", document.Text("UNPACED")).Set("generation", document.Uint(d.Generation)).
		Set("definition revision", document.Uint(d.Definition)).Set("runtime revision", document.Uint(d.Runtime)).
		Set("placement", domainPlacement(decide.DescribeDomain(q.state(), d.Name, q.service.planning()))).
		Set("entities", entities.Value())
	failure := document.None()
	if err := q.service.deps.Runtime.ActivationFailure(d.Name); err != nil {
		failure = document.Text(cause(err))
	}
	return m.Set("last activation failure", failure).Value()
}

// describer writes the description of one entity.
type describer struct {
	ctx    context.Context
	q      *request
	domain *catalog.Domain
	model  *catalog.Model
	runs   *flow.Domain  // nil while the domain is not executed here
	branch ast.BranchUse // that the node declares for its relays
	out    document.Map
}

func (p *describer) text(key, format string, args ...any) {
	p.out.Set(key, document.TextOrNone(fmt.Sprintf(format, args...)))
}

// head writes what every runtime node shows first.
func (p *describer) head() {
	p.text(p.model.Kind.Words(), "%s", p.model.Name)
	p.text("kind", "%s", p.model.Kind.Snake())
	p.placed()
	branch := "unbranched"
	if s := model.ShapeOf(p.model.Definition); s != nil && s.Branch != nil {
		branch, p.branch = branchText(*s.Branch), *s.Branch
	}
	p.text("branch", "%s", branch)
}

func branchText(b ast.BranchUse) string {
	if b.By == nil {
		return "unbranched"
	}
	return b.By.Text
}

// placed writes who executes the operator.
func (p *describer) placed() {
	p.text("owner", "%s", p.q.placedOn(p.domain.Name, p.model.Key))
	p.out.Set("replicas", p.q.standbys(p.domain.Name, p.model.Key))
}

func (p *describer) inputs(in ast.Inputs) {
	for _, i := range in.From {
		p.text("input", "%s", i.Relay.Text)
	}
}

func (p *describer) routes(routes []ast.Route) {
	for i, r := range routes {
		construction := "none"
		if r.Construction.Inherit != nil || len(r.Construction.Set) > 0 || r.Construction.Where != nil {
			construction = "present"
		}
		branch := p.branch
		if r.Branch != nil {
			branch = r.Branch.BranchUse
		}
		p.text(fmt.Sprintf("output %d", i), "into=%s construction=%s branch=%s %s", r.To.Text, construction, branchText(branch), flushText(r.Flush))
	}
}

func flushText(f ast.Flush) string {
	if f.Absent() {
		return "flush=- max-batch-size=-"
	}
	if f.Immediate {
		return "flush=IMMEDIATE max-batch-size=-"
	}
	return "flush=" + f.Each.Text + " max-batch-size=" + f.MaxBatch.Text
}

func (p *describer) edges(edges []observe.EdgeSummary) {
	var incoming, outgoing []document.Value
	for _, e := range edges {
		list := &outgoing
		if e.Direction == "received" {
			list = &incoming
		}
		peer := "-"
		if e.Peer.Kind == "relay" {
			peer = e.Peer.Name
		}
		for _, metric := range []struct {
			name  string
			total uint64
		}{{"messages_total", e.Messages}, {"batches_total", e.Batches}, {"bytes_total", e.Bytes}} {
			m := new(document.Map).Set(document.Name, document.Text(metric.name+" "+e.Direction)).
				Set("relay", document.Text(peer)).Set("physical_node", document.Text(p.q.node())).Set("total", document.Uint(metric.total))
			if metric.name == "messages_total" {
				m.Set("wall_rate_per_sec", rate(e.PerSecond1m)).Set("wall_rate_per_sec_15m", rate(e.PerSecond15m))
			}
			*list = append(*list, m.Value())
		}
	}
	p.out.Set("incoming_edges", document.List(incoming...))
	p.out.Set("outgoing_edges", document.List(outgoing...))
}

func rate(perSecond float64) document.Value { return document.Text(fmt.Sprintf("%.1f", perSecond)) }

func (p *describer) ingestor(x *model.Ingestor) {
	p.head()
	fields := new(document.Map)
	sourceFields(fields, x)
	p.text("source", "%s", strings.TrimSpace(x.Source.Entity.String()+" "+inline(fields.Value())))
	p.text("instances", "%d", x.Source.Instances)
	p.text("codec", "%s", x.Decode.Text)
	if x.Source.Schema.Text != "" {
		p.text("schema", "%s", x.Source.Schema.Text)
	}
	if x.Source.Entity.Capabilities().Pace != vocab.Polled {
		p.text("mode", "%s", x.Source.Mode.Kind)
	}
	p.routes(x.Routes)
	var s flow.IngestorStatus
	running := false
	if p.runs != nil {
		s, running = p.runs.DescribeIngestor(x.Name)
	}
	if !running {
		s.Status = "stopped"
	}
	p.text("status", "%s", s.Status)
	p.out.Set("ready", document.Bool(s.Ready))
	p.text("quiesce", "%s", quiesceWords[x.Source.Quiesce.Body])
	held := "open"
	if s.Held {
		held = "held"
	}
	p.text("quiesce state", "%s", held)
	p.text("memory-backpressure", "off")
	var t flow.Transient
	for i, in := range s.Instances {
		if t.Err == nil {
			t = in.Transient
		}
		if in.Stopped != "" {
			p.text(fmt.Sprintf("instance %d stopped", i), "%s", in.Stopped)
		}
	}
	p.transient(t)
	p.out.Set("open roots", document.Int(s.OpenRoots))
	p.out.Set("positions", new(document.Map).Set("acknowledged", document.Uint(s.Acknowledged)).
		Set("returned", document.Uint(s.Returned)).Set("abandoned", document.Uint(s.Abandoned)).Value())
	p.out.Set("decode dropped", document.Uint(s.DecodeDropped))
	p.out.Set("buffered", new(document.Map).Set("payloads", document.Int(s.Buffered)).Set("bytes", document.Uint(s.BufferedBytes)).
		Set("dropped", document.Uint(s.Dropped)).Set("rejected", document.Uint(s.Rejected)).Value())
	p.edges(s.Edges)
}

var quiesceWords = [...]string{
	vocab.QuiesceSuspend: "SUSPEND", vocab.QuiesceBuffer: "BUFFER", vocab.QuiesceDrop: "DROP",
	vocab.QuiesceReject: "REJECT", vocab.QuiesceEndpointBuffer: "BUFFER",
}

// transient shows the failure that is being waited out.
func (p *describer) transient(t flow.Transient) {
	if t.Err == nil {
		p.out.Set("transient error", document.None())
		p.out.Set("reconnect backoff", document.None())
		return
	}
	p.out.Set("transient error", document.Text(cause(t.Err)))
	wait := max(t.Until.Sub(p.q.service.world.Clock().Now()), 0)
	p.text("reconnect backoff", "%s, next attempt in %s", t.Backoff, wait.Round(time.Millisecond))
}

// cause renders an error on one line.
func cause(err error) string { return strings.ReplaceAll(observe.Explain(err), "\n", "; ") }

func (p *describer) junction(x *model.Junction) {
	p.head()
	p.text("attachment", "%s", attachment(x.Attached))
	p.inputs(x.Inputs)
	p.routes(x.Routes)
	p.out.Set("persistent state", document.None())
	var s flow.JunctionStatus
	if p.runs != nil {
		s, _ = p.runs.DescribeJunction(x.Name)
	}
	p.out.Set("batches in hand", document.Int(s.Batches))
	p.edges(s.Edges)
}

func attachment(attached bool) string {
	if attached {
		return "ATTACHED"
	}
	return "DETACHED"
}

func (p *describer) emitter(x *model.Emitter) {
	p.head()
	p.text("attachment", "%s", attachment(x.Attached))
	p.inputs(x.Inputs)
	fields := new(document.Map)
	sinkFields(fields, x.Sink)
	p.text("sink", "%s %s", connector(x.Sink.Entity.String()), inline(fields.Value()))
	p.text("publishing mode", "%s", x.Sink.Mode.Kind)
	p.text("body", "%s", bodyText(x))
	batch := "none"
	if x.Batch != nil {
		batch = fmt.Sprintf("MAX MESSAGES %d MAX SIZE %s", x.Batch.MaxMessages.Value, x.Batch.MaxSize.Text)
	}
	p.text("batch", "%s", batch)
	p.text("flush", "%s", flushText(x.Flush))
	var s flow.EmitterStatus
	running := false
	if p.runs != nil {
		s, running = p.runs.DescribeEmitter(x.Name)
	}
	if !running {
		s.Status = "stopped"
	}
	p.text("status", "%s", s.Status)
	p.text("detail", "%s", s.Detail)
	p.transient(s.Transient)
	p.out.Set("buffered rows", document.Int(s.Buffered))
	p.out.Set("retained payloads", document.Int(s.Retained))
	p.edges(s.Edges)
}

func (p *describer) relay(x *model.Relay) {
	p.text("relay", "%s", x.Name)
	p.text("schema", "%s", x.Schema.Text)
	p.text("branch", "%s", branchText(x.Branch))
	p.out.Set("capacity", document.Uint(x.Capacity))
	p.placed()
	var s flow.RelayStatus
	if p.runs != nil {
		s, _ = p.runs.DescribeRelay(x.Name)
	}
	p.out.Set("relay_buffers", new(document.Map).Set("batches", document.Int(s.Buffered)).
		Set("waiting", document.Int(s.Waiting)).Set("admitted", document.Uint(s.Admitted)).Value())
	p.out.Set("consumers", new(document.Map).Set("attached", document.Int(s.Attached)).
		Set("detached", document.Int(s.Detached)).Set("subscriptions", document.Int(s.Subscriptions)).Value())
}

func (p *describer) codec(x *model.Codec) {
	p.text("codec", "%s", x.Name)
	p.text("format", "JSON")
	p.text("wire schema", "%s", x.Wire.Text)
	p.text("schema", "%s", x.Schema.Text)
	p.text("decodes", "yes")
	p.text("encodes", "yes")
	var fields []document.Value
	if m, ok := p.q.state().Model(p.domain.Name, catalog.Key{Kind: vocab.EntityWireJSON, Name: x.Wire.Text}); ok {
		for _, f := range m.Definition.(*model.WireSchema).Fields {
			fields = append(fields, new(document.Map).Set(document.Name, document.Text(f.Name)).
				Set("wire", document.Text(f.Type.String())).Set("optional", document.Bool(f.Optional)).Value())
		}
	}
	p.out.Set("fields", document.List(fields...))
}

func (p *describer) endpoint(x *model.Endpoint) {
	p.text("endpoint", "%s", x.Name)
	p.text("type", "HTTP")
	p.text("vhost", "%s", x.VHost.Text)
	p.text("path", "%s", x.Path)
	var intake []document.Value
	for m := range p.q.state().Models(p.domain.Name) {
		if in, ok := m.Definition.(*model.Ingestor); ok && in.Source.Endpoint.Text == x.Name {
			intake = append(intake, p.q.ingestorLine(p.ctx, p.domain, in))
		}
	}
	p.out.Set("intake", document.List(intake...))
}

// inline writes a flat map as "k=v k=v".
func inline(v document.Value) string { return document.Render(document.List(v)) }
