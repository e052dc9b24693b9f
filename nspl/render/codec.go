package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

// codec writes one line, except where CONFIG stands in it.
func (w *writer) codec(c *model.Codec) {
	w.put("CODEC ").name(c.Name).put(" FROM ", c.Format.String())
	if _, wire := c.Format.Wire(); wire {
		w.put(" SCHEMA ").name(c.Wire.Text)
	}
	next := func() *writer { return w.put(" ") }
	if p := c.Protobuf; p != nil {
		next = func() *writer { return w.clause(2) }
		next().put("USING RESOURCE ").binding(p.Binding)
		w.config(p.Config, 2)
		next().put("MESSAGE ").string(p.Message)
		if p.BatchMessage != nil {
			w.put(" BATCH MESSAGE ").string(*p.BatchMessage)
		}
	}
	next().put("TO SCHEMA ").name(c.Schema.Text)
	for i, f := range c.RFC3339 {
		w.put([]string{" ENCODE ", ", "}[min(i, 1)]).name(f.Text).put(" AS RFC3339")
	}
	if c.Programs != nil {
		next().programs(c.Programs)
	}
}

func (w *writer) programs(p *ast.Programs) {
	w.put("WITH JAQ TRANSFORMATIONS")
	w.program(" ON INGESTION ", p.Ingestion)
	w.program(" ON EMITTING ", p.Emitting)
	w.program(" ON EMITTING BATCH ", p.EmittingBatch)
}

func (w *writer) program(words string, t *ast.Text) {
	if t != nil {
		w.put(words).string(t.Text)
	}
}
