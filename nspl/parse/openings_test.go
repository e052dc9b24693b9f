package parse

import (
	"slices"
	"testing"

	"plexus/nspl/ast"
)

// TestOpenings: what is taken for the beginning of a statement behind a secret is what
// the grammar begins statements with.
func TestOpenings(t *testing.T) {
	want, got := slices.Sorted(slices.Values(openings)), slices.Sorted(slices.Values(ast.Openings))
	if !slices.Equal(want, got) {
		t.Errorf("the grammar has %q, secrets %q", want, got)
	}
}
