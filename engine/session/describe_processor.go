package session

import (
	"fmt"
	"strings"

	"plexus/engine/session/document"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/render"
)

// processor describes the definition of an operator that no node executes yet.
func (p *describer) processor(e model.Entity) {
	p.head()
	s := model.ShapeOf(e)
	sides := []string{"from"}
	if len(s.Sides) == 2 {
		sides = []string{"left", "right"}
	}
	for i, side := range s.Sides {
		var list []document.Value
		for _, in := range side.From {
			list = append(list, document.Text(fmt.Sprintf("relay=%s where=%s", in.Relay.Text, present(in.Where != nil))))
		}
		p.out.Set(sides[i], document.List(list...))
		p.text(strings.TrimPrefix(sides[i]+" collect", "from "), "%s", collectText(side.Collect))
	}
	if _, generator := e.(*model.Generator); !generator {
		p.text("mode", "%s", attachment(s.Attached))
	}
	for _, d := range s.States {
		p.text("materialized state "+d.Relay.Text, "%s", []string{"REQUIRED WAIT", "REQUIRED SKIP", "DEFAULT"}[d.Policy])
	}
	p.kindKeys(e)
	p.routes(s.Routes)
	p.text("persistent state", "-")
	p.edges(nil)
}

// kindKeys writes what one kind has.
func (p *describer) kindKeys(e model.Entity) {
	filter := func(e ast.Expr) { p.text("filter-where", "%s", present(e != nil)) }
	if x := model.ProcessorOf(e); x != nil {
		filter(x.Filter)
	}
	switch x := e.(type) {
	case *model.Reingestor:
		filter(x.Filter)
	case *model.Generator:
		p.text("state", "%s", x.State.Text)
		p.text("each", "%s", x.Each.Text)
	case *model.Deduplicator:
		p.text("key expressions", "%s", exprsText(x.Keys))
		p.text("max time", "%s", x.MaxTime.Text)
		p.text("storage", "recent_key_set")
	case *model.Reorderer:
		p.text("order by", "%s", exprsText(x.Keys))
		p.text("max time", "%s", x.MaxTime.Text)
	case *model.Correlator:
		p.text("match", "%s", map[bool]string{false: "EARLIEST", true: "LATEST"}[x.Latest])
		p.text("correlate where", "%s", render.Expr(x.Where))
		p.text("max time", "%s", x.MaxTime.Text)
		p.text("timeout left", "%s", timeoutText(x.OnLeft))
		p.text("timeout right", "%s", timeoutText(x.OnRight))
	case *model.Window:
		p.text("width", "%s", boundText(x.Width))
		p.text("step", "%s", boundText(x.Step))
		size := "-"
		if x.MaxState != nil {
			size = x.MaxState.Text
		}
		p.text("max state size", "%s", size)
	case *model.Inferencer:
		p.resource(x.Model, x.File)
		p.text("inputs", "%d", len(x.Tensors))
		p.text("output schema", "%s", outputText(x.Output))
		p.out.Set("batched", document.Bool(x.Batched()))
	case *model.WASM:
		p.resource(x.Module, x.File)
		p.text("max fuel", "%d", x.MaxFuel)
		p.text("max memory", "%d bytes", x.MaxMemory.Bytes)
	}
}

func (p *describer) resource(b ast.Binding, file ast.Text) {
	p.text("resource", "%s", b.Resource.Text)
	p.text("resource version", "%d", b.Version.Number.Value)
	p.text("file", "%s", file.Text)
}

func present(is bool) string {
	if is {
		return "present"
	}
	return "none"
}

func collectText(c *ast.Collect) string {
	switch {
	case c == nil:
		return "none"
	case c.MaxBatchSize != nil:
		return "COLLECT FOR " + c.For.Text + " MAX BATCH SIZE " + c.MaxBatchSize.Text
	}
	return "COLLECT FOR " + c.For.Text
}

func exprsText(list []ast.Expr) string {
	texts := make([]string, len(list))
	for i, e := range list {
		texts[i] = render.Expr(e)
	}
	return strings.Join(texts, ", ")
}

func timeoutText(t ast.CorrelationTimeout) string {
	if t.To == nil {
		return "DROP"
	}
	return "SEND TO " + t.To.Text
}

func boundText(b ast.Bound) string {
	var parts []string
	if b.Messages != nil {
		parts = append(parts, fmt.Sprintf("%d MESSAGES", b.Messages.Value))
	}
	if b.Duration != nil {
		parts = append(parts, b.Duration.Text+" DURATION")
	}
	return strings.Join(parts, " ")
}

func outputText(list []ast.Tensor) string {
	texts := make([]string, len(list))
	for i, t := range list {
		texts[i] = t.Name.Text + " " + model.TensorType(t).String()
	}
	return strings.Join(texts, ", ")
}
