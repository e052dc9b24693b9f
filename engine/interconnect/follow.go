package interconnect

import (
	"context"
	"slices"
	"sync/atomic"

	"plexus/primitives"
)

// PeerStatus is what is known of one peer.
type PeerStatus struct {
	Node         string
	RaftID       uint64
	Endpoint     string
	Process      Process // the newest one met, zero if none was
	Connected    bool    // every permanent connection is up
	Announcement Announcement
	Announced    bool // Announcement is of Process
	Availability Availability
	Since        primitives.Instant // of Availability
}

// Peers returns what is known of every peer, by node id.
func (m *Mesh) Peers() []PeerStatus {
	peers := m.orderedPeers()
	list := make([]PeerStatus, 0, len(peers))
	for _, p := range peers {
		list = append(list, p.status())
	}
	return list
}

// Peer returns what is known of one peer.
func (m *Mesh) Peer(node string) (PeerStatus, bool) {
	p := (*m.peers.Load())[node]
	if p == nil {
		return PeerStatus{}, false
	}
	return p.status(), true
}

// availableSince is the availability of a peer as it was last judged.
type availableSince struct {
	availability Availability
	since        primitives.Instant
}

func (p *peer) status() PeerStatus {
	s := PeerStatus{Node: p.target.Node, RaftID: p.target.RaftID, Endpoint: p.target.Endpoint, Connected: p.ready()}
	if a := p.available.Load(); a != nil {
		s.Availability, s.Since = a.availability, a.since
	}
	if now := p.process.Load(); now != nil {
		s.Process = *now
	}
	if h := p.heard.Load(); h != nil && h.process == s.Process {
		s.Announcement, s.Announced = h.what, true
	}
	return s
}

// Change is what of the peers a follower wants to know about.
type Change uint8

// The values of Change; they can be combined.
const (
	// Reach is who the peers are, which process each of them is, whether it is
	// available and connected, and whether it is terminating.
	Reach Change = 1 << iota
	// News is what the peers announce.
	News
)

// Follower is woken when something changed that it wants to know about. It looks at
// Peers for itself.
type Follower struct {
	notice *primitives.Notice
	wants  Change
}

// Wait blocks until something changed since the last Wait.
func (f *Follower) Wait(ctx context.Context) error { return f.notice.Wait(ctx) }

// OnChange is ready when something changed.
func (f *Follower) OnChange() primitives.Case { return f.notice.OnRaise() }

// followers is an immutable list that grows and shrinks by replacement.
type followers struct {
	world primitives.World
	list  atomic.Pointer[[]*Follower]
}

func (f *followers) edit(change func([]*Follower) []*Follower) {
	for {
		old := f.list.Load()
		var list []*Follower
		if old != nil {
			list = slices.Clone(*old)
		}
		list = change(list)
		if f.list.CompareAndSwap(old, &list) {
			return
		}
	}
}

func (f *followers) raise(c Change) {
	if list := f.list.Load(); list != nil {
		for _, one := range *list {
			if one.wants&c != 0 {
				one.notice.Raise()
			}
		}
	}
}

// Follow returns a follower that has not been woken yet. It must be given back.
func (m *Mesh) Follow(wants Change) *Follower {
	f := &Follower{notice: primitives.NewNotice(m.world), wants: wants}
	m.followers.edit(func(list []*Follower) []*Follower { return append(list, f) })
	return f
}

// Unfollow ends a follower.
func (m *Mesh) Unfollow(f *Follower) {
	m.followers.edit(func(list []*Follower) []*Follower {
		return slices.DeleteFunc(list, func(one *Follower) bool { return one == f })
	})
}
