package interconnect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/sim"
)

// TestDeadlinesAndCancellation lets callers give up: they hear of it in time, and so
// does the handler.
func TestDeadlinesAndCancellation(t *testing.T) {
	var ended []error
	tm := newTestMesh(t, sim.Options{Seed: 1}, 2).serveAll(func(m *Mesh) {
		for _, op := range []Operation{RuntimeLookup, ClockProgress} {
			m.Handle(op, func(ctx context.Context, _ Process, _ []byte) ([]byte, error) {
				err := primitives.Sleep(ctx, m.world, time.Hour)
				ended = append(ended, err)
				return nil, err
			})
		}
	})
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	n1 := tm.nodes[0]
	tm.do(n1, time.Minute, func() {
		w, m := n1.mesh.world, n1.mesh
		took := func(f func()) time.Duration {
			start := tm.sim.Elapsed()
			f()
			return tm.sim.Elapsed() - start
		}
		for _, c := range []struct {
			op     Operation
			within time.Duration // of the caller, 0 for none
			want   time.Duration
		}{{RuntimeLookup, 0, 10 * time.Second}, {ClockProgress, 0, 2 * time.Second}, {RuntimeLookup, time.Second, time.Second}, {ClockProgress, time.Hour, 2 * time.Second}} {
			d := took(func() {
				ctx := context.Background()
				if c.within > 0 {
					scope, cancel := primitives.WithDeadline(ctx, w, w.Clock().Now().Add(c.within))
					defer cancel()
					ctx = scope
				}
				if _, err := m.Call(ctx, "n2", c.op, nil); !InPhase(err, PhaseTimeout) || !errors.Is(err, primitives.ErrDeadline) {
					t.Errorf("%s: %v", c.op, err)
				}
			})
			if d != c.want {
				t.Errorf("%s: after %s, want %s", c.op, d, c.want)
			}
		}
		ctx, cancel := primitives.WithCancel(context.Background(), w)
		w.Clock().At(w.Clock().Now().Add(300*time.Millisecond), cancel)
		d := took(func() {
			if _, err := m.Call(ctx, "n2", RuntimeLookup, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled: %v", err)
			}
		})
		if d != 300*time.Millisecond {
			t.Errorf("cancelled after %s", d)
		}
	})
	tm.until(time.Second, "handlers end", func() bool { return len(ended) == 5 })
	for _, err := range ended {
		if !errors.Is(err, context.Canceled) || !errors.Is(err, ErrWithdrawn) {
			t.Errorf("a handler ended with %v", err)
		}
	}
	tm.stop()
}

// TestCrowdsWaitInTheirLane fills one lane: others go on, callers wait for streams of
// their connection, and the node serves only so many at once.
func TestCrowdsWaitInTheirLane(t *testing.T) {
	running, most := 0, 0
	tm := newTestMesh(t, sim.Options{Seed: 2}, 3).serveAll(func(m *Mesh) {
		echo(m)
		m.Handle(RelayCancel, func(ctx context.Context, _ Process, _ []byte) ([]byte, error) {
			running++
			most = max(most, running)
			defer func() { running-- }()
			return nil, primitives.Sleep(ctx, m.world, 100*time.Millisecond)
		})
	})
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	done, answered := 0, 0
	for _, n := range tm.nodes[:2] {
		for range 12 {
			n.host.World().Tasks().Go("crowd", func() {
				defer func() { done++ }()
				_, err := n.mesh.Call(context.Background(), "n3", RelayCancel, nil)
				if err != nil {
					t.Error(err)
					return
				}
				answered++
			})
		}
	}
	tm.do(tm.nodes[0], time.Second, func() {
		start := tm.sim.Elapsed()
		if _, err := tm.nodes[0].mesh.Call(context.Background(), "n3", RuntimeDescribe, nil); err != nil {
			t.Error(err)
		}
		if took := tm.sim.Elapsed() - start; took > 10*time.Millisecond {
			t.Errorf("another lane waited %s", took)
		}
	})
	tm.until(20*time.Second, "done", func() bool { return done == 24 })
	if most != 4 || answered != 24 {
		t.Errorf("%d at once, %d answered", most, answered)
	}
	tm.stop()
}

