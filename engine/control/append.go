package control

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/primitives"
	"plexus/primitives/planted"
)

// appendWork is what the append task does next: one of its fields is set.
type appendWork struct {
	message *pb.Message
	staged  *staged           // with a message that installs a snapshot
	covered *generation       // this snapshot is published
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
		if work.staged != nil {
			if err := a.commit(ctx, messages); err != nil {
				return err
			}
			messages = nil
			if err := a.install(ctx, work); err != nil {
				return err
			}
			continue
		}
		messages = append(messages, work.message)
		a.buffer(work.message)
	}
	if err := a.commit(ctx, messages); err != nil {
		return err
	}
	switch {
	case work.covered != nil:
		return a.cover(work.covered)
	case work.idle != nil:
		if err := a.group.wal.sync(); err != nil {
			return err
		}
		work.idle.Set()
	}
	return nil
}

func (a *appender) buffer(m *pb.Message) {
	var state *pb.HardState
	if m.GetTerm() != 0 || m.GetVote() != 0 || m.GetCommit() != 0 {
		state = hardState(m.GetTerm(), m.GetVote(), m.GetCommit())
	}
	if state != nil && planted.Active(planted.ForgetVote) {
		state = hardState(m.GetTerm(), raft.None, m.GetCommit())
	}
	if len(m.GetEntries()) > 0 {
		overwritten.HitIf(m.GetEntries()[0].GetIndex() <= a.group.wal.last)
	}
	a.group.wal.append(m.GetEntries(), state)
}

// commit makes the buffered messages durable and then delivers their responses
// (G1).
func (a *appender) commit(ctx context.Context, messages []*pb.Message) error {
	// What nobody waits for is written with what comes next: a commit index that a
	// crash loses is learned again.
	if !slices.ContainsFunc(messages, func(m *pb.Message) bool { return len(m.GetResponses()) > 0 }) {
		return nil
	}
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
	if err := a.group.wal.rotate(); err != nil {
		return err
	}
	a.measure()
	return nil
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

// install replaces log and state by a snapshot of another member (G5): it is
// published first, so that a crash before keeps the old state and one after loads
// the new one; responses come last.
func (a *appender) install(ctx context.Context, work appendWork) error {
	g, m, s := a.group, work.message, work.staged
	if err := s.publish(g.dir); err != nil {
		return err
	}
	if err := g.wal.restart(s.id); err != nil {
		return err
	}
	a.buffer(m)
	if err := g.wal.sync(); err != nil {
		return err
	}
	if err := g.storage.reset(&s.generation); err != nil {
		return err
	}
	done := primitives.NewEvent(g.world)
	if err := g.applies.Send(ctx, applyWork{install: s, done: done}); err != nil {
		return err
	}
	if err := done.Wait(ctx); err != nil {
		return err
	}
	if err := a.respond(ctx, []*pb.Message{m}); err != nil {
		return err
	}
	snapshotInstalled.Hit()
	s.installed.Set()
	g.generation.Store(&s.generation)
	g.snapshots.Raise()
	// Nothing before the snapshot counts any more.
	if err := g.wal.remove(len(g.wal.segments) - 1); err != nil {
		return err
	}
	a.measure()
	return nil
}

// cover marks a published snapshot and gives up the log it replaces.
func (a *appender) cover(covered *generation) error {
	g := a.group
	g.wal.mark(covered.id)
	if err := g.wal.sync(); err != nil {
		return err
	}
	if err := g.storage.publish(covered); err != nil {
		return err
	}
	if newest := g.generation.Load(); newest == nil || newest.id.Index < covered.id.Index {
		g.generation.Store(covered)
	}
	keep := covered.id.Index
	if !g.full() {
		var err error
		if keep, err = g.storage.above(keep, g.settings.RetainEntries, g.settings.RetainBytes); err != nil {
			return err
		}
	}
	if err := g.storage.Compact(keep); err != nil && !errors.Is(err, raft.ErrCompacted) {
		return fmt.Errorf("compact in memory: %w", err)
	}
	// The segment that grows cannot be removed; once it is ended this snapshot or the
	// next can give it up.
	if g.full() {
		if err := g.wal.split(); err != nil {
			return err
		}
	}
	if err := g.wal.release(keep); err != nil {
		return err
	}
	a.measure()
	return nil
}

// measure publishes how much log there is. Commands wait while it is too much, and
// a snapshot makes it less.
func (a *appender) measure() {
	g := a.group
	before := g.full()
	g.retained.Store(uint64(g.wal.retained()))
	switch {
	case g.full():
		g.snapshots.Raise()
	case before:
		g.followers.raise()
	}
}

// full reports whether there is more log than the cap allows.
func (g *Group) full() bool { return g.retained.Load() > g.settings.LogCap }
