package control

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"

	"go.etcd.io/raft/v3"
	pb "go.etcd.io/raft/v3/raftpb"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/primitives"
	"plexus/primitives/planted"
)

// proposal is a command or a read that waits for its outcome. The core fills it
// in before it sets done.
type proposal struct {
	sequence uint64
	data     []byte
	change   *pb.ConfChangeV2 // of members, with the command as its context
	read     bool

	done   *primitives.Event
	gone   atomic.Bool // nobody waits any more
	result catalog.Result
	err    error
}

func (p *proposal) finish(result catalog.Result, err error) {
	p.result, p.err = result, err
	p.done.Set()
}

func (p *proposal) wait(ctx context.Context, g *Group) (catalog.Result, error) {
	if _, err := primitives.Select(ctx, g.world, p.done.OnSet(), g.stopped.OnSet()); err != nil {
		p.gone.Store(true)
		return catalog.Result{}, fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
	}
	if !p.done.IsSet() {
		return catalog.Result{}, fmt.Errorf("%w: %w", ErrOutcomeUnknown, ErrStopped)
	}
	return p.result, p.err
}

// Propose commits a command and returns what it did once this node applied it.
// Only the leader can: another node answers *NotLeaderError. When ctx is cancelled
// only the wait ends: the outcome is unknown.
func (g *Group) Propose(ctx context.Context, c *catalogpb.Command) (catalog.Result, error) {
	return g.commit(ctx, c, nil)
}

// commit proposes a command, and with it a change of members at the same index.
func (g *Group) commit(ctx context.Context, c *catalogpb.Command, change *pb.ConfChangeSingle) (catalog.Result, error) {
	if !g.joined.IsSet() {
		return catalog.Result{}, g.notLeader()
	}
	if err := g.reclaimed(ctx); err != nil {
		return catalog.Result{}, err
	}
	p := &proposal{done: primitives.NewEvent(g.world), sequence: g.sequence.Add(1)}
	me := g.me()
	c.Proposer, c.Incarnation, c.Sequence = me.RaftID, me.Counter, p.sequence
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
	if change != nil {
		p.change = &pb.ConfChangeV2{Changes: []*pb.ConfChangeSingle{change}, Context: data}
	}
	if err := g.inbox.Send(ctx, event{proposal: p}); err != nil {
		return catalog.Result{}, err
	}
	return p.wait(ctx, g)
}

// reclaimed waits while there is more log than the cap allows.
func (g *Group) reclaimed(ctx context.Context) error {
	if !g.full() {
		return nil
	}
	logFull.Hit()
	f := g.Follow()
	defer g.Unfollow(f)
	timeout := primitives.AtCase(g.world, g.world.Clock().Now().Add(reclaimBound))
	for g.full() {
		fired, err := primitives.Select(ctx, g.world, f.OnChange(), timeout)
		if err != nil {
			return err
		}
		if fired == 1 && g.full() {
			return &LogFullError{Retained: g.retained.Load(), Cap: g.settings.LogCap, Waited: reclaimBound}
		}
	}
	return nil
}

