package node

import (
	"context"
	"errors"

	"plexus/engine/catalog"
	"plexus/engine/interconnect"
	"plexus/engine/schedule"
	"plexus/engine/session"
	"plexus/primitives"
)

// members is what this node knows of the others: their records from the replicated
// state, and what they announce.
type members struct {
	node *Node
	mesh *interconnect.Mesh
}

// run tells the interconnect who this node is as soon as it is a member, and keeps
// it connected with the nodes that the state names.
func (m *members) run(ctx context.Context) error {
	if _, err := primitives.Select(ctx, m.node.world, m.node.group.OnJoined()); err != nil {
		return err
	}
	m.mesh.Identify(m.node.process(), m.node.group.Identity().Cluster)
	follower := m.node.group.Follow()
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
		peers = append(peers, interconnect.Peer{Node: n.ID, RaftID: n.RaftID, Endpoint: n.Interconnect, Counter: n.Counter})
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

// live lists the nodes of the completion set, this one included, in order.
func (m *members) live() (nodes []string) {
	for _, n := range m.schedule() {
		if n.Live {
			nodes = append(nodes, n.ID)
		}
	}
	return nodes
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
	changed := m.mesh.Follow()
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
		if p.Announcement.Ready < revision {
			return true, nil
		}
	}
	return false, nil
}
