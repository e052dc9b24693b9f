package control

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"
	"go.etcd.io/raft/v3/tracker"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
	"plexus/primitives/planted"
)

// AdmitMember answers a claim as the leader: a new node becomes a learner and later
// a voter, a known one is admitted again under its new counter. A refusal is a
// *ClaimError; a node that does not lead answers *NotLeaderError.
func (g *Group) AdmitMember(ctx context.Context, c Claim) (Admission, error) {
	for {
		if _, leads := g.Tenure(); !leads {
			return Admission{}, g.notLeader()
		}
		state := g.State()
		v, refused := judge(state, g.me().ClusterID, c)
		switch {
		case refused != nil:
			return Admission{}, refused
		case v.admitted != 0:
			claimRepeated.HitIf(c.RaftID == 0)
			return Admission{RaftID: v.admitted, Cluster: state.Cluster, Members: membersOf(state)}, nil
		}
		var change *pb.ConfChangeSingle
		if v.adds != 0 {
			change = memberChange(pb.ConfChangeAddLearnerNode, v.adds)
			if planted.Active(planted.LearnerVotes) {
				change = memberChange(pb.ConfChangeAddNode, v.adds)
			}
		}
		// Whatever comes of it, the next look at the members says.
		if _, err := g.commit(ctx, stepCommand(v.step), change); err != nil {
			return Admission{}, err
		}
		g.learners.Raise()
	}
}

func membersOf(state *catalog.State) (members []Member) {
	for n := range state.Nodes() {
		members = append(members, Member{Node: n.ID, RaftID: n.RaftID, Interconnect: n.Interconnect})
	}
	return members
}

func memberChange(kind pb.ConfChangeType, raftID uint64) *pb.ConfChangeSingle {
	return &pb.ConfChangeSingle{Type: kind.Enum(), NodeId: &raftID}
}

func stepCommand(step *catalogpb.Step) *catalogpb.Command {
	return &catalogpb.Command{Steps: []*catalogpb.Step{step}}
}

// DropMember removes a node from the group for ever. It returns a *catalog.Refusal
// when the node lives, is unknown, or cannot be spared.
func (g *Group) DropMember(ctx context.Context, node string) error {
	// Raft forgets once per election timeout who answered: who is live shows over one.
	until := g.world.Clock().Now().Add(g.settings.Election)
	for {
		if _, leads := g.Tenure(); !leads {
			return g.notLeader()
		}
		state := g.State()
		n, ok := state.Node(node)
		if !ok {
			return &catalog.Refusal{Code: catalog.NodeRefused, Message: fmt.Sprintf("node '%s' is not a member", node)}
		}
		members, err := g.progress(ctx)
		if err != nil {
			return err
		}
		refused, lasting := judgeDrop(state, n, g.me().RaftID, members)
		if refused != nil && !lasting && g.world.Clock().Now().Before(until) {
			if err := primitives.Sleep(ctx, g.world, progressPoll); err != nil {
				return err
			}
			continue
		}
		if refused != nil {
			return refused
		}
		step := &catalogpb.Step{Body: &catalogpb.Step_RemoveNode{RemoveNode: &catalogpb.RemoveNode{Id: n.ID, RaftId: n.RaftID}}}
		if _, err := g.commit(ctx, stepCommand(step), memberChange(pb.ConfChangeRemoveNode, n.RaftID)); err != nil {
			return err
		}
		if g.State().Removed(n.RaftID) {
			return nil
		}
	}
}

// judgeDrop says why a node cannot be dropped now, nil when it can, and whether
// another look would say so, too.
func judgeDrop(s *catalog.State, n *catalog.Node, self uint64, members map[uint64]memberProgress) (refused *catalog.Refusal, lasting bool) {
	refuse := func(text string, args ...any) *catalog.Refusal {
		return &catalog.Refusal{Code: catalog.NodeRefused, Message: fmt.Sprintf(text, args...)}
	}
	if n.RaftID == self || members[n.RaftID].active {
		return refuse("node '%s' is live; stop it first", n.ID), true
	}
	if n.Role != catalog.Voter {
		return nil, false
	}
	voters, live := 0, 0
	for m := range s.Nodes() {
		if m.Role == catalog.Voter && m.RaftID != n.RaftID {
			voters++
			if m.RaftID == self || members[m.RaftID].active {
				live++
			}
		}
	}
	switch {
	case voters == 0:
		return refuse("node '%s' is the last voter", n.ID), true
	case live <= voters/2:
		return refuse("without node '%s' there would be no quorum: %d of the %d other voters are live", n.ID, live, voters), false
	}
	return nil, false
}

// memberProgress is what the leader knows of a member.
type memberProgress struct {
	match  uint64 // the member's log holds the leader's up to here
	active bool   // it answered within the last election timeout
	steady bool   // it follows the log entry by entry
}

