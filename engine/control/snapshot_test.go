package control

import (
	"errors"
	"fmt"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/control/controlpb"
	"plexus/primitives"
)

// firstTestState is the state of a cluster with one voter.
func firstTestState(t interface{ Fatal(...any) }) *catalog.State {
	return withMembers(t, catalog.New(testIdentity.Cluster), 1)
}

// withMembers adds voters under the next raft ids, at index 1.
func withMembers(t interface{ Fatal(...any) }, s *catalog.State, count int) *catalog.State {
	command := &catalogpb.Command{At: 1}
	for i := range count {
		command.Steps = append(command.Steps, addNode(&catalogpb.Node{
			Id: fmt.Sprintf("node-%d", i+1), RaftId: uint64(i + 1), Role: catalogpb.Node_VOTER,
		}))
	}
	s, result, _ := s.Apply(1, command)
	if result.Refused != nil {
		t.Fatal(result.Refused)
	}
	return s
}

func drawState(t *rapid.T) *catalog.State {
	s, index := firstTestState(t), uint64(1)
	for i := range rapid.IntRange(0, 8).Draw(t, "domains") {
		index++
		step := &catalogpb.Step{Body: &catalogpb.Step_CreateDomain{CreateDomain: &catalogpb.CreateDomain{Name: fmt.Sprintf("d%d", i)}}}
		s, _, _ = s.Apply(index, &catalogpb.Command{At: int64(index), Steps: []*catalogpb.Step{step}})
	}
	return s.Skip(index + 1)
}

func TestSnapshotRoundTripAndDamage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk()
		if err := d.MkdirAll("snap"); err != nil {
			t.Fatal(err)
		}
		state := drawState(t)
		id := SnapshotID{state.Applied, 3}
		if _, err := writeSnapshot(d, "snap", testIdentity, id, state, sectionBytesMax); err != nil {
			t.Fatal(err)
		}
		loaded, err := loadSnapshot(d, "snap", testIdentity)
		if err != nil {
			t.Fatal(err)
		}
		want, _ := state.Digest()
		if got, _ := loaded.state.Digest(); got != want || loaded.id != id || len(loaded.conf.Voters) != 1 {
			t.Fatal("the loaded state differs")
		}
		name := rapid.SampledFrom(primitives.SortedKeys(d.live)).Draw(t, "file")
		data := d.live[name].data
		bit := rapid.IntRange(0, len(data)*8-1).Draw(t, "bit")
		data[bit/8] ^= 1 << (bit % 8)
		_, err = loadSnapshot(d, "snap", testIdentity)
		var damage *DamageError
		if !errors.As(err, &damage) {
			t.Fatalf("bit %d of %s went unnoticed: %v", bit, name, err)
		}
	})
}

// A crash while a snapshot is written, at any call, leaves the old one.
func TestSnapshotCrashKeepsTheOldOne(t *testing.T) {
	for failAt := 0; ; failAt++ {
		d := newDisk()
		first := firstTestState(t)
		_, err := writeSnapshot(d, "snap", testIdentity, SnapshotID{1, 1}, first, sectionBytesMax)
		if err != nil {
			t.Fatal(err)
		}
		d.writes, d.failAt = 0, failAt
		_, err = writeSnapshot(d, "snap", testIdentity, SnapshotID{5, 2}, first.Skip(5), sectionBytesMax)
		after := d.crash(func(_ string, unsynced int) int { return unsynced / 2 })
		loaded, loadErr := loadSnapshot(after, "snap", testIdentity)
		if loadErr != nil {
			t.Fatalf("after failure at call %d: %v", failAt, loadErr)
		}
		if err == nil {
			if loaded.id.Index != 5 {
				t.Fatal("a finished snapshot was lost")
			}
			return
		}
		if loaded.id.Index != 1 && loaded.id.Index != 5 {
			t.Fatalf("loaded %+v", loaded.id)
		}
	}
}

// A process that ends at any call of a publication, the next one that removes what
// is older, up to any call, and a power loss leave a snapshot: what a process has
// seen as published stays.
func TestLawSnapshotsStay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk()
		at := &directory{files: d, path: "data"}
		dir := at.sub(snapshotDir)
		first := firstTestState(t)
		if _, err := writeSnapshot(d, dir, testIdentity, SnapshotID{1, 1}, first, sectionBytesMax); err != nil {
			t.Fatal(err)
		}
		fetched := rapid.Bool().Draw(t, "fetched")
		var staged staged
		if fetched {
			written, err := writeSnapshot(d, at.sub(stagingDir), testIdentity, SnapshotID{5, 2}, first.Skip(5), sectionBytesMax)
			if err != nil {
				t.Fatal(err)
			}
			staged.generation = *written
		}
		upTo := func(name string, most int) { d.failAt = d.writes + rapid.IntRange(0, most).Draw(t, name) }
		upTo("calls of the publication", 16)
		var err error
		if fetched {
			err = staged.publish(at)
		} else {
			_, err = writeSnapshot(d, dir, testIdentity, SnapshotID{5, 2}, first.Skip(5), sectionBytesMax)
		}
		if err != nil && !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
		d.failAt = -1
		var seen SnapshotID
		if rapid.Bool().Draw(t, "restarted") {
			loaded, err := loadSnapshot(d, dir, testIdentity)
			if err != nil {
				t.Fatal(err)
			}
			seen = loaded.id
		}
		upTo("calls of the removal", 8)
		published, err := sweepSnapshots(d, dir)
		if last := len(published) - 1; err == nil {
			err = removeSnapshots(d, dir, published[last], published[:last])
		}
		if err != nil && !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
		after := d.crash(func(_ string, unsynced int) int { return rapid.IntRange(0, unsynced).Draw(t, "kept") })
		loaded, err := loadSnapshot(after, dir, testIdentity)
		if err != nil {
			t.Fatal(err)
		}
		if loaded.id.Index < seen.Index {
			t.Fatalf("a process had loaded the snapshot at %d, now it is that at %d", seen.Index, loaded.id.Index)
		}
	})
}

func FuzzSnapshotManifest(f *testing.F) {
	fuzzSealed(f, sealManifest, &controlpb.Manifest{Format: 1, Index: 7})
}

func FuzzIdentityFile(f *testing.F) {
	fuzzSealed(f, sealIdentity, &controlpb.Identity{Format: 1, NodeId: "n"})
}

func fuzzSealed(f *testing.F, s seal, m proto.Message) {
	b, err := s.encode(m)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		got := m.ProtoReflect().New().Interface()
		var damage *DamageError
		if err := s.decode("file", b, got); err != nil && !errors.As(err, &damage) {
			t.Fatalf("untyped error: %v", err)
		}
	})
}
