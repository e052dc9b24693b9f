package render

import "plexus/nspl/model"

func (w *writer) junction(j *model.Junction) { w.processor("JUNCTION", &j.Processor, nil) }

// processor writes what most processors have, with the clauses of a kind between
// filter and branch.
func (w *writer) processor(kind string, p *model.Processor, specific func()) {
	w.put(attachment(p.Attached), kind, " ").name(p.Name)
	w.inputs(p.Inputs)
	w.filter(p.Filter)
	if specific != nil {
		specific()
	}
	w.clause(2).branchUse(p.Branch)
	w.states(p.States)
	w.routes(p.Routes)
}