// TestEventsKeepTheirOrder sends more events than there are streams: those of an
// ordered operation arrive as they were sent, one at a time.
func TestEventsKeepTheirOrder(t *testing.T) {
	for seed := range uint64(5) {
		var got []byte
		running := false
		tm := newTestMesh(t, sim.Options{Seed: seed}, 2).serveAll(func(m *Mesh) {
			m.Handle(RaftMessage, func(ctx context.Context, _ Process, b []byte) ([]byte, error) {
				if running {
					t.Error("two events at once")
				}
				running = true
				got = append(got, b[0])
				err := primitives.Sleep(ctx, m.world, time.Duration(b[0]%3)*time.Millisecond)
				running = false
				return nil, err
			})
		})
		tm.start()
		tm.until(10*time.Second, "connected", tm.connected)
		n1 := tm.nodes[0]
		sent, dropped := 0, 0
		tm.do(n1, time.Second, func() {
			for i := range 300 {
				size := 1 + i%5*15_000
				if b := make([]byte, size); n1.mesh.Send("n2", RaftMessage, append(b[:0:size], slices.Concat([]byte{byte(sent)}, b[1:])...)) {
					sent++
				} else {
					dropped++
				}
			}
			if n1.mesh.Send("n7", RaftMessage, nil) {
				t.Error("an event for nobody was taken")
			}
		})
		tm.until(20*time.Second, "events", func() bool { return len(got) == sent })
		for i, b := range got {
			if b != byte(i) {
				t.Fatalf("seed %d: event %d came as number %d", seed, b, i)
			}
		}
		if sent != outboxMax+laneStreams[Management][LaneLiveness] && sent < outboxMax {
			t.Errorf("seed %d: %d events were taken, %d dropped", seed, sent, dropped)
		}
		tm.stop()
		tm.sim.Close()
	}
}

// TestDuplex sends both ways at once, ends one direction after the other, and
// leaves early.
func TestDuplex(t *testing.T) {
	tm := newTestMesh(t, sim.Options{Seed: 3}, 2).serveAll(func(m *Mesh) {
		m.HandleStream(RaftAppend, func(_ context.Context, from Process, s *Stream) error {
			if s.Peer() != from || s.Operation() != RaftAppend {
				t.Errorf("the stream is of %v for %s", s.Peer(), s.Operation())
			}
			for n := 0; ; n++ {
				b, err := s.Recv()
				switch {
				case errors.Is(err, io.EOF):
					return s.Send(fmt.Appendf(nil, "%d", n))
				case err != nil:
					return err
				case string(b) == "leave":
					return nil
				case string(b) == "refuse":
					return &Refusal{Class: NotReady, Subject: "log"}
				}
				if err := s.Send(b); err != nil {
					return err
				}
			}
		})
	})
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	tm.do(tm.nodes[0], time.Minute, func() {
		m := tm.nodes[0].mesh
		open := func() *Stream {
			s, err := m.Open(context.Background(), "n2", RaftAppend)
			if err != nil {
				t.Error(err)
			}
			return s
		}
		s := open()
		if err := s.CloseSend(); err == nil {
			t.Error("a stream that was never opened ended")
		}
		for i := range 50 {
			if err := s.Send(make([]byte, i*5000)); err != nil {
				t.Error(err)
			}
			if b, err := s.Recv(); err != nil || len(b) != i*5000 {
				t.Errorf("message %d: %d bytes, %v", i, len(b), err)
			}
		}
		if err := s.CloseSend(); err != nil {
			t.Error(err)
		}
		if err := s.Send(nil); !InPhase(err, PhaseEncode) {
			t.Errorf("sent after the end: %v", err)
		}
		if b, err := s.Recv(); err != nil || string(b) != "50" {
			t.Errorf("%q, %v", b, err)
		}
		for range 2 {
			if _, err := s.Recv(); !errors.Is(err, io.EOF) {
				t.Error(err)
			}
		}
		s.Close()
		s.Close()

		s = open()
		for _, text := range []string{"leave", "more", "and more"} {
			if err := s.Send([]byte(text)); err != nil && !InPhase(err, PhaseFlow) {
				t.Error(err)
			}
		}
		if _, err := s.Recv(); !errors.Is(err, io.EOF) && !errors.Is(err, ErrWithdrawn) {
			t.Errorf("the other side left: %v", err)
		}
		s.Close()

		s = open()
		if err := s.Send([]byte("refuse")); err != nil {
			t.Error(err)
		}
		if _, err := s.Recv(); !isRefusal(err, NotReady, "log") {
			t.Error(err)
		}
		if err := s.Send([]byte("more")); !isRefusal(err, NotReady, "log") {
			t.Errorf("sent after a refusal: %v", err)
		}
		s.Close()
		if n := m.peerSlot("n2", Replication).conn.Load().live; n != 0 {
			t.Errorf("%d streams are left", n)
		}
	})
	tm.stop()
}

