package control

import (
	"slices"
	"testing"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// A state that replaces another one tells its changes as one command would: in the
// order of their keys.
func TestDifferenceIsInOrder(t *testing.T) {
	s := catalog.New(primitives.UUID{7})
	apply := func(steps ...*catalogpb.Step) {
		next, result, _ := s.Apply(s.Applied+1, &catalogpb.Command{At: 1, Steps: steps})
		if result.Refused != nil {
			t.Fatal(result.Refused)
		}
		s = next
	}
	change := func(changes ...*catalogpb.ModelChange) {
		d, _ := s.Domain("d")
		apply(&catalogpb.Step{Body: &catalogpb.Step_ChangeModels{ChangeModels: &catalogpb.ChangeModels{Domain: "d", Expected: d.Definition, Changes: changes}}})
	}
	create := func(name string) *catalogpb.ModelChange {
		return &catalogpb.ModelChange{Kind: "SCHEMA", Name: name, Text: "CREATE SCHEMA " + name + " (x U8);"}
	}
	drop := func(name string) *catalogpb.ModelChange {
		return &catalogpb.ModelChange{Op: catalogpb.ModelChange_DROP, Kind: "SCHEMA", Name: name}
	}
	apply(&catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "d"}}})
	change(create("b"), create("d"), create("e"))
	before := s
	change(drop("d"), create("a"), create("c"))
	change(drop("e"))
	e := difference(before, s)
	var got []string
	for _, m := range e.Models {
		got = append(got, m.Name)
	}
	if want := []string{"a", "c", "d", "e"}; !slices.Equal(got, want) {
		t.Errorf("told %v, want %v", got, want)
	}
}
