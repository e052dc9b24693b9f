package sim

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/primitives"
)

// TestDiskAgainstAPlainModel runs random operations on one file and compares what
// is read with a byte slice, and what survives a crash with what was synchronised.
func TestDiskAgainstAPlainModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := New(Options{Seed: rapid.Uint64().Draw(t, "seed")})
		defer s.Close()
		h := s.Host("node-1")
		h.Disk().Put("/file", nil)
		var now []byte           // what a program reads
		stable := map[int]byte{} // bytes that must survive: synchronised, and not touched since
		sizeMin := 0             // of the file after a crash
		do := func(f func(primitives.File)) {
			done := false
			w := h.World()
			w.Tasks().Go("op", func() {
				file := must(w.Files().Open("/file"))
				f(file)
				ok(file.Close())
				done = true
			})
			if err := s.RunUntil(func() bool { return done }, time.Minute); err != nil {
				t.Fatal(err)
			}
		}
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				off := rapid.IntRange(0, len(now)+4).Draw(t, "off")
				data := rapid.SliceOfN(rapid.Byte(), 1, 9).Draw(t, "data")
				do(func(f primitives.File) { must(f.WriteAt(data, int64(off))) })
				if end := off + len(data); end > len(now) {
					now = append(now, make([]byte, end-len(now))...)
				}
				copy(now[off:], data)
				for i := range data {
					delete(stable, off+i)
				}
			},
			"truncate": func(t *rapid.T) {
				size := rapid.IntRange(0, len(now)).Draw(t, "size")
				do(func(f primitives.File) { ok(f.Truncate(int64(size))) })
				now = now[:size:size]
				sizeMin = min(sizeMin, size)
				for i := range len(stable) + 64 {
					if i >= size {
						delete(stable, i)
					}
				}
			},
			"sync": func(t *rapid.T) {
				do(func(f primitives.File) { ok(f.Sync()) })
				clear(stable)
				for i, b := range now {
					stable[i] = b
				}
				sizeMin = len(now)
			},
			"crash": func(t *rapid.T) {
				h.Crash()
				now = h.Disk().Get("/file")
				if len(now) < sizeMin {
					t.Fatalf("%d bytes left, %d were synchronised", len(now), sizeMin)
				}
				for _, i := range primitives.SortedKeys(stable) {
					if now[i] != stable[i] {
						t.Fatalf("byte %d is %x, synchronised was %x", i, now[i], stable[i])
					}
				}
				clear(stable)
				for i, b := range now {
					stable[i] = b // what survived is on the medium
				}
				sizeMin = len(now)
			},
			"": func(t *rapid.T) {
				if got := h.Disk().Get("/file"); !bytes.Equal(got, now) {
					t.Fatalf("reads %x, written was %x", got, now)
				}
			},
		})
	})
}

// TestFailedSyncLosesOnlyWhatItCovered writes behind a failed synchronisation and
// again over it.
func TestFailedSyncLosesOnlyWhatItCovered(t *testing.T) {
	seen := map[string]bool{}
	for seed := range uint64(200) {
		s := New(Options{Seed: seed})
		h := s.Host("node-1")
		h.Disk().Put("/file", []byte("aaaa"))
		onHost(t, s, h, func(f primitives.Files) {
			n := must(f.Open("/file"))
			must(n.WriteAt([]byte("bbbbbb"), 2))
			h.Disk().FailSyncs(1)
			if n.Sync() == nil {
				t.Error("the sync did not fail")
			}
			must(n.WriteAt([]byte("cc"), 4)) // settles the middle of the doubt
			must(n.Append([]byte("dd")))
			ok(n.Sync())
		})
		h.Crash()
		got := h.Disk().Get("/file")
		if len(got) != 10 || string(got[:2]) != "aa" || string(got[4:6]) != "cc" || string(got[8:]) != "dd" {
			t.Fatalf("seed %d: %q", seed, got)
		}
		seen[fmt.Sprintf("%q %q", got[2:4], got[6:8])] = true
		s.Close()
	}
	if len(seen) != 4 {
		t.Errorf("outcomes: %v", primitives.SortedKeys(seen))
	}
}

func TestTrackedMemoryMustBeFreedAtExit(t *testing.T) {
	s := open(t, Options{Seed: 1})
	h := s.Host("node-1")
	p := h.Start("program", echoNothing)
	p.Track("arrow", heldBytes(64))
	if err := s.Run(time.Second); err == nil {
		t.Error("64 bytes were left and nobody cared")
	}
}

type heldBytes int

func (h heldBytes) CurrentAlloc() int { return int(h) }
