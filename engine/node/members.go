package node

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/interconnect"
	"plexus/engine/schedule"
	"plexus/engine/session"
	"plexus/primitives"
	"plexus/primitives/planted"
)

// members is what this node knows of the others: their records from the replicated
// state, and what they announce.
type members struct {
	node *Node
	mesh *interconnect.Mesh
}

// run keeps the interconnect connected with the nodes that the state names.
func (m *members) run(ctx context.Context) error {
	follower := m.node.group.FollowChanges()
	defer m.node.group.Unfollow(follower)
	for known := false; ; {
		if changed := follower.Changed().Nodes; len(changed) > 0 || !known {
			known = m.setPeers()
		}
		if err := follower.Wait(ctx); err != nil {
			return err
		}
	}
}

// setPeers reports whether there is a state to know the members from: a joining
// node has none yet.
func (m *members) setPeers() bool {
	var peers []interconnect.Peer
	for n := range m.node.group.State().Nodes() {
		peers = append(peers, interconnect.Peer{Node: n.ID, RaftID: n.RaftID, Endpoint: n.Interconnect, Counter: n.Counter, Token: n.Token})
	}
	if len(peers) == 0 {
		return false
	}
	m.mesh.SetPeers(peers)
	return true
}

// schedule returns the nodes as scheduling sees them.
func (m *members) schedule() []schedule.Node {
	peers := m.peers()
	var nodes []schedule.Node
	for n := range m.node.group.State().Nodes() {
		x := schedule.Node{ID: n.ID, Voter: n.Role == catalog.Voter, Cordoned: n.Cordoned}
		if n.ID == m.self() {
			x.Live, x.Terminating = true, m.node.stopping.Load()
		} else if p, ok := peers[n.ID]; ok {
			x.Live, x.Terminating = p.Availability != interconnect.Unreachable, p.Announcement.Terminating
		}
		nodes = append(nodes, x)
	}
	return nodes
}

// cluster returns everything that planning a schedule needs beside the definitions.
func (m *members) cluster() decide.Cluster {
	c := decide.Cluster{Nodes: m.schedule(), ReplicaCount: m.node.settings.ReplicaCount, Attempt: m.node.world.Entropy().Uint64()}
	if m.node.settings.Scheduler == SchedulerRandom {
		// Every leader draws alike, so a change of leaders moves nothing.
		id := m.node.group.Identity().Cluster
		seed := binary.BigEndian.Uint64(id[:])
		c.Random = &seed
	}
	return c
}

// follow wakes whoever plans when what it knows of the nodes has changed.
func (m *members) follow(ctx context.Context, changed *primitives.Notice) error {
	f := m.mesh.Follow(interconnect.Reach)
	defer m.mesh.Unfollow(f)
	for {
		if err := f.Wait(ctx); err != nil {
			return err
		}
		changed.Raise()
	}
}

// succeeded reports whether another node can take what this one owns.
func (m *members) succeeded() bool {
	return slices.ContainsFunc(m.schedule(), func(n schedule.Node) bool { return n.ID != m.self() && n.Candidate() })
}

// leaving reports whether a node said that it ends, or is not reached any more.
func (m *members) leaving(node string) bool {
	p, ok := m.mesh.Peer(node)
	return ok && (p.Announcement.Terminating || p.Availability != interconnect.Available || !p.Connected)
}

// live lists the nodes of the completion set, this one included, in order.
func (m *members) live() (nodes []string) {
	for _, n := range m.schedule() {
		if n.Live {
			nodes = append(nodes, n.ID)
		}
	}
	return nodes
}

// voter reports whether this node is one: learners listen to nobody.
func (m *members) voter() bool {
	n, ok := m.node.group.State().Node(m.self())
	return ok && n.Role == catalog.Voter
}

func (m *members) self() string { return m.node.settings.Control.NodeID }

func (m *members) peers() map[string]interconnect.PeerStatus {
	peers := map[string]interconnect.PeerStatus{}
	for _, p := range m.mesh.Peers() {
		peers[p.Node] = p
	}
	return peers
}

// settled waits until every live node executes a domain as of a runtime revision
// (chapter "completion barrier"): a node that cannot is an *ActivationError.
func (m *members) settled(ctx context.Context, domain string, revision uint64) error {
	changed := m.mesh.Follow(interconnect.Reach | interconnect.News)
	defer m.mesh.Unfollow(changed)
	for {
		waiting, err := m.behind(domain, revision)
		if err != nil || !waiting {
			return err
		}
		if err := changed.Wait(ctx); err != nil {
			return err
		}
	}
}

// prepared reports whether every live peer has prepared a revision of a domain. One
// that failed at it keeps nobody waiting.
func (m *members) prepared(domain string, revision uint64) bool {
	for _, p := range m.mesh.Peers() {
		failed := slices.ContainsFunc(p.Announcement.Failures, func(f interconnect.DomainFailure) bool {
			return f.Domain == domain && f.Revision >= revision
		})
		if p.Availability != interconnect.Unreachable && p.Announcement.Prepared < revision && !failed {
			return false
		}
	}
	return true
}

func (m *members) behind(domain string, revision uint64) (bool, error) {
	for _, p := range m.mesh.Peers() {
		if p.Availability == interconnect.Unreachable {
			continue
		}
		for _, f := range p.Announcement.Failures {
			if f.Domain == domain && f.Revision >= revision {
				return false, &session.ActivationError{Domain: domain, Node: p.Node, Err: errors.New(f.Reason)}
			}
		}
		if p.Announcement.Ready < revision && !planted.Active(planted.EarlyBarrier) {
			return true, nil
		}
	}
	return false, nil
}
