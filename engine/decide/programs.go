package decide

import (
	"plexus/nspl/model"
)

// withoutKernel names the first part of the expressions of a running operator that
// no node can compute yet, "" if all of them can be.
func (c *Candidate) withoutKernel(e *entry) string {
	f := found{key: e.key}
	p := compiler{c: c, f: &f}
	switch x := e.entity.(type) {
	case *model.Ingestor:
		plan := p.ingestor(x)
		return first(plan.Filter.Missing(), missingInRoutes(plan.Routes))
	case *model.Junction:
		plan := p.junction(x)
		return first(missingInInputs(plan.Inputs), plan.Filter.Missing(), missingInRoutes(plan.Routes))
	case *model.Emitter:
		plan := p.emitter(x)
		all := []string{missingInInputs(plan.Inputs), plan.Construct.Missing(), plan.Sink.Method.Missing(), plan.Sink.Path.Missing()}
		for _, h := range plan.Invoke {
			all = append(all, h.Name.Missing(), h.Value.Missing())
		}
		return first(append(all, plan.OnError.Construct.Missing())...)
	}
	return ""
}

func missingInInputs(inputs []InputPlan) string {
	for _, in := range inputs {
		if what := in.Where.Missing(); what != "" {
			return what
		}
	}
	return ""
}

func missingInRoutes(routes []RoutePlan) string {
	for i := range routes {
		if what := first(routes[i].Construct.Missing(), routes[i].OnError.Construct.Missing()); what != "" {
			return what
		}
	}
	return ""
}

// first returns the first text that is not empty.
func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
