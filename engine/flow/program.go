package flow

import (
	"fmt"
	"reflect"
	"slices"

	"plexus/engine/decide"
	"plexus/engine/expr"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
)

// program is what a processor executes: compiled once per revision that changes
// it, immutable, exchanged between units of work.
type program struct {
	inputs   []*inputProgram // junctions
	ingest   *decide.IngestorPlan
	filter   *expr.Filter
	collect  vocab.Flush
	collects bool
	routes   []*routeProgram
}

type inputProgram struct {
	relay string
	where *expr.Filter
}

type routeProgram struct {
	plan      *decide.RoutePlan
	construct *expr.Construction
}

// route is one route of a running processor.
type route struct {
	program *routeProgram
	outlet  *outlet
	buffer  buffer
	errors  *MessageErrors
}

// collectBoundary expresses COLLECT as the boundary of a buffer.
func collectBoundary(c *decide.CollectPlan) vocab.Flush {
	return vocab.Flush{Each: c.For, MaxBatch: vocab.Size{Bytes: c.MaxBatchSize}}
}

func compileJunction(plan *decide.JunctionPlan) (*program, error) {
	p := &program{}
	for i := range plan.Inputs {
		where, err := expr.CompileFilter(plan.Inputs[i].Where, expr.SourceWhere)
		if err != nil {
			return nil, &ProgramError{plan.Name, err}
		}
		p.inputs = append(p.inputs, &inputProgram{plan.Inputs[i].Relay, where})
	}
	filter, err := expr.CompileFilter(plan.Filter, expr.FilterWhere)
	if err != nil {
		return nil, &ProgramError{plan.Name, err}
	}
	p.filter = filter
	if plan.Collect != nil {
		p.collects, p.collect = true, collectBoundary(plan.Collect)
	}
	return p, p.compileRoutes(plan.Name, plan.Routes)
}

func compileIngest(plan *decide.IngestorPlan) (*program, error) {
	filter, err := expr.CompileFilter(plan.Filter, expr.FilterWhere)
	if err != nil {
		return nil, &ProgramError{plan.Name, err}
	}
	p := &program{ingest: plan, filter: filter}
	return p, p.compileRoutes(plan.Name, plan.Routes)
}

func (p *program) compileRoutes(name string, routes []decide.RoutePlan) error {
	for i := range routes {
		plan := &routes[i]
		construct, err := expr.CompileConstruction(&plan.Construct, plan.OnError.Action == decide.ErrorSendTo)
		if err != nil {
			return &ProgramError{name, err}
		}
		p.routes = append(p.routes, &routeProgram{plan, construct})
	}
	return nil
}

// attach makes the routes and collectors of a new processor.
func (p *processor) attach(prog *program) error {
	p.program = prog
	for _, in := range prog.inputs {
		edge := p.d.Edge(p.self, "received", in.relay, observe.Endpoint{Kind: "relay", Name: in.relay})
		p.collectors = append(p.collectors, &collector{input: in, edge: edge, buffer: buffer{flush: prog.collect}})
	}
	for _, rp := range prog.routes {
		relay := p.d.relays[rp.plan.To]
		if relay == nil {
			return fmt.Errorf("route of %s: %w: %s", p.self.Name, ErrNoRelay, rp.plan.To)
		}
		edge := p.d.Edge(p.self, "sent", rp.plan.To, observe.Endpoint{Kind: "relay", Name: rp.plan.To})
		errs, err := p.d.NewMessageErrors(p.self, &rp.plan.OnError, rp.plan.Construct.Output, rp.plan.Flush, p.wake, p.load, p.drain)
		if err != nil {
			return err
		}
		p.routes = append(p.routes, &route{program: rp, outlet: relay.outlet(p.wake, edge), buffer: buffer{flush: rp.plan.Flush}, errors: errs})
	}
	return nil
}

// install exchanges the program of a running processor for one of the same
// shape. Buffered rows meet the new flush policy at once; they are not
// constructed again.
func (p *processor) install(prog *program) error {
	p.program = prog
	for i, c := range p.collectors {
		c.input, c.buffer.flush = prog.inputs[i], prog.collect
		if !prog.collects && !c.buffer.empty() {
			p.release(c)
		}
	}
	for i, r := range p.routes {
		r.program, r.buffer.flush = prog.routes[i], prog.routes[i].plan.Flush
		if err := r.errors.Update(&r.program.plan.OnError, r.program.plan.Construct.Output, r.program.plan.Flush); err != nil {
			return err
		}
	}
	return nil
}

// sameShape reports whether a junction can go on with another program: same
// inputs, attachment, and targets in the same order. Schemas are compared by what
// they say: those of a state that came as a snapshot are other values.
func sameShape(a, b *decide.JunctionPlan) bool {
	return a.Attached == b.Attached &&
		slices.EqualFunc(a.Inputs, b.Inputs, func(x, y decide.InputPlan) bool { return x.Relay == y.Relay }) &&
		slices.EqualFunc(a.Routes, b.Routes, func(x, y decide.RoutePlan) bool {
			return x.To == y.To && x.OnError.Action == y.OnError.Action && x.OnError.To == y.OnError.To && reflect.DeepEqual(x.Construct.Output, y.Construct.Output)
		})
}
