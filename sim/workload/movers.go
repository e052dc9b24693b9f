package workload

import (
	"context"
	"fmt"
	"time"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
	"plexus/sim"
)

// Movers is the workload of an operator who moves work between nodes: it drains,
// cordons and uncordons them, and relocates operators.
type Movers struct {
	World primitives.World
	Sim   *sim.Simulation
	On    Opener
	Nodes []string
	// Units are the operators that can be relocated, each as kind and name.
	Units []string

	done int
}

const (
	// moveBound is how long an operator waits for a move: longer than a drain may
	// take.
	moveBound = 100 * time.Second
	restMost  = 5 * time.Second
)

// Done returns how many statements were completed.
func (m *Movers) Done() int { return m.done }

// Step is one decision.
func (m *Movers) Step(_ int, r *sim.Stream) {
	node := m.Nodes[r.Below(uint64(len(m.Nodes)))]
	switch r.Below(6) {
	case 0:
		m.control("DRAIN", node)
		m.Sim.Sleep(time.Duration(r.Between(0, int64(restMost))), "drained node")
		m.control("UNCORDON", node)
	case 1:
		m.control("CORDON", node)
		m.Sim.Sleep(time.Duration(r.Between(0, int64(restMost))), "cordoned node")
		m.control("UNCORDON", node)
	default:
		unit := m.Units[r.Below(uint64(len(m.Units)))]
		m.run(fmt.Sprintf("RELOCATE %s ONTO NODE `%s` IGNORE PREFERENCES", unit, node))
	}
}

// Settle makes every node eligible again.
func (m *Movers) Settle() {
	for _, node := range m.Nodes {
		for !m.control("UNCORDON", node) {
			m.Sim.Sleep(settleEvery, "next attempt")
		}
	}
}

// Restart stops the domain and starts it again: a source that gave up goes on.
func (m *Movers) Restart() {
	for {
		m.run("STOP")
		if m.run("START") {
			return
		}
		m.Sim.Sleep(settleEvery, "next attempt")
	}
}

// Drop takes a node out of the cluster, and reports whether it is out.
func (m *Movers) Drop(node string) bool { return m.control("DROP", node) }

func (m *Movers) control(verb, node string) bool {
	return m.run(fmt.Sprintf("%s NODE `%s`", verb, node))
}

// run executes a statement and reports whether it was completed.
func (m *Movers) run(text string) bool {
	ctx, cancel := primitives.WithDeadline(context.Background(), m.World, m.World.Clock().Now().Add(moveBound))
	defer cancel()
	s, err := m.On.Open(ctx, m.World, client.Options{Client: "mover", Domain: pipelineDomain, CallTimeout: moveBound})
	if err != nil {
		return false
	}
	defer s.Drop()
	reply, err := s.Execute(ctx, text)
	if err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
		return false
	}
	m.done++
	return true
}
