package control

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
)

// Group is this node's member of the consensus group.
type Group struct {
	world    primitives.World
	settings Settings
	identity Identity
	dir      *directory
	founded  bool

	storage *raft.MemoryStorage
	wal     *wal
	voters  []uint64
	start   SnapshotID // the snapshot recovery began from

	state    atomic.Pointer[catalog.State]
	status   atomic.Pointer[Status]
	sequence atomic.Uint64

	inbox     *primitives.Queue[event]
	appends   *primitives.Queue[appendWork]
	applies   *primitives.Queue[*pb.Message]
	snapshots *primitives.Queue[snapshotWork]
	stopped   *primitives.Event
	ended     *primitives.Event

	tasks     *primitives.Group
	followers followers
}

// Status is what the group shows of itself.
type Status struct {
	Leader    uint64
	Term      uint64
	Role      string
	Commit    uint64
	LastIndex uint64
	Snapshot  uint64
	// Leads says that this node leads and has applied all that earlier leaders
	// committed.
	Leads bool
	// Failed is the storage error that ended writing.
	Failed error
}

// Open locks the data directory and recovers the group from it, or founds a new
// cluster in an empty one. Nothing runs before Start.
func Open(ctx context.Context, w primitives.World, s Settings) (*Group, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	dir, err := openDirectory(w.Files(), s.Dir)
	if err != nil {
		return nil, err
	}
	g := &Group{world: w, settings: s, dir: dir, storage: raft.NewMemoryStorage()}
	if err := g.open(ctx); err != nil {
		if g.wal != nil {
			err = errors.Join(err, g.wal.close())
		}
		return nil, errors.Join(err, dir.lock.Unlock())
	}
	g.inbox = primitives.NewQueue[event](w, inboxCapacity)
	g.appends = primitives.NewQueue[appendWork](w, storageCapacity)
	g.applies = primitives.NewQueue[*pb.Message](w, storageCapacity)
	g.snapshots = primitives.NewQueue[snapshotWork](w, 1)
	g.stopped, g.ended = primitives.NewEvent(w), primitives.NewEvent(w)
	g.followers.world = w
	return g, nil
}

func (g *Group) open(ctx context.Context) error {
	id, err := g.dir.identify()
	if err != nil {
		return err
	}
	if id == nil || id.GetFounding() {
		if id, err = g.found(ctx, id); err != nil {
			return err
		}
		g.founded = true
	}
	if err := g.dir.check(id, &g.settings); err != nil {
		return err
	}
	id.Counter++
	if err := g.dir.store(id); err != nil {
		return err
	}
	g.identity = Identity{
		ClusterID: id.GetClusterId(), Cluster: primitives.UUID(id.GetCluster()),
		NodeID: id.GetNodeId(), RaftID: id.GetRaftId(), Counter: id.GetCounter(),
	}
	return g.recover()
}

// recover loads the newest snapshot and the log above it.
func (g *Group) recover() error {
	snap, err := loadSnapshot(g.dir.files, g.dir.sub(snapshotDir), g.identity.wal())
	if err != nil {
		return err
	}
	log, err := recoverWAL(g.dir.files, g.dir.sub(logDir), g.identity.wal(), snap.id.Index)
	if err != nil {
		return err
	}
	if log.torn != nil {
		g.world.Log().Warn("discarded an unfinished append at the end of the consensus log",
			"file", log.torn.File, "offset", log.torn.Offset, "bytes", log.torn.Discarded)
	}
	g.wal = log.wal
	if err := checkRecovered(g.dir.sub(logDir), snap, log); err != nil {
		return err
	}
	metadata := &pb.SnapshotMetadata{Index: &snap.id.Index, Term: &snap.id.Term, ConfState: &pb.ConfState{Voters: snap.voters}}
	if err := g.storage.ApplySnapshot(&pb.Snapshot{Metadata: metadata}); err != nil {
		return fmt.Errorf("recover snapshot: %w", err)
	}
	if err := g.storage.SetHardState(log.hard); err != nil {
		return fmt.Errorf("recover hard state: %w", err)
	}
	if err := g.storage.Append(log.entries); err != nil {
		return fmt.Errorf("recover log: %w", err)
	}
	g.voters, g.start = snap.voters, snap.id
	g.state.Store(snap.state)
	g.status.Store(&Status{Snapshot: snap.id.Index})
	return nil
}

// checkRecovered compares what the log promises with what it holds.
func checkRecovered(dir string, snap *loadedSnapshot, log *recoveredLog) error {
	if log.hard == nil {
		return &DamageError{File: dir, What: "the log holds no hard state"}
	}
	// A snapshot is published before the commit index that it proves is written.
	commit := max(log.hard.GetCommit(), snap.id.Index)
	log.hard = hardState(max(log.hard.GetTerm(), snap.id.Term), log.hard.GetVote(), commit)
	if commit > log.wal.last {
		return &DamageError{File: dir, What: fmt.Sprintf("index %d is committed, but the log ends at %d", commit, log.wal.last)}
	}
	return nil
}

// Identity returns who this node is.
func (g *Group) Identity() Identity { return g.identity }

