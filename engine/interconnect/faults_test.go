package interconnect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/sim"
)

// echo serves requests by returning them.
func echo(m *Mesh) {
	m.Handle(RuntimeDescribe, func(_ context.Context, _ Process, request []byte) ([]byte, error) { return request, nil })
}

func (tm *testMesh) serveAll(serve func(*Mesh)) *testMesh {
	for _, n := range tm.nodes {
		n.serve = serve
	}
	return tm
}

// typed reports whether an error is one that callers can decide on.
func typed(err error) bool {
	var e *TransportError
	_, refused := Refused(err)
	return errors.As(err, &e) || refused
}

// peer returns what a node knows of another one.
func (n *testNode) peer(t testing.TB, other string) PeerStatus {
	t.Helper()
	s, ok := n.mesh.Peer(other)
	if !ok {
		t.Fatalf("%s does not know %s", n.name, other)
	}
	return s
}

// TestResetsAtEveryByte resets connections within setup, frames and messages while
// nodes call each other: every call ends with its answer or a typed failure, and
// everything is connected again afterwards.
func TestResetsAtEveryByte(t *testing.T) {
	for seed := range uint64(4) {
		tm := newTestMesh(t, sim.Options{Seed: seed}, 3).serveAll(echo)
		tm.sim.Network().SetDefault(sim.Link{Latency: 2 * time.Millisecond, Jitter: 5 * time.Millisecond, Fragment: seed%2 == 0, LossPPM: 2000})
		tm.start()
		draw := tm.sim.Stream("resets")
		stop, callers, answers, failures := false, 0, 0, 0
		for _, n := range tm.nodes {
			for _, other := range tm.nodes {
				if n == other {
					continue
				}
				callers++
				n.host.World().Tasks().Go("caller", func() {
					defer func() { callers-- }()
					for i := 0; !stop; i++ {
						if n.mesh == nil {
							_ = primitives.Sleep(context.Background(), n.host.World(), time.Millisecond)
							continue
						}
						_ = primitives.Sleep(context.Background(), n.host.World(), 20*time.Millisecond)
						size := []int{10, 5000, 90_000}[i%3]
						b, err := n.mesh.Call(context.Background(), other.name, RuntimeDescribe, make([]byte, size))
						switch {
						case err == nil && len(b) == size:
							answers++
						case !typed(err):
							t.Errorf("seed %d: %d bytes, %v", seed, len(b), err)
						default:
							failures++
						}
					}
				})
			}
		}
		for range 60 {
			from, to := tm.nodes[draw.Below(3)], tm.nodes[draw.Below(3)]
			if from != to {
				tm.sim.Network().ResetAfter(from.host, to.host, int64(draw.Below(20_000)))
			}
			if err := tm.sim.Run(time.Duration(draw.Below(uint64(time.Second)))); err != nil {
				t.Fatal(err)
			}
		}
		tm.sim.Network().HealAll()
		stop = true
		tm.until(20*time.Second, "callers end", func() bool { return callers == 0 })
		tm.until(20*time.Second, "connected again", tm.connected)
		if answers == 0 || failures == 0 {
			t.Errorf("seed %d: %d answers, %d failures", seed, answers, failures)
		}
		tm.stop()
		tm.sim.Close()
	}
}

// TestPartition cuts a node off, in both directions or in one, and heals.
func TestPartition(t *testing.T) {
	for _, oneWay := range []bool{false, true} {
		tm := newTestMesh(t, sim.Options{Seed: 4}, 3).serveAll(echo)
		tm.start()
		tm.until(10*time.Second, "connected", tm.connected)
		n1, n2, n3 := tm.nodes[0], tm.nodes[1], tm.nodes[2]
		network := tm.sim.Network()
		network.Cut(n1.host, n2.host)
		if !oneWay {
			network.Cut(n2.host, n1.host)
		}
		cut := tm.sim.Elapsed()
		tm.until(30*time.Second, "unavailable", func() bool {
			return n1.peer(t, "n2").Availability == Unreachable && n2.peer(t, "n1").Availability == Unreachable
		})
		if took := tm.sim.Elapsed() - cut; took < 9*time.Second || took > 14*time.Second {
			t.Errorf("one way %v: unavailable after %s", oneWay, took)
		}
		if a := n3.peer(t, "n1").Availability; a != Available {
			t.Errorf("n3 believes n1 is %s", a)
		}
		if p := n1.peer(t, "n2").Process; p != n2.mesh.Process() {
			t.Errorf("n1 forgot the process of n2: %v", p)
		}
		tm.do(n1, 20*time.Second, func() {
			_, err := n1.mesh.Call(context.Background(), "n2", RuntimeDescribe, nil)
			if !typed(err) {
				t.Errorf("a call across the cut: %v", err)
			}
		})
		network.HealAll()
		tm.until(20*time.Second, "connected again", tm.connected)
		tm.stop()
		tm.sim.Close()
	}
}

