package control

import (
	"errors"
	"fmt"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"
	"pgregory.net/rapid"

	"plexus/primitives"
)

var testIdentity = walIdentity{Cluster: primitives.UUID{1, 2, 3}, RaftID: 1}

func testEntry(index, term uint64, data string) *pb.Entry {
	kind := pb.EntryNormal
	return &pb.Entry{Index: &index, Term: &term, Type: &kind, Data: []byte(data)}
}

// logModel is what a log holds after some writes.
type logModel struct {
	entries []*pb.Entry // from index 2
	hard    *pb.HardState
}

func (m *logModel) append(entries []*pb.Entry, hard *pb.HardState) {
	for _, e := range entries {
		m.entries = append(m.entries[:e.GetIndex()-2:e.GetIndex()-2], e)
	}
	if hard != nil {
		m.hard = hard
	}
}

func (m *logModel) clone() logModel {
	return logModel{entries: append([]*pb.Entry(nil), m.entries...), hard: m.hard}
}

func (m *logModel) String() string {
	text := ""
	for _, e := range m.entries {
		text += fmt.Sprintf("%d/%d=%q ", e.GetIndex(), e.GetTerm(), e.GetData())
	}
	return text + fmt.Sprintf("hard %d %d %d", m.hard.GetTerm(), m.hard.GetVote(), m.hard.GetCommit())
}

// writer drives a log and keeps the models of every synchronisation.
type writer struct {
	disk    *disk
	log     *wal
	model   logModel
	history []logModel // history[i] is durable after i+1 synchronisations
}

func newWriter(t interface{ Fatal(...any) }, segmentBytes int64) *writer {
	w := &writer{disk: newDisk()}
	log, err := createWAL(w.disk, "wal", testIdentity, 1)
	if err != nil {
		t.Fatal(err)
	}
	log.segmentBytes = segmentBytes
	w.log = log
	w.step(t, nil, hardState(1, 0, 1))
	return w
}

func (w *writer) step(t interface{ Fatal(...any) }, entries []*pb.Entry, hard *pb.HardState) {
	w.log.append(entries, hard)
	w.model.append(entries, hard)
	if err := w.log.sync(); err != nil {
		t.Fatal(err)
	}
	w.history = append(w.history, w.model.clone())
	if err := w.log.rotate(); err != nil {
		t.Fatal(err)
	}
}

// drawStep is one append: new entries, or a suffix written again under a higher
// term, with a hard state.
func (w *writer) drawStep(t *rapid.T) ([]*pb.Entry, *pb.HardState) {
	term := w.model.hard.GetTerm()
	next := uint64(len(w.model.entries)) + 2
	if len(w.model.entries) > 0 && rapid.IntRange(0, 5).Draw(t, "conflict") == 0 {
		next = rapid.Uint64Range(2, next).Draw(t, "from")
		term++
	}
	var entries []*pb.Entry
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		entries = append(entries, testEntry(next, term, rapid.StringN(0, 40, 60).Draw(t, "data")))
		next++
	}
	return entries, hardState(term, 1, 1)
}

func recoverModel(d *disk) (logModel, *recoveredLog, error) {
	r, err := recoverWAL(d, "wal", testIdentity, SnapshotID{1, 1})
	if err != nil {
		return logModel{}, nil, err
	}
	return logModel{entries: r.entries, hard: r.hard}, r, nil
}

func TestWALCrashKeepsEverythingSynchronised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWriter(t, rapid.Int64Range(200, 2000).Draw(t, "segment"))
		for range rapid.IntRange(0, 12).Draw(t, "steps") {
			entries, hard := w.drawStep(t)
			w.step(t, entries, hard)
		}
		durable := w.history[len(w.history)-1]
		// One more append that is written but not synchronised.
		entries, hard := w.drawStep(t)
		w.log.append(entries, hard)
		if err := w.log.flush(); err != nil {
			t.Fatal(err)
		}
		whole := w.model.clone()
		whole.append(entries, hard)

		after := w.disk.crash(func(_ string, unsynced int) int { return rapid.IntRange(0, unsynced).Draw(t, "kept") })
		got, recovered, err := recoverModel(after)
		if err != nil {
			t.Fatalf("recovery refused: %v", err)
		}
		// The entries record and the hard state record are two units of the run.
		partial := durable.clone()
		partial.append(entries, nil)
		if s := got.String(); s != durable.String() && s != partial.String() && s != whole.String() {
			t.Fatalf("recovered %s\nsynchronised %s\nwritten %s", s, durable.String(), whole.String())
		}
		// The recovered log goes on, and a second recovery sees the same.
		recovered.wal.append([]*pb.Entry{testEntry(uint64(len(got.entries))+2, 9, "later")}, nil)
		if err := recovered.wal.sync(); err != nil {
			t.Fatal(err)
		}
		got.append([]*pb.Entry{testEntry(uint64(len(got.entries))+2, 9, "later")}, nil)
		again, _, err := recoverModel(after.crash(func(string, int) int { return 0 }))
		if err != nil || again.String() != got.String() {
			t.Fatalf("second recovery: %v\ngot  %s\nwant %s", err, again.String(), got.String())
		}
	})
}

