package state

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"plexus/connectors/contract"
	"plexus/primitives"
	"plexus/sim"
)

var testKey = Key{Domain: "d", Ingestor: "i"}

func testState(n int) contract.State {
	return contract.State{Connector: "TEST", Version: 1, Bytes: fmt.Appendf(nil, "state %d", n)}
}

func number(s contract.State) (n int) {
	_, _ = fmt.Sscanf(string(s.Bytes), "state %d", &n)
	return n
}

// A crash of the machine at any moment keeps what Save confirmed (S1, S2).
func TestCursorsSurviveCrashes(t *testing.T) {
	for seed := range uint64(60) {
		crashOnce(t, seed)
	}
}

func crashOnce(t *testing.T, seed uint64) {
	s := sim.New(sim.Options{Seed: seed})
	defer s.Close()
	h := s.Host("node-1")
	confirmed, begun := 0, 0
	save := func(ctx context.Context, w primitives.World) {
		if err := errors.Join(w.Files().MkdirAll("data"), w.Files().SyncDir(".")); err != nil {
			t.Error(err)
		}
		c := NewCursors(w, "data")
		found, _, err := c.Load(ctx, testKey)
		if err != nil {
			t.Error(err)
		}
		for n := number(found) + 1; n < 400; n++ {
			begun = n
			if err := c.Save(ctx, testKey, testState(n)); err != nil {
				return
			}
			confirmed = n
			if err := primitives.Sleep(ctx, w, time.Millisecond); err != nil {
				return
			}
		}
	}
	h.Start("saver", save)
	until := func(n int) {
		if err := s.RunUntil(func() bool { return confirmed >= n }, time.Minute); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
	}
	until(int(seed % 7))
	if seed%3 == 0 && confirmed > 0 {
		// A save whose synchronisation fails, a new process, and more saves on what
		// it found in the machine's cache.
		h.Disk().FailSyncs(1)
		s.Run(time.Second)
		h.Kill()
		from := confirmed
		h.Start("saver", save)
		until(from + 1)
	}
	h.Crash()
	err := s.Do("check", func() {
		got, found, err := NewCursors(h.World(), "data").Load(context.Background(), testKey)
		if err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		if n := number(got); found != (n > 0) || n < confirmed || n > begun {
			t.Errorf("seed %d: loaded %d, confirmed %d, begun %d", seed, n, confirmed, begun)
		}
	}, time.Minute)
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}

// A first save that was killed, or whose second slot was not synchronised, leaves
// one slot to rely on; the save after a restart must not overwrite that one (S2).
func TestCursorsRelyOnTheSlotTheyRefreshed(t *testing.T) {
	for seed := range uint64(60) {
		relyOnce(t, seed, func(s *sim.Simulation, h *sim.Host, ended *bool) error {
			h.Disk().FailSyncs(1)
			return s.RunUntil(func() bool { return *ended }, time.Minute)
		})
		relyOnce(t, seed, func(s *sim.Simulation, _ *sim.Host, _ *bool) error {
			return s.Run(time.Duration(seed) * 10 * time.Microsecond)
		})
	}
}

func relyOnce(t *testing.T, seed uint64, end func(*sim.Simulation, *sim.Host, *bool) error) {
	s := sim.New(sim.Options{Seed: seed})
	defer s.Close()
	h := s.Host("node-1")
	ended, found := false, false
	h.Start("first save", func(ctx context.Context, w primitives.World) {
		if err := errors.Join(w.Files().MkdirAll("data"), w.Files().SyncDir(".")); err != nil {
			t.Error(err)
		}
		_ = NewCursors(w, "data").Save(ctx, testKey, testState(1))
		ended = true
	})
	// A slot is there, and its synchronisation has not ended.
	slot := fmt.Sprintf("/data/state/d/i-0.%d", seed%2)
	err := s.RunUntil(func() bool { return slices.Contains(h.Disk().Names(), slot) }, time.Minute)
	if err = errors.Join(err, end(s, h, &ended)); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	h.Kill()
	begun := false
	h.Start("second save", func(ctx context.Context, w primitives.World) {
		c := NewCursors(w, "data")
		var err error
		if _, found, err = c.Load(ctx, testKey); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		begun = true
		_ = c.Save(ctx, testKey, testState(2))
	})
	if err := s.RunUntil(func() bool { return begun }, time.Minute); err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	_ = s.Run(time.Duration(seed%10) * 50 * time.Microsecond)
	h.Crash()
	err = s.Do("check", func() {
		if _, still, err := NewCursors(h.World(), "data").Load(context.Background(), testKey); err != nil || found && !still {
			t.Errorf("seed %d: after the crash: %t %v", seed, still, err)
		}
	}, time.Minute)
	if err != nil {
		t.Errorf("seed %d: %v", seed, err)
	}
}

