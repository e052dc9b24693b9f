package scenario

import (
	"testing"

	"plexus/primitives/planted"
)

// Every planted defect is looked for somewhere.
func TestEveryDefectHasAScenario(t *testing.T) {
	all := All()
	for _, defect := range planted.Defects() {
		if got, want := len(Suited(all, string(defect))), len(suited[defect]); got == 0 || got != want {
			t.Errorf("%s is looked for in %d scenarios, the table names %d", defect, got, want)
		}
	}
	if len(suited) != len(planted.Defects()) {
		t.Errorf("the table names %d defects, there are %d", len(suited), len(planted.Defects()))
	}
}
