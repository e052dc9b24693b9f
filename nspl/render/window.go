package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

func (w *writer) window(x *model.Window) {
	w.processor("WINDOW PROCESSOR", &x.Processor, func() {
		w.aggregates = true // from here on, in the routes
		w.clause(2, "WIDTH").bound(x.Width)
		w.clause(2, "STEP").bound(x.Step)
		if x.MaxState != nil {
			w.clause(2, "MAX STATE SIZE ", x.MaxState.Text)
		}
	})
}

// bound writes the parts of a bound, each behind a space.
func (w *writer) bound(b ast.Bound) {
	if b.Messages != nil {
		w.put(" ").uint(b.Messages.Value).put(" MESSAGES")
	}
	if b.Duration != nil {
		w.put(" ", b.Duration.Text, " DURATION")
	}
}
