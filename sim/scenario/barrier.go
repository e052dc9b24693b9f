package scenario

import (
	"context"
	"fmt"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
)

const (
	// barrierAfter is when every node that serves is one that the leader waits for:
	// whatever broke has healed for longer than a node is counted as lost.
	barrierAfter  = 30 * time.Second
	barrierProbes = 5
	barrierDomain = "names0"
	barrierBound  = 20 * time.Second
	// barrierLatency keeps one node behind the others for so long that an answer which
	// does not wait for it would overtake it.
	barrierLatency = 500 * time.Millisecond
)

// barrier runs commands once everything has healed, and looks at every node the
// moment each is answered: it is usable everywhere (CP-1).
func (m *members) barrier(on *sim.Host) {
	m.run.Sim.Sleep(barrierAfter, "nodes to count as live")
	for i := range barrierProbes {
		for !m.cluster.Ready() {
			m.run.Sim.Sleep(time.Second, "nodes to serve")
		}
		name := fmt.Sprintf("barrier%d", i)
		network, slow := m.run.Sim.Network(), m.cluster.Nodes()[i%len(m.cluster.Nodes())].Host()
		m.links(slow, func(a, b *sim.Host) { network.SetLink(a, b, sim.Link{Latency: barrierLatency}) })
		completed := m.create(on, name)
		m.links(slow, network.ResetLink)
		if !completed || !m.cluster.Ready() {
			continue
		}
		for _, n := range m.cluster.Nodes() {
			if _, ok := n.State().Model(barrierDomain, catalog.Key{Kind: vocab.EntitySchema, Name: name}); !ok {
				m.run.Sim.Fail("completed-is-everywhere", fmt.Sprintf("the command that makes %s is answered, and %s has applied %d", name, n.Name(), n.State().Applied))
			}
		}
	}
}

// links calls f for every direction between a node and the others.
func (m *members) links(of *sim.Host, f func(from, to *sim.Host)) {
	for _, n := range m.cluster.Nodes() {
		if other := n.Host(); other != of {
			f(of, other)
			f(other, of)
		}
	}
}

// create makes a schema and reports whether that completed.
func (m *members) create(on *sim.Host, name string) bool {
	w := on.World()
	ctx, cancel := primitives.WithDeadline(context.Background(), w, w.Clock().Now().Add(barrierBound))
	defer cancel()
	s, err := m.cluster.Open(ctx, w, client.Options{Client: "barrier", Domain: barrierDomain, CallTimeout: barrierBound})
	if err != nil {
		return false
	}
	defer s.Drop()
	reply, err := s.Execute(ctx, fmt.Sprintf("CREATE SCHEMA %s (x U8)", name))
	return err == nil && reply.GetDisposition() == sessionpb.Disposition_COMPLETED
}
