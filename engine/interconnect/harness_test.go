package interconnect

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/sim"
)

var testCluster = primitives.UUID{1, 2, 3}

// testNode is one simulated machine with an interconnect.
type testNode struct {
	name    string
	host    *sim.Host
	mesh    *Mesh
	counter uint64
	edit    func(*Settings)
	serve   func(*Mesh)
	failed  func(error) // Start did not work
	late    bool        // it does not know its raft id
}

// testMesh is a simulated cluster of interconnects.
type testMesh struct {
	t     testing.TB
	sim   *sim.Simulation
	nodes []*testNode
}

func newTestMesh(t testing.TB, o sim.Options, n int) *testMesh {
	t.Helper()
	tm := &testMesh{t: t, sim: sim.New(o)}
	t.Cleanup(tm.sim.Close)
	for i := range n {
		name := fmt.Sprintf("n%d", i+1)
		node := &testNode{name: name, host: tm.sim.Host(name)}
		tm.nodes = append(tm.nodes, node)
		tm.sim.DNS().Set(name+".test", time.Minute, node.host.Addr())
	}
	return tm
}

const testPort = 47395

func (tm *testMesh) peers() (list []Peer) {
	for i, n := range tm.nodes {
		list = append(list, Peer{Node: n.name, RaftID: uint64(i + 1), Endpoint: fmt.Sprintf("%s.test:%d", n.name, testPort), Counter: 1})
	}
	return list
}

// start runs every node.
func (tm *testMesh) start() {
	for _, n := range tm.nodes {
		tm.run(n)
	}
}

// run starts one node, again if it ran before.
func (tm *testMesh) run(n *testNode) {
	n.host.Start("node", func(ctx context.Context, w primitives.World) {
		n.counter++
		s := Defaults()
		s.Insecure = true
		s.Listen = netip.AddrPortFrom(n.host.Addr(), testPort)
		s.Advertise = fmt.Sprintf("%s.test:%d", n.name, testPort)
		if n.edit != nil {
			n.edit(&s)
		}
		m, err := New(w, s)
		if err != nil {
			tm.t.Error(err)
			return
		}
		raftID := uint64(0)
		for i, other := range tm.nodes {
			if other == n {
				raftID = uint64(i + 1)
			}
		}
		if n.late {
			raftID = 0
		}
		m.Identify(Process{Node: n.name, RaftID: raftID, Counter: n.counter, Epoch: NewEpoch(w)}, testCluster)
		if n.serve != nil {
			n.serve(m)
		}
		background := context.Background()
		if err := m.Start(background); err != nil {
			if n.failed == nil {
				tm.t.Error(err)
			} else {
				n.failed(err)
			}
			return
		}
		m.SetPeers(tm.peers())
		n.mesh = m
		stopped := primitives.NewEvent(w)
		primitives.OnCancel(ctx, stopped.Set)
		_ = stopped.Wait(background)
		if err := m.Stop(background); err != nil {
			tm.t.Error(err)
		}
	})
}

// until runs the simulation until a condition holds.
func (tm *testMesh) until(within time.Duration, what string, cond func() bool) {
	tm.t.Helper()
	if err := tm.sim.RunUntil(cond, within); err != nil {
		tm.t.Fatalf("%s: %v", what, err)
	}
	if !cond() {
		tm.t.Fatalf("%s: not within %s", what, within)
	}
}

// do runs f as a task of a node and waits for it.
func (tm *testMesh) do(n *testNode, within time.Duration, f func()) {
	tm.t.Helper()
	done := false
	n.host.World().Tasks().Go("test", func() {
		f()
		done = true
	})
	tm.until(within, "test task", func() bool { return done })
}

func addrPort(h *sim.Host, port uint16) netip.AddrPort { return netip.AddrPortFrom(h.Addr(), port) }

func (m *Mesh) peerSlot(node string, class Class) *slot {
	return (*m.peers.Load())[node].slot(class, 0)
}

// stop ends every node and sees that nothing is left.
func (tm *testMesh) stop() {
	tm.t.Helper()
	for _, n := range tm.nodes {
		n.host.Stop()
	}
	tm.until(30*time.Second, "stopped", func() bool {
		for _, n := range tm.nodes {
			if n.host.Running() {
				return false
			}
		}
		return true
	})
	if f := tm.sim.Failed(); f != nil {
		tm.t.Error(f)
	}
	for _, n := range tm.nodes {
		for class := range classCount {
			m := n.mesh.metrics
			if open := m.connections[class][0].Value() + m.connections[class][1].Value() + m.streams[class].Value(); open != 0 {
				tm.t.Errorf("%s counts %d open connections and streams of class %s", n.name, open, class)
			}
		}
	}
}

func (tm *testMesh) connected() bool {
	for _, n := range tm.nodes {
		if n.mesh == nil {
			return false
		}
		for _, p := range *n.mesh.peers.Load() { //plexus:orderfree counts
			if !p.ready() || p.health.effective != Available {
				return false
			}
		}
	}
	return true
}