// TestMessagesWaitForMemory takes the memory of a class away and gives it back.
func TestMessagesWaitForMemory(t *testing.T) {
	tm := newTestMesh(t, sim.Options{Seed: 4}, 2).serveAll(echo)
	tm.start()
	tm.until(10*time.Second, "connected", tm.connected)
	n1, n2 := tm.nodes[0], tm.nodes[1]
	var err error
	called := false
	before := memoryWaited.Hits()
	memory := n2.mesh.Memory(Commands)
	if !memory.Try(memory.Size()) {
		t.Fatal("no memory")
	}
	n1.host.World().Tasks().Go("call", func() {
		_, err = n1.mesh.Call(context.Background(), "n2", RuntimeDescribe, make([]byte, 500_000))
		called = true
	})
	if failed := tm.sim.Run(3 * time.Second); failed != nil || called {
		t.Fatalf("answered without memory: %v, %v", failed, err)
	}
	memory.Give(memory.Size())
	tm.until(time.Second, "answered", func() bool { return called })
	if err != nil || memoryWaited.Hits() == before {
		t.Error(err)
	}
	if !memory.Try(memory.Size()) {
		t.Error("memory is not back")
	}
	memory.Give(memory.Size())
	tm.stop()
}

// TestAnnouncements changes what nodes say of themselves, fast and slowly: peers see
// the newest, never an older one after a newer one.
func TestAnnouncements(t *testing.T) {
	for seed := range uint64(5) {
		tm := newTestMesh(t, sim.Options{Seed: seed}, 3)
		tm.sim.Network().SetDefault(sim.Link{Latency: time.Millisecond, Jitter: 20 * time.Millisecond, LossPPM: 20_000})
		tm.start()
		tm.until(20*time.Second, "connected", tm.connected)
		n1, n2 := tm.nodes[0], tm.nodes[1]
		var seen []uint64
		follower := n2.mesh.Follow(Reach | News)
		following, unfollow := primitives.WithCancel(context.Background(), n2.host.World())
		n2.host.World().Tasks().Go("follower", func() {
			for follower.Wait(following) == nil {
				seen = append(seen, n2.peer(t, "n1").Announcement.Ready)
			}
		})
		tm.do(n1, time.Minute, func() {
			for i := range uint64(200) {
				n1.mesh.Announce(func(a *Announcement) { a.Applied, a.Ready = i+1, i+1; a.Client = "http://n1" })
				_ = primitives.Sleep(context.Background(), n1.mesh.world, time.Duration(i%7)*time.Millisecond)
			}
			n1.mesh.Announce(func(a *Announcement) {
				a.Terminating = true
				a.Failures = append(a.Failures, DomainFailure{Domain: "d", Revision: 3, Reason: "no"})
			})
			n1.mesh.Announce(func(*Announcement) {})
		})
		start := tm.sim.Elapsed()
		tm.until(time.Second, "the last one", func() bool {
			for _, n := range tm.nodes[1:] {
				a := n.peer(t, "n1").Announcement
				if a.Applied != 200 || a.Ready != 200 || !a.Terminating || len(a.Failures) != 1 || a.Client != "http://n1" || a.Interconnect != "n1.test:47395" {
					return false
				}
			}
			return true
		})
		if took := tm.sim.Elapsed() - start; took > 900*time.Millisecond {
			t.Errorf("seed %d: it took %s", seed, took)
		}
		if !slices.IsSorted(seen) || len(seen) < 3 {
			t.Errorf("seed %d: seen %v", seed, seen)
		}
		tm.do(n1, time.Minute, func() { n1.mesh.Announce(func(a *Announcement) { a.Applied = 300 }) })
		tm.until(3*time.Second, "the next probe", func() bool { return n2.peer(t, "n1").Announcement.Applied == 300 })
		unfollow()
		if got := n1.mesh.Announced(); got.Applied != 300 || !got.Terminating {
			t.Errorf("%+v", got)
		}
		tm.stop()
		tm.sim.Close()
	}
}

