package render

import "plexus/nspl/model"

func (w *writer) junction(j *model.Junction) {
	w.put(attachment(j.Attached), "JUNCTION ").name(j.Name)
	w.inputs(j.Inputs)
	w.filter(j.Filter)
	w.clause(2).branchUse(j.Branch)
	w.routes(j.Routes)
}
