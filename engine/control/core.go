package control

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/catalog"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// event is what another task tells the core: one of its fields is set.
type event struct {
	proposal  *proposal
	responses []*pb.Message // of a finished append or apply
	applied   []applied     // with the responses of an apply
	term      uint64        // of the last applied entry, with the responses of an apply
	failed    error         // the log cannot be written any more

	message     *pb.Message // of another member
	unreachable uint64      // a member that a message did not reach
}

// applied is the result of one command.
type applied struct {
	incarnation, sequence uint64
	result                catalog.Result
}

// core owns the raft machine and the pending proposals.
type core struct {
	group   *Group
	node    *raft.RawNode
	pending map[uint64]*proposal
	failed  error
	// Reads wait until this leader applied an entry of its own term: before that,
	// its commit index may be older than what another process was answered. In a
	// group of one raft does not wait by itself.
	reads   []*proposal
	applied uint64 // term of the last applied entry

	// What the storage tasks have no room for yet.
	appends []appendWork
	applies []*pb.Message
	// What goes to other members at the end of the turn.
	outgoing []*pb.Message
}

func newCore(g *Group) (*core, error) {
	logger := &raftLogger{log: g.world.Log()}
	node, err := raft.NewRawNode(g.settings.raft(g.identity.RaftID, g.storage, g.state.Load().Applied, logger))
	if err != nil {
		return nil, fmt.Errorf("start consensus: %w", err)
	}
	return &core{group: g, node: node, pending: map[uint64]*proposal{}}, nil
}

// run is the core task. It waits for one input, takes all others that are ready,
// and hands the work they cause to the storage tasks.
func (c *core) run(ctx context.Context) error {
	g := c.group
	defer g.ended.Set()
	// Nobody else can be elected in a group of one.
	if len(g.voters) == 1 && g.voters[0] == g.identity.RaftID {
		if err := c.node.Campaign(); err != nil {
			return fmt.Errorf("campaign: %w", err)
		}
	}
	ticker := primitives.NewTicker(g.world, tickEvery)
	defer ticker.Stop()
	for {
		c.ready()
		var input event
		cases := []primitives.Case{g.inbox.OnRecv(&input), ticker.OnTick(), {}, {}}
		if len(c.appends) > 0 {
			cases[2] = g.appends.OnSend(c.appends[0])
		}
		if len(c.applies) > 0 {
			cases[3] = g.applies.OnSend(c.applies[0])
		}
		fired, err := primitives.Select(ctx, g.world, cases...)
		if err != nil {
			c.abandon(ErrStopped)
			return err
		}
		switch fired {
		case 0:
			c.step(input)
			for more, ok := g.inbox.TryRecv(); ok; more, ok = g.inbox.TryRecv() {
				c.step(more)
			}
		case 1:
			c.node.Tick()
		case 2:
			c.appends = c.appends[1:]
		case 3:
			c.applies = c.applies[1:]
		}
	}
}

func (c *core) step(e event) {
	switch {
	case e.proposal != nil:
		c.propose(e.proposal)
	case e.failed != nil:
		c.failed = e.failed
		c.abandon(ErrStorageFailed)
		c.group.ended.Set()
	}
	if e.message != nil {
		c.receive(e.message)
	}
	if e.unreachable != 0 {
		c.node.ReportUnreachable(e.unreachable)
	}
	c.applied = max(c.applied, e.term)
	for _, a := range e.applied {
		p := c.pending[a.sequence]
		if p == nil || a.incarnation != c.group.identity.Counter {
			continue
		}
		delete(c.pending, a.sequence)
		p.finish(a.result, nil)
	}
	for _, m := range e.responses {
		if m.GetTo() != c.group.identity.RaftID {
			c.outgoing = append(c.outgoing, m)
			continue
		}
		c.receive(m)
	}
}

// receive steps a message. The machine refuses only messages it has outgrown.
func (c *core) receive(m *pb.Message) {
	if err := c.node.Step(m); err != nil {
		c.group.world.Log().Debug("raft refused a message", "type", m.GetType().String(), "error", err)
	}
}

func (c *core) propose(p *proposal) {
	if c.failed != nil {
		p.finish(catalog.Result{}, ErrStorageFailed)
		return
	}
	if p.read {
		c.reads = append(c.reads, p)
		return
	}
	switch err := c.node.Propose(p.data); {
	case err == nil:
		c.pending[p.sequence] = p
	case errors.Is(err, raft.ErrProposalDropped) && c.node.BasicStatus().Lead == raft.None:
		p.finish(catalog.Result{}, c.group.notLeader())
	case errors.Is(err, raft.ErrProposalDropped):
		p.finish(catalog.Result{}, ErrBusy)
	default:
		p.finish(catalog.Result{}, fmt.Errorf("propose: %w", err))
	}
}

// read asks for the index of the waiting reads once that is safe.
func (c *core) read() {
	status := c.node.BasicStatus()
	for _, p := range c.reads {
		switch {
		case status.Lead == raft.None:
			p.finish(catalog.Result{}, c.group.notLeader())
		case c.applied != status.HardState.GetTerm():
			return
		default:
			c.pending[p.sequence] = p
			c.node.ReadIndex(binary.BigEndian.AppendUint64(nil, p.sequence))
		}
		c.reads = c.reads[1:]
	}
}

// abandon ends the wait of every pending proposal: each may be in the log.
func (c *core) abandon(cause error) {
	for _, p := range c.reads {
		p.finish(catalog.Result{}, cause)
	}
	c.reads = nil
	for _, sequence := range primitives.SortedKeys(c.pending) {
		c.pending[sequence].finish(catalog.Result{}, fmt.Errorf("%w: %w", ErrOutcomeUnknown, cause))
		delete(c.pending, sequence)
	}
}

// ready hands out what the raft machine wants done.
func (c *core) ready() {
	c.read()
	for c.node.HasReady() {
		rd := c.node.Ready()
		for _, read := range rd.ReadStates {
			c.answerRead(read)
		}
		for _, m := range rd.Messages {
			switch m.GetTo() {
			case raft.LocalAppendThread:
				c.appends = append(c.appends, appendWork{message: m})
			case raft.LocalApplyThread:
				c.applies = append(c.applies, m)
			default:
				c.outgoing = append(c.outgoing, m)
			}
		}
	}
	if len(c.outgoing) > 0 {
		invariant.That(c.group.settings.Peers != nil, "a group of one has nobody to send to")
		c.group.settings.Peers.Send(c.outgoing)
		c.outgoing = nil
	}
	c.show()
}

func (c *core) answerRead(read raft.ReadState) {
	sequence := binary.BigEndian.Uint64(read.RequestCtx)
	if p := c.pending[sequence]; p != nil {
		delete(c.pending, sequence)
		p.finish(catalog.Result{Index: read.Index}, nil)
	}
}

// show publishes the status when it changed.
func (c *core) show() {
	basic := c.node.BasicStatus()
	last, err := c.group.storage.LastIndex()
	invariant.That(err == nil, "memory storage cannot fail")
	first, err := c.group.storage.FirstIndex()
	invariant.That(err == nil, "memory storage cannot fail")
	next := Status{
		Leader: basic.Lead, Term: basic.HardState.GetTerm(), Role: basic.RaftState.String(),
		Commit: basic.HardState.GetCommit(), LastIndex: last, Snapshot: first - 1, Failed: c.failed,
		Leads: basic.RaftState == raft.StateLeader && c.applied == basic.HardState.GetTerm(),
	}
	if *c.group.status.Load() == next {
		return
	}
	c.group.status.Store(&next)
	c.group.followers.raise()
}
