package scenario

import (
	"fmt"
	"runtime/debug"
	"syscall"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/sim/brokers"
	"plexus/sim/brokers/nats"
	"plexus/sim/campaign"
	"plexus/sim/cluster"
	"plexus/sim/fault"
	"plexus/sim/oracle"
	"plexus/sim/workload"
)

// BenchmarkFirstPipeline runs the order pipeline for a virtual minute at 1,000
// orders a second while nothing goes wrong. One operation is one run with its
// setup; its quiet suffix, which costs next to nothing, is cut to what the last
// orders need. "alone" is the node with its external systems, "watched" the
// campaign's scenario: every oracle, the tap, and clients that change definitions
// meanwhile.
func BenchmarkFirstPipeline(b *testing.B) {
	b.Run("alone", func(b *testing.B) {
		measure(b, campaign.Scenario{Name: "first-pipeline-alone", Horizon: time.Minute, Steps: 60_000, Setup: alone(b)})
	})
	b.Run("watched", func(b *testing.B) {
		s, err := campaign.Find(All(), "first-pipeline")
		if err != nil {
			b.Fatal(err)
		}
		measure(b, s)
	})
}

func measure(b *testing.B, s campaign.Scenario) {
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

// alone sets the pipeline up with nobody watching; at the end every order must have
// come out of it.
func alone(b *testing.B) func(*campaign.Run) {
	return func(r *campaign.Run) {
		p := &pipeline{
			rig: &rig{
				run: r, sim: r.Sim, systems: cluster.NewSystems(r.Sim), client: r.Sim.Host("client"),
				variant: workload.Standard(workload.FirstPipeline, ordersPerSecond), cluster: cluster.New(),
			},
			orders: workload.Orders{Seed: r.Sim.Seed()},
		}
		for i := range r.Nodes {
			p.cluster.Add(r.Sim.Host(fmt.Sprintf("node-%d", i+1)), cluster.Program{Process: func(_ *cluster.Node, w primitives.World) cluster.Process {
				return cluster.Process{Connectors: cluster.Connectors(w, nats.Driver{})}
			}})
		}
		p.streams()
		p.cluster.Start()
		if !p.declare(p.variant.Script) {
			b.Fatal("the pipeline could not be declared")
		}
		p.began = p.sim.Elapsed()
		p.produce()
		r.Hold(oracle.Oracle{Name: "everything-came-out", Quiet: func() error {
			bus := p.systems.Bus.Ledger()
			in, out := bus.Count("orders", brokers.Acknowledged), bus.Count("prices", brokers.Stored)+bus.Count("rejections", brokers.Stored)
			if uint64(in) != p.produced || out == 0 {
				return fmt.Errorf("%d of %d orders acknowledged, %d came out", in, p.produced, out)
			}
			return nil
		}})
	}
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
