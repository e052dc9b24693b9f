package scenario

import (
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"plexus/sim/campaign"
	"plexus/sim/fault"
)

// BenchmarkFirstPipeline runs the order pipeline for a virtual minute at 1,000
// orders a second, with its oracles, while nothing goes wrong. One operation is one
// run with its setup; its quiet suffix, which costs next to nothing, is cut to what
// the last orders need.
func BenchmarkFirstPipeline(b *testing.B) {
	s, err := campaign.Find(All(), "first-pipeline")
	if err != nil {
		b.Fatal(err)
	}
	s.Quiet = 5 * time.Second
	defer debug.SetGCPercent(debug.SetGCPercent(gcPercent))
	seed := uint64(0)
	began := processorTime(b)
	for b.Loop() {
		seed++
		if r := campaign.Execute(s, campaign.Spec{Seed: seed, Profile: fault.ProfileCalm}, campaign.Watch{}); r.Failure != nil {
			b.Fatal(r.Failure.Report())
		}
	}
	spent := processorTime(b) - began
	b.ReportMetric(float64(b.N)*s.Horizon.Seconds()/spent.Seconds(), "sim-s/cpu-s")
	b.ReportMetric(spent.Seconds()/float64(b.N), "cpu-s/run")
}

// gcPercent is that of plexus-sim.
const gcPercent = 800

// processorTime is what the process has used of all cores.
func processorTime(b *testing.B) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		b.Fatal(err)
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
