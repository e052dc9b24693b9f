package protocol

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"plexus/engine/handoff/handofftest"
	"plexus/sim/campaign"
	"plexus/sim/oracle"
)

// Handoffs is the change of owners by itself: leaders move operators with their
// state, recover those of lost nodes, and reconcile what earlier leaders left.
func Handoffs() campaign.Scenario {
	return campaign.Scenario{
		Name:    "handoffs",
		About:   "Three nodes give operators and their state to each other and recover what lost nodes owned, in every phase of which processes, machines, leaders and messages get lost.",
		Horizon: 2 * time.Minute, Quiet: 2 * time.Minute, Steps: 200_000,
		Setup: func(r *campaign.Run) {
			addresses := map[string]netip.Addr{}
			for _, name := range machines {
				addresses[name] = r.Sim.Host(name).Addr()
			}
			draw := r.Sim.Stream("catalog")
			c := handofftest.NewCluster(addresses, draw.Below, r.Sim.Elapsed, r.Sim.Fail)
			c.Over = r.Over
			startHosts(r, c.Run)
			every(r, 20*time.Millisecond, func() {
				c.Tick(func(node string) bool { return !r.Sim.Find(node).Running() })
			})
			r.Hold(oracle.Oracle{Name: "owners-settle", Quiet: c.Settled, Evidence: func() string { return fmt.Sprint(c.Errors) }})
			r.Hold(oracle.Oracle{Name: "preparations-are-reconciled", Quiet: func() error {
				for _, name := range machines {
					for _, file := range r.Sim.Find(name).Disk().Names() {
						if strings.Contains(file, "/@preparations/") || strings.Contains(file, "/staging/") {
							return fmt.Errorf("node %s still has %s", name, file)
						}
					}
				}
				return nil
			}})
		},
	}
}
