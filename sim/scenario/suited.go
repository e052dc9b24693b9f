package scenario

import (
	"slices"

	"plexus/sim/campaign"
)

// suited names, for planted defects, the scenarios that show them best. A defect
// without a line is looked for in all.
var suited = map[string][]string{
	"ack-before-sink":     {"first-pipeline"},
	"skip-child-share":    {"first-pipeline"},
	"answer-before-sync":  {"commands", "first-pipeline"},
	"no-torn-tail-check":  {"commands", "first-pipeline"},
	"resend-confirmed":    {"first-pipeline"},
	"map-ordered-effects": {"first-pipeline"},
}

// Suited puts the scenarios that show a defect best first.
func Suited(list []campaign.Scenario, defect string) []campaign.Scenario {
	var first, others []campaign.Scenario
	for _, s := range list {
		if slices.Contains(suited[defect], s.Name) {
			first = append(first, s)
		} else {
			others = append(others, s)
		}
	}
	return append(first, others...)
}