// TestSameSeedSameRun runs one scenario twice, plain and with certificates.
func TestSameSeedSameRun(t *testing.T) {
	run := func(tm *testMesh) uint64 {
		defer tm.sim.Close()
		tm.sim.Network().SetDefault(sim.Link{Latency: time.Millisecond, Jitter: 3 * time.Millisecond, LossPPM: 10_000, Fragment: true})
		tm.start()
		for _, n := range tm.nodes {
			n.host.World().Tasks().Go("caller", func() {
				for {
					if n.mesh != nil {
						_, _ = n.mesh.Call(context.Background(), tm.nodes[0].name, RuntimeDescribe, make([]byte, 30_000))
						_ = n.mesh.Send("n3", RaftMessage, []byte("x"))
					}
					if primitives.Sleep(context.Background(), n.host.World(), 50*time.Millisecond) != nil {
						return
					}
				}
			})
		}
		for i := range 5 {
			if err := tm.sim.Run(3 * time.Second); err != nil {
				t.Fatal(err)
			}
			tm.sim.Network().Reset(tm.nodes[i%3].host, tm.nodes[(i+1)%3].host)
		}
		tm.nodes[1].host.Kill()
		if err := tm.sim.Run(3 * time.Second); err != nil {
			t.Fatal(err)
		}
		return tm.sim.Digest()
	}
	for seed := range uint64(3) {
		fresh := func() *testMesh { return newTestMesh(t, sim.Options{Seed: seed}, 3).serveAll(echo) }
		if a, b := run(fresh()), run(fresh()); a != b {
			t.Errorf("seed %d: digests %x and %x", seed, a, b)
		}
		sm := newSecureMesh(t, sim.Options{Seed: seed}, 3)
		files := map[string][]byte{}
		for _, n := range sm.nodes {
			for _, name := range []string{"ca.pem", "node.pem", "node.key"} {
				files[n.name+name] = n.host.Disk().Get(tlsDir + name)
			}
		}
		first := run(sm.testMesh)
		sm = newSecureMesh(t, sim.Options{Seed: seed}, 3)
		for _, n := range sm.nodes {
			for _, name := range []string{"ca.pem", "node.pem", "node.key"} {
				n.host.Disk().Put(tlsDir+name, files[n.name+name])
			}
		}
		if again := run(sm.testMesh); first != again {
			t.Errorf("seed %d with certificates: digests %x and %x", seed, first, again)
		}
	}
}
