package decide

import (
	"fmt"
	"iter"
	"math"

	"plexus/engine/catalog"
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// stage is one row of the validation table: what it checks of one entity, given
// that all earlier stages found nothing anywhere. It looks at the entity and at
// what is tied to it: see ties.
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

// Invalid is why a candidate is refused: the findings of one entity in the first
// failing stage.
type Invalid struct {
	Found ast.Diagnostics
	// Statement is the statement of the batch that defines the failing entity,
	// from 0; -1 if it was there before, in which case no span has a meaning.
	Statement int
	// Causes are the entities that the batch touched and that the fault follows
	// from, where Statement is -1.
	Causes []catalog.Key
}

func (i *Invalid) Error() string { return i.Found.Error() }

func (i *Invalid) Unwrap() error { return i.Found }

// Validate checks the candidate as a complete graph and returns the first failing
// entity of the first failing stage.
func (c *Candidate) Validate() *Invalid {
	if found := c.judge(c.scope(), 1); len(found) > 0 {
		return found[0]
	}
	return nil
}

// Faults is Validate with the other failing entities of the stage.
func (c *Candidate) Faults() []*Invalid { return c.judge(c.scope(), math.MaxInt) }

// judge checks what is in the scope; the rest is sound. It finds at most limit
// failing entities.
func (c *Candidate) judge(s scope, limit int) (found []*Invalid) {
	used := map[catalog.Key]bool{}
	for _, st := range stages {
		for e := range c.in(s) {
			f := foundOf(e)
			f.used = used
			st.check(c, e, &f)
			if len(f.list) == 0 {
				continue
			}
			if found = append(found, c.report(e, f.list)); len(found) == limit {
				return found
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	for _, whole := range []func(scope) *Invalid{c.checkCycles, c.checkFunctionCycles, c.checkPlacements} {
		if invalid := whole(s); invalid != nil {
			return []*Invalid{invalid}
		}
	}
	return c.checkBindings(s, limit)
}

// in yields the entries of a scope, by kind and name.
func (c *Candidate) in(s scope) iter.Seq[*entry] {
	return func(yield func(*entry) bool) {
		if s.whole {
			for i := range c.entries {
				if !yield(c.entries[i]) {
					return
				}
			}
			return
		}
		for _, i := range s.entries {
			if !yield(c.entries[i]) {
				return
			}
		}
	}
}

// report makes findings about an entity the fault of a statement.
func (c *Candidate) report(e *entry, list ast.Diagnostics) *Invalid {
	if more := len(list) - diagnosticsMax; more > 0 {
		list = append(list[:diagnosticsMax:diagnosticsMax],
			&ast.Diagnostic{Code: list[0].Code, Message: fmt.Sprintf("%d more", more), Entity: list[0].Entity})
	}
	if e.created {
		return &Invalid{Found: list, Statement: e.statement}
	}
	about := e.key
	if list[0].Code == CodeInUse { // of what it names
		about = catalog.Key{Kind: list[0].Entity.Kind, Name: list[0].Entity.Name}
	}
	for _, d := range list {
		d.Span = vocab.Span{}                                         // it points into the stored text, which nobody sent
		if d.Code != ast.CodeUnavailable && d.Code != CodePlacement { // which names what it is about
			d.Naming()
		}
	}
	return &Invalid{Found: list, Statement: -1, Causes: c.causes(about)}
}
