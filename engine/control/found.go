package control

import (
	"context"
	"errors"
	"fmt"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/control/controlpb"
	"plexus/primitives"
)

// The first snapshot of a cluster.
var firstSnapshot = SnapshotID{Index: 1, Term: 1}

// found makes a one-node cluster. Its last step rewrites the identity without the
// founding mark; a crash before that starts over under the same cluster UUID.
func (g *Group) found(ctx context.Context, id *controlpb.Identity) error {
	if !id.GetFounding() {
		cluster := primitives.NewUUIDv4(g.world.Entropy())
		id.Cluster, id.RaftId, id.Founding = cluster[:], 1, true
		if err := g.dir.store(id); err != nil {
			return err
		}
	}
	owner := walIdentity{Cluster: primitives.UUID(id.GetCluster()), RaftID: id.GetRaftId()}
	state, err := g.firstState(ctx, id, owner)
	if err == nil {
		err = g.writeFirst(owner, firstSnapshot, state)
	}
	if err != nil {
		return fmt.Errorf("found the cluster: %w", err)
	}
	id.Founding, id.Admitted = false, [][]byte{g.token[:]}
	g.founded = true
	return g.dir.store(id)
}

// writeFirst stores the first snapshot of a member and an empty log behind it.
func (g *Group) writeFirst(owner walIdentity, id SnapshotID, state *catalog.State) error {
	files := g.dir.files
	if err := files.RemoveAll(g.dir.sub("consensus")); err != nil {
		return err
	}
	for _, dir := range []string{snapshotDir, logDir} {
		if err := files.MkdirAll(g.dir.sub(dir)); err != nil {
			return err
		}
	}
	if _, err := writeSnapshot(files, g.dir.sub(snapshotDir), owner, id, state, g.settings.SectionBytes); err != nil {
		return err
	}
	log, err := createWAL(files, g.dir.sub(logDir), owner, id.Index)
	if err != nil {
		return err
	}
	log.append(nil, hardState(id.Term, 0, id.Index))
	if err := errors.Join(log.sync(), log.close()); err != nil {
		return err
	}
	for _, dir := range []string{"consensus", ""} {
		if err := files.SyncDir(g.dir.sub(dir)); err != nil {
			return err
		}
	}
	return nil
}

// firstState is that of a cluster with this node as its only voter.
func (g *Group) firstState(ctx context.Context, id *controlpb.Identity, owner walIdentity) (*catalog.State, error) {
	claim := Claim{Node: id.GetNodeId(), RaftID: owner.RaftID, Counter: id.GetCounter(), Token: g.token, Endpoints: g.settings.Endpoints}
	record := claim.record()
	record.Role = catalogpb.Node_VOTER
	steps := []*catalogpb.Step{addNode(record)}
	if g.settings.Found != nil {
		more, err := g.settings.Found(ctx)
		if err != nil {
			return nil, err
		}
		steps = append(steps, more...)
	}
	command := &catalogpb.Command{At: g.world.Clock().Wall().UnixNano(), Steps: steps}
	state, result, _ := catalog.New(owner.Cluster).Apply(firstSnapshot.Index, command)
	if result.Refused != nil {
		return nil, result.Refused
	}
	return state, nil
}
