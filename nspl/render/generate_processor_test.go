package render_test

import (
	"math"
	"slices"
	"strconv"

	"pgregory.net/rapid"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/vocab"
)

func (g generator) states() []ast.StateDep {
	if g.bool() {
		return nil
	}
	var list []ast.StateDep
	for _, n := range g.distinct(3) {
		d := ast.StateDep{Relay: n, Policy: ast.StatePolicy(g.int(int(ast.StateDefault)))}
		if d.Policy == ast.StateDefault {
			d.Default = g.assigns(ast.ScopeBare)
		}
		list = append(list, d)
	}
	return list
}

// parts draws what most processors have.
func (g generator) parts(form routeForm) model.Processor {
	return model.Processor{
		Name: g.own(), Attached: g.bool(), Inputs: g.inputs(), Filter: g.maybeExpr(), Branch: g.branchUse(),
		States: g.states(), Routes: g.routes(form),
	}
}

// processor draws a processor of any kind.
func (g generator) processor() model.Entity {
	switch g.int(8) {
	case 0:
		return &model.Deduplicator{Processor: g.parts(transforming), Keys: g.keys(), MaxTime: g.duration()}
	case 1:
		return &model.Reorderer{Processor: g.parts(transforming), Keys: g.keys(), MaxTime: g.duration()}
	case 2:
		return &model.Reingestor{Name: g.own(), Attached: g.bool(), Inputs: g.inputs(), Filter: g.maybeExpr(), States: g.states(),
			Routes: g.routes(ingesting)}
	case 3:
		return &model.Generator{Name: g.own(), State: g.name(), Each: g.duration(), Branch: g.branchUse(), Routes: g.routes(setOnly)}
	case 4:
		return g.correlator()
	case 5:
		return g.window()
	case 6:
		return g.inferencer()
	case 7:
		return &model.WASM{Processor: g.parts(guest), Module: g.binding(), File: ast.Text{Text: "m.wasm"}, MaxFuel: g.uint(math.MaxUint64).Value,
			MaxMemory: ast.Size{Size: vocab.Size{Bytes: 3 << 20, Text: "3MiB"}}, ResetRejected: g.bool(), OnError: ast.GeneralError(g.int(1))}
	}
	return &model.Junction{Processor: g.parts(transforming)}
}

func (g generator) keys() []ast.Expr { return append(g.exprs(2, 2), g.expr(2)) }

func (g generator) binding() ast.Binding {
	b := ast.Binding{Resource: g.name()}
	if g.bool() {
		b.Version.Latest = true
	} else {
		b.Version.Number = g.uint(math.MaxUint64)
	}
	return b
}

func (g generator) correlator() *model.Correlator {
	c := &model.Correlator{
		Name: g.own(), Attached: g.bool(), Left: g.inputs(), Right: g.inputs(), Where: g.expr(2), Latest: g.bool(), MaxTime: g.duration(),
		OnLeft: g.correlationTimeout(), OnRight: g.correlationTimeout(), Branch: g.branchUse(), States: g.states(), Routes: g.routes(setOnly),
	}
	for i := range c.Right.From { // no relay is on both sides
		c.Right.From[i].Relay.Text = "r" + strconv.Itoa(i) + c.Left.From[0].Relay.Text + c.Left.From[len(c.Left.From)-1].Relay.Text
	}
	return c
}

func (g generator) correlationTimeout() ast.CorrelationTimeout {
	if g.bool() {
		return ast.CorrelationTimeout{}
	}
	to := g.name()
	return ast.CorrelationTimeout{To: &to}
}

func (g generator) window() *model.Window {
	w := &model.Window{Processor: g.parts(aggregating)}
	form := g.int(2)
	if form != 0 {
		n := g.uint(math.MaxUint64)
		w.Width.Messages = &n
		if g.bool() {
			step := ast.Uint{Value: 1 + n.Value/2}
			w.Step.Messages = &step
		}
	}
	if form != 1 {
		d := g.duration()
		w.Width.Duration = &d
		if w.Step.Messages == nil || g.bool() {
			w.Step.Duration = &d
		}
	} else if w.Step.Messages == nil {
		w.Step.Messages = w.Width.Messages
	}
	if g.bool() {
		s := g.size()
		w.MaxState = &s
	}
	return w
}

func (g generator) inferencer() *model.Inferencer {
	x := &model.Inferencer{Processor: g.parts(setOnly), Model: g.binding(), File: ast.Text{Text: "dir/model.onnx"}}
	batched := g.bool()
	for i := range 1 + g.int(1) {
		t := ast.TensorInput{Tensor: g.tensor(batched), Value: g.expr(2)}
		t.Name.Text = strconv.Itoa(i) + g.text()
		x.Tensors = append(x.Tensors, t)
	}
	for _, n := range rapid.SliceOfNDistinct(oddNames, 1, 2, rapid.ID[string]).Draw(g.T, "outputs") {
		t := g.tensor(batched)
		t.Name.Text = n
		x.Output = append(x.Output, t)
	}
	return x
}

func (g generator) tensor(batched bool) ast.Tensor {
	var t ast.Tensor
	for range g.int(2) {
		a := ast.Axis{Kind: ast.AxisDynamic}
		if g.bool() {
			a = ast.Axis{Length: g.uint(math.MaxInt32)}
		}
		t.Axes = append(t.Axes, a)
	}
	if batched {
		t.Axes = slices.Insert(t.Axes, g.int(len(t.Axes)), ast.Axis{Kind: ast.AxisBatch})
	}
	return t
}
