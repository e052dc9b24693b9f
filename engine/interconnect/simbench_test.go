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

// BenchmarkSimulatedDeliveries runs what one delivery of a record batch costs the
// simulator: a grant, a body of 1,024 rows with its receipt, and two reports.
func BenchmarkSimulatedDeliveries(b *testing.B) {
	body := encodedBatch(b)
	tm := newTestMesh(b, sim.Options{Seed: 1}, 2).serveAll(func(m *Mesh) {
		ok := func(context.Context, Process, []byte) ([]byte, error) { return nil, nil }
		m.Handle(RelayGrant, ok)
		m.Handle(RelayOutcome, ok)
		m.Handle(RelayAck, ok)
		m.HandleStream(RelayBody, func(_ context.Context, _ Process, s *Stream) error {
			for {
				if _, err := s.Recv(); err != nil {
					return s.Send(nil)
				}
			}
		})
	})
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	from, to := tm.nodes[0].mesh, tm.nodes[1].mesh
	steps := tm.sim.Steps()
	b.ResetTimer()
	done := false
	tm.nodes[0].host.World().Tasks().Go("deliveries", func() {
		ctx := context.Background()
		head := make([]byte, 100)
		for range b.N {
			if _, err := from.CallProcess(ctx, to.Process(), RelayGrant, head); err != nil {
				b.Error(err)
			}
			s, err := from.OpenProcess(ctx, to.Process(), RelayBody, 0)
			if err != nil {
				b.Error(err)
				return
			}
			for _, message := range [][]byte{head, body} {
				if err := s.Send(message); err != nil {
					b.Error(err)
				}
			}
			if err := s.CloseSend(); err != nil {
				b.Error(err)
			}
			if _, err := s.Recv(); err != nil {
				b.Error(err)
			}
			s.Close()
			from.Send("n2", RelayOutcome, head)
			from.Send("n2", RelayAck, head)
		}
		done = true
	})
	tm.until(time.Hour, "deliveries", func() bool { return done })
	b.StopTimer()
	b.ReportMetric(float64(tm.sim.Steps()-steps)/float64(b.N), "steps/op")
	tm.sim.Close()
}
