package control

import "context"

// AdmitMember answers a claim as the leader: a new node becomes a learner and later
// a voter, a known one is admitted again under its new counter. A refusal is a
// *ClaimError; a node that does not lead answers *NotLeaderError.
func (g *Group) AdmitMember(ctx context.Context, c Claim) (Admission, error) {
	return Admission{}, g.notLeader()
}

// DropMember removes a node from the group for ever. It returns a *catalog.Refusal
// when the node lives, is unknown, or cannot be spared.
func (g *Group) DropMember(ctx context.Context, node string) error { return g.notLeader() }

// TransferLeadership offers the leadership to the voter whose log is the most
// advanced, and waits until another node leads, an election timeout at most.
func (g *Group) TransferLeadership(ctx context.Context) error { return nil }

// Leader returns the raft id of the leader this node knows of.
func (g *Group) Leader() (raftID uint64, known bool) {
	leader := g.status.Load().Leader
	return leader, leader != 0
}

// Tenure returns the term, and whether this node leads in it and has applied
// everything that earlier leaders committed. It changes with the status that a
// [Follower] is told about.
func (g *Group) Tenure() (term uint64, leads bool) {
	s := g.status.Load()
	return s.Term, s.Leads
}

func (g *Group) notLeader() error { return &NotLeaderError{Leader: g.status.Load().Leader} }
