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
func (g *Group) found(ctx context.Context, id *controlpb.Identity) (*controlpb.Identity, error) {
	if id == nil {
		occupied, err := g.dir.has("consensus")
		if err != nil {
			return nil, err
		}
		if occupied {
			return nil, &ForeignError{Dir: g.dir.path, What: "it holds a consensus log, but the identity file is missing"}
		}
		cluster := primitives.NewUUIDv4(g.world.Entropy())
		id = &controlpb.Identity{
			Format: format, ClusterId: g.settings.ClusterID, Cluster: cluster[:],
			NodeId: g.settings.NodeID, RaftId: 1, Founding: true,
		}
		if err := g.dir.store(id); err != nil {
			return nil, err
		}
	}
	if err := g.dir.check(id, &g.settings); err != nil {
		return nil, err
	}
	if err := g.writeFirst(ctx, id); err != nil {
		return nil, fmt.Errorf("found the cluster: %w", err)
	}
	id.Founding = false
	return id, g.dir.store(id)
}

// writeFirst stores the first snapshot and an empty log behind it.
func (g *Group) writeFirst(ctx context.Context, id *controlpb.Identity) error {
	files := g.dir.files
	if err := files.RemoveAll(g.dir.sub("consensus")); err != nil {
		return err
	}
	owner := walIdentity{Cluster: primitives.UUID(id.GetCluster()), RaftID: id.GetRaftId()}
	state, err := g.firstState(ctx, owner)
	if err != nil {
		return err
	}
	for _, dir := range []string{snapshotDir, logDir} {
		if err := files.MkdirAll(g.dir.sub(dir)); err != nil {
			return err
		}
	}
	if err := writeSnapshot(files, g.dir.sub(snapshotDir), owner, firstSnapshot, []uint64{owner.RaftID}, state); err != nil {
		return err
	}
	log, err := createWAL(files, g.dir.sub(logDir), owner, firstSnapshot.Index)
	if err != nil {
		return err
	}
	log.append(nil, hardState(firstSnapshot.Term, 0, firstSnapshot.Index))
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

func (g *Group) firstState(ctx context.Context, owner walIdentity) (*catalog.State, error) {
	var steps []*catalogpb.Step
	if g.settings.Found != nil {
		var err error
		if steps, err = g.settings.Found(ctx); err != nil {
			return nil, err
		}
	}
	command := &catalogpb.Command{At: g.world.Clock().Wall().UnixNano(), Steps: steps}
	state, result, _ := catalog.New(owner.Cluster).Apply(firstSnapshot.Index, command)
	if result.Refused != nil {
		return nil, result.Refused
	}
	return state, nil
}
