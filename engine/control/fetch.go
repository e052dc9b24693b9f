package control

import (
	"context"
	"fmt"

	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/catalog"
	"plexus/engine/control/controlpb"
	"plexus/primitives"
	"plexus/primitives/planted"
)

// staged is a snapshot of another member whose sections are all here, verified and
// synchronised, in a directory that does not count yet.
type staged struct {
	generation
	state *catalog.State

	decided   *primitives.Event
	taken     bool              // raft takes it over
	installed *primitives.Event // then: its directory is nobody's any more
}

// decide tells the fetch task what became of the snapshot.
func (s *staged) decide(taken bool) {
	if s != nil {
		s.taken = taken
		s.decided.Set()
	}
}

// publish makes the snapshot count: its manifest comes last, then the directory
// gets its place in one step.
func (s *staged) publish(d *directory) error {
	from, to := d.sub(stagingDir)+"/"+s.id.dir(), d.sub(snapshotDir)+"/"+s.id.dir()
	if err := replaceFile(d.files, from, manifestName, s.manifest); err != nil {
		return err
	}
	if err := d.files.RemoveAll(to); err != nil {
		return fmt.Errorf("publish snapshot %s: %w", s.id.dir(), err)
	}
	if err := d.files.Rename(from, to); err != nil {
		return fmt.Errorf("publish snapshot %s: %w", s.id.dir(), err)
	}
	for _, dir := range []string{snapshotDir, stagingDir} {
		if err := d.files.SyncDir(d.sub(dir)); err != nil {
			return fmt.Errorf("publish snapshot %s: %w", s.id.dir(), err)
		}
	}
	return nil
}

// fetcher is the task that fetches snapshots which the leader offers.
type fetcher struct{ group *Group }

func (f *fetcher) run(ctx context.Context) error {
	g := f.group
	for {
		offer, err := g.offers.Recv(ctx)
		if err != nil {
			return err
		}
		err = f.take(ctx, offer)
		if ctx.Err() != nil {
			return err
		}
		if err != nil {
			g.world.Log().Warn("a snapshot of the leader could not be fetched", "leader", offer.GetFrom(), "error", err)
			g.settings.Peers.Send([]*pb.Message{fetchFailed(g.me().RaftID, offer.GetFrom())})
		}
	}
}

// fetchFailed tells the leader that its snapshot was not used.
func fetchFailed(from, to uint64) *pb.Message {
	reject := true
	return &pb.Message{Type: pb.MsgSnapStatus.Enum(), From: &from, To: &to, Reject: &reject}
}

// take fetches what is worth it and hands the offer to raft.
func (f *fetcher) take(ctx context.Context, offer *pb.Message) error {
	g := f.group
	m, err := offered(offer, g.me().wal())
	if err != nil {
		return err
	}
	if m.GetIndex() <= g.State().Applied {
		// Raft answers with what it has.
		return g.inbox.Send(ctx, event{message: offer})
	}
	id := SnapshotID{m.GetIndex(), m.GetTerm()}
	// The last attempt may have ended anywhere.
	if err := g.dir.files.RemoveAll(g.dir.sub(stagingDir) + "/" + id.dir()); err != nil {
		return fmt.Errorf("clear staging directory: %w", err)
	}
	s, err := f.stage(ctx, offer, m)
	if err == nil {
		s.decided, s.installed = primitives.NewEvent(g.world), primitives.NewEvent(g.world)
		if err = g.inbox.Send(ctx, event{message: offer, staged: s}); err == nil {
			err = s.decided.Wait(ctx)
		}
		if err == nil && s.taken {
			// The next offer may be the same snapshot, whose sections would be written where
			// these are published from.
			return s.installed.Wait(ctx)
		}
	}
	if ctx.Err() != nil {
		return err
	}
	if failed := g.dir.files.RemoveAll(g.dir.sub(stagingDir) + "/" + id.dir()); err == nil && failed != nil {
		err = fmt.Errorf("clear staging directory: %w", failed)
	}
	return err
}

// offered reads the manifest that an offer carries.
func offered(offer *pb.Message, owner walIdentity) (*controlpb.Manifest, error) {
	meta := offer.GetSnapshot().GetMetadata()
	m, err := decodeManifest("offered manifest", offer.GetSnapshot().GetData(), owner)
	if err != nil {
		return nil, err
	}
	conf := &pb.ConfState{Voters: m.GetVoters(), Learners: m.GetLearners()}
	if m.GetIndex() != meta.GetIndex() || m.GetTerm() != meta.GetTerm() || !sameConf(conf, pb.EnsureConfState(meta.GetConfState())) {
		return nil, fmt.Errorf("%w: the manifest is not that of the offered snapshot", ErrMessage)
	}
	return m, nil
}

// stage brings every section here. Nothing of another member is believed before
// its digest was checked.
func (f *fetcher) stage(ctx context.Context, offer *pb.Message, m *controlpb.Manifest) (*staged, error) {
	g := f.group
	ctx, cancel := primitives.WithDeadline(ctx, g.world, g.world.Clock().Now().Add(transferBound(len(m.GetSections()))))
	defer cancel()
	id := SnapshotID{m.GetIndex(), m.GetTerm()}
	path := g.dir.sub(stagingDir) + "/" + id.dir()
	if err := g.dir.files.MkdirAll(path); err != nil {
		return nil, fmt.Errorf("create staging directory: %w", err)
	}
	for _, dir := range []string{"consensus", stagingDir} {
		if err := g.dir.files.SyncDir(g.dir.sub(dir)); err != nil {
			return nil, fmt.Errorf("synchronise staging directory: %w", err)
		}
	}
	b := newBuilder("fetched snapshot", m)
	b.unverified = planted.Active(planted.SnapshotUnverified)
	for i := range m.GetSections() {
		section, err := g.settings.Peers.Section(ctx, offer.GetFrom(), id, i)
		if err != nil {
			return nil, fmt.Errorf("fetch section %d of %d: %w", i, len(m.GetSections()), err)
		}
		if err := b.add(section); err != nil {
			sectionDamaged.Hit()
			return nil, err
		}
		if err := writeSynced(g.dir.files, path+"/"+sectionName(i), section); err != nil {
			return nil, err
		}
	}
	state, err := b.state()
	if err != nil {
		return nil, err
	}
	return &staged{generation: b.generation(offer.GetSnapshot().GetData()), state: state}, nil
}
