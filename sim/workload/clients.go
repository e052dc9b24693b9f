package workload

import (
	"fmt"
	"time"

	"plexus/sim"
)

// Clients runs n client loops on a machine. Each gets its own random stream and
// repeats step after a think time until over reports true.
func Clients(s *sim.Simulation, h *sim.Host, n int, think time.Duration, over func() bool, step func(client int, r *sim.Stream)) {
	w := h.World()
	for i := range n {
		r := s.Stream(fmt.Sprintf("workload/%s/%d", h.Name(), i))
		w.Tasks().Go("client", func() {
			for !over() {
				s.Sleep(time.Duration(r.Between(0, 2*int64(think))), "think")
				step(i, r)
			}
		})
	}
}
