//go:build planted

package protocol

import (
	"testing"

	"plexus/primitives/planted"
	"plexus/sim/campaign"
)

// caught runs seeds until one shows the defect.
func caught(t *testing.T, s campaign.Scenario, defect planted.Defect, seeds uint64) {
	planted.Switch(defect)
	defer planted.Switch("")
	for seed := range seeds {
		if r := campaign.Execute(s, campaign.Spec{Seed: seed}, campaign.Watch{}); r.Failure != nil {
			t.Logf("%s: seed %d: %v", defect, seed, r.Failure)
			return
		}
	}
	t.Errorf("%s: missed in %d seeds", defect, seeds)
}

func TestPlantedDefectsShow(t *testing.T) {
	caught(t, Holds(), planted.OpenOnCoordinatorLoss, 100)
	caught(t, Handoffs(), planted.ReuseGeneration, 100)
	caught(t, Handoffs(), planted.InstallUnverified, 100)
}
