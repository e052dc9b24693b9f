package simworld

import (
	"fmt"
	"strings"

	"plexus/features/harness"
	"plexus/sim"
	"plexus/sim/cluster"
)

// World opens one simulation per scenario.
type World struct{}

// New returns the simulated world.
func New() *World { return &World{} }

// Name implements harness.World.
func (*World) Name() string { return "sim" }

// Missing implements harness.World.
func (*World) Missing(kind string) string {
	switch kind {
	case "nats", "redis", "http":
		return ""
	default:
		return "the simulator has no model of it"
	}
}

// Lacks implements harness.World.
func (*World) Lacks(tag string) string {
	switch tag {
	case "process":
		return "the simulated world has no processes, signals or command lines"
	case "tls":
		return "the simulated world carries the interconnect without TLS"
	case "http":
		return "the session's HTTP binding and the observability listener exist in the real build only"
	}
	fault, ok := strings.CutPrefix(tag, "fault:")
	if !ok {
		return ""
	}
	switch fault {
	case "kill", "power", "disk", "clock", "freeze", "wipe", "link", "link_slow", "link_break", "link_name", "torn_log", "refuse", "hang", "answer_loss", "cut", "refuse_some", "reject_some":
		return ""
	default:
		return fmt.Sprintf("the simulated world has no step for %s", fault)
	}
}

// Open implements harness.World.
func (*World) Open(s harness.Scenario) (harness.Stage, error) {
	st := &stage{scenario: s, cluster: cluster.New(), systems: map[string]system{}}
	st.sim = sim.New(sim.Options{Seed: s.Seed, Logs: st.log})
	return st, nil
}

// Close implements harness.World.
func (*World) Close() error { return nil }

var _ harness.World = (*World)(nil)
