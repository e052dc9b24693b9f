package protocol

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"plexus/engine/quiesce/quiescetest"
	"plexus/primitives"
	"plexus/sim/campaign"
	"plexus/sim/fault"
	"plexus/sim/oracle"
)

// machines are where the nodes run.
var machines = []string{"a", "b", "c"}

// Holds is the quiesce protocol by itself: every node holds one graph still again
// and again, while its rows move, messages get lost and processes end.
func Holds() campaign.Scenario {
	return campaign.Scenario{
		Name:    "holds",
		About:   "Three nodes hold a graph still, over a network that loses messages, while processes and machines end: gates stay closed for their leases and no longer.",
		Horizon: 2 * time.Minute, Quiet: time.Minute, Steps: 80_000,
		Setup: func(r *campaign.Run) {
			addresses := map[string]netip.Addr{}
			for _, name := range machines {
				addresses[name] = r.Sim.Host(name).Addr()
			}
			draw := r.Sim.Stream("flow")
			c := quiescetest.NewCluster(addresses, draw.Below, r.Sim.Elapsed, r.Sim.Fail)
			c.Over = r.Over
			startHosts(r, c.Run)
			every(r, 20*time.Millisecond, c.Flow.Tick)
			r.Hold(oracle.Oracle{Name: "leases-end", Quiet: c.Leased})
			r.Hold(oracle.Oracle{Name: "holds-come-to-rest", Quiet: func() error {
				if since := r.Sim.Elapsed() - c.LastHold; since > 40*time.Second {
					return fmt.Errorf("no hold came to rest for %v", since.Round(time.Second))
				}
				return nil
			}})
		},
	}
}

// every calls f from outside the nodes until the run ends.
func every(r *campaign.Run, d time.Duration, f func()) {
	r.Sim.After(d, func() {
		f()
		every(r, d, f)
	})
}

// startHosts runs a program on every machine and lets everything happen to it that
// a correct product recovers from.
func startHosts(r *campaign.Run, run func(name string) func(context.Context, primitives.World)) {
	for _, name := range machines {
		h := r.Sim.Find(name)
		h.Start("node", run(name))
		r.Target(h)
		r.Supervise(h)
	}
	for _, k := range append(fault.Standard(), fault.Clustered()...) {
		r.Allow(k)
	}
}
