package scenario

import (
	"slices"

	"plexus/primitives/planted"
	"plexus/sim/campaign"
)

// suited names, for planted defects, the scenarios in which they are looked for:
// where they show in the least time first.
var suited = map[planted.Defect][]string{
	planted.AckBeforeSink:         {"first-pipeline"},
	planted.SkipChildShare:        {"first-pipeline"},
	planted.AnswerBeforeSync:      {"commands"},
	planted.NoTornTailCheck:       {"commands"},
	planted.ResendConfirmed:       {"first-pipeline"},
	planted.MapOrderedEffects:     {"first-pipeline"},
	planted.ForgetWatermark:       {"deliveries"},
	planted.RefuseHeld:            {"deliveries"},
	planted.UnfencedCancel:        {"deliveries"},
	planted.ReusePosition:         {"deliveries"},
	planted.CountMissedSweeps:     {"deliveries"},
	planted.AdmitBeforeGraph:      {"deliveries"},
	planted.LeakyGate:             {"cluster-lifecycle"},
	planted.OpenOnCoordinatorLoss: {"holds"},
	planted.ReuseGeneration:       {"handoffs"},
	planted.InstallUnverified:     {"handoffs"},
	planted.IgnoreLease:           {"cluster-transactions"},
	planted.SnapshotUnverified:    {"consensus"},
	planted.ForgetVote:            {"consensus"},
	planted.KeepConflicts:         {"consensus"},
	planted.StaleRead:             {"consensus"},
	planted.LearnerVotes:          {"consensus"},
	planted.WipedReturns:          {"consensus"},
	planted.KeepHalf:              {"consensus"},
	planted.HalfBatch:             {"cluster-transactions"},
	planted.EarlyBarrier:          {"cluster-transactions"},
	planted.RunUnowned:            {"cluster-pipeline"},
	planted.RepeatReference:       {"consensus"},
	planted.HoldForever:           {"holds"},
	planted.DiscardCommitted:      {"handoffs"},
}

// Suited returns the scenarios of the list in which a defect is looked for.
func Suited(list []campaign.Scenario, defect string) []campaign.Scenario {
	var out []campaign.Scenario
	for _, name := range suited[planted.Defect(defect)] {
		if i := slices.IndexFunc(list, func(s campaign.Scenario) bool { return s.Name == name }); i >= 0 {
			out = append(out, list[i])
		}
	}
	return out
}
