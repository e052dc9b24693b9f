package protocol

import (
	"errors"
	"net/netip"
	"time"

	"plexus/engine/exchange/exchangetest"
	"plexus/engine/observe"
	"plexus/sim/campaign"
	"plexus/sim/oracle"
)

// Deliveries is the exchange of batches between nodes by itself.
func Deliveries() campaign.Scenario {
	return campaign.Scenario{
		Name:    "deliveries",
		About:   "Three nodes send each other batches whose rows end in pieces, over an interconnect that suffers, with and without shares: one verdict for each, no acknowledged loss, and nothing twice that has no share.",
		Horizon: 40 * time.Second, Quiet: time.Minute, Steps: 150_000,
		Setup: func(r *campaign.Run) {
			addresses := map[string]netip.Addr{}
			for _, name := range machines {
				addresses[name] = r.Sim.Host(name).Addr()
			}
			draw := r.Sim.Stream("exchange")
			c := exchangetest.NewCluster(addresses, draw.Below, r.Sim.Fail)
			c.Refuses, c.Fails = 20_000, 50_000
			c.Unreliable = draw.Below(3) == 0
			switch draw.Below(4) {
			case 0: // room for one body and a few watches
				c.Limits.ReceiveMemory, c.Limits.WatchMemory, c.Limits.SendMemory = 9<<10, 4<<10, 1<<10
			case 1:
				c.Limits.Deliveries, c.Limits.Admissions = 4, 3
			}
			c.Over, c.Calm = r.Over, r.Over
			ends := oracle.NewExchange(r.Sim.Fail)
			c.Taps = func(node string) observe.Tap {
				return oracle.Taps{ends.Process(node), oracle.NewRoots(r.Sim.Fail, false)}
			}
			startHosts(r, c.Run)
			r.Hold(ends.Settled())
			r.Hold(oracle.Oracle{Name: "rows-settle", Quiet: c.Settled})
			r.Hold(oracle.Oracle{Name: "something-was-tested", Quiet: func() error {
				if !c.Tested() {
					return errors.New("no rows with and without shares were delivered")
				}
				return nil
			}})
		},
	}
}
