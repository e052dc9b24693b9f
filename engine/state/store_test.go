package state

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/sim"
)

func testSnapshot(branch byte, revision uint64) *Snapshot {
	return &Snapshot{
		Placement: testPlacement(branch), Revision: revision, Fence: 1,
		Sections: []Section{{SectionBytes, fmt.Appendf(nil, "revision %d of branch %d", revision, branch)}},
	}
}

// on runs f on a fresh machine.
func on(t *testing.T, f func(h *sim.Host, ctx context.Context, w primitives.World)) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	h := s.Host("node-1")
	if err := s.Do("test", func() {
		if err := errors.Join(h.World().Files().MkdirAll("data"), h.World().Files().SyncDir(".")); err != nil {
			t.Error(err)
		}
		f(h, context.Background(), h.World())
	}, time.Minute); err != nil {
		t.Error(err)
	}
}

func openStore(w primitives.World) *Store {
	s, err := OpenStore(w, "data")
	must(err)
	s.Publishes("d", []Identity{testPlacement(0).Identity})
	return s
}

// must ends the simulated run, which reports it: no task may end a test.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func second[T any](_ T, err error) error { return err }

// content reads the newest checkpoint.
func content(s *Store, p Placement) (string, error) {
	c, err := s.Open(p)
	if err != nil {
		return "", err
	}
	snapshot, err := c.Snapshot()
	if err = errors.Join(err, c.Close()); err != nil {
		return "", err
	}
	return string(snapshot.Sections[0].Bytes), nil
}

// A crash of the machine at any moment keeps what Publish confirmed, and nothing
// else than something whose Publish had begun (S3).
func TestCheckpointsSurviveCrashes(t *testing.T) {
	for seed := range uint64(120) {
		s := sim.New(sim.Options{Seed: seed})
		h := s.Host("node-1")
		confirmed, begun := uint64(0), uint64(0)
		publish := func(ctx context.Context, w primitives.World) {
			for w.Files().MkdirAll("data") != nil || w.Files().SyncDir(".") != nil {
				if primitives.Sleep(ctx, w, time.Millisecond) != nil {
					return
				}
			}
			store, err := OpenStore(w, "data")
			for ; err != nil; store, err = OpenStore(w, "data") {
				if primitives.Sleep(ctx, w, time.Millisecond) != nil {
					return
				}
			}
			store.Publishes("d", []Identity{testPlacement(0).Identity})
			// What a process finds it may acknowledge again.
			if ref, found, err := store.Ref(testPlacement(1)); err == nil && found {
				confirmed = max(confirmed, ref.Revision)
			}
			if primitives.Sleep(ctx, w, time.Duration(seed%5)*50*time.Microsecond) != nil {
				return
			}
			for {
				revision := store.Next(testPlacement(1), 1)
				if revision <= confirmed {
					t.Errorf("seed %d: revision %d is used twice", seed, revision)
				}
				begun = max(begun, revision)
				if _, err := store.Publish(testSnapshot(1, revision)); err == nil {
					confirmed = revision
				}
				if primitives.Sleep(ctx, w, time.Millisecond) != nil {
					return
				}
			}
		}
		h.Start("owner", publish)
		until := func(n uint64) {
			if err := s.RunUntil(func() bool { return confirmed >= n }, time.Minute); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		}
		until(seed % 7)
		if seed%3 == 0 {
			h.Disk().FailSyncs(int(seed % 4))
			_ = s.Run(time.Duration(seed) * 100 * time.Microsecond)
			h.Kill()
			h.Start("owner", publish)
			if seed%2 == 0 {
				until(confirmed + 1)
			}
		}
		if seed%3 == 1 {
			h.AfterTurns(1+int(seed/3)%24, h.Kill)
			if err := s.RunUntil(func() bool { return !h.Running() }, time.Minute); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
			h.Start("owner", publish)
			opened := confirmed
			_ = s.RunUntil(func() bool { return confirmed > opened }, time.Duration(seed%17)*100*time.Microsecond)
		}
		_ = s.Run(time.Duration(seed%11) * 50 * time.Microsecond)
		h.Crash()
		h.Disk().Heal()
		if err := s.Do("check", func() {
			got, err := content(openStore(h.World()), testPlacement(1))
			if errors.Is(err, fs.ErrNotExist) && confirmed == 0 {
				return
			}
			var revision, branch uint64
			if _, e := fmt.Sscanf(got, "revision %d of branch %d", &revision, &branch); err != nil || e != nil {
				t.Errorf("seed %d: %q %v %v", seed, got, err, e)
			}
			if revision < confirmed || revision > begun {
				t.Errorf("seed %d: revision %d, confirmed %d, begun %d", seed, revision, confirmed, begun)
			}
		}, time.Minute); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		s.Close()
	}
}

