package control

import (
	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"plexus/primitives"
)

// transfer is a snapshot on its way to a member, seen by the leader: raft sends
// that member nothing else until it is told how the transfer went.
type transfer struct {
	id       SnapshotID
	sections int // of the snapshot
	fetched  int
	began    primitives.Instant
	moved    primitives.Instant // last progress
}

func (c *core) beginTransfer(m *pb.Message) {
	meta := m.GetSnapshot().GetMetadata()
	now := c.group.world.Clock().Now()
	t := &transfer{id: SnapshotID{meta.GetIndex(), meta.GetTerm()}, began: now, moved: now}
	if newest := c.group.generation.Load(); newest != nil && newest.id == t.id {
		t.sections = newest.sections
	}
	c.transfers[m.GetTo()] = t
	c.pin()
}

// pin tells the snapshot task which generations are being read.
func (c *core) pin() {
	var pinned []SnapshotID
	for _, to := range primitives.SortedKeys(c.transfers) {
		pinned = append(pinned, c.transfers[to].id)
	}
	c.group.pinned.Store(&pinned)
	c.group.snapshots.Raise()
}

// progress notes that a member fetched a section.
func (c *core) progress(member uint64) {
	if t := c.transfers[member]; t != nil {
		t.fetched++
		t.moved = c.group.world.Clock().Now()
	}
}

// unreached ends a transfer whose offer was dropped before anything was fetched.
func (c *core) unreached(member uint64) {
	if t := c.transfers[member]; t != nil && t.fetched == 0 {
		c.endTransfer(member, "the member cannot be reached")
	}
}

// watchTransfers forgets the transfers that raft knows are over, and ends those
// that take too long.
func (c *core) watchTransfers() {
	waiting := map[uint64]bool{}
	c.node.WithProgress(func(id uint64, _ raft.ProgressType, p tracker.Progress) {
		waiting[id] = p.State == tracker.StateSnapshot
	})
	now := c.group.world.Clock().Now()
	for _, member := range primitives.SortedKeys(c.transfers) {
		t := c.transfers[member]
		switch {
		case !waiting[member]:
			delete(c.transfers, member)
			c.pin()
		case now.Sub(t.began) > transferBound(t.sections):
			c.endTransfer(member, "it took too long")
		case now.Sub(t.moved) > offerStall:
			c.endTransfer(member, "it made no progress")
		}
	}
}

// endTransfer tells raft that a member did not get its snapshot: it is offered the
// newest one next.
func (c *core) endTransfer(member uint64, why string) {
	t := c.transfers[member]
	if t == nil {
		return
	}
	transferFailed.Hit()
	c.group.world.Log().Warn("a snapshot did not reach a member", "member", member, "index", t.id.Index, "why", why)
	delete(c.transfers, member)
	c.pin()
	c.node.ReportSnapshot(member, raft.SnapshotFailure)
}

func (c *core) lostGeneration(id SnapshotID) {
	for _, member := range primitives.SortedKeys(c.transfers) {
		if c.transfers[member].id == id {
			transferLost.Hit()
			c.endTransfer(member, "a newer snapshot replaced it")
		}
	}
}

// forgetTransfers ends this node's part in them: it leads no more.
func (c *core) forgetTransfers() {
	if len(c.transfers) > 0 {
		clear(c.transfers)
		c.pin()
	}
}
