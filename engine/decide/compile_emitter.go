package decide

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

func (p *compiler) emitter(x *model.Emitter) EmitterPlan {
	env := p.c.surroundings()
	env.External, env.States = true, p.states(x.States)
	if x.Body.Codec == nil {
		env.HashMap = nil
	}
	env.Input, _ = p.c.relaySchema(x.Inputs.From[0].Relay.Text)
	plan := EmitterPlan{
		Name: x.Name, Attached: x.Attached,
		Inputs: p.inputs(x.Inputs, env, "emitter"), Collect: collect(x.Inputs.Collect),
		Sink:  p.sink(x.Sink),
		Flush: x.Flush.Vocab(), GeneralError: ErrorLogging(x.GeneralError),
	}
	if x.Batch != nil {
		batch := x.Batch.Vocab()
		plan.Batch = &batch
	}
	output := p.c.encoded(x)
	if x.Body.Codec != nil {
		codec := p.codec(x.Body.Codec.Text)
		plan.Codec = &codec
	}
	if output != nil {
		construct, found := typed.CheckConstruction(x.Body.Construction, output, place(env, "emitter", x.Sink.Span))
		p.f.take(found)
		plan.Construct = construct
	} else {
		plan.Construct.Where = p.filter(x.Body.Construction.Where, place(env, "emitter WHERE", x.Sink.Span))
	}
	for _, h := range x.Body.Invoke {
		plan.Invoke = append(plan.Invoke, HeaderWrite{
			Name:  p.text(h.Name, output, place(env, "the name of write_header", h.Span)),
			Value: p.text(h.Value, output, place(env, "the value of write_header", h.Span)),
		})
	}
	if x.Sink.Method != nil {
		plan.Sink.Method = p.text(x.Sink.Method, output, place(env, "METHOD", x.Sink.Span))
		plan.Sink.Path = p.text(x.Sink.Path, output, place(env, "PATH", x.Sink.Span))
	}
	p.values(x.Sink, env)
	errorEnv := env
	errorEnv.External, errorEnv.HashMap = false, p.c.hashMap
	errorEnv.Branch = p.key(p.c.branchOf(x.Inputs.From[0].Relay)) // V6 holds the others to it
	plan.OnError = p.messageError(x.OnError, output, errorEnv)
	return plan
}

// states are the materialized states that an operator reads, with their defaults
// checked.
func (p *compiler) states(deps []ast.StateDep) []typed.State {
	var list []typed.State
	for _, d := range deps {
		schema, _ := p.c.relaySchema(d.Relay.Text)
		list = append(list, typed.State{Relay: d.Relay.Text, Schema: schema})
		if d.Policy == ast.StateDefault {
			_, found := typed.CheckDefault(d.Default, schema, place(p.c.surroundings(), "DEFAULT", d.Span))
			p.f.take(found)
		}
	}
	return list
}

// values checks what a sink maps besides a record: VALUES, ATTRIBUTES and the
// group of an ordered queue. No connector reads them yet, so they are in no plan.
func (p *compiler) values(s ast.Sink, env typed.Env) {
	if s.Group != nil && s.Group.By != nil {
		_, found := typed.CheckGroup(s.Group.By, place(env, "FIFO GROUP", s.Group.Span))
		p.f.take(found)
	}
	mapped := p.mapped("VALUES", s.Values, env)
	for i, t := range p.mapped("ATTRIBUTES", s.Attributes, env) {
		if t != nil && !attribute(t.Type) {
			p.f.add(ast.CodeTypeMismatch, t.Span, "ATTRIBUTES '%s' cannot be %s", s.Attributes[i].Key.Text, t.Type)
		}
	}
	switch s.Entity {
	case vocab.SinkOTELLogs, vocab.SinkOTELTraces, vocab.SinkOTELMetric:
		for i, t := range mapped {
			p.signal(s, s.Values[i].Key.Text, t)
		}
	}
}

func (p *compiler) mapped(clause string, list []ast.Mapping, env typed.Env) []*typed.Expr {
	if len(list) == 0 {
		return nil
	}
	entries := make([]typed.Value, len(list))
	for i, m := range list {
		entries[i] = typed.Value{Name: m.Key.Text, Expr: m.Value}
	}
	mapped, found := typed.CheckValues(entries, place(env, clause, list[0].Key.Span))
	p.f.take(found)
	return mapped
}

// attribute reports whether OTEL can carry a value: everything but octets, and
// lists of it.
func attribute(t vocab.Type) bool {
	for t.Elem != nil {
		t = *t.Elem
	}
	return t.Kind != vocab.Bytes
}

// signal checks a value against what the signal takes under its name.
func (p *compiler) signal(s ast.Sink, name string, t *typed.Expr) {
	if t == nil {
		return
	}
	for _, v := range model.SignalOf(s) {
		switch {
		case v.Name != name:
		case !v.Fits(t.Type):
			p.f.add(ast.CodeInvalid, t.Span, "value '%s' of %s is %s, not %s", name, s.Entity, v.Expect, t.Type)
		case t.Op == typed.OpLiteral && !t.Literal.Null:
			if expect := v.Literal(t.Literal.Str, t.Literal.Int); expect != "" {
				p.f.add(ast.CodeInvalid, t.Span, "value '%s' of %s %s", name, s.Entity, expect)
			}
		}
	}
}