func TestRevisionsOnlyGrow(t *testing.T) {
	on(t, func(h *sim.Host, _ context.Context, w primitives.World) {
		store := openStore(w)
		must(second(store.Publish(testSnapshot(1, 5))))
		var stale *StaleError
		for _, revision := range []uint64{5, 4} {
			if _, err := store.Publish(testSnapshot(1, revision)); !errors.As(err, &stale) {
				t.Errorf("revision %d after 5: %v", revision, err)
			}
		}
		h.Disk().FailSyncs(1)
		if _, err := store.Publish(testSnapshot(1, 6)); err == nil {
			t.Error("it was published without a synchronisation")
		}
		if _, err := store.Publish(testSnapshot(1, 6)); !errors.As(err, &stale) {
			t.Errorf("revision 6 is used twice: %v", err)
		}
		if n := store.Next(testPlacement(1), 1); n != 7 {
			t.Errorf("next is %d", n)
		}
		later := testSnapshot(1, 1)
		later.Fence = 2
		if _, err := store.Publish(later); err != nil {
			t.Errorf("another owner begins anew: %v", err)
		}
		if got, err := content(store, testPlacement(1)); err != nil || got != "revision 1 of branch 1" {
			t.Errorf("%q %v", got, err)
		}
	})
}

// What the applied schedule does not publish is not read, served, written or
// installed, and is swept in batches (CP-8).
func TestOnlyCurrentStateCounts(t *testing.T) {
	on(t, func(_ *sim.Host, _ context.Context, w primitives.World) {
		store := openStore(w)
		staging, err := OpenStaging(w, "data", 1<<20)
		must(err)
		for branch := range byte(5) {
			must(second(store.Publish(testSnapshot(branch, 1))))
		}
		old, err := staging.Capture(testSnapshot(9, 9))
		must(err)
		next := testPlacement(0).Identity
		next.Generation = 2
		store.Publishes("d", []Identity{next})
		var refused *NotCurrentError
		if _, err := store.Open(testPlacement(1)); !errors.As(err, &refused) {
			t.Errorf("opened: %v", err)
		}
		if _, _, err := store.Ref(testPlacement(1)); !errors.As(err, &refused) {
			t.Errorf("named: %v", err)
		}
		if _, err := store.Publish(testSnapshot(1, 2)); !errors.As(err, &refused) {
			t.Errorf("published: %v", err)
		}
		if _, err := store.Install(old); !errors.As(err, &refused) || staging.Used() != 0 {
			t.Errorf("installed: %v, %d bytes staged", err, staging.Used())
		}
		for i, want := range []bool{true, true, false} {
			if more, err := store.Sweep("d", 2); err != nil || more != want {
				t.Errorf("sweep %d: %t %v", i, more, err)
			}
		}
		list, err := w.Files().List("data/state/@checkpoints/d")
		if err != nil || len(list) != 0 {
			t.Errorf("left: %v %v", list, err)
		}
		if more, err := store.Sweep("unknown", 1); more || err != nil {
			t.Errorf("a domain nothing was applied of: %t %v", more, err)
		}
	})
}

func TestADamagedCheckpointIsNamed(t *testing.T) {
	s := sim.New(sim.Options{Seed: 1})
	defer s.Close()
	h := s.Host("node-1")
	do := func(f func(store *Store)) {
		if err := s.Do("test", func() { f(openStore(h.World())) }, time.Minute); err != nil {
			t.Error(err)
		}
	}
	do(func(store *Store) {
		for branch := range byte(2) {
			if _, err := store.Publish(testSnapshot(branch, 1)); err != nil {
				t.Error(err)
			}
		}
	})
	var name string
	for _, file := range h.Disk().Names() {
		if strings.HasSuffix(file, ".pxs") {
			name = file
		}
	}
	h.Disk().Damage(name, int64(len(h.Disk().Get(name))-1), 3) // in its section
	do(func(store *Store) {
		bad := 0
		for branch := range byte(2) {
			_, err := content(store, testPlacement(branch))
			if err == nil {
				continue
			}
			bad++
			var damage *ContainerError
			if !errors.As(err, &damage) || "/"+damage.File != name {
				t.Errorf("%v, want %s", err, name)
			}
			// A replacement heals it.
			if _, err := store.Publish(testSnapshot(branch, 2)); err != nil {
				t.Error(err)
			}
			if _, err := content(store, testPlacement(branch)); err != nil {
				t.Error(err)
			}
		}
		if bad != 1 {
			t.Errorf("%d are damaged", bad)
		}
	})
	h.Disk().Damage(name, 9, 1) // in its header
	do(func(store *Store) {
		if logs := fmt.Sprint(s.Logs()); !strings.Contains(logs, name[1:]) {
			t.Errorf("%s is not named: %s", name, logs)
		}
	})
}

func TestRestoreReplacesWhateverIsThere(t *testing.T) {
	on(t, func(_ *sim.Host, _ context.Context, w primitives.World) {
		store := openStore(w)
		must(second(store.Publish(testSnapshot(1, 50))))
		c, err := testSnapshot(1, 7).Container()
		must(err)
		must(store.Restore(c))
		if got, err := content(store, testPlacement(1)); err != nil || got != "revision 7 of branch 1" {
			t.Errorf("%q %v", got, err)
		}
		if list := store.List(testPlacement(0).Identity); len(list) != 1 || list[0] != testPlacement(1) {
			t.Errorf("list %v", list)
		}
	})
}
