package decide

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// env is what the expressions of a node within one branch read: its key and the
// states it depends on, whose defaults are checked on the way.
func (p *compiler) env(branch ast.BranchUse, states []ast.StateDep) typed.Env {
	env := p.c.surroundings()
	env.Branch, env.States = p.key(branch), p.states(states)
	return env
}

// key returns the key schema of a branch, nil for none.
func (p *compiler) key(b ast.BranchUse) *vocab.Schema {
	if b.By == nil {
		return nil
	}
	x, _ := lookup[*model.Branch](p.c, vocab.EntityBranch, b.By.Text)
	schema, _ := p.c.schema(x.Schema.Text)
	return schema
}

// branchKey checks how a route makes the key of its branch. A route into the
// branch that its rows come from keeps theirs.
func (p *compiler) branchKey(r *ast.Route, output *vocab.Schema, env typed.Env) {
	if r.Branch == nil || r.Branch.By == nil {
		return
	}
	if sameBranch(r.Branch.BranchUse, p.incoming) {
		return
	}
	_, found := typed.CheckBranchKey(r.Branch.Set, p.key(r.Branch.BranchUse), output, place(env, "BRANCHED BY SET", r.Branch.Span))
	p.f.take(found)
}

func (p *compiler) junction(x *model.Junction) JunctionPlan {
	env := p.rows(&x.Processor)
	return JunctionPlan{
		Name: x.Name, Attached: x.Attached,
		Inputs: p.inputs(x.Inputs, env, "junction"), Collect: collect(x.Inputs.Collect),
		Filter: p.filter(x.Filter, place(env, "junction FILTER", vocab.Span{})),
		Routes: p.routes(x.Routes, env, "junction"),
	}
}

// rows is what the expressions of a processor read of its rows and beside them.
func (p *compiler) rows(x *model.Processor) typed.Env {
	env := p.env(x.Branch, x.States)
	env.Input, _ = p.c.relaySchema(x.Inputs.From[0].Relay.Text)
	return env
}

// selected checks what a processor selects of its rows.
func (p *compiler) selected(x *model.Processor, who string) typed.Env {
	env := p.rows(x)
	p.inputs(x.Inputs, env, who)
	p.filter(x.Filter, place(env, who+" FILTER", vocab.Span{}))
	return env
}

// processor checks a processor with transforming routes.
func (p *compiler) processor(x *model.Processor, who string) typed.Env {
	env := p.selected(x, who)
	p.routes(x.Routes, env, who)
	return env
}

func (p *compiler) keys(keys []ast.Expr, orderable bool, env typed.Env, clause string) {
	_, found := typed.CheckKeys(keys, orderable, place(env, clause, vocab.Span{}))
	p.f.take(found)
}

func (p *compiler) reingestor(x *model.Reingestor) {
	in := x.Inputs.From[0].Relay
	p.incoming = p.c.branchOf(in)
	env := p.env(p.incoming, x.States)
	env.Input, _ = p.c.relaySchema(in.Text)
	p.inputs(x.Inputs, env, "reingestor")
	p.filter(x.Filter, place(env, "reingestor FILTER", vocab.Span{}))
	p.routes(x.Routes, env, "reingestor")
}

func (p *compiler) generator(x *model.Generator) {
	schema, _ := p.c.relaySchema(x.State.Text)
	env := p.env(x.Branch, nil)
	env.States = []typed.State{{Relay: x.State.Text, Schema: schema}}
	p.setOnly(x.Routes, env, "generator")
}

func (p *compiler) correlator(x *model.Correlator) {
	env := p.env(x.Branch, x.States)
	left := p.env(x.Branch, nil)
	right := left
	left.Left, _ = p.c.relaySchema(x.Left.From[0].Relay.Text)
	right.Right, _ = p.c.relaySchema(x.Right.From[0].Relay.Text)
	p.inputs(x.Left, left, "correlator LEFT")
	p.inputs(x.Right, right, "correlator RIGHT")
	env.Left, env.Right = left.Left, right.Right
	_, found := typed.CheckCorrelate(x.Where, place(env, "CORRELATE WHERE", vocab.Span{}))
	p.f.take(found)
	p.setOnly(x.Routes, env, "correlator")
}

func (p *compiler) window(x *model.Window) {
	env := p.selected(&x.Processor, "window processor")
	env.Aggregates = true
	p.setOnly(x.Routes, env, "window processor")
}

func (p *compiler) inferencer(x *model.Inferencer) {
	env := p.selected(&x.Processor, "inferencer")
	inputs := make([]typed.Value, len(x.Tensors))
	for i, t := range x.Tensors {
		want := model.TensorType(t.Tensor)
		inputs[i] = typed.Value{Name: t.Name.Text, Expr: t.Value, Want: &want}
	}
	_, found := typed.CheckTensors(inputs, place(env, "INPUTS", vocab.Span{}))
	p.f.take(found)
	env.Generated = x.Generated()
	p.setOnly(x.Routes, env, "inferencer")
}

// wasm checks the routes of a guest, which makes the fields of the relay that it
// routes to. Without SET they are taken as they are.
func (p *compiler) wasm(x *model.WASM) {
	env := p.selected(&x.Processor, "WASM processor")
	for _, r := range x.Routes {
		env.Generated, _ = p.c.relaySchema(r.To.Text)
		if len(r.Construction.Set) == 0 {
			for _, field := range env.Generated.Fields {
				name := ast.Name{Text: field.Name, Span: r.To.Span}
				r.Construction.Set = append(r.Construction.Set, ast.Assign{Target: name, Value: &ast.Field{At: ast.At{Span: r.To.Span}, Name: name}})
			}
		}
		p.setOnly([]ast.Route{r}, env, "WASM processor")
	}
}

// setOnly checks routes without an input row.
func (p *compiler) setOnly(routes []ast.Route, env typed.Env, who string) {
	for _, r := range routes {
		output, _ := p.c.relaySchema(r.To.Text)
		_, found := typed.CheckSetOnly(r.Construction, output, place(env, who, r.To.Span))
		p.f.take(found)
		errors := env
		errors.Generated, errors.Aggregates = nil, false
		p.messageError(r.OnError, output, errors)
	}
}
