package control

import (
	"strings"
	"testing"

	"plexus/engine/catalog"
)

// TestOldCopiesAreRefused claims a membership with directories that know of its
// admissions, and with some that do not.
func TestOldCopiesAreRefused(t *testing.T) {
	token := func(name string) (t [tokenBytes]byte) { copy(t[:], name); return t }
	admitted := token("eighth")
	node := &catalog.Node{ID: "n3", RaftID: 3, Counter: 8, Token: string(admitted[:]), Interconnect: "n3:1"}
	claim := func(counter uint64, own string, before ...string) Claim {
		c := Claim{Node: "n3", RaftID: 3, Counter: counter, Token: token(own), Endpoints: Endpoints{Interconnect: "n3:1"}}
		for _, name := range before {
			c.Admitted = append(c.Admitted, token(name))
		}
		return c
	}
	for _, c := range []struct {
		name    string
		claim   Claim
		refused string
	}{
		{"the same claim again", claim(8, "eighth", "seventh"), ""},
		{"the next start", claim(9, "ninth", "seventh", "eighth"), ""},
		{"the next start, when the answer to the last claim was lost", claim(9, "eighth", "seventh"), ""},
		{"an old copy", claim(8, "other", "seventh"), "start 8 of node 'n3' was admitted, this is start 8"},
		{"an old copy that was started more often", claim(11, "other", "seventh"), "it is an old copy"},
		{"a copy without any admission", claim(11, "other"), "it is an old copy"},
	} {
		v, refused := judgeMember(node, c.claim)
		switch {
		case c.refused == "" && (refused != nil || v.admitted == 0 && v.step == nil):
			t.Errorf("%s: %+v, %v", c.name, v, refused)
		case c.refused != "" && (refused == nil || refused.Case != ClaimStale || !strings.Contains(refused.Text, c.refused)):
			t.Errorf("%s: %v", c.name, refused)
		}
	}
}