// TestFrozenPeerIsGivenUp stops a machine whose kernel goes on answering.
func TestFrozenPeerIsGivenUp(t *testing.T) {
	tm := newTestMesh(t, sim.Options{Seed: 2}, 2).serveAll(echo)
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	n1, n2 := tm.nodes[0], tm.nodes[1]
	n2.host.Freeze()
	frozen := tm.sim.Elapsed()
	tm.until(30*time.Second, "given up", func() bool { return len(n1.mesh.links) == 0 })
	if took := tm.sim.Elapsed() - frozen; took < 9*time.Second || took > 13*time.Second {
		t.Errorf("given up after %s", took)
	}
	n2.host.Thaw()
	tm.until(20*time.Second, "connected again", tm.connected)
	tm.stop()
}

// TestPeerStartsAgain kills a node: the others meet its next process, and what was
// meant for the old one does not reach the new one.
func TestPeerStartsAgain(t *testing.T) {
	for seed := range uint64(5) {
		tm := newTestMesh(t, sim.Options{Seed: seed}, 2).serveAll(func(m *Mesh) {
			echo(m)
			m.Handle(RuntimeLookup, func(ctx context.Context, _ Process, _ []byte) ([]byte, error) {
				return nil, primitives.Sleep(ctx, m.world, time.Hour)
			})
		})
		tm.start()
		tm.until(10*time.Second, "connected", tm.connected)
		n1, n2 := tm.nodes[0], tm.nodes[1]
		old := n2.mesh.Process()
		var pending error
		asked := false
		n1.host.World().Tasks().Go("pending", func() {
			_, pending = n1.mesh.Call(context.Background(), "n2", RuntimeLookup, nil)
			asked = true
		})
		if err := tm.sim.Run(100 * time.Millisecond); err != nil {
			t.Fatal(err)
		}
		follower := n1.mesh.Follow(Reach | News)
		if seed%2 == 0 {
			n2.host.Kill() // peers read a reset
		} else {
			n2.host.Crash() // peers hear nothing
		}
		if err := tm.sim.Run(time.Second); err != nil {
			t.Fatal(err)
		}
		n2.mesh = nil
		tm.run(n2)
		tm.until(30*time.Second, "connected again", func() bool {
			return tm.connected() && n1.peer(t, "n2").Process.Counter == 2
		})
		if !asked || !InPhase(pending, PhaseDeparted) && !InPhase(pending, PhaseFlow) {
			t.Errorf("seed %d: the pending call: %v", seed, pending)
		}
		tm.do(n1, 20*time.Second, func() {
			if err := follower.Wait(context.Background()); err != nil {
				t.Error(err)
			}
			n1.mesh.Unfollow(follower)
			start := tm.sim.Elapsed()
			if _, err := n1.mesh.CallProcess(context.Background(), old, RuntimeDescribe, nil); !InPhase(err, PhaseDeparted) {
				t.Errorf("seed %d: a call to the old process: %v", seed, err)
			}
			if _, err := n1.mesh.OpenProcess(context.Background(), old, RelayBody, 1); !InPhase(err, PhaseDeparted) {
				t.Errorf("seed %d: a stream to the old process: %v", seed, err)
			}
			if took := tm.sim.Elapsed() - start; took > 0 {
				t.Errorf("seed %d: that took %s", seed, took)
			}
			if _, err := n1.mesh.CallProcess(context.Background(), n2.mesh.Process(), RuntimeDescribe, nil); err != nil {
				t.Errorf("seed %d: a call to the new process: %v", seed, err)
			}
		})
		tm.stop()
		tm.sim.Close()
	}
}

