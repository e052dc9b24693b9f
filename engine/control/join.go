package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/control/controlpb"
	"plexus/primitives"
)

// startAction is what a start does with the data directory it finds.
type startAction uint8

const (
	startFound  startAction = iota // a one-node cluster
	startJoin                      // ask to be admitted
	startRejoin                    // go on as the member it is
)

// decideStart is the start decision.
func decideStart(id *controlpb.Identity, join []string, bootstrap Bootstrap) (startAction, error) {
	switch {
	case id.GetFounding():
		return startFound, nil
	case id.GetRaftId() != 0:
		return startRejoin, nil
	case len(join) > 0 && bootstrap == BootstrapAlways:
		return 0, &StartError{Text: "--join asks to join a cluster and --bootstrap=always to found one", Contradiction: true}
	case len(join) > 0:
		return startJoin, nil
	case id != nil:
		return 0, &StartError{Text: "this node has begun to join a cluster, and there is no --join"}
	case bootstrap == BootstrapNever:
		return 0, &StartError{Text: "no stored state, no --join, and --bootstrap=never"}
	}
	return startFound, nil
}

// newIdentity is that of a node that belongs to no cluster yet.
func (g *Group) newIdentity() (*controlpb.Identity, error) {
	occupied, err := g.dir.has("consensus")
	if err != nil {
		return nil, err
	}
	if occupied {
		return nil, &ForeignError{Dir: g.dir.path, What: "it holds a consensus log, but the file " + identityName + " is missing; " + mending}
	}
	return &controlpb.Identity{Format: format, ClusterId: g.settings.ClusterID, NodeId: g.settings.NodeID}, nil
}

// join is the task of a node that asks for its first admission.
func (g *Group) join(ctx context.Context) error {
	admission, err := g.claim(ctx)
	if err != nil {
		return err
	}
	id := g.stored
	id.RaftId, id.Cluster, id.Joining, id.Admitted = admission.RaftID, admission.Cluster[:], true, [][]byte{g.token[:]}
	if err := g.dir.store(id); err != nil {
		return fmt.Errorf("keep the identity: %w", err)
	}
	if err := g.takeOver(id); err != nil {
		return err
	}
	g.world.Log().Info("node joined", "node", id.GetNodeId(), "raft", id.GetRaftId())
	return g.run()
}

// takeOver makes the log of an admitted node, unless it has one, and recovers what
// is in it.
func (g *Group) takeOver(id *controlpb.Identity) error {
	if id.GetJoining() {
		owner := walIdentity{Cluster: primitives.UUID(id.GetCluster()), RaftID: id.GetRaftId()}
		if err := g.writeFirst(owner, SnapshotID{}, catalog.New(owner.Cluster)); err != nil {
			return fmt.Errorf("create the consensus log: %w", err)
		}
		id.Joining = false
		if err := g.dir.store(id); err != nil {
			return fmt.Errorf("keep the identity: %w", err)
		}
	}
	g.identity.Store(identityOf(id))
	if err := g.recover(); err != nil {
		return err
	}
	g.joined.Set()
	return nil
}

// reclaim is the task of a member that asks to be admitted again: once after its
// start, when its endpoints changed, and when it has long been without a leader,
// because nobody tells a dropped node that it was dropped.
func (g *Group) reclaim(ctx context.Context) error {
	for {
		if _, err := g.claim(ctx); err != nil {
			return err
		}
		if err := g.confirmed(); err != nil {
			g.fail(err)
			return err
		}
		if err := g.leaderless(ctx); err != nil {
			return err
		}
	}
}

// leaderless waits until a claim may say something new.
func (g *Group) leaderless(ctx context.Context) error {
	for lonely := 0; lonely < 2; {
		timer := primitives.AtCase(g.world, g.world.Clock().Now().Add(claimLeaderless/2))
		fired, err := primitives.Select(ctx, g.world, g.moved.OnRaise(), timer)
		if err != nil || fired == 0 {
			return err
		}
		if _, known := g.Leader(); known {
			lonely = 0
		} else {
			lonely++
		}
	}
	return nil
}

// claim asks for admission until it is granted or refused.
func (g *Group) claim(ctx context.Context) (Admission, error) {
	jitter := g.world.Entropy().Stream("claim")
	pause := claimAgainMin
	for attempt := 1; ; attempt++ {
		admission, err := g.claimOnce(ctx)
		if err == nil || ctx.Err() != nil {
			return admission, err
		}
		var refused *ClaimError
		if errors.As(err, &refused) {
			g.fail(refused)
			return Admission{}, refused
		}
		// No leader is ordinary for some seconds. Later, lines get rare.
		var hopeless Hopeless
		told := errors.As(err, &hopeless) && hopeless.Hopeless() && attempt == 1
		if told || attempt >= claimPatience && attempt&(attempt-1) == 0 {
			g.world.Log().Warn("not admitted to the cluster so far", "attempts", attempt, "error", err)
		}
		wait := pause/2 + time.Duration(jitter.Uint64()%uint64(pause/2))
		if err := primitives.Sleep(ctx, g.world, wait); err != nil {
			return Admission{}, err
		}
		pause = min(2*pause, claimAgainMax)
	}
}

// confirmed keeps the token of an admission: whatever starts from this directory
// shows it from now on.
func (g *Group) confirmed() error {
	if n := len(g.stored.Admitted); n > 0 && bytes.Equal(g.stored.Admitted[n-1], g.token[:]) {
		return nil
	}
	g.stored.Admitted = append(g.stored.Admitted, g.token[:])
	if surplus := len(g.stored.Admitted) - admittedMax; surplus > 0 {
		g.stored.Admitted = g.stored.Admitted[surplus:]
	}
	if err := g.dir.store(g.stored); err != nil {
		return fmt.Errorf("keep the admission: %w", err)
	}
	return nil
}

// Proof returns the tokens that show which admissions this process knows of: those
// of its directory and its own, the newest last.
func (g *Group) Proof() [][]byte { return g.proof }

// claimOnce asks the leader, which may be this node.
func (g *Group) claimOnce(ctx context.Context) (Admission, error) {
	ctx, cancel := primitives.WithDeadline(ctx, g.world, g.world.Clock().Now().Add(claimBound))
	defer cancel()
	me := g.me()
	c := Claim{
		Format: format, ClusterID: me.ClusterID, Cluster: me.Cluster, Node: me.NodeID,
		RaftID: me.RaftID, Counter: me.Counter, Token: g.token, Endpoints: *g.endpoints.Load(),
	}
	for _, token := range g.stored.GetAdmitted() {
		c.Admitted = append(c.Admitted, [tokenBytes]byte(token))
	}
	if g.Leads() || g.settings.Peers == nil {
		return g.AdmitMember(ctx, c)
	}
	return g.settings.Peers.Join(ctx, c)
}

// SetEndpoints changes where this node is reached, and tells the cluster.
func (g *Group) SetEndpoints(e Endpoints) {
	if before := g.endpoints.Swap(&e); *before != e {
		g.moved.Raise()
	}
}
