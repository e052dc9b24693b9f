package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

func (w *writer) inferencer(x *model.Inferencer) {
	w.processor("INFERENCER", &x.Processor, func() {
		w.module(x.Model, x.File)
		w.clause(2, "INPUTS {")
		for i, t := range x.Tensors {
			w.put([]string{"", ","}[min(i, 1)]).clause(4).tensor(t.Tensor)
			w.put(" = ").expr(t.Value)
		}
		w.clause(2, "}")
		w.clause(2, "OUTPUT SCHEMA {")
		for i, t := range x.Output {
			w.put([]string{"", ","}[min(i, 1)]).clause(4).tensor(t)
		}
		w.clause(2, "}")
	})
}

// module writes the resource that holds a model or guest, and its file.
func (w *writer) module(b ast.Binding, file ast.Text) {
	w.clause(2, "USING RESOURCE ").binding(b).put(" FILE ").string(file.Text)
}

func (w *writer) tensor(t ast.Tensor) {
	w.string(t.Name.Text).put(" DENSE TENSOR<F32>[")
	for i, a := range t.Axes {
		if i > 0 {
			w.put(", ")
		}
		switch a.Kind {
		case ast.AxisBatch:
			w.put("BATCH")
		case ast.AxisDynamic:
			w.put("DYNAMIC")
		case ast.AxisFixed:
			w.uint(a.Length.Value)
		}
	}
	w.put("]")
}