// TestPeerSaysThatItEnds: nobody waits for proof that a process is gone which said
// so, and its next process counts again.
func TestPeerSaysThatItEnds(t *testing.T) {
	for seed := range uint64(5) {
		tm := newTestMesh(t, sim.Options{Seed: seed}, 2).serveAll(echo)
		tm.start()
		n1, n2 := tm.nodes[0], tm.nodes[1]
		available := func() bool { return tm.connected() && n1.peer(t, "n2").Availability == Available }
		tm.until(10*time.Second, "available", available)
		n2.host.Stop()
		tm.until(100*time.Millisecond, "unavailable", func() bool { return n1.peer(t, "n2").Availability == Unreachable })
		tm.until(time.Minute, "stopped", func() bool { return !n2.host.Running() })
		if err := tm.sim.Run(5 * time.Second); err != nil {
			t.Fatal(err)
		}
		if a := n1.peer(t, "n2").Availability; a != Unreachable {
			t.Errorf("seed %d: a process that ended is %s", seed, a)
		}
		n2.mesh = nil
		tm.run(n2)
		tm.until(30*time.Second, "available again", available)
		tm.stop()
		tm.sim.Close()
	}
}

// TestForeignProcesses starts processes that must not take part: the cluster goes
// on, and they learn why.
func TestForeignProcesses(t *testing.T) {
	for _, c := range []struct {
		name    string
		process Process
		edit    func(*Settings)
		cluster primitives.UUID
		code    SetupCode
	}{
		{"a duplicate", testProcess("n2", 2, 1, 99), nil, testCluster, SetupDuplicate},
		{"an old copy", testProcess("n2", 2, 0, 99), nil, testCluster, SetupStale},
		{"another cluster id", testProcess("n9", 9, 1, 99), func(s *Settings) { s.ClusterID = "orders" }, testCluster, SetupCluster},
		{"another cluster", testProcess("n9", 9, 1, 99), nil, primitives.UUID{9}, SetupCluster},
		{"a node that is no member", testProcess("n9", 0, 1, 99), nil, testCluster, SetupStranger},
		{"a dropped node", testProcess("n9", 1, 1, 99), nil, testCluster, SetupRemoved},
	} {
		t.Run(c.name, func(t *testing.T) {
			tm := newTestMesh(t, sim.Options{Seed: 3}, 3).serveAll(echo)
			tm.start()
			tm.until(10*time.Second, "connected", tm.connected)
			host := tm.sim.Host("stranger")
			tm.sim.DNS().Set("stranger.test", time.Minute, host.Addr())
			var m *Mesh
			host.Start("stranger", func(ctx context.Context, w primitives.World) {
				s := Defaults()
				s.Insecure, s.Advertise = true, "stranger.test:1"
				s.Listen = addrPort(host, 1)
				if c.edit != nil {
					c.edit(&s)
				}
				var err error
				if m, err = New(w, s); err != nil {
					t.Error(err)
					return
				}
				m.Identify(c.process, c.cluster)
				if err := m.Start(ctx); err != nil {
					t.Error(err)
					return
				}
				m.SetPeers(tm.peers()[:1])
				_, _ = m.Call(ctx, "n1", RuntimeDescribe, nil)
				_ = m.Stop(context.Background())
			})
			var heard error
			tm.until(20*time.Second, "refused", func() bool {
				if m == nil {
					return false
				}
				for _, p := range *m.peers.Load() { //plexus:orderfree one peer
					if last := p.slot(Commands, 0).failure.Load(); last != nil {
						heard = *last
					}
				}
				return heard != nil
			})
			var e *SetupError
			if !errors.As(heard, &e) || e.Code != c.code || !e.Remote || !InPhase(heard, PhaseAuthentication) {
				t.Errorf("the stranger heard %v", heard)
			}
			tm.until(30*time.Second, "gone", func() bool { return !host.Running() })
			if !tm.connected() {
				t.Error("the cluster lost connections")
			}
			if p := tm.nodes[0].peer(t, "n2").Process; p != tm.nodes[1].mesh.Process() {
				t.Errorf("n1 takes n2 for %v", p)
			}
			tm.stop()
		})
	}
}

