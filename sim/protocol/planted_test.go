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
	for _, defect := range []planted.Defect{planted.ReuseGeneration, planted.InstallUnverified} {
		caught(t, Handoffs(), defect, 100)
	}
	for _, defect := range []planted.Defect{
		planted.ForgetWatermark, planted.RefuseHeld, planted.UnfencedCancel, planted.ReusePosition, planted.CountMissedSweeps,
		planted.AdmitBeforeGraph, planted.SkipChildShare,
	} {
		caught(t, Deliveries(), defect, 60)
	}
}
