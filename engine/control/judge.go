package control

import (
	"slices"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/primitives/planted"
)

// verdict is what the leader makes of a claim.
type verdict struct {
	// admitted is the raft id of a claim that is in force already.
	admitted uint64
	// Otherwise a command that admits it, with a change of members for a new one.
	step *catalogpb.Step
	adds uint64 // raft id of the new member
}

// judge decides about a claim against the committed members. It is asked again
// after every change it asks for, so that it never builds on what it hopes for.
func judge(s *catalog.State, clusterID string, c Claim) (verdict, *ClaimError) {
	node, member := s.Node(c.Node)
	switch {
	case c.ClusterID != clusterID || c.Cluster != [16]byte{} && c.Cluster != s.Cluster:
		return verdict{}, refuseClaim(ClaimOtherCluster, "node belongs to cluster '%s'", c.ClusterID)
	case c.Format != format:
		return verdict{}, refuseClaim(ClaimOtherFormat, "incompatible build: format %d, cluster runs %d", c.Format, format)
	case c.RaftID != 0 && s.Removed(c.RaftID):
		return verdict{}, errDropped()
	case !validNode(c.Node):
		return verdict{}, refuseClaim(ClaimInvalid, "'%.64s' is no name for a node", c.Node)
	case member && c.RaftID == 0 && node.Token != string(c.Token[:]) && !planted.Active(planted.WipedReturns):
		return verdict{}, refuseClaim(ClaimStateMissing, "node '%s' is a member whose stored state is missing here; run DROP NODE %s, then join again", c.Node, c.Node)
	case member && c.RaftID == 0:
		// The answer to its first claim was lost.
		return verdict{admitted: node.RaftID}, nil
	case member:
		return judgeMember(node, c)
	case c.RaftID != 0:
		return verdict{}, refuseClaim(ClaimStale, "stale incarnation: node '%s' has raft id %d, which this cluster did not give it", c.Node, c.RaftID)
	case c.Endpoints.Interconnect == "":
		return verdict{}, refuseClaim(ClaimInvalid, "node '%s' has no interconnect endpoint", c.Node)
	case members(s) >= catalog.NodesMax:
		return verdict{}, refuseClaim(ClaimFull, "cluster is full (%d); run DROP NODE for a node that is gone, then start this one again", catalog.NodesMax)
	}
	for n := range s.Nodes() {
		if n.Interconnect == c.Endpoints.Interconnect {
			return verdict{}, refuseClaim(ClaimInvalid, "endpoint %s is that of node '%s'; name another one for node '%s', or run DROP NODE %s if that node is gone",
				n.Interconnect, n.ID, c.Node, n.ID)
		}
	}
	record := c.record()
	record.RaftId = s.NextRaftID
	return verdict{step: addNode(record), adds: record.RaftId}, nil
}

// judgeMember decides about a claim under the name of a member.
func judgeMember(node *catalog.Node, c Claim) (verdict, *ClaimError) {
	again := c.Counter == node.Counter && string(c.Token[:]) == node.Token
	descends := node.Token == "" || string(c.Token[:]) == node.Token || slices.ContainsFunc(c.Admitted, func(t [tokenBytes]byte) bool { return string(t[:]) == node.Token })
	switch {
	case c.RaftID != node.RaftID:
		return verdict{}, refuseClaim(ClaimStale, "stale incarnation: node '%s' has raft id %d here, not %d", c.Node, node.RaftID, c.RaftID)
	case c.Counter <= node.Counter && !again:
		return verdict{}, refuseClaim(ClaimStale,
			"stale incarnation: start %d of node '%s' was admitted, this is start %d; two processes share one identity, or an old copy of the directory was restored",
			node.Counter, c.Node, c.Counter)
	case !descends:
		oldCopyRefused.Hit()
		return verdict{}, refuseClaim(ClaimStale,
			"stale incarnation: the data directory of node '%s' does not know of the admission of its start %d; it is an old copy: start the node with the one it last ran with, or run DROP NODE %s and start it with an empty one",
			c.Node, node.Counter, c.Node)
	case again && c.Endpoints == (Endpoints{node.Interconnect, node.Client, node.Console}):
		return verdict{admitted: node.RaftID}, nil
	}
	return verdict{step: &catalogpb.Step{Body: &catalogpb.Step_UpdateNode{UpdateNode: &catalogpb.UpdateNode{
		Id: c.Node, RaftId: c.RaftID, Counter: c.Counter, Token: c.Token[:],
		Interconnect: c.Endpoints.Interconnect, Client: c.Endpoints.Client, Console: c.Endpoints.Console,
	}}}}, nil
}

func members(s *catalog.State) (n int) {
	for range s.Nodes() {
		n++
	}
	return n
}

// record is the node record that a claim asks for.
func (c Claim) record() *catalogpb.Node {
	return &catalogpb.Node{
		Id: c.Node, RaftId: c.RaftID, Counter: c.Counter, Token: c.Token[:],
		Interconnect: c.Endpoints.Interconnect, Client: c.Endpoints.Client, Console: c.Endpoints.Console,
	}
}

func addNode(record *catalogpb.Node) *catalogpb.Step {
	return &catalogpb.Step{Body: &catalogpb.Step_AddNode{AddNode: &catalogpb.AddNode{Node: record}}}
}

// errDropped is what a process hears whose raft id was removed.
func errDropped() *ClaimError {
	return refuseClaim(ClaimDropped, "this node was dropped; start it with an empty data directory")
}

// validNode reports whether a name is one of a node: [a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?
func validNode(name string) bool {
	if len(name) == 0 || len(name) > 63 || name[0] == '-' || name[len(name)-1] == '-' {
		return false
	}
	for i := range len(name) {
		if c := name[i]; (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
