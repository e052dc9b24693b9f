package render

import "plexus/nspl/model"

func (w *writer) deduplicator(d *model.Deduplicator) {
	w.processor("DEDUPLICATOR", &d.Processor, func() {
		w.clause(2, "DEDUPLICATE ON ").exprs(d.Keys)
		w.clause(2, "MAX TIME ", d.MaxTime.Text)
	})
}