// ReadIndex returns an index that every read after the call must have applied. Any
// member can ask; the leader answers once a quorum confirmed it.
func (g *Group) ReadIndex(ctx context.Context) (uint64, error) {
	if !g.joined.IsSet() {
		return 0, g.notLeader()
	}
	if planted.Active(planted.StaleRead) {
		return g.State().Applied, nil
	}
	r := &proposal{done: primitives.NewEvent(g.world), sequence: g.sequence.Add(1), read: true}
	if err := g.inbox.Send(ctx, event{proposal: r}); err != nil {
		return 0, err
	}
	result, err := r.wait(ctx, g)
	return result.Index, err
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

// proposals are the core's half: what waits for the raft machine.
type proposals struct {
	pending map[uint64]*proposal // commands in the log
	// Changes of members wait for their turn: raft takes one at a time, and only
	// from a leader that has applied what came before it.
	changes  []*proposal
	changing *proposal
	// Reads wait until this leader applied an entry of its own term: before that,
	// its commit index may be older than what another process was answered. In a
	// group of one raft does not wait by itself.
	reads   []*proposal
	reading map[uint64]*proposal // asked for
	leading uint64               // the term in which this node leads, 0 if it does not
	leader  uint64               // as last seen
}

func newProposals() proposals {
	return proposals{pending: map[uint64]*proposal{}, reading: map[uint64]*proposal{}}
}

func (c *core) propose(p *proposal) {
	switch {
	case c.failed != nil:
		p.finish(catalog.Result{}, ErrStorageFailed)
	case p.read:
		c.reads = append(c.reads, p)
	case p.change != nil:
		c.changes = append(c.changes, p)
	default:
		c.put(p, c.node.Propose(p.data))
	}
}

// put keeps a proposal that raft took, and answers one that it did not.
func (c *core) put(p *proposal, err error) bool {
	if err == nil {
		c.pending[p.sequence] = p
		return true
	}
	switch lead := c.node.BasicStatus().Lead; {
	case errors.Is(err, raft.ErrProposalDropped) && lead != c.self:
		p.finish(catalog.Result{}, c.group.led(lead))
	case errors.Is(err, raft.ErrProposalDropped):
		p.finish(catalog.Result{}, ErrBusy)
	default:
		p.finish(catalog.Result{}, fmt.Errorf("propose: %w", err))
	}
	return false
}

// proposeChange proposes the next change of members when raft would take it. Raft
// makes an empty entry of one that comes too early.
func (c *core) proposeChange() {
	if len(c.changes) == 0 || c.changing != nil {
		return
	}
	if c.leading != 0 && c.applied != c.leading {
		return
	}
	p := c.changes[0]
	c.changes = c.changes[1:]
	if c.leading == 0 {
		p.finish(catalog.Result{}, c.group.led(c.leader))
		return
	}
	if c.put(p, c.node.ProposeConfChange(p.change)) {
		c.changing = p
	}
}

// answer ends the wait for commands that were applied.
func (c *core) answer(list []applied) {
	me := c.group.me()
	for _, a := range list {
		if a.proposer != me.RaftID || a.incarnation != me.Counter {
			continue
		}
		p := c.pending[a.sequence]
		if p == nil {
			continue
		}
		delete(c.pending, a.sequence)
		if p == c.changing {
			c.changing = nil
		}
		p.finish(a.result, nil)
	}
}

// read asks for the index of the waiting reads once that is safe.
func (c *core) read() {
	if len(c.reads) == 0 {
		return
	}
	switch {
	case c.leader == raft.None:
		for _, p := range c.reads {
			p.finish(catalog.Result{}, c.group.led(raft.None))
		}
	case c.leading != 0 && c.applied != c.leading:
		return
	default:
		for _, p := range c.reads {
			c.reading[p.sequence] = p
			c.ask(p)
		}
	}
	c.reads = nil
}

// ask sends a read on its way. Its context is unique in the cluster, because the
// leader answers the reads of all members.
func (c *core) ask(p *proposal) {
	me := c.group.me()
	b := binary.BigEndian.AppendUint64(make([]byte, 0, readContextBytes), me.RaftID)
	b = binary.BigEndian.AppendUint64(b, me.Counter)
	c.node.ReadIndex(binary.BigEndian.AppendUint64(b, p.sequence))
}

const readContextBytes = 24

// readAgainTicks is admissionEvery in ticks.
const readAgainTicks = uint64(admissionEvery / tickEvery)

// readAgain repeats the reads of a follower whose question or answer may be lost.
func (c *core) readAgain() {
	if len(c.reading) == 0 {
		return
	}
	for _, sequence := range primitives.SortedKeys(c.reading) {
		p := c.reading[sequence]
		switch {
		case p.gone.Load():
			delete(c.reading, sequence)
		case c.leading == 0:
			readRepeated.Hit()
			c.ask(p)
		}
	}
}

func (c *core) answerRead(read raft.ReadState) {
	me := c.group.me()
	b := read.RequestCtx
	if len(b) != readContextBytes || binary.BigEndian.Uint64(b) != me.RaftID || binary.BigEndian.Uint64(b[8:]) != me.Counter {
		return // of an earlier process
	}
	sequence := binary.BigEndian.Uint64(b[16:])
	if p := c.reading[sequence]; p != nil {
		delete(c.reading, sequence)
		p.finish(catalog.Result{Index: read.Index}, nil)
	}
}

// tenure notices that leadership changed: commands of a lost one may or may not be
// committed by the next leader, and reads of a lost leader find no answer.
func (c *core) tenure(status raft.BasicStatus) {
	leading := uint64(0)
	if status.RaftState == raft.StateLeader {
		leading = status.HardState.GetTerm()
	}
	if c.leading != 0 && leading != c.leading {
		leadershipLost.HitIf(len(c.pending) > 0)
		c.abandonCommands(c.group.led(status.Lead))
		c.forgetTransfers()
	}
	if status.Lead != c.leader || leading != c.leading {
		c.abandonReads(c.group.led(status.Lead))
	}
	c.leading, c.leader = leading, status.Lead
}

// abandonCommands ends the wait of every command in the log.
func (c *core) abandonCommands(cause error) {
	for _, sequence := range primitives.SortedKeys(c.pending) {
		c.pending[sequence].finish(catalog.Result{}, fmt.Errorf("%w: %w", ErrOutcomeUnknown, cause))
		delete(c.pending, sequence)
	}
	c.changing = nil
}

// abandonReads ends the wait of every read that was asked for; nothing happened.
func (c *core) abandonReads(cause error) {
	for _, sequence := range primitives.SortedKeys(c.reading) {
		c.reading[sequence].finish(catalog.Result{}, cause)
		delete(c.reading, sequence)
	}
}

func (c *core) abandonAll(cause error) {
	c.abandonCommands(cause)
	c.abandonReads(cause)
	for _, p := range append(c.reads, c.changes...) {
		p.finish(catalog.Result{}, cause)
	}
	c.reads, c.changes = nil, nil
}
