package model_test

import (
	"strings"
	"testing"

	"plexus/nspl/ast"
	"plexus/nspl/model"
	"plexus/nspl/parse"
	"plexus/nspl/render"
	"plexus/nspl/vocab"
)

// TestAlterPlacement applies operations from left to right.
func TestAlterPlacement(t *testing.T) {
	for _, c := range []struct{ old, alter, want string }{
		{"FROM a TO b NEUTRAL", "SET POLICY REQUIRE COLOCATION", "p FROM a TO b REQUIRE COLOCATION"},
		{"FROM a TO b NEUTRAL", "SET RANK 3, DROP RANK, SET RANK 2", "p FROM a TO b NEUTRAL RANK 2"},
		{"FROM a TO b NEUTRAL RANK 2", "DROP RANK", "p FROM a TO b NEUTRAL"},
		{"FROM a TO b NEUTRAL", "SET FROM c, d, c TO e", "p FROM c, d TO e NEUTRAL"},
		{"FROM a TO b NEUTRAL", "RENAME TO q, SET RANK 1", "q FROM a TO b NEUTRAL RANK 1"},
		{"FROM a TO b NEUTRAL", "DROP RANK", "invalid: PLACEMENT 'p' has no RANK to drop"},
		{"FROM a TO b NEUTRAL", "SET RANK 0", "invalid: RANK must be greater than zero"},
	} {
		e, err := model.Parse("CREATE PLACEMENT p " + c.old)
		if err != nil {
			t.Fatal(err)
		}
		s, err := parse.Statement("ALTER PLACEMENT p " + c.alter)
		if err != nil {
			t.Fatal(err)
		}
		next, found := model.Alter(e, s.(ast.Alteration))
		got := found.Error()
		if len(found) == 0 {
			got = strings.TrimSuffix(strings.TrimPrefix(render.Entity(next), "CREATE PLACEMENT "), ";")
		}
		if got != c.want {
			t.Errorf("%s: %s", c.alter, got)
		}
	}
}

// TestAlteredPartsStandAtTheName: what an ALTER kept stands where it names the
// entity.
func TestAlteredPartsStandAtTheName(t *testing.T) {
	e, _ := model.Parse("CREATE PLACEMENT p FROM a TO b NEUTRAL")
	s, _ := parse.Statement("ALTER PLACEMENT p SET RANK 3")
	next, _ := model.Alter(e, s.(ast.Alteration))
	for _, m := range next.(*model.Placement).Members() {
		if m.Span != (vocab.Span{Start: 16, End: 17}) {
			t.Errorf("%s stands at %v", m.Text, m.Span)
		}
	}
}

func TestPlacementSidesAreBounded(t *testing.T) {
	side := strings.TrimSuffix(strings.Repeat("a, ", 256), ", ")
	if _, err := model.Parse("CREATE PLACEMENT p FROM " + side + " TO b NEUTRAL"); err != nil {
		t.Error(err)
	}
	if _, err := model.Parse("CREATE PLACEMENT p FROM b TO " + side + ", a NEUTRAL"); err == nil {
		t.Error("257 names are accepted")
	}
}