func TestCursorsNameDamage(t *testing.T) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	h := s.Host("node-1")
	ctx := context.Background()
	s.Do("save", func() {
		c := NewCursors(h.World(), "data")
		for n := 1; n < 4; n++ {
			if err := c.Save(ctx, testKey, testState(n)); err != nil {
				t.Error(err)
			}
		}
	}, time.Minute)
	h.Disk().Damage("data/state/d/i-0.1", 20, 2)
	s.Do("one slot", func() {
		if got, found, err := NewCursors(h.World(), "data").Load(ctx, testKey); err != nil || !found || number(got) != 2 {
			t.Errorf("loaded %v %v %v", got, found, err)
		}
	}, time.Minute)
	if logs := fmt.Sprint(s.Logs()); !strings.Contains(logs, "data/state/d/i-0.1") {
		t.Errorf("the damaged file is not named: %s", logs)
	}
	h.Disk().Damage("data/state/d/i-0.0", 20, 2)
	s.Do("both slots", func() {
		c := NewCursors(h.World(), "data")
		var damage *DamageError
		if _, _, err := c.Load(ctx, testKey); !errors.As(err, &damage) {
			t.Errorf("got %v", err)
		}
		if err := c.Delete(ctx, testKey); err != nil {
			t.Error(err)
		}
		if _, found, err := c.Load(ctx, testKey); err != nil || found {
			t.Errorf("after delete: %v %v", found, err)
		}
	}, time.Minute)
}

func TestSweepDeletesWhatIsNotKept(t *testing.T) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	h := s.Host("node-1")
	ctx := context.Background()
	err := s.Do("sweep", func() {
		c := NewCursors(h.World(), "data")
		keys := []Key{{"d", "a-b", 0}, {"d", "a-b", 1}, {"d", "gone", 0}, {"other", "gone", 0}}
		for _, key := range keys {
			if err := c.Save(ctx, key, testState(1)); err != nil {
				t.Error(err)
			}
		}
		if err := c.Sweep(ctx, "d", func(ingestor string) bool { return ingestor == "a-b" }); err != nil {
			t.Error(err)
		}
		for _, key := range keys {
			_, found, err := NewCursors(h.World(), "data").Load(ctx, key)
			if want := key.Ingestor == "a-b" || key.Domain == "other"; err != nil || found != want {
				t.Errorf("%v: found %t, %v", key, found, err)
			}
		}
		if domains, err := c.Domains(); err != nil || len(domains) != 2 {
			t.Errorf("domains %v %v", domains, err)
		}
	}, time.Minute)
	if err != nil {
		t.Error(err)
	}
}

// Others read what a source saves while it saves: nothing of it is damaged, and
// what is read never goes back.
func TestCursorsAreReadWhileTheyAreSaved(t *testing.T) {
	s := sim.New(sim.Options{Seed: 3})
	defer s.Close()
	h := s.Host("node-1")
	done := false
	h.Start("saver", func(ctx context.Context, w primitives.World) {
		c := NewCursors(w, "data")
		g := primitives.NewGroup(ctx, w)
		for range 3 {
			g.Go("reader", func(ctx context.Context) error {
				for last := 0; last < 200; {
					states, _, err := c.Positions(ctx, testKey.Domain, testKey.Ingestor)
					if err != nil {
						return err
					}
					if n := number(states[0]); n < last {
						return fmt.Errorf("read %d behind %d", n, last)
					} else {
						last = n
					}
					_ = primitives.Sleep(ctx, w, 100*time.Microsecond)
				}
				return nil
			})
		}
		g.Go("saver", func(ctx context.Context) error {
			for n := 1; n <= 200; n++ {
				if err := c.Save(ctx, testKey, testState(n)); err != nil {
					return err
				}
			}
			return nil
		})
		if err := g.Wait(ctx); err != nil {
			t.Error(err)
		}
		done = true
	})
	if err := s.Run(time.Minute); err != nil || !done {
		t.Fatal(err, done)
	}
}