func TestWALDetectsEveryFlippedBit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWriter(t, rapid.Int64Range(200, 2000).Draw(t, "segment"))
		for range rapid.IntRange(1, 8).Draw(t, "steps") {
			entries, hard := w.drawStep(t)
			w.step(t, entries, hard)
		}
		names := primitives.SortedKeys(w.disk.live)
		name := rapid.SampledFrom(names).Draw(t, "file")
		data := w.disk.live[name].data
		bit := rapid.IntRange(0, len(data)*8-1).Draw(t, "bit")
		data[bit/8] ^= 1 << (bit % 8)

		got, r, err := recoverModel(w.disk)
		var damage *DamageError
		var foreign *ForeignError
		switch {
		case errors.As(err, &damage), errors.As(err, &foreign):
		case err != nil:
			t.Fatalf("untyped refusal: %v", err)
		case r.torn == nil:
			t.Fatalf("bit %d of %s went unnoticed: %s", bit, name, got.String())
		default:
			// Only the newest synchronisation may look like a torn append, and then
			// what is left is an older one.
			last := len(w.history) - 1
			if r.torn.File != name || bit/8 < int(r.torn.Offset) {
				t.Fatalf("bit %d of %s blamed on %+v", bit, name, *r.torn)
			}
			previous := w.history[max(last-1, 0)].clone()
			entriesOnly := previous.clone()
			entriesOnly.entries = w.history[last].entries
			// A segment that was only created loses nothing.
			s := got.String()
			if s != previous.String() && s != entriesOnly.String() && s != w.history[last].String() {
				t.Fatalf("bit %d of %s lost more than the last append: %s", bit, name, s)
			}
		}
	})
}

func TestWALReleaseKeepsWhatIsNeeded(t *testing.T) {
	w := newWriter(t, 256)
	for i := uint64(2); i < 40; i++ {
		w.step(t, []*pb.Entry{testEntry(i, 1, "some data for entry")}, hardState(1, 1, i-1))
	}
	before := len(w.log.segments)
	if err := w.log.release(20); err != nil {
		t.Fatal(err)
	}
	if len(w.log.segments) >= before || w.log.segments[0].first > 21 {
		t.Fatalf("released %d of %d segments, first index %d", before-len(w.log.segments), before, w.log.segments[0].first)
	}
	r, err := recoverWAL(w.disk, "wal", testIdentity, SnapshotID{20, 1})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.entries) != 19 || r.entries[0].GetIndex() != 21 || r.hard.GetCommit() != 38 {
		t.Fatalf("recovered %d entries, hard state %v", len(r.entries), r.hard)
	}
}

func TestWALRefusesAnotherOwner(t *testing.T) {
	w := newWriter(t, 1<<20)
	_, err := recoverWAL(w.disk, "wal", walIdentity{Cluster: primitives.UUID{9}, RaftID: 1}, SnapshotID{1, 1})
	var foreign *ForeignError
	if !errors.As(err, &foreign) {
		t.Fatalf("got %v", err)
	}
}

func FuzzWAL(f *testing.F) {
	w := newWriter(f, 1<<20)
	for i := uint64(2); i < 6; i++ {
		w.step(f, []*pb.Entry{testEntry(i, 1, "seed")}, hardState(1, 1, i-1))
	}
	name := primitives.SortedKeys(w.disk.live)[0]
	f.Add(w.disk.live[name].data)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) {
		d := newDisk()
		d.dirs["wal"] = true
		d.live[name] = &inode{data: data}
		d.durable[name] = d.live[name]
		_, _, err := recoverModel(d)
		var damage *DamageError
		var foreign *ForeignError
		if err != nil && !errors.As(err, &damage) && !errors.As(err, &foreign) {
			t.Fatalf("untyped error: %v", err)
		}
	})
}
