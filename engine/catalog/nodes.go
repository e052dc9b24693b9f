package catalog

import (
	"encoding/binary"

	"plexus/engine/catalog/catalogpb"
)

// NodesMax bounds a cluster.
const NodesMax = 64

// Role is what a member does in consensus.
type Role uint8

// The roles.
const (
	Learner Role = iota
	Voter
)

// String returns the word that status shows.
func (r Role) String() string {
	if r == Voter {
		return "voter"
	}
	return "learner"
}

// Node is a member of the cluster.
type Node struct {
	ID     string
	RaftID uint64
	Role   Role
	// Counter is the start counter of the last admitted process.
	Counter uint64
	// Token tells that process from another one with an equal counter.
	Token string
	// Interconnect is host:port; Client and Console are URLs, "" where not offered.
	Interconnect, Client, Console string
	Cordoned                      bool
}

// addNode admits a member. Raft ids are handed out in order, so an id below the
// next one is either a member, or removed, or that of the founder.
func (t *transition) addNode(c *catalogpb.AddNode) *Refusal {
	n := newNode(c.GetNode())
	_, taken := t.state.Node(n.ID)
	_, used := t.state.NodeByRaft(n.RaftID)
	switch {
	case n.ID == "" || n.RaftID == 0:
		return refuse(Invalid, "a node needs a name and a raft id")
	case taken:
		return refuse(NodeRefused, "node '%s' is a member already", n.ID)
	case used:
		return refuse(NodeRefused, "raft id %d belongs to another member", n.RaftID)
	case t.state.Removed(n.RaftID):
		return refuse(NodeRefused, "raft id %d was dropped", n.RaftID)
	case t.state.nodes.len() >= NodesMax:
		return refuse(NodeRefused, "cluster is full (%d)", NodesMax)
	case n.RaftID > t.state.NextRaftID:
		return refuse(NodeRefused, "raft id %d was not handed out; the next one is %d", n.RaftID, t.state.NextRaftID)
	}
	t.state.NextRaftID = max(t.state.NextRaftID, n.RaftID+1)
	t.setNode(n)
	return nil
}

func (t *transition) updateNode(c *catalogpb.UpdateNode) *Refusal {
	return t.withNode(c.GetId(), c.GetRaftId(), func(n *Node) *Refusal {
		if c.GetCounter() < n.Counter || c.GetCounter() == n.Counter && string(c.GetToken()) != n.Token {
			return refuse(NodeRefused, "stale incarnation of node '%s': start %d was admitted already, this is start %d",
				n.ID, n.Counter, c.GetCounter())
		}
		n.Counter, n.Token = c.GetCounter(), string(c.GetToken())
		n.Interconnect, n.Client, n.Console = c.GetInterconnect(), c.GetClient(), c.GetConsole()
		return nil
	})
}

func (t *transition) promoteNode(c *catalogpb.PromoteNode) *Refusal {
	return t.withNode(c.GetId(), c.GetRaftId(), func(n *Node) *Refusal {
		if n.Role == Voter {
			return refuse(NodeRefused, "node '%s' is a voter already", n.ID)
		}
		n.Role = Voter
		return nil
	})
}

func (t *transition) removeNode(c *catalogpb.RemoveNode) *Refusal {
	n, refused := t.member(c.GetId(), c.GetRaftId())
	if refused != nil {
		return refused
	}
	if n.Role == Voter && t.state.voters() == 1 {
		return refuse(NodeRefused, "node '%s' is the last voter", n.ID)
	}
	t.state.nodes = t.state.nodes.delete(n.ID)
	t.state.removed = t.state.removed.set(raftKey(n.RaftID), n.RaftID)
	t.nodes[n.ID] = true
	return nil
}

// cordonNode sets the mark; setting it again changes nothing and is no error.
func (t *transition) cordonNode(c *catalogpb.CordonNode) *Refusal {
	n, ok := t.state.Node(c.GetId())
	if !ok {
		return refuse(NodeRefused, "node '%s' is not a member", c.GetId())
	}
	return t.withNode(n.ID, n.RaftID, func(n *Node) *Refusal {
		n.Cordoned = c.GetCordoned()
		return nil
	})
}

// member returns the member that a step means. A name can come back under another
// raft id; the step does not mean that one.
func (t *transition) member(id string, raftID uint64) (*Node, *Refusal) {
	n, ok := t.state.Node(id)
	switch {
	case !ok:
		return nil, refuse(NodeRefused, "node '%s' is not a member", id)
	case n.RaftID != raftID:
		return nil, refuse(NodeRefused, "node '%s' has raft id %d, not %d", id, n.RaftID, raftID)
	}
	return n, nil
}

func (t *transition) withNode(id string, raftID uint64, f func(*Node) *Refusal) *Refusal {
	old, refused := t.member(id, raftID)
	if refused != nil {
		return refused
	}
	n := *old
	if refused := f(&n); refused != nil {
		return refused
	}
	t.setNode(&n)
	return nil
}

func (t *transition) setNode(n *Node) {
	t.state.nodes = t.state.nodes.set(n.ID, n)
	t.nodes[n.ID] = true
}

func (s *State) voters() (n int) {
	for m := range s.Nodes() {
		if m.Role == Voter {
			n++
		}
	}
	return n
}

// raftKey orders raft ids by number.
func raftKey(id uint64) string { return string(binary.BigEndian.AppendUint64(nil, id)) }

func newNode(m *catalogpb.Node) *Node {
	n := &Node{
		ID: m.GetId(), RaftID: m.GetRaftId(), Counter: m.GetCounter(), Token: string(m.GetToken()),
		Interconnect: m.GetInterconnect(), Client: m.GetClient(), Console: m.GetConsole(), Cordoned: m.GetCordoned(),
	}
	if m.GetRole() == catalogpb.Node_VOTER {
		n.Role = Voter
	}
	return n
}

func (n *Node) record() *catalogpb.Node {
	m := &catalogpb.Node{
		Id: n.ID, RaftId: n.RaftID, Counter: n.Counter,
		Interconnect: n.Interconnect, Client: n.Client, Console: n.Console, Cordoned: n.Cordoned,
	}
	if n.Token != "" {
		m.Token = []byte(n.Token)
	}
	if n.Role == Voter {
		m.Role = catalogpb.Node_VOTER
	}
	return m
}
