//go:build planted

package flow

import (
	"testing"

	"plexus/primitives/planted"
)

// Moves without a hold show who finishes rows that it was not to.
func TestForcedMovesSeePlantedDefects(t *testing.T) {
	planted.Switch(planted.FinishUnread)
	defer planted.Switch("")
	for seed := range uint64(16) {
		if problems := forcedMoves(t, seed); problems != nil {
			t.Logf("seed %d: %s", seed, problems[0])
			return
		}
	}
	t.Errorf("nobody sees %s", planted.FinishUnread)
}

// So does a gate that is no gate.
func TestHoldSeesPlantedDefects(t *testing.T) {
	planted.Switch(planted.LeakyGate)
	defer planted.Switch("")
	if passed := passedGate(t); passed == 0 {
		t.Errorf("nobody sees %s", planted.LeakyGate)
	}
}
