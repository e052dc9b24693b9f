package campaign

import (
	"time"

	"plexus/primitives"
	"plexus/sim/fault"
)

// Summary adds up the outcomes of a campaign.
type Summary struct {
	Scenario string              `json:"scenario"`
	Seeds    int                 `json:"seeds"`
	Failed   int                 `json:"failed"`
	Broken   int                 `json:"broken"`
	Unequal  int                 `json:"unequal"` // seeds that gave two different runs
	Virtual  time.Duration       `json:"virtual"`
	Steps    uint64              `json:"steps"`
	Profiles map[string]int      `json:"profiles"`
	Schedule map[string]int      `json:"strategies"`
	Fired    map[fault.Class]int `json:"fired"`
	Hits     map[string]uint64   `json:"hits"`
	Classes  map[string]int      `json:"failures"` // by failure class
}

// NewSummary returns an empty summary.
func NewSummary(scenario string) *Summary {
	return &Summary{
		Scenario: scenario, Profiles: map[string]int{}, Schedule: map[string]int{},
		Fired: map[fault.Class]int{}, Hits: map[string]uint64{}, Classes: map[string]int{},
	}
}

// Add counts one outcome in.
func (s *Summary) Add(o Outcome) {
	s.Seeds++
	if o.Broken != "" {
		s.Broken++
		return
	}
	if o.Differs() {
		s.Unequal++
	}
	s.Virtual += o.Virtual
	s.Steps += o.Steps
	s.Profiles[string(o.Profile)]++
	s.Schedule[o.Strategy]++
	if o.Failure != nil {
		s.Failed++
		s.Classes[o.Failure.Class()]++
	}
	for _, c := range o.Allowed {
		s.Fired[c] += 0
	}
	for _, c := range primitives.SortedKeys(o.Fired) {
		s.Fired[c] += o.Fired[c]
	}
	for _, name := range primitives.SortedKeys(o.Hits) {
		s.Hits[name] += o.Hits[name]
	}
}

// silentAfter is the number of seeds after which an allowed class must have fired.
const silentAfter = 200

// Silent lists the classes that were allowed and never took effect, once there
// were enough seeds to expect it.
func (s *Summary) Silent() []fault.Class {
	if s.Seeds < silentAfter || s.Seeds == s.Profiles[string(fault.ProfileCalm)] {
		return nil
	}
	var out []fault.Class
	for _, c := range primitives.SortedKeys(s.Fired) {
		if s.Fired[c] == 0 {
			out = append(out, c)
		}
	}
	return out
}

// NeverHit lists the rare branches that no seed of any campaign reached.
func NeverHit(all []*Summary) []string {
	hits := map[string]uint64{}
	for _, s := range all {
		for _, name := range primitives.SortedKeys(s.Hits) {
			hits[name] += s.Hits[name]
		}
	}
	var out []string
	for _, name := range primitives.SortedKeys(hits) {
		if hits[name] == 0 {
			out = append(out, name)
		}
	}
	return out
}
