package handoff

import (
	"context"
	"errors"
	"fmt"

	"plexus/engine/quiesce"
	"plexus/primitives"
)

// Peers reaches the participants of the cluster, this node's own included.
type Peers interface {
	// Call asks the participant of a node, see [Participant.Handle]. An error says
	// nothing about whether the request was carried out.
	Call(ctx context.Context, node string, op Operation, request []byte) ([]byte, error)
	// Process is the process that a node runs as now, false while it is not known.
	Process(node string) (quiesce.Process, bool)
}

// Effect is what the change of owners does to the cluster.
type Effect interface {
	// Commit proposes the target schedule. nil says that it is committed,
	// ErrNotCommitted that it certainly is not, any other error that nobody knows.
	Commit(ctx context.Context) error
	// Ready waits until every live node is ready for what was committed.
	Ready(ctx context.Context) error
}

// Coordinator changes owners on behalf of one process, which leads.
type Coordinator struct {
	world    primitives.World
	settings Settings
	self     quiesce.Process
	peers    Peers
	holds    *quiesce.Coordinator
	group    *primitives.Group
	left     *primitives.Notice // a move ended that left something at the nodes

	lock   *primitives.Mutex // guards what follows; nothing waits under it
	active map[primitives.UUID]bool
}

// NewCoordinator returns the coordinator of one process.
func NewCoordinator(w primitives.World, s Settings, self quiesce.Process, peers Peers, holds *quiesce.Coordinator) *Coordinator {
	return &Coordinator{
		world: w, settings: s, self: self, peers: peers, holds: holds, left: primitives.NewNotice(w), lock: primitives.NewMutex(w),
		active: map[primitives.UUID]bool{},
	}
}

// Start lets the coordinator work. Its tasks end with ctx or Stop; the loss of
// leadership ends none of them, because they have something to take back.
func (c *Coordinator) Start(ctx context.Context) { c.group = primitives.NewGroup(ctx, c.world) }

// Stop ends the tasks. What is left at other nodes is reconciled by the next
// leader.
func (c *Coordinator) Stop(ctx context.Context) error {
	c.group.Cancel(primitives.ErrClosed)
	err := c.group.Wait(ctx)
	if errors.Is(err, primitives.ErrClosed) {
		return nil
	}
	return err
}

// Move changes owners as planned. On an error the schedule is unchanged and
// everything was taken back or is being taken back, except for *UncertainError and
// *ActivationError, which say what stays.
func (c *Coordinator) Move(ctx context.Context, p Plan, e Effect) error {
	var hold *quiesce.Hold
	if !p.Stopped {
		p.Hold.Freeze, p.Hold.Scope.Force, p.Hold.Scope.Purpose = true, true, quiesce.ForHandoff
		var err error
		if hold, err = c.holds.Hold(ctx, p.Hold); err != nil {
			return err
		}
	}
	if err := c.prepareAndCommit(ctx, &p, hold, e.Commit); err != nil {
		if uncertain := (*UncertainError)(nil); errors.As(err, &uncertain) {
			return err // the gate stays closed until its lease ends
		}
		return errors.Join(err, c.open(hold))
	}
	if err := c.ready(ctx, e); err != nil {
		return &ActivationError{err}
	}
	return c.open(hold)
}

// prepareAndCommit has every move prepared and commits them together.
func (c *Coordinator) prepareAndCommit(ctx context.Context, p *Plan, hold *quiesce.Hold, commit func(context.Context) error) error {
	cells, err := c.bind(p, hold)
	if err != nil {
		return err
	}
	t := c.transfer(cells)
	if err = t.prepare(ctx, hold); err == nil && hold != nil {
		err = t.confirm(ctx, hold)
	}
	return t.commit(ctx, err, commit)
}

// open releases the hold. That it is not answered in time is not the caller's
// concern: the asking goes on, and the lease ends.
func (c *Coordinator) open(hold *quiesce.Hold) error {
	if hold == nil {
		return nil
	}
	ctx, cancel := primitives.WithDeadline(c.group.Context(), c.world, c.world.Clock().Now().Add(c.settings.Request))
	defer cancel()
	if err := hold.Release(ctx); err != nil && !errors.Is(err, primitives.ErrDeadline) {
		return err
	}
	return nil
}

