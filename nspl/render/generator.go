package render

import "plexus/nspl/model"

func (w *writer) generator(g *model.Generator) {
	w.put("GENERATOR ").name(g.Name)
	w.clause(2, "USING MATERIALIZED STATE ").name(g.State.Text)
	w.clause(2, "EACH ", g.Each.Text)
	w.clause(2).branchUse(g.Branch)
	w.routes(g.Routes)
}
