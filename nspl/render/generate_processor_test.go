package render_test

import (
	"plexus/nspl/ast"
	"plexus/nspl/model"
)

func (g generator) states() []ast.StateDep {
	if g.bool() {
		return nil
	}
	var list []ast.StateDep
	for _, n := range g.distinct(3) {
		d := ast.StateDep{Relay: n, Policy: ast.StatePolicy(g.int(int(ast.StateDefault)))}
		if d.Policy == ast.StateDefault {
			d.Default = g.assigns(ast.ScopeBare)
		}
		list = append(list, d)
	}
	return list
}

// parts draws what most processors have.
func (g generator) parts(form routeForm) model.Processor {
	return model.Processor{
		Name: g.own(), Attached: g.bool(), Inputs: g.inputs(), Filter: g.maybeExpr(), Branch: g.branchUse(),
		States: g.states(), Routes: g.routes(form),
	}
}

// processor draws a processor of any kind.
func (g generator) processor() model.Entity {
	return &model.Junction{Processor: g.parts(transforming)}
}