// ready waits for the committed owners as long as the gates certainly are closed.
func (c *Coordinator) ready(ctx context.Context, e Effect) error {
	bounded, cancel := primitives.WithDeadline(ctx, c.world, c.world.Clock().Now().Add(c.settings.Lease))
	defer cancel()
	return e.Ready(bounded)
}

// bind ties the moves to the processes that run now.
func (c *Coordinator) bind(p *Plan, hold *quiesce.Hold) (cells []cell, err error) {
	for i := range p.Moves {
		m := &p.Moves[i]
		x := cell{binding: Binding{
			Coordinator: c.self, Transition: m.Transition, Domain: p.Domain, Entity: m.Entity, Base: p.Base, Target: p.Target,
		}}
		if hold != nil {
			x.binding.Sequence = hold.ID().Sequence
		}
		if x.binding.Source, x.freeze, err = c.process("source", m.From, hold); err == nil {
			x.binding.Destination, _, err = c.process("destination", m.To, hold)
		}
		if err != nil {
			return nil, &PrepareError{m.Entity, m.From, m.To, err}
		}
		cells = append(cells, x)
	}
	return cells, nil
}

// process returns the process of a node, the one that holds if there is a hold.
func (c *Coordinator) process(role, node string, hold *quiesce.Hold) (p quiesce.Process, freeze uint64, err error) {
	p, known := c.peers.Process(node)
	if !known {
		return quiesce.Process{}, 0, fmt.Errorf("%s node '%s' is not reached", role, node)
	}
	if hold == nil {
		return p, 0, nil
	}
	freeze, epoch, covered := hold.Freeze(node)
	if !covered || epoch != p.Epoch {
		return quiesce.Process{}, 0, &ChangedError{role, node}
	}
	return p, freeze, nil
}

// transfer is one core with its task.
type transfer struct {
	c     *Coordinator
	lock  *primitives.Mutex // guards the core; nothing waits under it
	core  *core
	poke  *primitives.Notice // the core was told something
	fresh *primitives.Notice // the core got somewhere
	calls map[uint64]context.CancelFunc
	heard *primitives.Queue[heard]
}

// heard is the end of a call.
type heard struct {
	call   call
	answer *answer
	err    error
}

func (c *Coordinator) transfer(cells []cell) *transfer {
	t := &transfer{
		c: c, lock: primitives.NewMutex(c.world), core: newCore(c.settings, c.world.Clock().Now(), cells),
		poke: primitives.NewNotice(c.world), fresh: primitives.NewNotice(c.world),
		calls: map[uint64]context.CancelFunc{}, heard: primitives.NewQueue[heard](c.world, len(cells)+1),
	}
	c.locked(func() {
		for i := range cells {
			c.active[cells[i].binding.Transition] = true
		}
	})
	c.group.Go("handoff coordinator", t.run)
	return t
}

// locked runs f with what the lock guards.
func (c *Coordinator) locked(f func()) {
	if c.lock.Lock(context.Background()) == nil { // never held across a wait
		f()
		c.lock.Unlock()
	}
}

// moving reports whether this coordinator still works on a preparation of its own.
func (c *Coordinator) moving(b *Binding) (moving bool) {
	c.locked(func() { moving = c.active[b.Transition] })
	return moving
}

// run asks whom the core says until nothing is left to take away.
func (t *transfer) run(ctx context.Context) error {
	defer t.end()
	for {
		var wake primitives.Instant
		over := false
		t.step(func(now primitives.Instant) {
			var calls []call
			calls, wake = t.core.next(now)
			t.giveUp()
			for _, k := range calls {
				t.start(k)
			}
			over = t.core.clean()
		})
		t.fresh.Raise()
		if over {
			return nil
		}
		var end heard
		fired, err := primitives.Select(ctx, t.c.world, t.heard.OnRecv(&end), t.poke.OnRaise(), primitives.AtCase(t.c.world, wake))
		if err != nil {
			return nil // the process stops
		}
		if fired == 0 {
			t.step(func(now primitives.Instant) {
				delete(t.calls, end.call.attempt)
				t.core.answered(now, &end.call, end.answer, end.err)
			})
		}
	}
}

// end forgets the transfer. What it leaves is for the leader to reconcile, this
// one if it still is.
func (t *transfer) end() {
	t.heard.Close() // calls that still end have nobody to tell
	left := false
	t.step(func(primitives.Instant) { left = t.core.left })
	t.c.locked(func() {
		for i := range t.core.cells {
			delete(t.c.active, t.core.cells[i].binding.Transition)
		}
	})
	if left {
		t.c.left.Raise()
	}
	t.fresh.Raise()
}