// Founded reports whether this start founded the cluster.
func (g *Group) Founded() bool { return g.founded }

// State returns the newest applied state.
func (g *Group) State() *catalog.State { return g.state.Load() }

// Status returns what the group shows of itself.
func (g *Group) Status() Status { return *g.status.Load() }

// Leads reports whether this node leads the group.
func (g *Group) Leads() bool { return g.status.Load().Leader == g.identity.RaftID }

// Start runs the group's tasks until Stop.
func (g *Group) Start(ctx context.Context) error {
	core, err := newCore(g)
	if err != nil {
		return err
	}
	g.tasks = primitives.NewGroup(ctx, g.world)
	g.tasks.Go("raft core", core.run)
	g.tasks.Go("raft append", (&appender{group: g}).run)
	g.tasks.Go("raft apply", newApplier(g).run)
	g.tasks.Go("raft snapshot", (&snapshotter{group: g}).run)
	g.tasks.Go("execution expiry", g.expire)
	return nil
}

// Stop ends the tasks once the log is idle, and releases the data directory.
func (g *Group) Stop(ctx context.Context) error {
	if g.tasks != nil {
		g.settle(ctx)
		g.tasks.Cancel(ErrStopped)
		if err := g.tasks.Wait(context.Background()); err != nil && !errors.Is(err, context.Canceled) {
			g.world.Log().Warn("control plane task failed", "error", err)
		}
	}
	g.stopped.Set()
	return errors.Join(g.wal.close(), g.dir.lock.Unlock())
}

// settle waits until the log is idle. A failed log never is: its appender ended.
func (g *Group) settle(ctx context.Context) {
	idle := primitives.NewEvent(g.world)
	if g.Status().Failed != nil || g.appends.Send(ctx, appendWork{idle: idle}) != nil {
		return
	}
	if _, err := primitives.Select(ctx, g.world, idle.OnSet(), g.tasks.OnDone()); err != nil {
		g.world.Log().Warn("the consensus log was not idle when it was closed", "error", err)
	}
}

// OnEnd is ready when the group can do nothing more by itself: its log cannot be
// written any more, or its tasks ended. Writes are still answered, with the
// failure, until Stop.
func (g *Group) OnEnd() primitives.Case { return g.ended.OnSet() }

// Propose commits a command and returns what it did once this node applied it.
// When ctx is cancelled only the wait ends: the outcome is unknown.
func (g *Group) Propose(ctx context.Context, c *catalogpb.Command) (catalog.Result, error) {
	p := &proposal{done: primitives.NewEvent(g.world), sequence: g.sequence.Add(1)}
	c.Incarnation, c.Sequence = g.identity.Counter, p.sequence
	if c.GetAt() == 0 {
		c.At = g.world.Clock().Wall().UnixNano()
	}
	data, err := catalog.Encode(c)
	if err != nil {
		return catalog.Result{}, err
	}
	if len(data) > catalog.CommandBytesMax {
		return catalog.Result{}, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, len(data), catalog.CommandBytesMax)
	}
	p.data = data
	if err := g.inbox.Send(ctx, event{proposal: p}); err != nil {
		return catalog.Result{}, err
	}
	return p.wait(ctx, g)
}

// Admit blocks until this process has proved once that it applied everything
// committed before the call: only then may it execute anything (CP-5).
func (g *Group) Admit(ctx context.Context) error {
	f := g.Follow()
	defer g.Unfollow(f)
	for {
		index, err := g.ReadIndex(ctx)
		if err == nil {
			return g.WaitApplied(ctx, index)
		}
		if !errors.Is(err, ErrNotLeader) {
			return err
		}
		retry := primitives.AtCase(g.world, g.world.Clock().Now().Add(admissionEvery))
		if _, err := primitives.Select(ctx, g.world, f.OnChange(), retry); err != nil {
			return err
		}
	}
}

// ReadIndex returns an index that every read after the call must have applied.
func (g *Group) ReadIndex(ctx context.Context) (uint64, error) {
	r := &proposal{done: primitives.NewEvent(g.world), sequence: g.sequence.Add(1), read: true}
	if err := g.inbox.Send(ctx, event{proposal: r}); err != nil {
		return 0, err
	}
	result, err := r.wait(ctx, g)
	return result.Index, err
}

// proposal is a command or a read that waits for its outcome. The core fills it
// in before it sets done.
type proposal struct {
	sequence uint64
	data     []byte
	read     bool

	done   *primitives.Event
	result catalog.Result
	err    error
}

func (p *proposal) finish(result catalog.Result, err error) {
	p.result, p.err = result, err
	p.done.Set()
}

func (p *proposal) wait(ctx context.Context, g *Group) (catalog.Result, error) {
	if _, err := primitives.Select(ctx, g.world, p.done.OnSet(), g.stopped.OnSet()); err != nil {
		return catalog.Result{}, fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	if !p.done.IsSet() {
		return catalog.Result{}, fmt.Errorf("%w: %w", ErrOutcomeUnknown, ErrStopped)
	}
	return p.result, p.err
}
