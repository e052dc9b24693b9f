package decide

import (
	"slices"
	"testing"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/nspl/complete"
	"plexus/primitives"
)

// Completion offers the completed versions of a resource and the subscriptions of the
// session.
func TestNamesOfVersionsAndSubscriptions(t *testing.T) {
	state := catalog.New(primitives.UUID{})
	state, _, _ = state.Apply(1, &catalogpb.Command{Steps: []*catalogpb.Step{
		{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: "d"}}},
	}})
	state = resources(state, "CREATE RESOURCE certs; UPLOAD RESOURCE certs VERSION 'COMPLETED'; UPLOAD RESOURCE certs VERSION 'FAILED'; UPLOAD RESOURCE certs VERSION 'COMPLETED'")
	c, missing := NewCandidate(state, "d")
	if missing != nil {
		t.Fatal(missing)
	}
	names := NewNames(state, c).OfSession([]string{"see", "watch"})
	for text, want := range map[string][]string{ //plexus:orderfree independent cases
		"REBIND RESOURCE certs TO VERSION ": {"1", "3"},
		"REBIND RESOURCE other TO VERSION ": nil,
		"DELETE SUBSCRIPTION ":              {"see", "watch"},
	} {
		var got []string
		for _, s := range complete.At(text, len(text), names).Suggestions {
			if s.Kind == complete.KindReference {
				got = append(got, s.Display)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
	if NewNames(state, nil).Versions("certs") != nil {
		t.Error("there are versions without a domain")
	}
}
