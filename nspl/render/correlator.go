package render

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

func (w *writer) correlator(c *model.Correlator) {
	w.put(attachment(c.Attached), "CORRELATOR ").name(c.Name)
	w.inputsOf("LEFT FROM ", c.Left)
	w.inputsOf("RIGHT FROM ", c.Right)
	w.clause(2, "CORRELATE WHERE ").expr(c.Where)
	w.clause(2, "MATCH ", []string{"EARLIEST", "LATEST"}[oneIf(c.Latest)])
	w.clause(2, "MAX TIME ", c.MaxTime.Text)
	w.clause(2, "ON CORRELATION TIMEOUT ").correlationTimeout(c.OnLeft)
	w.put(", ").correlationTimeout(c.OnRight)
	w.clause(2).branchUse(c.Branch)
	w.states(c.States)
	w.routes(c.Routes)
}

func (w *writer) correlationTimeout(t ast.CorrelationTimeout) {
	if t.To == nil {
		w.put("DROP")
		return
	}
	w.put("SEND TO ").name(t.To.Text)
}

func oneIf(b bool) int {
	if b {
		return 1
	}
	return 0
}