// step runs f with the core.
func (t *transfer) step(f func(now primitives.Instant)) {
	if t.lock.Lock(context.Background()) == nil { // never held across a wait
		f(t.c.world.Clock().Now())
		t.lock.Unlock()
	}
}

// giveUp cancels the calls that the core no longer waits for.
func (t *transfer) giveUp() {
	wanted := map[uint64]bool{}
	for i := range t.core.cells {
		wanted[t.core.cells[i].attempt] = true
	}
	for _, attempt := range primitives.SortedKeys(t.calls) {
		if !wanted[attempt] {
			t.calls[attempt]()
		}
	}
}

// start makes a call in a task of its own.
func (t *transfer) start(k call) {
	ctx, cancel := primitives.WithDeadline(t.c.group.Context(), t.c.world, k.until)
	t.calls[k.attempt] = cancel
	t.c.group.Go("handoff call", func(context.Context) error {
		a, err := t.c.call(ctx, k.node, k.op, &k.request)
		cancel()
		if err := t.heard.Send(t.c.group.Context(), heard{k, a, err}); err != nil {
			return nil // nobody waits for it any more
		}
		return nil
	})
}

// call asks one node.
func (c *Coordinator) call(ctx context.Context, node string, op Operation, r *request) (*answer, error) {
	b, err := encodeRequest(r)
	if err != nil {
		return nil, err
	}
	if b, err = c.peers.Call(ctx, node, op, b); err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	a, err := decodeAnswer(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", op, err)
	}
	return a, nil
}

// prepare waits until every move is prepared and confirmed.
func (t *transfer) prepare(ctx context.Context, hold *quiesce.Hold) error {
	var lapse primitives.Case // never ready without a hold
	if hold != nil {
		lapse = hold.OnFail()
	}
	for {
		var done bool
		var failure error
		t.step(func(primitives.Instant) { done, failure = t.core.prepared(), t.core.failure })
		if failure != nil || done {
			return failure
		}
		fired, err := primitives.Select(ctx, t.c.world, t.fresh.OnRaise(), lapse)
		if err != nil {
			return err
		}
		if fired == 1 {
			return t.lapsed(hold.Err())
		}
	}
}

// confirm makes sure of the gates a last time before the commit.
func (t *transfer) confirm(ctx context.Context, hold *quiesce.Hold) error {
	if err := hold.Confirm(ctx); err != nil {
		return t.lapsed(err)
	}
	return nil
}

// lapsed names the participant whose restart ended the hold, if it was that.
func (t *transfer) lapsed(err error) (cause error) {
	cause = err
	t.step(func(primitives.Instant) {
		for i := range t.core.cells {
			b := &t.core.cells[i].binding
			if now, known := t.c.peers.Process(b.Destination.Node); known && now != b.Destination {
				cause = &PrepareError{b.Entity, b.Source.Node, b.Destination.Node, &ChangedError{"destination", b.Destination.Node}}
			}
			if now, known := t.c.peers.Process(b.Source.Node); known && now != b.Source {
				cause = &PrepareError{b.Entity, b.Source.Node, b.Destination.Node, &ChangedError{"source", b.Source.Node}}
			}
		}
	})
	return cause
}

// commit has the effect, unless there was an error before it, and lets everything
// go that is not needed afterwards.
func (t *transfer) commit(ctx context.Context, before error, commit func(context.Context) error) error {
	err := before
	if err == nil {
		err = commit(ctx)
		if err == nil || !errors.Is(err, ErrNotCommitted) {
			// Committed or not: the preparations may be the new owners' state.
			t.tidy(err != nil)
			if err != nil {
				return &UncertainError{err}
			}
			return nil
		}
	}
	t.undo(err)
	return err
}

func (t *transfer) undo(cause error) {
	t.step(func(now primitives.Instant) { t.core.undo(now, cause) })
	t.poke.Raise()
}

// tidy lets go what a commit needs no longer, of a doubtful one only what was
// captured.
func (t *transfer) tidy(doubtful bool) {
	t.step(func(now primitives.Instant) {
		t.core.tidy(now, true)
		t.core.left = t.core.left || doubtful
	})
	t.poke.Raise()
}
