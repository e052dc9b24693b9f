package scenario

import (
	"runtime/debug"
	"testing"

	"plexus/sim/campaign"
)

// BenchmarkConsensus runs three members for a virtual minute under the faults of
// the campaign, with the oracles and the quiet suffix, which does not count.
func BenchmarkConsensus(b *testing.B) {
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	s, err := campaign.Find(All(), "consensus")
	if err != nil {
		b.Fatal(err)
	}
	seed, steps := uint64(0), uint64(0)
	began := processorTime(b)
	for b.Loop() {
		seed++
		r := campaign.Execute(s, campaign.Spec{Seed: seed}, campaign.Watch{})
		if r.Failure != nil {
			b.Fatal(r.Failure.Report())
		}
		steps += r.Steps
	}
	spent := processorTime(b) - began
	b.ReportMetric(float64(b.N)*s.Horizon.Seconds()/spent.Seconds(), "sim-s/cpu-s")
	b.ReportMetric(spent.Seconds()/float64(b.N), "cpu-s/run")
	b.ReportMetric(float64(steps)/float64(b.N), "steps/run")
}
