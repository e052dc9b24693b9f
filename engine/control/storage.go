package control

import (
	"context"
	"errors"
	"fmt"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/catalog"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

// appendWork is what the append task does next: one of its fields is set.
type appendWork struct {
	message *pb.Message
	covered *SnapshotID       // this snapshot is published
	idle    *primitives.Event // everything before is durable
}

// appender is the append task: it owns the log.
type appender struct{ group *Group }

func (a *appender) run(ctx context.Context) error {
	for {
		work, err := a.group.appends.Recv(ctx)
		if err != nil {
			return err
		}
		if err := a.do(ctx, work); err != nil {
			if ctx.Err() != nil {
				return err
			}
			// G2: this process never touches the log again.
			a.group.world.Log().Error("consensus storage failed", "error", err)
			return a.group.inbox.Send(ctx, event{failed: fmt.Errorf("%w: %w", ErrStorageFailed, err)})
		}
	}
}

// do takes one piece of work and every append that waits behind it, so that one
// synchronisation covers them all.
func (a *appender) do(ctx context.Context, work appendWork) error {
	var messages []*pb.Message
	for ok := true; ok && work.message != nil; work, ok = a.group.appends.TryRecv() {
		messages = append(messages, work.message)
		a.buffer(work.message)
	}
	if len(messages) > 0 {
		if err := a.commit(ctx, messages); err != nil {
			return err
		}
	}
	switch {
	case work.covered != nil:
		return a.cover(*work.covered)
	case work.idle != nil:
		work.idle.Set()
	}
	return nil
}

func (a *appender) buffer(m *pb.Message) {
	invariant.That(m.GetSnapshot() == nil, "a group of one installs no snapshot")
	var state *pb.HardState
	if m.GetTerm() != 0 || m.GetVote() != 0 || m.GetCommit() != 0 {
		state = hardState(m.GetTerm(), m.GetVote(), m.GetCommit())
	}
	a.group.wal.append(m.GetEntries(), state)
}

// commit makes the buffered messages durable and then delivers their responses
// (G1).
func (a *appender) commit(ctx context.Context, messages []*pb.Message) error {
	early := planted.Active(planted.AnswerBeforeSync)
	if early {
		if err := a.respond(ctx, messages); err != nil {
			return err
		}
	}
	began := a.group.world.Clock().Now()
	if err := a.group.wal.sync(); err != nil {
		return err
	}
	if a.group.settings.Synced != nil {
		a.group.settings.Synced(a.group.world.Clock().Now().Sub(began))
	}
	if !early {
		if err := a.respond(ctx, messages); err != nil {
			return err
		}
	}
	return a.group.wal.rotate()
}

// respond shows raft the entries as stable and tells it so.
func (a *appender) respond(ctx context.Context, messages []*pb.Message) error {
	var responses []*pb.Message
	for _, m := range messages {
		if err := a.group.storage.Append(m.GetEntries()); err != nil {
			return fmt.Errorf("append in memory: %w", err)
		}
		responses = append(responses, m.GetResponses()...)
	}
	if len(responses) == 0 {
		return nil
	}
	return a.group.inbox.Send(ctx, event{responses: responses})
}

// cover marks a published snapshot and gives up the log it replaces.
func (a *appender) cover(id SnapshotID) error {
	g := a.group
	g.wal.mark(id.Index, id.Term)
	if err := g.wal.sync(); err != nil {
		return err
	}
	if id.Index <= g.settings.RetainEntries {
		return nil
	}
	keep := id.Index - g.settings.RetainEntries
	if err := g.storage.Compact(keep); err != nil && !errors.Is(err, raft.ErrCompacted) {
		return fmt.Errorf("compact in memory: %w", err)
	}
	return g.wal.release(keep)
}

// applier is the apply task: it steps the catalog.
type applier struct {
	group *Group
	term  uint64
	// Work since the last snapshot that was asked for.
	entries, bytes uint64
}

func newApplier(g *Group) *applier { return &applier{group: g, term: g.start.Term} }

func (a *applier) run(ctx context.Context) error {
	for {
		m, err := a.group.applies.Recv(ctx)
		if err != nil {
			return err
		}
		results, err := a.apply(m.GetEntries())
		if err != nil {
			return err
		}
		if err := a.group.inbox.Send(ctx, event{applied: results, term: a.term, responses: m.GetResponses()}); err != nil {
			return err
		}
		a.snapshot()
	}
}

// apply publishes the state after the entries in one step (G4).
func (a *applier) apply(entries []*pb.Entry) ([]applied, error) {
	state := a.group.state.Load()
	var results []applied
	var effects catalog.Effects
	for _, e := range entries {
		invariant.That(e.GetType() == pb.EntryNormal, "a group of one changes no configuration")
		if e.GetIndex() <= state.Applied {
			continue
		}
		a.term = e.GetTerm()
		a.entries++
		a.bytes += uint64(len(e.GetData()))
		if len(e.GetData()) == 0 {
			state = state.Skip(e.GetIndex())
			continue
		}
		command, err := catalog.Decode(e.GetData())
		if err != nil {
			return nil, fmt.Errorf("log entry %d: %w", e.GetIndex(), err)
		}
		next, result, changed := state.Apply(e.GetIndex(), command)
		state = next
		effects.Add(changed)
		results = append(results, applied{command.GetIncarnation(), command.GetSequence(), result})
	}
	a.group.state.Store(state)
	a.group.followers.tell(effects)
	return results, nil
}

// snapshot asks for a snapshot when enough was applied. While one is being
// written the next has to wait.
func (a *applier) snapshot() {
	s := &a.group.settings
	if a.entries < s.SnapshotEntries && a.bytes < s.SnapshotBytes {
		return
	}
	state := a.group.state.Load()
	if a.group.snapshots.TrySend(snapshotWork{id: SnapshotID{state.Applied, a.term}, state: state}) {
		a.entries, a.bytes = 0, 0
	}
}

// snapshotWork is a state to store.
type snapshotWork struct {
	id    SnapshotID
	state *catalog.State
}

// snapshotter writes snapshots while commands go on applying.
type snapshotter struct{ group *Group }

func (s *snapshotter) run(ctx context.Context) error {
	for {
		work, err := s.group.snapshots.Recv(ctx)
		if err != nil {
			return err
		}
		if err := s.write(work); err != nil {
			s.group.world.Log().Error("consensus storage failed", "error", err)
			return s.group.inbox.Send(ctx, event{failed: fmt.Errorf("%w: %w", ErrStorageFailed, err)})
		}
		if err := s.group.appends.Send(ctx, appendWork{covered: &work.id}); err != nil {
			return err
		}
	}
}

func (s *snapshotter) write(work snapshotWork) error {
	g := s.group
	dir := g.dir.sub(snapshotDir)
	if err := writeSnapshot(g.dir.files, dir, g.identity.wal(), work.id, g.voters, work.state); err != nil {
		return err
	}
	published, err := sweepSnapshots(g.dir.files, dir)
	if err != nil {
		return err
	}
	return removeSnapshots(g.dir.files, dir, published[:len(published)-1])
}