// TestIdentityComesLate lets a node dial its peers before it knows its raft id, as a
// guest: once it knows, it is a member everywhere.
func TestIdentityComesLate(t *testing.T) {
	tm := newTestMesh(t, sim.Options{Seed: 5}, 2).serveAll(func(m *Mesh) {
		echo(m)
		m.Handle(HelloJoin, func(_ context.Context, from Process, _ []byte) ([]byte, error) {
			if from.RaftID != 0 {
				t.Errorf("joined as %v", from)
			}
			return []byte("2"), nil
		})
	})
	n1, n2 := tm.nodes[0], tm.nodes[1]
	tm.run(n1)
	n2.late = true
	tm.run(n2)
	if err := tm.sim.Run(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if tm.connected() || n2.mesh.peerSlot("n1", Management).conn.Load() == nil || n2.mesh.peerSlot("n1", Relay).conn.Load() != nil {
		t.Error("a node without a raft id has other connections than that of management")
	}
	tm.do(n2, 20*time.Second, func() {
		answer, err := n2.mesh.CallTo(context.Background(), "n1.test:47395", HelloJoin, nil)
		if err != nil || string(answer) != "2" {
			t.Errorf("join: %q, %v", answer, err)
		}
		if _, err := n2.mesh.CallTo(context.Background(), "n1.test:47395", HoldStatus, nil); !isRefusal(err, Rejected, "membership") {
			t.Errorf("a hold of a guest: %v", err)
		}
		p := n2.mesh.Process()
		p.RaftID = 2
		n2.mesh.Identify(p, testCluster)
	})
	tm.until(10*time.Second, "connected", tm.connected)
	if p := n1.peer(t, "n2").Process; p != n2.mesh.Process() {
		t.Errorf("n1 takes n2 for %v", p)
	}
	tm.stop()
}

// TestPeersChange drops a member, adds one, and moves one to another endpoint.
func TestPeersChange(t *testing.T) {
	tm := newTestMesh(t, sim.Options{Seed: 5}, 3).serveAll(echo)
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	n1, n3 := tm.nodes[0], tm.nodes[2]
	all := tm.peers()
	set := func(list ...Peer) {
		for _, n := range tm.nodes[:2] {
			tm.do(n, time.Second, func() { n.mesh.SetPeers(list) })
		}
	}
	// n3 has the newest raft id: without its record it could be a member to come.
	for _, n := range tm.nodes {
		n.mesh.settings.Removed = func(id uint64) bool { return id == 3 }
	}
	set(all[0], all[1])
	if err := tm.sim.Run(time.Second); err != nil {
		t.Fatal(err)
	}
	for _, c := range n1.mesh.links {
		if c.remote.Node == "n3" {
			t.Errorf("a connection of class %s with a dropped node", c.class)
		}
	}
	tm.do(n1, 20*time.Second, func() {
		if _, err := n1.mesh.Call(context.Background(), "n3", RuntimeDescribe, nil); !errors.Is(err, ErrUnknownNode) {
			t.Errorf("a call to a dropped node: %v", err)
		}
		if n1.mesh.Send("n3", RaftMessage, nil) {
			t.Error("an event for a dropped node")
		}
	})
	tm.do(n3, 20*time.Second, func() {
		_, err := n3.mesh.Call(context.Background(), "n1", RuntimeDescribe, nil)
		var e *SetupError
		if !errors.As(err, &e) || e.Code != SetupRemoved {
			t.Errorf("a call of a dropped node: %v", err)
		}
	})
	for _, n := range tm.nodes {
		n.mesh.settings.Removed = nil
	}
	set(all...)
	tm.until(20*time.Second, "connected again", tm.connected)

	// The record of n3 names another endpoint, at which nobody is; then its own again.
	moved := all[2]
	moved.Endpoint = "n3.test:1"
	set(all[0], all[1], moved)
	tm.until(20*time.Second, "unreachable", func() bool { return n1.peer(t, "n3").Availability == Unreachable })
	set(all...)
	tm.until(20*time.Second, "connected once more", tm.connected)
	tm.stop()
}

// TestStopLetsExchangesReturn stops a node with a short and a long exchange
// running.
func TestStopLetsExchangesReturn(t *testing.T) {
	tm := newTestMesh(t, sim.Options{Seed: 6}, 2).serveAll(func(m *Mesh) {
		m.Handle(RuntimeDescribe, func(ctx context.Context, _ Process, request []byte) ([]byte, error) {
			d := time.Duration(request[0]) * time.Second
			return request, primitives.Sleep(ctx, m.world, d)
		})
		m.HandleStream(RaftAppend, func(ctx context.Context, _ Process, s *Stream) error {
			for {
				if _, err := s.Recv(); err != nil {
					return err
				}
			}
		})
	})
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	n1, n2 := tm.nodes[0], tm.nodes[1]
	results := map[byte]error{}
	for _, seconds := range []byte{3, 9} {
		n1.host.World().Tasks().Go("call", func() {
			_, err := n1.mesh.Call(context.Background(), "n2", RuntimeDescribe, []byte{seconds})
			results[seconds] = err
		})
	}
	var streamEnd error
	n1.host.World().Tasks().Go("stream", func() {
		s, err := n1.mesh.Open(context.Background(), "n2", RaftAppend)
		if err != nil {
			t.Error(err)
			return
		}
		defer s.Close()
		if err := s.Send([]byte("x")); err != nil {
			t.Error(err)
		}
		_, streamEnd = s.Recv()
		results[0] = streamEnd
	})
	if err := tm.sim.Run(500 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	stopped := tm.sim.Elapsed()
	n2.host.Stop()
	tm.until(30*time.Second, "stopped", func() bool { return !n2.host.Running() })
	if took := tm.sim.Elapsed() - stopped; took < 9*time.Second || took > 11*time.Second {
		t.Errorf("stopped after %s", took)
	}
	tm.until(time.Second, "results", func() bool { return len(results) == 3 })
	if results[3] != nil || results[9] != nil {
		t.Errorf("exchanges that returned in time: %v, %v", results[3], results[9])
	}
	if !InPhase(streamEnd, PhaseFlow) {
		t.Errorf("the stream that did not return: %v", streamEnd)
	}
	n1.host.Stop()
	tm.until(30*time.Second, "stopped", func() bool { return !n1.host.Running() })
}

// TestTransfers fetches bytes over connections that exist only while they are
// needed, from sources that keep their word and such that do not.
func TestTransfers(t *testing.T) {
	closed := 0
	tm := newTestMesh(t, sim.Options{Seed: 8}, 2).serveAll(func(m *Mesh) {
		m.HandleTransfer(ResourceFetch, func(ctx context.Context, _ Process, request []byte) (*Source, error) {
			var size, has int
			if _, err := fmt.Sscanf(string(request), "%d %d", &size, &has); err != nil {
				return nil, &Refusal{Class: Unavailable, Subject: "resource", Detail: "none"}
			}
			s := SourceOf(make([]byte, max(has, 0)))
			s.Length = int64(size)
			if has < 0 {
				s.Read = func(p []byte) (int, error) { return 0, primitives.Sleep(ctx, m.world, time.Hour) }
			}
			s.Close = func() { closed++ }
			return s, nil
		})
	})
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	n1, n2 := tm.nodes[0], tm.nodes[1]
	bulk := func() bool { return n1.mesh.peerSlot("n2", Bulk).conn.Load() != nil }
	if bulk() {
		t.Error("a bulk connection that nobody needs")
	}
	tm.do(n1, time.Minute, func() {
		for _, size := range []int{0, 1, 32 << 10, 1<<20 + 7} {
			b, err := n1.mesh.FetchAll(context.Background(), "n2", ResourceFetch, fmt.Appendf(nil, "%d %d", size, size), 8<<20)
			if err != nil || len(b) != size {
				t.Errorf("%d bytes: %d, %v", size, len(b), err)
			}
		}
		if _, err := n1.mesh.FetchAll(context.Background(), "n2", ResourceFetch, []byte("x"), 1); !isRefusal(err, Unavailable, "resource") {
			t.Errorf("none: %v", err)
		}
		if _, err := n1.mesh.FetchAll(context.Background(), "n2", ResourceFetch, []byte("100 100"), 99); !errors.Is(err, ErrTooLarge) {
			t.Errorf("too many: %v", err)
		}
		if _, err := n1.mesh.FetchAll(context.Background(), "n2", ResourceFetch, []byte("100000 70000"), 1<<20); !isRefusal(err, Failed, ResourceFetch.String()) {
			t.Errorf("too few: %v", err)
		}
		start := tm.sim.Elapsed()
		if _, err := n1.mesh.FetchAll(context.Background(), "n2", ResourceFetch, []byte("100 -1"), 1<<20); !errors.Is(err, ErrNoProgress) {
			t.Errorf("no progress: %v", err)
		}
		if took := tm.sim.Elapsed() - start; took < 5*time.Second || took > 6*time.Second {
			t.Errorf("no progress: after %s", took)
		}
		b, err := n1.mesh.Fetch(context.Background(), "n2", ResourceFetch, []byte("10000000 10000000"))
		if err != nil {
			t.Errorf("a fetch: %v", err)
			return
		}
		if _, err := io.ReadFull(b, make([]byte, 100_000)); err != nil {
			t.Error(err)
		}
		b.Close()
		if _, err := b.Read(make([]byte, 1)); err == nil {
			t.Error("a closed body reads")
		}
	})
	tm.until(5*time.Second, "sources closed", func() bool { return closed == 8 })
	if !bulk() {
		t.Error("no bulk connection")
	}
	tm.until(2*time.Minute, "closed when idle", func() bool { return !bulk() })
	if m := n2.mesh.memory[Bulk]; !m.Try(m.Size()) {
		t.Error("memory is not back")
	}
	tm.stop()
}

func isRefusal(err error, class RefusalClass, subject string) bool {
	r, ok := Refused(err)
	return ok && r.Class == class && r.Subject == subject
}
