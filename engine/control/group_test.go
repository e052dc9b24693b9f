package control

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
	"plexus/real"
)

func testWorld(t *testing.T) *real.World {
	w := real.NewWorld(real.Options{Log: slog.DiscardHandler})
	t.Cleanup(func() {
		if err := w.Close(5 * time.Second); err != nil {
			t.Error(err)
		}
	})
	return w
}

func testSettings(dir string) Settings {
	s := Defaults()
	s.Dir = dir
	s.Found = func(context.Context) ([]*catalogpb.Step, error) {
		return []*catalogpb.Step{createDomain("default")}, nil
	}
	return s
}

func createDomain(name string) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: name}}}
}

func openGroup(t *testing.T, w primitives.World, s Settings) *Group {
	t.Helper()
	g, err := Open(t.Context(), w, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := g.Start(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := g.Admit(t.Context()); err != nil {
		t.Fatal(err)
	}
	return g
}

func propose(t *testing.T, g *Group, steps ...*catalogpb.Step) catalog.Result {
	t.Helper()
	result, err := g.Propose(t.Context(), &catalogpb.Command{Steps: steps})
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestGroupKeepsCommandsAcrossRestarts(t *testing.T) {
	w, s := testWorld(t), testSettings(t.TempDir())
	s.SnapshotEntries, s.RetainEntries = 7, 3
	g := openGroup(t, w, s)
	if !g.Founded() {
		t.Fatal("the first start did not found the cluster")
	}
	if _, ok := g.State().Domain("default"); !ok {
		t.Fatal("the founding steps were not applied")
	}
	want := map[string]bool{"default": true}
	for round := range 4 {
		for i := range 9 {
			name := string(rune('a'+round)) + string(rune('a'+i))
			if result := propose(t, g, createDomain(name)); result.Refused != nil {
				t.Fatal(result.Refused)
			}
			want[name] = true
		}
		if result := propose(t, g, createDomain("default")); result.Refused == nil || result.Refused.Code != catalog.Exists {
			t.Fatalf("got %+v", result)
		}
		index, err := g.ReadIndex(t.Context())
		if err != nil || index < g.State().Applied {
			t.Fatalf("read index %d, applied %d, %v", index, g.State().Applied, err)
		}
		before, _ := g.State().Digest()
		if err := g.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		g = openGroup(t, w, s)
		if g.Founded() || g.Identity().Counter != uint64(round)+2 {
			t.Fatalf("identity after restart: %+v", g.Identity())
		}
		for _, name := range primitives.SortedKeys(want) {
			if _, ok := g.State().Domain(name); !ok {
				t.Fatalf("domain %s is gone; digest before %x", name, before)
			}
		}
	}
	if g.Status().Snapshot == firstSnapshot.Index {
		t.Fatal("no snapshot was taken")
	}
	if err := g.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

func TestGroupRefusesForeignDirectories(t *testing.T) {
	w, s := testWorld(t), testSettings(t.TempDir())
	g := openGroup(t, w, s)
	if _, err := Open(t.Context(), w, s); !errors.Is(err, primitives.ErrLocked) {
		t.Fatalf("second process: %v", err)
	}
	if err := g.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := s
	other.ClusterID = "other"
	var foreign *ForeignError
	if _, err := Open(t.Context(), w, other); !errors.As(err, &foreign) {
		t.Fatalf("other cluster: %v", err)
	}
	if err := os.Remove(filepath.Join(s.Dir, identityName)); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), w, s); !errors.As(err, &foreign) {
		t.Fatalf("identity gone: %v", err)
	}
}

// What is missing in a directory is named, with what to do about it.
func TestGroupNamesWhatIsMissing(t *testing.T) {
	for _, missing := range []string{identityName, "consensus", logDir, snapshotDir} {
		w, s := testWorld(t), testSettings(t.TempDir())
		if err := openGroup(t, w, s).Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := os.RemoveAll(filepath.Join(s.Dir, missing)); err != nil {
			t.Fatal(err)
		}
		_, err := Open(t.Context(), w, s)
		if err == nil {
			t.Fatalf("%s went unnoticed", missing)
		}
		for _, text := range []string{"missing", missing, "DROP NODE", "empty directory"} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("without %s: no %q in %v", missing, text, err)
			}
		}
	}
}

// failingWorld is a World whose disk can be made to fail.
type failingWorld struct {
	primitives.World
	disk *disk
}

func (w failingWorld) Files() primitives.Files { return w.disk }

func TestGroupStopsWritingAfterAFailedWrite(t *testing.T) {
	w := failingWorld{testWorld(t), newDisk()}
	s := testSettings("data")
	g := openGroup(t, w, s)
	propose(t, g, createDomain("kept"))
	w.disk.failAt = 0
	_, err := g.Propose(t.Context(), &catalogpb.Command{Steps: []*catalogpb.Step{createDomain("unknown")}})
	if !errors.Is(err, ErrOutcomeUnknown) || !errors.Is(err, ErrStorageFailed) {
		t.Fatalf("the failing write: %v", err)
	}
	w.disk.failAt = -1
	if _, err := g.Propose(t.Context(), &catalogpb.Command{Steps: []*catalogpb.Step{createDomain("refused")}}); !errors.Is(err, ErrStorageFailed) || errors.Is(err, ErrOutcomeUnknown) {
		t.Fatalf("a later write: %v", err)
	}
	if err := g.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	w.disk = w.disk.crash(func(string, int) int { return 0 })
	g = openGroup(t, failingWorld{w.World, w.disk}, s)
	if _, ok := g.State().Domain("kept"); !ok {
		t.Fatal("an answered command is gone")
	}
	if err := g.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// A crash at any moment of the first start leaves a directory that starts.
func TestGroupFoundingSurvivesCrashes(t *testing.T) {
	world := testWorld(t)
	for failAt := 0; ; failAt++ {
		d := newDisk()
		d.failAt = failAt
		g, err := Open(t.Context(), failingWorld{world, d}, testSettings("data"))
		if err == nil {
			if err := g.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			return
		}
		after := d.crash(func(_ string, unsynced int) int { return unsynced })
		again, err := Open(t.Context(), failingWorld{world, after}, testSettings("data"))
		if err != nil {
			t.Fatalf("crash at call %d: %v", failAt, err)
		}
		if err := again.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}
