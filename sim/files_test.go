package sim

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"syscall"
	"testing"
	"time"

	"plexus/primitives"
)

func onHost(t *testing.T, s *Simulation, h *Host, f func(primitives.Files)) {
	t.Helper()
	w := h.World()
	done := false
	w.Tasks().Go("test", func() {
		f(w.Files())
		done = true
	})
	if err := s.RunUntil(func() bool { return done }, time.Hour); err != nil {
		t.Fatal(err)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func ok(err error) {
	if err != nil {
		panic(err)
	}
}

func TestCrashKeepsSynchronisedBytesAndTearsOthers(t *testing.T) {
	kept, dropped, torn, unnamed := 0, 0, 0, 0
	for seed := range uint64(300) {
		s := New(Options{Seed: seed})
		h := s.Host("node-1")
		onHost(t, s, h, func(f primitives.Files) {
			ok(f.MkdirAll("/data"))
			ok(f.SyncDir("/"))
			log := must(f.Create("/data/log", true))
			must(log.Append([]byte("durable ")))
			ok(log.Sync())
			ok(f.SyncDir("/data"))
			must(log.Append([]byte("perhaps")))
			must(log.WriteAt([]byte("D"), 0))
			late := must(f.Create("/data/late", true))
			must(late.Append([]byte("x")))
			ok(late.Sync())
		})
		h.Crash()
		got := h.Disk().Get("/data/log")
		if len(got) < 8 || !bytes.EqualFold(got[:8], []byte("durable ")) {
			t.Fatalf("seed %d: a synchronised byte is gone: %q", seed, got)
		}
		rest := got[8:]
		switch {
		case len(rest) == 0:
			dropped++
		case string(rest) == "perhaps":
			kept++
		case bytes.HasPrefix([]byte("perhaps"), rest):
			torn++
		default:
			t.Fatalf("seed %d: %q was never written", seed, rest)
		}
		if late := h.Disk().Get("/data/late"); late == nil {
			unnamed++
		} else if string(late) != "x" {
			t.Fatalf("seed %d: late file holds %q", seed, late)
		}
		s.Close()
	}
	if min(kept, dropped, torn, unnamed, 300-unnamed) < 50 {
		t.Errorf("kept %d, dropped %d, torn %d, without a name %d", kept, dropped, torn, unnamed)
	}
}

func TestKillKeepsWrittenBytes(t *testing.T) {
	s := open(t, Options{Seed: 2})
	h := s.Host("node-1")
	onHost(t, s, h, func(f primitives.Files) {
		must(must(f.Create("/log", true)).Append([]byte("written")))
		must(f.Lock("/lock"))
	})
	h.Kill()
	onHost(t, s, h, func(f primitives.Files) {
		if got := h.Disk().Get("/log"); string(got) != "written" {
			t.Errorf("found %q", got)
		}
		l := must(f.Lock("/lock"))
		if _, err := f.Lock("/lock"); !errors.Is(err, primitives.ErrLocked) {
			t.Errorf("second lock: %v", err)
		}
		ok(l.Unlock())
	})
}

func TestRenameIsAtomicAcrossCrashes(t *testing.T) {
	old, fresh := 0, 0
	for seed := range uint64(100) {
		s := New(Options{Seed: seed})
		h := s.Host("node-1")
		h.Disk().Put("/data/state", []byte("old"))
		onHost(t, s, h, func(f primitives.Files) {
			n := must(f.Create("/data/state.tmp", true))
			must(n.Append([]byte("fresh")))
			ok(n.Sync())
			ok(f.Rename("/data/state.tmp", "/data/state"))
		})
		h.Crash()
		switch string(h.Disk().Get("/data/state")) {
		case "old":
			old++
		case "fresh":
			fresh++
		default:
			t.Fatalf("seed %d: %q", seed, h.Disk().Get("/data/state"))
		}
		s.Close()
	}
	if min(old, fresh) < 20 {
		t.Errorf("%d old, %d fresh", old, fresh)
	}
}

func TestFailedSyncIsNeverMadeGoodByALaterOne(t *testing.T) {
	missing := 0
	for seed := range uint64(60) {
		s := New(Options{Seed: seed})
		h := s.Host("node-1")
		h.Disk().Put("/log", nil)
		onHost(t, s, h, func(f primitives.Files) {
			n := must(f.Open("/log"))
			must(n.Append([]byte("abc")))
			h.Disk().FailSyncs(1)
			if err := n.Sync(); !errors.Is(err, syscall.EIO) {
				t.Errorf("got %v", err)
			}
			ok(n.Sync())
		})
		h.Crash()
		if string(h.Disk().Get("/log")) != "abc" {
			missing++
		}
		s.Close()
	}
	if missing < 20 {
		t.Errorf("lost in %d of 60 crashes", missing)
	}
}

func TestDiskFaults(t *testing.T) {
	s := open(t, Options{Seed: 2})
	h := s.Host("node-1")
	d := h.Disk()
	d.Put("/data/file", []byte("0123456789"))
	onHost(t, s, h, func(f primitives.Files) {
		n := must(f.Open("/data/file"))
		d.SetFull(true)
		if _, err := n.Append([]byte("x")); !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("full: %v", err)
		}
		d.SetFull(false)
		d.SetProfile(DiskProfile{Capacity: 12})
		if k, err := n.Append([]byte("abcd")); k != 2 || !errors.Is(err, syscall.ENOSPC) {
			t.Errorf("short write: %d, %v", k, err)
		}
		d.FlipReads(1)
		clean, flipped := make([]byte, 10), make([]byte, 10)
		must(n.ReadAt(flipped, 0))
		must(n.ReadAt(clean, 0))
		if bytes.Equal(clean, flipped) {
			t.Error("no bit flipped")
		}
		d.SetSlow(time.Second)
		start := s.Elapsed()
		must(n.ReadAt(clean, 0))
		if s.Elapsed()-start != time.Second {
			t.Error("not slow")
		}
		d.Heal()
		if _, err := n.ReadAt(make([]byte, 20), 0); err != io.EOF {
			t.Errorf("past the end: %v", err)
		}
		if _, err := f.Create("/nowhere/file", false); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("no directory: %v", err)
		}
		ok(f.MkdirAll("/data/a/b"))
		ok(f.Rename("/data/a", "/data/c"))
		list := must(f.List("/data"))
		if !slices.Equal(list, []primitives.FileEntry{{Name: "c", Dir: true}, {Name: "file", Size: 12}}) {
			t.Errorf("listed %v", list)
		}
		ok(f.RemoveAll("/data"))
		if _, err := f.List("/data"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("removed: %v", err)
		}
		if _, err := n.Append([]byte("still open")); err != nil {
			t.Errorf("an open file without a name: %v", err)
		}
	})
	h.Kill()
	d.Wipe()
	if len(d.Names()) != 0 {
		t.Error("wiped disk has files")
	}
}

// TestMadeDirectoriesOutliveAFailedSync: a directory whose name an earlier attempt
// could not make durable is made durable by the next one that finds it.
func TestMadeDirectoriesOutliveAFailedSync(t *testing.T) {
	for seed := range uint64(50) {
		s := New(Options{Seed: seed})
		h := s.Host("node-1")
		onHost(t, s, h, func(f primitives.Files) {
			h.Disk().FailSyncs(1 + int(seed%2))
			err := primitives.MakeDirectory(f, "/var/lib/plexus")
			for err != nil {
				err = primitives.MakeDirectory(f, "/var/lib/plexus")
			}
		})
		h.Crash()
		onHost(t, s, h, func(f primitives.Files) {
			if _, err := f.List("/var/lib/plexus"); err != nil {
				t.Errorf("seed %d: %v", seed, err)
			}
		})
		s.Close()
	}
}
