package control

import (
	"context"
	"fmt"
	"time"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

// event is what another task tells the core.
type event struct {
	proposal *proposal
	inspect  *inspection
	failed   error // the log cannot be written any more

	// Of a finished append, or of an apply with what it did.
	responses []*pb.Message
	applied   []applied
	changes   []confChange
	term      uint64 // of the last applied entry

	// From other members.
	message     *pb.Message
	staged      *staged    // with a message that offers a fetched snapshot
	unreachable uint64     // a member that a message did not reach
	fetched     uint64     // a member that fetched a section
	refused     uint64     // a member that could not use its snapshot
	gone        SnapshotID // a generation that was removed
}

// inspection runs f in the core task.
type inspection struct {
	f    func(*core)
	done *primitives.Event
}

// core owns the raft machine and everything that waits for it.
type core struct {
	group  *Group
	node   *raft.RawNode
	self   uint64
	ticks  uint64
	failed error

	proposals
	applied uint64 // term of the last applied entry
	// restored is the index of the last snapshot that raft took over: its
	// configuration counts, whatever older entries still say.
	restored  uint64
	staged    map[SnapshotID]*staged
	transfers map[uint64]*transfer // by receiving member

	// What the storage tasks have no room for yet.
	appends []appendWork
	applies []applyWork
	// What goes to other members at the end of the turn.
	outgoing []*pb.Message
	shown    shown
}

func newCore(g *Group) (*core, error) {
	logger := &raftLogger{log: g.world.Log()}
	self := g.me().RaftID
	node, err := raft.NewRawNode(g.settings.raft(self, g.storage, g.state.Load().Applied, logger))
	if err != nil {
		return nil, fmt.Errorf("start consensus: %w", err)
	}
	return &core{
		group: g, node: node, self: self, proposals: newProposals(),
		staged: map[SnapshotID]*staged{}, transfers: map[uint64]*transfer{},
	}, nil
}

// run is the core task. It waits for one input, takes all others that are ready,
// and hands on the work they cause: to the storage tasks and to other members.
func (c *core) run(ctx context.Context) error {
	g := c.group
	defer g.ended.Set()
	// Nobody else can be elected in a group of one.
	if conf := confOf(g.state.Load()); len(conf.Voters) == 1 && conf.Voters[0] == c.self {
		if err := c.node.Campaign(); err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
	}
	clock := newPulse(g.world, tickEvery)
	defer func() { clock.stop() }()
	var input event
	cases := [4]primitives.Case{g.inbox.OnRecv(&input), clock.due.OnRaise()}
	for {
		c.ready()
		cases[2], cases[3] = primitives.Case{}, primitives.Case{}
		if len(c.appends) > 0 {
			cases[2] = g.appends.OnSend(c.appends[0])
		}
		if len(c.applies) > 0 {
			cases[3] = g.applies.OnSend(c.applies[0])
		}
		fired, err := primitives.Select(ctx, g.world, cases[:]...)
		if err != nil {
			c.abandonAll(ErrStopped)
			return err
		}
		switch fired {
		case 0:
			c.step(input)
			for more, ok := g.inbox.TryRecv(); ok; more, ok = g.inbox.TryRecv() {
				c.step(more)
			}
			input = event{}
		case 1:
			clock.arm()
			c.tick()
		case 2:
			c.appends[0] = appendWork{}
			c.appends = c.appends[1:]
		case 3:
			c.applies[0] = applyWork{}
			c.applies = c.applies[1:]
		}
	}
}

// pulse is the raft clock: beats that nobody took collapse into one, and the
// cadence keeps its phase. Unlike a Ticker it stays armed between two waits of a
// task that wakes much more often than it beats.
type pulse struct {
	world primitives.World
	every time.Duration
	next  primitives.Instant
	due   *primitives.Notice
	timer primitives.Timer
}

func newPulse(w primitives.World, every time.Duration) *pulse {
	p := &pulse{world: w, every: every, next: w.Clock().Now(), due: primitives.NewNotice(w)}
	p.arm()
	return p
}

// arm sets the next beat to the first of the cadence after now.
func (p *pulse) arm() {
	late := p.world.Clock().Now().Sub(p.next)
	p.next = p.next.Add(p.every * (late/p.every + 1))
	p.timer = p.world.Clock().At(p.next, p.due.Raise)
}

func (p *pulse) stop() { p.timer.Stop() }

func (c *core) tick() {
	if c.failed != nil {
		return
	}
	c.node.Tick()
	c.ticks++
	if len(c.transfers) > 0 {
		c.watchTransfers()
	}
	if c.ticks%readAgainTicks == 0 {
		c.readAgain()
	}
}

func (c *core) step(e event) {
	switch {
	case e.inspect != nil:
		e.inspect.f(c)
		e.inspect.done.Set()
	case e.proposal != nil:
		c.propose(e.proposal)
	case e.failed != nil:
		c.fail(e.failed)
	case c.failed != nil:
		// The log says nothing any more, so this node says nothing to others.
		e.staged.decide(false)
	case e.staged != nil:
		c.offer(e)
	case e.message != nil:
		c.receive(e.message)
	case e.unreachable != 0:
		c.node.ReportUnreachable(e.unreachable)
		c.unreached(e.unreachable)
	case e.fetched != 0:
		c.progress(e.fetched)
	case e.refused != 0:
		c.endTransfer(e.refused, "the receiver gave it up")
	case e.gone != SnapshotID{}:
		c.lostGeneration(e.gone)
	default:
		c.finished(e)
	}
}

// finished takes what a storage task has done. A configuration is in force before
// the command that made it is answered, and both before raft hears that the entries
// are applied.
func (c *core) finished(e event) {
	for _, change := range e.changes {
		c.reconfigure(change)
	}
	c.applied = max(c.applied, e.term)
	c.answer(e.applied)
	for _, m := range e.responses {
		if m.GetTo() == c.self {
			c.receive(m)
		} else {
			c.send(m)
		}
	}
}

func (c *core) reconfigure(change confChange) {
	if change.index <= c.restored {
		return
	}
	conf := c.node.ApplyConfChange(change.change)
	invariant.Thatf(sameConf(conf, change.want), "the node records of index %d are %v, the raft configuration is %v", change.index, change.want, conf)
	for _, one := range change.change.GetChanges() {
		if one.GetType() == pb.ConfChangeRemoveNode && one.GetNodeId() == c.self {
			c.group.fail(errDropped())
		}
	}
}

// receive steps a message. The machine refuses only messages it has outgrown.
func (c *core) receive(m *pb.Message) {
	if at := c.diverged(m); at != 0 {
		logDiverged.Hit()
		c.fail(&DivergedError{Dir: c.group.dir.path, Node: c.group.me().NodeID, Index: at})
		return
	}
	defer c.caught()
	if err := c.node.Step(m); err != nil {
		c.group.world.Log().Debug("raft refused a message", "type", m.GetType().String(), "error", err)
	}
}

// diverged returns the first index at which an append of the current leader
// contradicts what this member has committed; 0 as it should be. The raft machine
// would refuse such an append for ever.
func (c *core) diverged(m *pb.Message) uint64 {
	if m.GetType() != pb.MsgApp {
		return 0
	}
	status := c.node.BasicStatus()
	commit := status.HardState.GetCommit()
	if m.GetTerm() < status.HardState.GetTerm() || m.GetIndex() > commit {
		return 0
	}
	differs := func(index, term uint64) bool {
		own, err := c.group.storage.Term(index)
		return index <= commit && err == nil && own != 0 && own != term
	}
	if differs(m.GetIndex(), m.GetLogTerm()) {
		return m.GetIndex()
	}
	for _, e := range m.GetEntries() {
		if differs(e.GetIndex(), e.GetTerm()) {
			return e.GetIndex()
		}
	}
	return 0
}

// caught ends this member's part when its log proved to lack what it had
// acknowledged.
func (c *core) caught() {
	switch p := recover().(type) {
	case nil:
	case lostLog:
		c.fail(&LostLogError{Dir: c.group.dir.path, Node: c.group.me().NodeID})
	default:
		panic(p)
	}
}

// offer steps a snapshot whose sections are all here, and tells whether raft takes
// it over.
func (c *core) offer(e event) {
	c.ready()
	c.staged[e.staged.id] = e.staged
	c.receive(e.message)
	// What raft accepts leaves at once, and takes the staged sections along.
	c.ready()
	_, left := c.staged[e.staged.id]
	delete(c.staged, e.staged.id)
	e.staged.decide(!left)
}

// fail ends this member's part: what is not in its log must not be promised.
func (c *core) fail(err error) {
	c.failed = err
	c.appends, c.applies, c.outgoing = nil, nil, nil
	c.abandonAll(ErrStorageFailed)
	c.group.fail(err)
	c.show(c.node.BasicStatus())
}

// ready hands out what the raft machine wants done.
func (c *core) ready() {
	if c.failed != nil {
		return
	}
	if len(c.changes) > 0 || len(c.reads) > 0 {
		c.tenure(c.node.BasicStatus())
		c.proposeChange()
		c.read()
	}
	for c.node.HasReady() {
		rd := c.node.Ready()
		for _, read := range rd.ReadStates {
			c.answerRead(read)
		}
		for _, m := range rd.Messages {
			switch m.GetTo() {
			case raft.LocalAppendThread:
				c.store(m)
			case raft.LocalApplyThread:
				c.applies = append(c.applies, applyWork{message: m})
			default:
				c.send(m)
			}
		}
	}
	c.flush()
	status := c.node.BasicStatus()
	c.tenure(status)
	c.show(status)
}

// store hands an append over. A snapshot in it takes its staged sections along.
func (c *core) store(m *pb.Message) {
	work := appendWork{message: m}
	if s := m.GetSnapshot(); s != nil {
		id := SnapshotID{s.GetMetadata().GetIndex(), s.GetMetadata().GetTerm()}
		work.staged = c.staged[id]
		invariant.Thatf(work.staged != nil, "raft installs the snapshot at %d, whose sections were not fetched", id.Index)
		delete(c.staged, id)
		c.restored = id.Index
	}
	c.appends = append(c.appends, work)
}

func (c *core) send(m *pb.Message) {
	if m.GetType() == pb.MsgSnap {
		c.beginTransfer(m)
	}
	c.outgoing = append(c.outgoing, m)
}

func (c *core) flush() {
	if len(c.outgoing) > 0 {
		c.group.settings.Peers.Send(c.outgoing)
		clear(c.outgoing)
		c.outgoing = c.outgoing[:0]
	}
}

// shown is what the status was last made of.
type shown struct {
	leader, term, commit, last, snapshot uint64
	role                                 raft.StateType
	leads                                bool
	failed                               error
}

// show publishes the status when it changed.
func (c *core) show(basic raft.BasicStatus) {
	last, err := c.group.storage.LastIndex()
	invariant.That(err == nil, "memory storage cannot fail")
	next := shown{
		leader: basic.Lead, term: basic.HardState.GetTerm(), commit: basic.HardState.GetCommit(), last: last,
		role: basic.RaftState, leads: basic.RaftState == raft.StateLeader && c.applied == basic.HardState.GetTerm(), failed: c.failed,
	}
	if newest := c.group.generation.Load(); newest != nil {
		next.snapshot = newest.id.Index
	}
	if c.failed != nil {
		next.leader, next.leads, next.role = raft.None, false, raft.StateFollower
	}
	before := c.shown
	if before == next {
		return
	}
	c.shown = next
	c.group.status.Store(&Status{
		Leader: next.leader, Term: next.term, Role: next.role.String(), Commit: next.commit, LastIndex: next.last,
		Snapshot: next.snapshot, Leads: next.leads, Failed: next.failed,
	})
	// How far the log is changes with every command; who follows the group hears of
	// that from the state.
	before.commit, before.last = next.commit, next.last
	if before != next {
		c.group.followers.raise()
	}
}
