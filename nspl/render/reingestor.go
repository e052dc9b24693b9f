package render

import "plexus/nspl/model"

func (w *writer) reingestor(r *model.Reingestor) {
	w.put(attachment(r.Attached), "REINGESTOR ").name(r.Name)
	w.inputs(r.Inputs)
	w.filter(r.Filter)
	w.states(r.States)
	w.routes(r.Routes)
}
