package interconnect

import (
	"context"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/sim"
)

// BenchmarkSimulated runs three nodes that send each other eight events a second
// for an hour of virtual time, beside health probes.
func BenchmarkSimulated(b *testing.B) {
	for b.Loop() {
		tm := newTestMesh(b, sim.Options{Seed: 1}, 3)
		events := 0
		for _, n := range tm.nodes {
			n.serve = func(m *Mesh) {
				m.Handle(RaftMessage, func(context.Context, Process, []byte) ([]byte, error) {
					events++
					return nil, nil
				})
			}
		}
		tm.start()
		tm.until(10*time.Second, "connected", tm.connected)
		message := make([]byte, 100)
		for _, n := range tm.nodes {
			n.host.World().Tasks().Go("events", func() {
				for {
					for _, other := range tm.nodes {
						if other != n {
							n.mesh.Send(other.name, RaftMessage, message)
						}
					}
					if primitives.Sleep(context.Background(), n.host.World(), 125*time.Millisecond) != nil {
						return
					}
				}
			})
		}
		const virtual = 600 * time.Second
		start, steps := time.Now(), tm.sim.Steps()
		if err := tm.sim.Run(virtual); err != nil {
			b.Fatal(err)
		}
		took := time.Since(start)
		b.ReportMetric(virtual.Seconds()/took.Seconds(), "virtual-s/s")
		b.ReportMetric(float64(tm.sim.Steps()-steps)/virtual.Seconds(), "steps/virtual-s")
		b.ReportMetric(float64(events)/virtual.Seconds(), "events/virtual-s")
		tm.sim.Close()
	}
}
