package workload

import (
	"testing"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/decide"
	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/primitives"
)

// plan decides a script in an empty domain.
func plan(t *testing.T, script string) *decide.Revision {
	t.Helper()
	state := catalog.New(primitives.UUID{1})
	state, _, _ = state.Apply(2, &catalogpb.Command{Steps: []*catalogpb.Step{
		{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "shop"}}}}})
	c, missing := decide.NewCandidate(state, "shop")
	if missing != nil {
		t.Fatal(missing)
	}
	statements, err := parse.Statements(script)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range statements {
		declaration, ok := s.(ast.Declaration)
		if _, domain := s.(*ast.CreateDomain); domain || !ok {
			continue
		}
		entity, found := model.Lower(declaration)
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
		if d := c.Create(entity, declaration.Place(), i); d != nil {
			t.Fatal(d)
		}
	}
	if invalid := c.Validate(); invalid != nil {
		t.Fatal(invalid)
	}
	state, result, _ := state.Apply(state.Applied+1, &catalogpb.Command{Steps: []*catalogpb.Step{c.Step()}})
	if result.Refused != nil {
		t.Fatal(result.Refused)
	}
	r, err := decide.Plan(state, "shop")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestPipelinesAreValid(t *testing.T) {
	for _, script := range []string{FirstPipeline, CursorPipeline, EndpointPipeline} {
		if r := plan(t, script); len(r.Emitters) == 0 || len(r.Ingestors) != 1 {
			t.Fatal(r)
		}
	}
}

func TestOrdersHaveOneSize(t *testing.T) {
	seen := map[Leaf]int{}
	s := Orders{Seed: 7}
	for n := uint64(1); n < 20_000; n++ {
		o := s.Order(n)
		seen[o.Leaves()]++
		payload := o.AppendPayload(nil)
		if !o.Broken && len(payload) != OrderBytes {
			t.Fatalf("%s has %d bytes", payload, len(payload))
		}
		if got, ok := OrderNumber(payload); !ok || got != n {
			t.Fatalf("%s: number %d", payload, got)
		}
	}
	if len(seen) != 4 {
		t.Fatal(seen)
	}
}
