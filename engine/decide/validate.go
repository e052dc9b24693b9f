package decide

import (
	"fmt"

	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// stage is one row of the validation table: what it checks of one entity, given
// that all earlier stages found nothing anywhere.
type stage struct {
	name  string
	check func(c *Candidate, e *entry, f *found)
}

// stages are V2 to V7 in order. V1 is Create, Alter and Drop; V8 and V9 look at
// the whole graph, V10 at what is bound.
var stages = [...]stage{
	{"references", checkReferences},
	{"schemas", checkSchemas},
	{"branches", checkBranches},
	{"expressions", checkExpressions},
	{"routes", checkRoutes},
	{"delivery", checkDelivery},
}

// diagnosticsMax bounds what one refusal lists.
const diagnosticsMax = 64

// Invalid is why a candidate is refused: the findings of the first failing entity
// in the first failing stage.
type Invalid struct {
	Found ast.Diagnostics
	// Statement is the statement of the batch that defines the failing entity,
	// from 0; -1 if it was there before, in which case no span has a meaning.
	Statement int
}

func (i *Invalid) Error() string { return i.Found.Error() }

func (i *Invalid) Unwrap() error { return i.Found }

// Validate checks the candidate as a complete graph.
func (c *Candidate) Validate() *Invalid {
	for _, s := range stages {
		for i := range c.entries {
			e := &c.entries[i]
			f := found{key: e.key}
			s.check(c, e, &f)
			if len(f.list) > 0 {
				return report(e, f.list)
			}
		}
	}
	if bad := c.checkCycles(); bad != nil {
		return bad
	}
	if bad := c.checkFunctionCycles(); bad != nil {
		return bad
	}
	if invalid := c.checkPlacements(); invalid != nil {
		return invalid
	}
	return c.checkBindings()
}

func report(e *entry, list ast.Diagnostics) *Invalid {
	if more := len(list) - diagnosticsMax; more > 0 {
		list = append(list[:diagnosticsMax:diagnosticsMax],
			&ast.Diagnostic{Code: list[0].Code, Message: fmt.Sprintf("%d more", more), Entity: list[0].Entity})
	}
	if e.created {
		return &Invalid{Found: list, Statement: e.statement}
	}
	for _, d := range list {
		d.Span = vocab.Span{} // it points into the stored text, which nobody sent
	}
	return &Invalid{Found: list, Statement: -1}
}