// progress returns what the leader knows of the members, nothing on another node.
func (g *Group) progress(ctx context.Context) (map[uint64]memberProgress, error) {
	members := map[uint64]memberProgress{}
	err := g.inspect(ctx, func(c *core) {
		if c.leading == 0 {
			return
		}
		c.node.WithProgress(func(id uint64, _ raft.ProgressType, p tracker.Progress) {
			members[id] = memberProgress{match: p.Match, active: p.RecentActive, steady: p.State == tracker.StateReplicate}
		})
	})
	return members, err
}

// MemberActive reports whether the leader heard a member within the last election
// timeout.
func (g *Group) MemberActive(ctx context.Context, raftID uint64) (bool, error) {
	members, err := g.progress(ctx)
	return members[raftID].active, err
}

// inspect runs f in the core task.
func (g *Group) inspect(ctx context.Context, f func(*core)) error {
	if !g.joined.IsSet() {
		return g.notLeader()
	}
	i := &inspection{f: f, done: primitives.NewEvent(g.world)}
	if err := g.inbox.Send(ctx, event{inspect: i}); err != nil {
		return err
	}
	if _, err := primitives.Select(ctx, g.world, i.done.OnSet(), g.stopped.OnSet()); err != nil {
		return err
	}
	if !i.done.IsSet() {
		return ErrStopped
	}
	return nil
}

// promote is the duty of a leader to make voters of the learners.
func (g *Group) promote(ctx context.Context) error {
	for {
		timer := primitives.AtCase(g.world, g.world.Clock().Now().Add(promoteEvery))
		if _, err := primitives.Select(ctx, g.world, g.learners.OnRaise(), timer); err != nil {
			return err
		}
		if _, leads := g.Tenure(); !leads {
			continue
		}
		for n := range g.State().Nodes() {
			if n.Role != catalog.Learner {
				continue
			}
			if err := g.promoteLearner(ctx, n); err != nil && ctx.Err() == nil {
				g.world.Log().Debug("a learner is not promoted yet", "node", n.ID, "error", err)
			}
		}
	}
}

// errBehind says that a learner does not have the log yet.
var errBehind = errors.New("it has not caught up")

// promoteLearner waits until a learner has what is committed now, and makes it a
// voter.
func (g *Group) promoteLearner(ctx context.Context, n *catalog.Node) error {
	if err := g.caughtUp(ctx, n.RaftID, g.Status().Commit); err != nil {
		return err
	}
	ctx, cancel := primitives.WithDeadline(ctx, g.world, g.world.Clock().Now().Add(promoteBound))
	defer cancel()
	step := &catalogpb.Step{Body: &catalogpb.Step_PromoteNode{PromoteNode: &catalogpb.PromoteNode{Id: n.ID, RaftId: n.RaftID}}}
	result, err := g.commit(ctx, stepCommand(step), memberChange(pb.ConfChangeAddNode, n.RaftID))
	switch {
	case err != nil:
		return err
	case result.Refused != nil:
		return result.Refused
	}
	g.world.Log().Info("a node became a voter", "node", n.ID, "raft", n.RaftID)
	return nil
}

func (g *Group) caughtUp(ctx context.Context, raftID, index uint64) error {
	deadline := g.world.Clock().Now().Add(promoteBound)
	for {
		members, err := g.progress(ctx)
		if err != nil {
			return err
		}
		m, known := members[raftID]
		switch {
		case m.steady && m.match >= index:
			return nil
		// One that does not answer must not keep the others waiting.
		case !known, !m.active, !g.world.Clock().Now().Before(deadline):
			return errBehind
		}
		if err := primitives.Sleep(ctx, g.world, progressPoll); err != nil {
			return err
		}
	}
}

// TransferLeadership offers the leadership to the voter whose log is the most
// advanced, and waits until another node leads, an election timeout at most. A node
// that does not lead, or leads alone, has nothing to offer.
func (g *Group) TransferLeadership(ctx context.Context) error {
	var heir uint64
	if err := g.inspect(ctx, func(c *core) { heir = c.bequeath() }); err != nil || heir == 0 {
		return err
	}
	f := g.Follow()
	defer g.Unfollow(f)
	timeout := primitives.AtCase(g.world, g.world.Clock().Now().Add(g.settings.Election))
	for g.Leads() {
		fired, err := primitives.Select(ctx, g.world, f.OnChange(), timeout)
		if err != nil {
			return err
		}
		if fired == 1 && g.Leads() {
			return fmt.Errorf("member %d did not take over the leadership within %v", heir, g.settings.Election)
		}
	}
	return nil
}

// bequeath starts the transfer of this node's leadership and returns to whom.
func (c *core) bequeath() (heir uint64) {
	if c.leading == 0 || c.failed != nil {
		return 0
	}
	var best uint64
	c.node.WithProgress(func(id uint64, kind raft.ProgressType, p tracker.Progress) {
		if id != c.self && kind == raft.ProgressTypePeer && p.RecentActive && (heir == 0 || p.Match > best) {
			heir, best = id, p.Match
		}
	})
	if heir != 0 {
		c.node.TransferLeader(heir)
	}
	return heir
}
