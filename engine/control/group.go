package control

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/catalog"
	"plexus/engine/control/controlpb"
	"plexus/primitives"
)

// Group is this node's member of the consensus group.
type Group struct {
	world    primitives.World
	settings Settings
	dir      *directory
	proof    [][]byte            // see Proof
	stored   *controlpb.Identity // what the identity file holds
	token    [tokenBytes]byte
	identity atomic.Pointer[Identity]
	founded  bool

	storage *memory
	wal     *wal
	start   SnapshotID // recovery began from it

	state      atomic.Pointer[catalog.State]
	status     atomic.Pointer[Status]
	endpoints  atomic.Pointer[Endpoints]
	generation atomic.Pointer[generation]   // the newest snapshot
	wanted     atomic.Pointer[snapshotWork] // the next one to write
	pinned     atomic.Pointer[[]SnapshotID]
	retained   atomic.Uint64 // bytes of log
	sequence   atomic.Uint64
	ending     atomic.Pointer[ending]

	inbox   *primitives.Queue[event]
	appends *primitives.Queue[appendWork]
	applies *primitives.Queue[applyWork]
	offers  *primitives.Queue[*pb.Message] // of snapshots

	snapshots *primitives.Notice // there is one to write or to remove
	learners  *primitives.Notice // there may be one to promote
	moved     *primitives.Notice // the endpoints changed
	joined    *primitives.Event  // this node has a raft id and a log
	stopped   *primitives.Event
	ended     *primitives.Event

	tasks     *primitives.Group
	followers followers
}

// ending is why the group can do nothing more.
type ending struct{ err error }

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

// Open locks the data directory and recovers the member from it, founds a new
// cluster in an empty one, or prepares to join one. Nothing runs before Start.
func Open(ctx context.Context, w primitives.World, s Settings) (*Group, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	dir, err := openDirectory(w.Files(), s.Dir)
	if err != nil {
		return nil, err
	}
	g := &Group{
		world: w, settings: s, dir: dir, storage: newMemory(),
		inbox:     primitives.NewQueue[event](w, inboxCapacity),
		appends:   primitives.NewQueue[appendWork](w, storageCapacity),
		applies:   primitives.NewQueue[applyWork](w, storageCapacity),
		offers:    primitives.NewQueue[*pb.Message](w, offersCapacity),
		snapshots: primitives.NewNotice(w), learners: primitives.NewNotice(w), moved: primitives.NewNotice(w),
		joined: primitives.NewEvent(w), stopped: primitives.NewEvent(w), ended: primitives.NewEvent(w),
		followers: followers{world: w},
	}
	g.endpoints.Store(&s.Endpoints)
	g.status.Store(&Status{})
	g.state.Store(catalog.New(primitives.UUID{}))
	if err := g.open(ctx); err != nil {
		if g.wal != nil {
			err = errors.Join(err, g.wal.close())
		}
		return nil, errors.Join(err, dir.lock.Unlock())
	}
	return g, nil
}

func (g *Group) open(ctx context.Context) error {
	id, err := g.dir.identify()
	if err != nil {
		return err
	}
	if id != nil {
		if err := g.dir.check(id, &g.settings); err != nil {
			return err
		}
	}
	action, err := decideStart(id, g.settings.Join, g.settings.Bootstrap)
	if err != nil {
		return err
	}
	if id == nil {
		if id, err = g.newIdentity(); err != nil {
			return err
		}
	}
	g.stored = id
	id.Counter++
	g.drawToken(id)
	g.proof = append(slices.Clone(id.GetAdmitted()), g.token[:])
	if action == startFound {
		err = g.found(ctx, id)
	} else {
		err = g.dir.store(id)
	}
	if err != nil {
		return err
	}
	if action == startJoin {
		g.identity.Store(identityOf(id))
		return nil
	}
	return g.takeOver(id)
}

// drawToken chooses what the claims of this start are known by. A token is durable
// before anybody hears of it and kept until an admission under it is: a claim whose
// answer was lost is made again under it, by this process or the next.
func (g *Group) drawToken(id *controlpb.Identity) {
	admitted := id.GetAdmitted()
	spent := len(admitted) > 0 && bytes.Equal(admitted[len(admitted)-1], id.GetToken())
	if len(id.GetToken()) == tokenBytes && !spent {
		g.token = [tokenBytes]byte(id.GetToken())
		return
	}
	g.world.Entropy().Read(g.token[:])
	id.Token = bytes.Clone(g.token[:])
}

// recover loads the newest snapshot and the log above it.
func (g *Group) recover() error {
	if err := g.dir.files.RemoveAll(g.dir.sub(stagingDir)); err != nil {
		return fmt.Errorf("clear staging directory: %w", err)
	}
	owner := g.me().wal()
	snap, err := loadSnapshot(g.dir.files, g.dir.sub(snapshotDir), owner)
	if err != nil {
		return err
	}
	log, err := recoverWAL(g.dir.files, g.dir.sub(logDir), owner, snap.id)
	if err != nil {
		return err
	}
	if log.torn != nil {
		g.world.Log().Warn("discarded an unfinished append at the end of the consensus log",
			"file", log.torn.File, "offset", log.torn.Offset, "bytes", log.torn.Discarded)
	}
	g.wal = log.wal
	g.wal.segmentBytes = min(segmentBytesMax, int64(max(g.settings.LogCap/logCapSegments, 1)))
	g.retained.Store(uint64(g.wal.retained()))
	if err := checkRecovered(g.dir.sub(logDir), snap, log); err != nil {
		return err
	}
	if len(snap.conf.Voters)+len(snap.conf.Learners) > 1 && g.settings.Peers == nil {
		return &StartError{Text: "this node is a member of a cluster of several; it needs an interconnect"}
	}
	if err := g.storage.reset(&snap.generation); err != nil {
		return err
	}
	if err := g.storage.SetHardState(log.hard); err != nil {
		return fmt.Errorf("recover hard state: %w", err)
	}
	if err := g.storage.Append(log.entries); err != nil {
		return fmt.Errorf("recover log: %w", err)
	}
	g.start = snap.id
	if snap.id.Index > 0 {
		g.generation.Store(&snap.generation)
	}
	g.state.Store(snap.state)
	g.status.Store(&Status{Snapshot: snap.id.Index})
	return nil
}

