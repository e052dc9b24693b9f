package interconnect

import (
	"bytes"
	"context"
	"testing"
	"time"

	"plexus/sim"
)

func TestCallAnswers(t *testing.T) {
	for seed := range uint64(5) {
		tm := newTestMesh(t, sim.Options{Seed: seed, Guard: true}, 3)
		for _, n := range tm.nodes {
			n.serve = func(m *Mesh) {
				m.Handle(RuntimeDescribe, func(_ context.Context, from Process, request []byte) ([]byte, error) {
					return append([]byte(from.Node+":"), request...), nil
				})
			}
		}
		tm.start()
		tm.until(10*time.Second, "connected", tm.connected)
		for _, size := range []int{0, 1, 100, 60_000, 65_536, 70_000, 1<<20 - 3} {
			tm.do(tm.nodes[0], 20*time.Second, func() {
				request := bytes.Repeat([]byte{7}, size)
				answer, err := tm.nodes[0].mesh.Call(context.Background(), "n2", RuntimeDescribe, request)
				if err != nil || !bytes.Equal(answer, append([]byte("n1:"), request...)) {
					t.Errorf("size %d: %d bytes, %v", size, len(answer), err)
				}
			})
		}
		for _, n := range tm.nodes {
			n.host.Stop()
		}
		tm.until(30*time.Second, "stopped", func() bool {
			return !tm.nodes[0].host.Running() && !tm.nodes[1].host.Running() && !tm.nodes[2].host.Running()
		})
		tm.sim.Close()
	}
}
