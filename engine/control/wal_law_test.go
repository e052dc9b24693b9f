package control

import (
	"errors"
	"fmt"
	"testing"

	pb "go.etcd.io/raft/v3/raftpb"
	"pgregory.net/rapid"
)

// member is the log of one member of a group through its life: appends, suffixes of
// other leaders, its own snapshots and those of others.
type member struct {
	disk   *disk
	log    *wal
	snap   SnapshotID // the newest published snapshot
	first  uint64     // index of entries[0]
	all    []*pb.Entry
	hard   *pb.HardState
	commit uint64
}

func newMember(t *rapid.T) *member {
	m := &member{disk: newDisk(), snap: SnapshotID{1, 1}, first: 2, commit: 1}
	log, err := createWAL(m.disk, "wal", testIdentity, 1)
	if err != nil {
		t.Fatal(err)
	}
	m.log = log
	m.log.segmentBytes = rapid.Int64Range(200, 1500).Draw(t, "segment")
	m.do(t, m.drawAppend(t, false))
	return m
}

func (m *member) clone() *member {
	c := *m
	c.all = append([]*pb.Entry(nil), m.all...)
	return &c
}

func (m *member) last() uint64 { return m.first + uint64(len(m.all)) - 1 }

func (m *member) term(index uint64) uint64 {
	if index <= m.snap.Index && (index < m.first || index == m.snap.Index) {
		return m.snap.Term
	}
	return m.all[index-m.first].GetTerm()
}

// above renders what recovery must find: the entries above the snapshot and the
// hard state, whose commit index a snapshot may be ahead of.
func (m *member) above() string {
	text := fmt.Sprintf("snapshot %d hard %d %d %d:", m.snap.Index, m.hard.GetTerm(), m.hard.GetVote(), m.hard.GetCommit())
	for _, e := range m.all {
		if e.GetIndex() > m.snap.Index {
			text += fmt.Sprintf(" %d/%d=%q", e.GetIndex(), e.GetTerm(), e.GetData())
		}
	}
	return text
}

// operation is one step of the append task. steps are its effects on the model in
// the order in which they reach the disk; each can be the last that a crash leaves.
type operation struct {
	name  string
	run   func(*member) error
	steps []func(*member)
}

// append takes entries, which replace what stands at their place and behind.
func (m *member) append(entries []*pb.Entry) {
	if len(entries) == 0 {
		return
	}
	from := entries[0].GetIndex()
	m.all = append(m.all[:from-m.first:from-m.first], entries...)
}

// drawAppend is new entries, or a suffix of another leader, with a hard state.
func (m *member) drawAppend(t *rapid.T, conflicts bool) operation {
	next, term := m.last()+1, max(m.hard.GetTerm(), 1)
	if conflicts && m.last() > m.commit && rapid.IntRange(0, 3).Draw(t, "conflict") == 0 {
		next = rapid.Uint64Range(m.commit+1, m.last()).Draw(t, "from")
		term++
	}
	var entries []*pb.Entry
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		entries = append(entries, testEntry(next, term, rapid.StringN(0, 30, 40).Draw(t, "data")))
		next++
	}
	end := m.last()
	if len(entries) > 0 {
		end = next - 1
	}
	commit := rapid.Uint64Range(m.commit, max(end, m.commit)).Draw(t, "commit")
	hard := hardState(term, rapid.Uint64Range(0, 3).Draw(t, "vote"), commit)
	return operation{
		name: "append",
		run: func(m *member) error {
			m.log.append(entries, hard)
			return errors.Join(m.log.sync(), m.log.rotate())
		},
		steps: []func(*member){
			func(m *member) { m.append(entries) },
			func(m *member) { m.hard, m.commit = hard, commit },
		},
	}
}

// drawCover is a snapshot of its own, behind which log is given up.
func (m *member) drawCover(t *rapid.T) operation {
	if m.commit <= m.snap.Index {
		return m.drawAppend(t, true)
	}
	index := rapid.Uint64Range(m.snap.Index+1, m.commit).Draw(t, "covered")
	id := SnapshotID{index, m.term(index)}
	keep := rapid.Uint64Range(m.snap.Index, index).Draw(t, "keep")
	return operation{
		name:  "cover",
		steps: []func(*member){func(m *member) { m.snap = id }},
		run: func(m *member) error {
			m.log.mark(id)
			return errors.Join(m.log.sync(), m.log.release(keep))
		},
	}
}