// checkRecovered compares what the log promises with what it holds, and completes
// the hard state: entries or a snapshot of a later term may be durable before it.
func checkRecovered(dir string, snap *loadedSnapshot, log *recoveredLog) error {
	if log.hard == nil {
		return &DamageError{File: dir, What: "the log holds no hard state"}
	}
	term, vote := log.hard.GetTerm(), log.hard.GetVote()
	seen := snap.id.Term
	if n := len(log.entries); n > 0 {
		seen = log.entries[n-1].GetTerm()
	}
	if seen > term {
		term, vote = seen, raft.None // whoever was voted for in that term was not told
	}
	// A snapshot is published before the commit index that it proves is written.
	commit := max(log.hard.GetCommit(), snap.id.Index)
	if commit > log.wal.last {
		return &DamageError{File: dir, What: fmt.Sprintf("index %d is committed, but the log ends at %d", commit, log.wal.last)}
	}
	log.hard = hardState(term, vote, commit)
	return nil
}

// Identity returns who this node is. A node that joins has no raft id and knows no
// cluster UUID before it was admitted.
func (g *Group) Identity() Identity { return *g.identity.Load() }

func (g *Group) me() *Identity { return g.identity.Load() }

// OnJoined is ready once the identity is complete.
func (g *Group) OnJoined() primitives.Case { return g.joined.OnSet() }

// Founded reports whether this start founded the cluster.
func (g *Group) Founded() bool { return g.founded }

// State returns the newest applied state.
func (g *Group) State() *catalog.State { return g.state.Load() }

// Status returns what the group shows of itself.
func (g *Group) Status() Status { return *g.status.Load() }

// Leads reports whether this node leads the group. It may still have to apply what
// earlier leaders committed; [Group.Tenure] says.
func (g *Group) Leads() bool {
	leader := g.status.Load().Leader
	return leader != raft.None && leader == g.me().RaftID
}

// Leader returns the raft id of the leader this node knows of.
func (g *Group) Leader() (raftID uint64, known bool) {
	leader := g.status.Load().Leader
	return leader, leader != raft.None
}

// Tenure returns the term, and whether this node leads in it and has applied
// everything that earlier leaders committed. It changes with the status that a
// [Follower] is told about.
func (g *Group) Tenure() (term uint64, leads bool) {
	s := g.status.Load()
	return s.Term, s.Leads
}

func (g *Group) notLeader() error { return g.led(g.status.Load().Leader) }

// led says who leads instead of this node.
func (g *Group) led(leader uint64) error {
	e := &NotLeaderError{Leader: leader}
	if n, ok := g.State().NodeByRaft(leader); ok {
		e.Node, e.Interconnect = n.ID, n.Interconnect
	}
	return e
}

// Start runs the group's tasks until Stop. A node that joins begins to ask for its
// admission.
func (g *Group) Start(ctx context.Context) error {
	g.tasks = primitives.NewGroup(ctx, g.world)
	if g.joined.IsSet() {
		return g.run()
	}
	g.tasks.Go("join", func(ctx context.Context) error {
		err := g.join(ctx)
		if err != nil && ctx.Err() == nil {
			g.fail(err)
		}
		return err
	})
	return nil
}

// run starts the tasks of a member.
func (g *Group) run() error {
	core, err := newCore(g)
	if err != nil {
		return err
	}
	g.tasks.Go("raft core", core.run)
	g.tasks.Go("raft append", (&appender{group: g}).run)
	g.tasks.Go("raft apply", newApplier(g).run)
	g.tasks.Go("raft snapshot", (&snapshotter{group: g}).run)
	if g.settings.Peers != nil {
		g.tasks.Go("raft fetch", (&fetcher{group: g}).run)
	}
	g.tasks.Go("membership claim", g.reclaim)
	g.tasks.Go("membership promotion", g.promote)
	g.snapshots.Raise() // there may be too much log already
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
	var err error
	if g.wal != nil {
		err = g.wal.close()
	}
	return errors.Join(err, g.dir.lock.Unlock())
}

// settle waits until the log is idle. A failed log never is: its appender ended.
func (g *Group) settle(ctx context.Context) {
	if !g.joined.IsSet() || g.Err() != nil {
		return
	}
	idle := primitives.NewEvent(g.world)
	if g.appends.Send(ctx, appendWork{idle: idle}) != nil {
		return
	}
	if _, err := primitives.Select(ctx, g.world, idle.OnSet(), g.ended.OnSet(), g.tasks.OnDone()); err != nil {
		g.world.Log().Warn("the consensus log was not idle when it was closed", "error", err)
	}
}

// fail ends this node's part in the group.
func (g *Group) fail(err error) {
	g.ending.CompareAndSwap(nil, &ending{err})
	g.ended.Set()
}

// Err says why the group can do nothing more by itself; nil while it can.
func (g *Group) Err() error {
	if e := g.ending.Load(); e != nil {
		return e.err
	}
	return nil
}

// OnEnd is ready when the group can do nothing more by itself: its log cannot be
// written any more, this node was dropped or refused for ever, or its tasks ended.
// Writes are still answered, with the failure, until Stop.
func (g *Group) OnEnd() primitives.Case { return g.ended.OnSet() }
