package cluster

import (
	"time"

	"plexus/sim"
	"plexus/sim/brokers"
)

// Outages are the losses of power of a machine that runs an external system: what
// it stored outlives them, its connections do not.
func Outages(class string, h *sim.Host) brokers.Verb {
	restart := func() {
		if !h.Running() {
			h.Restart()
		}
	}
	return brokers.Verb{
		Class: class, Lasts: true,
		Apply: func(time.Duration, int) {
			if h.Running() {
				h.Crash()
			}
		},
		Heal: restart,
	}
}