// drawInstall is the snapshot of another member, which this log does not contain.
func (m *member) drawInstall(t *rapid.T) operation {
	index := rapid.Uint64Range(m.commit+1, m.last()+5).Draw(t, "installed")
	term := m.hard.GetTerm() + 1
	if index > m.last() {
		term = max(m.hard.GetTerm(), 1)
	}
	id := SnapshotID{index, term}
	var entries []*pb.Entry
	for i := range rapid.IntRange(0, 2).Draw(t, "entries") {
		entries = append(entries, testEntry(index+1+uint64(i), term, "behind"))
	}
	hard := hardState(term, 0, index)
	return operation{
		name: "install",
		run: func(m *member) error {
			if err := m.log.restart(id); err != nil {
				return err
			}
			m.log.append(entries, hard)
			if err := m.log.sync(); err != nil {
				return err
			}
			return m.log.remove(len(m.log.segments) - 1)
		},
		steps: []func(*member){
			func(m *member) {
				// Published before the log is touched: from now on nothing in it counts.
				m.snap, m.first, m.all, m.commit = id, id.Index+1, nil, id.Index
			},
			func(m *member) { m.append(entries) },
			func(m *member) { m.hard = hard },
		},
	}
}

func (m *member) draw(t *rapid.T) operation {
	switch rapid.IntRange(0, 7).Draw(t, "operation") {
	case 0, 1:
		return m.drawCover(t)
	case 2:
		return m.drawInstall(t)
	}
	return m.drawAppend(t, true)
}

func (m *member) do(t *rapid.T, o operation) {
	for _, step := range o.steps {
		step(m)
	}
	if err := o.run(m); err != nil {
		t.Fatal(err)
	}
}

// recovered is a member as a restart finds it.
func (m *member) recovered(d *disk, snap SnapshotID) (*member, error) {
	log, err := recoverWAL(d, "wal", testIdentity, snap)
	if err != nil {
		return nil, err
	}
	if err := checkRecovered("wal", &loadedSnapshot{generation: generation{id: snap}}, log); err != nil {
		return nil, err
	}
	log.wal.segmentBytes = m.log.segmentBytes
	r := &member{disk: d, log: log.wal, snap: snap, first: snap.Index + 1, all: log.entries, hard: log.hard, commit: log.hard.GetCommit()}
	return r, nil
}

// law `wal`: whatever the crash leaves of the last operation, recovery returns what
// was synchronised before it and a prefix of the operation, and goes on from there.
func TestLawWAL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMember(t)
		for range rapid.IntRange(1, 4).Draw(t, "lives") {
			for range rapid.IntRange(0, 8).Draw(t, "operations") {
				m.do(t, m.draw(t))
			}
			m = m.crashIn(t, m.draw(t))
		}
	})
}

// crashIn lets an operation stop at any call of the disk, and recovers.
func (m *member) crashIn(t *rapid.T, o operation) *member {
	stages := []*member{m.clone()}
	for _, step := range o.steps {
		next := stages[len(stages)-1].clone()
		step(next)
		stages = append(stages, next)
	}
	snap := m.snap
	published := o.name != "append" && rapid.Bool().Draw(t, "published")
	if published {
		o.steps[0](m)
		snap = m.snap
	}
	if published || o.name == "append" {
		m.disk.failAt = m.disk.writes + rapid.IntRange(0, 12).Draw(t, "calls")
		if err := o.run(m); err != nil && !errors.Is(err, errDisk) {
			t.Fatal(err)
		}
	}
	after := m.disk.crash(func(_ string, unsynced int) int { return rapid.IntRange(0, unsynced).Draw(t, "kept") })
	r, err := m.recovered(after, snap)
	if err != nil {
		t.Fatalf("recovery after a crash in %s refused: %v", o.name, err)
	}
	var allowed []string
	for _, stage := range stages {
		if stage.snap != snap {
			continue
		}
		// The hard state is the last thing of an operation, so what is there may say
		// more of the term.
		want := stage.clone()
		term, vote := want.hard.GetTerm(), want.hard.GetVote()
		if seen := max(want.term(want.last()), snap.Term); seen > term {
			term, vote = seen, 0
		}
		want.hard = hardState(term, vote, max(want.hard.GetCommit(), snap.Index))
		allowed = append(allowed, want.above())
		if r.above() == want.above() {
			return r
		}
	}
	t.Fatalf("after a crash in %s\nrecovered %s\nallowed   %q", o.name, r.above(), allowed)
	return nil
}
