package control

import (
	"context"
	"fmt"
	"slices"

	"google.golang.org/protobuf/proto"

	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// applyWork is what the apply task does next: entries, or a snapshot to replace the
// state by.
type applyWork struct {
	message *pb.Message
	install *staged
	done    *primitives.Event // with install
}

// applied is the result of one command.
type applied struct {
	proposer, incarnation, sequence uint64
	result                          catalog.Result
}

// confChange is a change of members that a command has just made in the state.
type confChange struct {
	index  uint64
	change *pb.ConfChangeV2
	want   *pb.ConfState // what raft must make of it
}

// applier is the apply task: it steps the catalog.
type applier struct {
	group *Group
	term  uint64
	// Work since the last snapshot that was asked for.
	entries, bytes uint64
	// due asks for a snapshot whatever the work: a new member needs one.
	due bool
}

func newApplier(g *Group) *applier { return &applier{group: g, term: g.start.Term} }

func (a *applier) run(ctx context.Context) error {
	for {
		work, err := a.group.applies.Recv(ctx)
		if err != nil {
			return err
		}
		if work.install != nil {
			a.install(work.install)
			work.done.Set()
			continue
		}
		out, err := a.apply(work.message.GetEntries())
		if err != nil {
			return err
		}
		out.responses = work.message.GetResponses()
		if err := a.group.inbox.Send(ctx, out); err != nil {
			return err
		}
		a.snapshot()
	}
}

// install replaces the state in one step (G5).
func (a *applier) install(s *staged) {
	g := a.group
	if s.id.Index <= g.state.Load().Applied {
		return
	}
	effects := difference(g.state.Load(), s.state)
	a.term, a.entries, a.bytes, a.due = s.id.Term, 0, 0, false
	if g.settings.Applied != nil {
		g.settings.Applied(s.id.Term, nil, s.state)
	}
	g.state.Store(s.state)
	g.followers.tell(effects)
}

// apply publishes the state after the entries in one step (G4).
func (a *applier) apply(entries []*pb.Entry) (event, error) {
	g := a.group
	state := g.state.Load()
	var out event
	var effects catalog.Effects
	for _, e := range entries {
		// A snapshot may have overtaken what was committed before it.
		if e.GetIndex() <= state.Applied {
			appliedBefore.Hit()
			continue
		}
		a.term = e.GetTerm()
		a.entries++
		a.bytes += uint64(len(e.GetData()))
		command, change, err := decodeEntry(e)
		if err != nil {
			return event{}, err
		}
		if command == nil {
			state = state.Skip(e.GetIndex())
		} else {
			next, result, changed := state.Apply(e.GetIndex(), command)
			state = next
			effects.Add(changed)
			out.applied = append(out.applied, applied{command.GetProposer(), command.GetIncarnation(), command.GetSequence(), result})
			// A refused command changes neither the state nor the configuration.
			if change != nil && result.Refused == nil {
				out.changes = append(out.changes, a.change(e.GetIndex(), change, state))
			}
		}
		if g.settings.Applied != nil {
			g.settings.Applied(e.GetTerm(), present(e.GetData()), state)
		}
	}
	out.term = a.term
	g.state.Store(state)
	g.followers.tell(effects)
	return out, nil
}

// present returns data that is not nil.
func present(data []byte) []byte {
	if data == nil {
		return []byte{}
	}
	return data
}

func (a *applier) change(index uint64, change *pb.ConfChangeV2, state *catalog.State) confChange {
	if change.GetChanges()[0].GetType() != pb.ConfChangeRemoveNode {
		a.group.storage.atLeast.Store(index)
		a.due = true
	}
	return confChange{index: index, change: change, want: confOf(state)}
}

// decodeEntry returns the command of an entry, nil for the empty one that begins a
// term, and the change of members that it stands for.
func decodeEntry(e *pb.Entry) (command *catalogpb.Command, change *pb.ConfChangeV2, err error) {
	data := e.GetData()
	if e.GetType() != pb.EntryNormal {
		if change, err = decodeChange(e); err != nil {
			return nil, nil, err
		}
		data = change.GetContext()
	} else if len(data) == 0 {
		return nil, nil, nil
	}
	command, err = catalog.Decode(data)
	if err != nil {
		return nil, nil, fmt.Errorf("log entry %d: %w", e.GetIndex(), err)
	}
	return command, change, nil
}

// decodeChange reads a change of members: one member at a time, with the command
// for its node record.
func decodeChange(e *pb.Entry) (*pb.ConfChangeV2, error) {
	if e.GetType() != pb.EntryConfChangeV2 {
		return nil, fmt.Errorf("log entry %d: %w: type %v", e.GetIndex(), ErrMessage, e.GetType())
	}
	change := new(pb.ConfChangeV2)
	if err := proto.Unmarshal(e.GetData(), change); err != nil {
		return nil, fmt.Errorf("log entry %d: %w: configuration change: %w", e.GetIndex(), ErrMessage, err)
	}
	if len(change.GetChanges()) != 1 || len(change.GetContext()) == 0 {
		return nil, fmt.Errorf("log entry %d: %w: it changes %d members, with a command of %d bytes", e.GetIndex(), ErrMessage, len(change.GetChanges()), len(change.GetContext()))
	}
	return change, nil
}

// snapshot asks for a snapshot when there is reason for one. The newest request
// replaces one that the snapshot task has not come to.
func (a *applier) snapshot() {
	g := a.group
	s := &g.settings
	if !a.due && a.entries < s.SnapshotEntries && a.bytes < s.SnapshotBytes {
		return
	}
	state := g.state.Load()
	a.entries, a.bytes, a.due = 0, 0, false
	g.wanted.Store(&snapshotWork{id: SnapshotID{state.Applied, a.term}, state: state})
	g.snapshots.Raise()
}

// snapshotWork is a state to store.
type snapshotWork struct {
	id    SnapshotID
	state *catalog.State
}

// snapshotter writes snapshots while commands go on applying, and removes what they
// replace.
type snapshotter struct{ group *Group }

func (s *snapshotter) run(ctx context.Context) error {
	g := s.group
	for {
		if err := g.snapshots.Wait(ctx); err != nil {
			return err
		}
		if err := s.work(ctx); err != nil {
			if ctx.Err() != nil {
				return err
			}
			g.world.Log().Error("consensus storage failed", "error", err)
			return g.inbox.Send(ctx, event{failed: fmt.Errorf("%w: %w", ErrStorageFailed, err)})
		}
	}
}

func (s *snapshotter) work(ctx context.Context) error {
	g := s.group
	work := g.wanted.Swap(nil)
	if work == nil && g.full() {
		work = s.relief()
	}
	if work != nil {
		written, err := writeSnapshot(g.dir.files, g.dir.sub(snapshotDir), g.me().wal(), work.id, work.state, g.settings.SectionBytes)
		if err != nil {
			return err
		}
		if err := g.appends.Send(ctx, appendWork{covered: written}); err != nil {
			return err
		}
	}
	return s.prune(ctx)
}

// relief is the snapshot that lets go of the most log, nil when the newest does
// already.
func (s *snapshotter) relief() *snapshotWork {
	g := s.group
	state := g.state.Load()
	if newest := g.generation.Load(); newest != nil && newest.id.Index >= state.Applied {
		return nil
	}
	term, err := g.storage.Term(state.Applied)
	if err != nil {
		return nil // a snapshot of another member is just being installed
	}
	return &snapshotWork{id: SnapshotID{state.Applied, term}, state: state}
}

// prune removes every generation but the newest and one older that a transfer
// still reads. Transfers that lose theirs begin again with the newest.
func (s *snapshotter) prune(ctx context.Context) error {
	g := s.group
	dir := g.dir.sub(snapshotDir)
	published, err := sweepSnapshots(g.dir.files, dir)
	if err != nil || len(published) == 0 {
		return err
	}
	newest, older := published[len(published)-1], published[:len(published)-1]
	var gone []SnapshotID
	kept := false
	for i := len(older) - 1; i >= 0; i-- {
		if !kept && g.isPinned(older[i]) {
			kept = true
			generationPinned.Hit()
			continue
		}
		gone = append(gone, older[i])
	}
	if err := removeSnapshots(g.dir.files, dir, newest, gone); err != nil {
		return err
	}
	for _, id := range gone {
		if g.isPinned(id) {
			if err := g.inbox.Send(ctx, event{gone: id}); err != nil {
				return err
			}
		}
	}
	return nil
}

func (g *Group) isPinned(id SnapshotID) bool {
	pinned := g.pinned.Load()
	return pinned != nil && slices.Contains(*pinned, id)
}
