package control

import (
	"errors"
	"fmt"
	"sync/atomic"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/catalog"
)

// memory is the log as the raft machine reads it: what the append task made
// durable, and the manifest of the newest published snapshot.
type memory struct {
	*raft.MemoryStorage
	// atLeast is the index of the last command that admitted a member. That member
	// would ignore an older snapshot, which does not know it.
	atLeast atomic.Uint64
}

func newMemory() *memory { return &memory{MemoryStorage: raft.NewMemoryStorage()} }

// Snapshot implements raft.Storage: the machine asks for one when a member needs
// more than the log still has.
func (m *memory) Snapshot() (*pb.Snapshot, error) {
	s, err := m.MemoryStorage.Snapshot()
	if err == nil && s.GetMetadata().GetIndex() < m.atLeast.Load() {
		snapshotTooOld.Hit()
		return nil, raft.ErrSnapshotTemporarilyUnavailable
	}
	return s, err
}

// publish shows the raft machine a newer snapshot of what it has in its log.
func (m *memory) publish(g *generation) error {
	_, err := m.CreateSnapshot(g.id.Index, g.conf, g.manifest)
	if err != nil && !errors.Is(err, raft.ErrSnapOutOfDate) {
		return fmt.Errorf("publish snapshot in memory: %w", err)
	}
	return nil
}

// reset replaces the whole log by a snapshot.
func (m *memory) reset(g *generation) error {
	if g.id.Index == 0 {
		return nil // a node that has received nothing yet
	}
	metadata := &pb.SnapshotMetadata{Index: &g.id.Index, Term: &g.id.Term, ConfState: g.conf}
	if err := m.ApplySnapshot(&pb.Snapshot{Metadata: metadata, Data: g.manifest}); err != nil {
		return fmt.Errorf("replace the log in memory: %w", err)
	}
	return nil
}

// above returns the index above which the newest entries, up to index last, have at
// most the given number of bytes.
func (m *memory) above(last uint64, entries, bytes uint64) (uint64, error) {
	first, err := m.FirstIndex()
	if err != nil || last < first {
		return last, err
	}
	from := first
	if last-first >= entries {
		from = last - entries + 1
	}
	if from > last {
		return last, nil
	}
	kept, err := m.Entries(from, last+1, uncounted)
	if err != nil {
		return 0, fmt.Errorf("look at the log in memory: %w", err)
	}
	at := len(kept)
	for size := uint64(0); at > 0; at-- {
		if size += uint64(entryHeaderBytes + len(kept[at-1].GetData())); size > bytes {
			break
		}
	}
	return from + uint64(at) - 1, nil
}

const uncounted = 1 << 62 // bytes

// confOf returns the configuration that a state stands for: node records and the
// configuration of raft change at one index.
func confOf(s *catalog.State) *pb.ConfState {
	conf := new(pb.ConfState)
	for n := range s.Nodes() {
		if n.Role == catalog.Voter {
			conf.Voters = append(conf.Voters, n.RaftID)
		} else {
			conf.Learners = append(conf.Learners, n.RaftID)
		}
	}
	return conf
}

// sameConf compares configurations; their members have no order.
func sameConf(a, b *pb.ConfState) bool { return a.Equivalent(b) == nil }
