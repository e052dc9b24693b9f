package decide

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// checkExpressions is V5: it builds the plan of an entity and keeps what the
// expression checker found.
func checkExpressions(c *Candidate, e *entry, f *found) {
	p := compiler{c: c, f: f}
	switch x := e.entity.(type) {
	case *model.Ingestor:
		p.ingestor(x)
	case *model.Emitter:
		p.emitter(x)
	case *model.UDF:
		c.checkFunction(x, e.created, f)
	case *model.Reingestor:
		p.reingestor(x)
	case *model.Generator:
		p.generator(x)
	case *model.Junction:
		p.junction(x)
	case *model.Deduplicator:
		p.keys(x.Keys, false, p.processor(&x.Processor, "deduplicator"), "DEDUPLICATE ON")
	case *model.Reorderer:
		p.keys(x.Keys, true, p.processor(&x.Processor, "reorderer"), "BY")
	case *model.Correlator:
		p.correlator(x)
	case *model.Window:
		p.window(x)
	case *model.Inferencer:
		p.inferencer(x)
	case *model.WASM:
		p.wasm(x)
	}
}

// compiler turns the definition of one operator into its plan. References and
// schemas have been checked before.
type compiler struct {
	c *Candidate
	f *found
	// incoming is the branch of the rows that a reingestor reads.
	incoming ast.BranchUse
}

func (p *compiler) ingestor(x *model.Ingestor) IngestorPlan {
	can := x.Source.Entity.Capabilities()
	schema, _ := p.c.decoded(x)
	env := p.c.surroundings()
	env.Input, env.Metadata, env.Headers = schema, can.Scope.Fields(), can.Headers
	plan := IngestorPlan{
		Name: x.Name, Source: p.source(x.Source), TimestampField: -1,
		Filter:       p.filter(x.Filter, place(env, "ingestor FILTER", vocab.Span{})),
		GeneralError: ErrorLogging(x.GeneralError),
	}
	if x.Decode.Text != "" {
		plan.Codec = p.codec(x.Decode.Text)
	}
	if x.Timestamp != nil {
		plan.TimestampNow = x.Timestamp.Now
		if !x.Timestamp.Now {
			plan.TimestampField = schema.Index(x.Timestamp.At.Text)
		}
	}
	plan.Routes = p.routes(x.Routes, env, "ingestor")
	return plan
}

func place(env typed.Env, name string, span vocab.Span) typed.Env {
	env.Place, env.Span = name, span
	return env
}

func (p *compiler) filter(e ast.Expr, env typed.Env) *typed.Expr {
	t, found := typed.CheckFilter(e, env)
	p.f.take(found)
	return t
}

func (p *compiler) text(e ast.Expr, output *vocab.Schema, env typed.Env) *typed.Expr {
	t, found := typed.CheckText(e, output, env)
	p.f.take(found)
	return t
}

func (p *compiler) inputs(in ast.Inputs, env typed.Env, who string) []InputPlan {
	list := make([]InputPlan, len(in.From))
	for i, input := range in.From {
		list[i] = InputPlan{Relay: input.Relay.Text, Where: p.filter(input.Where, place(env, who+" FROM", input.Relay.Span))}
	}
	return list
}

func collect(c *ast.Collect) *CollectPlan {
	if c == nil {
		return nil
	}
	plan := &CollectPlan{For: c.For.Value()}
	if c.MaxBatchSize != nil {
		plan.MaxBatchSize = c.MaxBatchSize.Bytes
	}
	return plan
}

func (p *compiler) routes(routes []ast.Route, env typed.Env, who string) []RoutePlan {
	list := make([]RoutePlan, len(routes))
	for i, r := range routes {
		output, _ := p.c.relaySchema(r.To.Text)
		construct, found := typed.CheckConstruction(r.Construction, output, place(env, who, r.To.Span))
		p.f.take(found)
		p.branchKey(&r, output, env)
		list[i] = RoutePlan{
			To: r.To.Text, Construct: construct, Flush: r.Flush.Vocab(), OnError: p.messageError(r.OnError, output, env),
		}
	}
	return list
}

func (p *compiler) messageError(e ast.MessageError, partial *vocab.Schema, env typed.Env) MessageErrorPlan {
	plan := MessageErrorPlan{Action: ErrorAction(e.Action)}
	if e.Action != ast.ErrorSendTo {
		return plan
	}
	record, _ := p.c.relaySchema(e.To.Text)
	env = place(env, "ON MESSAGE ERROR", e.To.Span)
	env.Partial = partial
	construct, found := typed.CheckErrorRecord(e.Set, record, env)
	p.f.take(found)
	plan.To, plan.Construct = e.To.Text, construct
	return plan
}

func (p *compiler) source(s model.Source) SourcePlan {
	plan := SourcePlan{
		Entity: s.Entity, Client: p.client(s.Client.Text), Names: s.Names.Vocab(), Instances: int(s.Instances),
		Mode: s.Mode.Vocab(), Quiesce: s.Quiesce.Vocab(), Seed: s.Seed,
	}
	if s.Cursor != nil {
		plan.Cursor = s.Cursor.Vocab()
	}
	if endpoint, ok := lookup[*model.Endpoint](p.c, vocab.EntityEndpoint, s.Endpoint.Text); ok {
		plan.Endpoint = p.endpoint(endpoint)
	}
	return plan
}

func (p *compiler) endpoint(x *model.Endpoint) *EndpointPlan {
	vhost, _ := lookup[*model.VHost](p.c, vocab.EntityVHost, x.VHost.Text)
	return &EndpointPlan{Name: x.Name, Path: x.Path, Hostnames: vhost.Hostnames}
}

func (p *compiler) sink(s ast.Sink) SinkPlan {
	return SinkPlan{Entity: s.Entity, Client: p.client(s.Client.Text), Names: s.Names.Vocab(), Mode: s.Mode.Vocab()}
}

// client returns the plan of a client, nil for sources that have none.
func (p *compiler) client(name string) *ClientPlan {
	x, ok := lookup[*model.Client](p.c, vocab.EntityClient, name)
	if !ok {
		return nil
	}
	return &ClientPlan{Name: x.Name, Type: x.Type, Config: x.Config, Pool: x.Pool}
}

func (p *compiler) codec(name string) CodecPlan {
	x, _ := p.c.codec(name)
	schema, _ := p.c.schema(x.Schema.Text)
	wire, _ := lookup[*model.WireSchema](p.c, vocab.EntityWireJSON, x.Wire.Text)
	plan := CodecPlan{
		Name: x.Name, Schema: schema,
		Wire: WirePlan{Format: wire.Format, Strict: wire.Strict, Fields: make([]WireField, len(wire.Fields))},
	}
	for i, w := range wire.Fields {
		plan.Wire.Fields[i] = WireField{Name: w.Name, Type: w.Type, Column: schema.Index(w.Name)}
		for _, rule := range x.RFC3339 {
			plan.Wire.Fields[i].RFC3339 = plan.Wire.Fields[i].RFC3339 || rule.Text == w.Name
		}
	}
	return plan
}
