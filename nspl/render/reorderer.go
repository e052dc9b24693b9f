package render

import "plexus/nspl/model"

func (w *writer) reorderer(r *model.Reorderer) {
	w.processor("REORDERER", &r.Processor, func() {
		w.clause(2, "BY ").exprs(r.Keys)
		w.clause(2, "MAX TIME ", r.MaxTime.Text)
	})
}
