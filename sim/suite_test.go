package sim

import (
	"strings"
	"testing"
	"time"

	"plexus/primitives/primitivestest"
)

// TestBoundary holds this build to what the real one promises, under every
// strategy.
func TestBoundary(t *testing.T) {
	for _, strategy := range []Strategy{StrategyRandom, StrategySticky, StrategyPCT, StrategyFIFO} {
		t.Run(strategy.String(), func(t *testing.T) {
			primitivestest.Run(t, func(t *testing.T, body func(primitivestest.Place)) {
				for seed := range uint64(2) {
					boundary(t, Options{Seed: seed, Strategy: strategy, ExpectedSteps: 100, Guard: true}, body)
				}
			})
		})
	}
}

func boundary(t *testing.T, o Options, body func(primitivestest.Place)) {
	s := New(o)
	defer s.Close()
	h := s.Host("node-1")
	w := h.World()
	h.Disk().Put("/test/empty", nil)
	done := false
	w.Tasks().Go("test", func() {
		body(primitivestest.Place{World: w, Addr: h.Addr(), Dir: "/test/dir"})
		done = true
	})
	onlyDir(h)
	if err := s.RunUntil(func() bool { return done }, time.Hour); err != nil {
		t.Fatalf("seed %d: %v", o.Seed, err)
	}
	if err := s.Run(time.Minute); err != nil {
		t.Fatalf("seed %d: %v", o.Seed, err)
	}
	for _, leak := range s.Leaks() {
		if strings.HasPrefix(leak, "file ") {
			continue // the suite leaves them to the world
		}
		t.Errorf("seed %d: left behind: %s", o.Seed, leak)
	}
}

func onlyDir(h *Host) {
	h.disk.now.dirs["/test/dir"], h.disk.durable.dirs["/test/dir"] = true, true
}

func TestNamesResolve(t *testing.T) {
	s := open(t, Options{Seed: 1})
	node, server := s.Host("node-1"), s.Host("broker.example")
	w := node.World()
	err := s.Do("nothing", func() {}, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	lookup := func(host string) (string, error) {
		out, failed, done := "", error(nil), false
		w.Tasks().Go("lookup", func() {
			addrs, err := w.Resolver().Lookup(bg, host, w.Clock().Now().Add(20*time.Second))
			if failed = err; err == nil {
				out = addrs[0].String()
			}
			done = true
		})
		if err := s.RunUntil(func() bool { return done }, time.Minute); err != nil {
			t.Fatal(err)
		}
		return out, failed
	}
	if got, err := lookup("broker.example"); err != nil || got != server.Addr().String() {
		t.Errorf("%q, %v", got, err)
	}
	for _, trouble := range []Trouble{TroubleAbsent, TroubleEmpty, TroubleServFail, TroubleRefused, TroubleSilent} {
		name := trouble.String() + ".example"
		s.DNS().Set(name, time.Minute, server.Addr())
		s.DNS().Trouble(name, trouble)
		if got, err := lookup(name); err == nil {
			t.Errorf("%v answered %v", trouble, got)
		}
	}
	for _, trouble := range []Trouble{TroubleTruncate, TroubleWrongID} {
		name := trouble.String() + ".example"
		s.DNS().Set(name, time.Minute, server.Addr())
		s.DNS().Trouble(name, trouble)
		if got, err := lookup(name); err != nil || got != server.Addr().String() {
			t.Errorf("%v: %q, %v", trouble, got, err)
		}
	}
	s.DNS().SetDelay(time.Second)
	s.DNS().Set("late.example", 0, server.Addr())
	start := s.Elapsed()
	if _, err := lookup("late.example"); err != nil || s.Elapsed()-start < time.Second {
		t.Errorf("late reply: %v after %v", err, s.Elapsed()-start)
	}
}
