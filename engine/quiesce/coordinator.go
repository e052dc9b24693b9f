package quiesce

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plexus/primitives"
)

// Peers reaches the participants of the cluster, this node's own included.
type Peers interface {
	// Call asks the participant of a node, see [Participant.Handle]. An error says
	// nothing about whether the request was carried out.
	Call(ctx context.Context, node string, op Operation, request []byte) ([]byte, error)
	// Live lists the effective live nodes in order of their ids.
	Live() []string
}

// Plan is what a hold is to do.
type Plan struct {
	Scope Scope
	// Intake holds the sources first and closes the gates when their work has
	// drained: the gates of the scope stand between that work and its end.
	Intake bool
	// Freeze publishes the freeze of the scope once it is at rest.
	Freeze bool
}

// Coordinator holds on behalf of one process, which leads.
type Coordinator struct {
	world    primitives.World
	settings Settings
	self     Process
	peers    Peers

	group    *primitives.Group
	lock     *primitives.Mutex // guards what follows; nothing waits under it
	sequence uint64
	active   []uint64 // ascending
}

// NewCoordinator returns the coordinator of one process.
func NewCoordinator(w primitives.World, s Settings, self Process, peers Peers) *Coordinator {
	return &Coordinator{world: w, settings: s, self: self, peers: peers, lock: primitives.NewMutex(w)}
}

// Start lets the coordinator hold. Its tasks end with ctx or Stop; the loss of
// leadership ends none of them, because they have gates to open.
func (c *Coordinator) Start(ctx context.Context) { c.group = primitives.NewGroup(ctx, c.world) }

// Stop ends the tasks. What is still held opens by its leases.
func (c *Coordinator) Stop(ctx context.Context) error {
	c.group.Cancel(primitives.ErrClosed)
	err := c.group.Wait(ctx)
	if errors.Is(err, primitives.ErrClosed) {
		return nil
	}
	return err
}

// Hold is a hold that is engaged and at rest on every node that was live when it
// began. Whoever has it must release it.
type Hold struct {
	Scope Scope
	c     *Coordinator
	id    ID

	lock  *primitives.Mutex // guards the core; nothing waits under it
	core  *operation
	poke  *primitives.Notice // the core was told something
	fresh *primitives.Notice // the core got somewhere
	over  *primitives.Event
	fails *primitives.Event
	calls map[uint64]context.CancelFunc // by attempt
	heard *primitives.Queue[heard]
}

// heard is the end of a call.
type heard struct {
	call   call
	answer *answer
	err    error
}

// Hold engages a scope on every live node and waits until it is at rest. On an
// error, which is a *HoldError or that of ctx, everything was released or will
// open by its lease.
//
// A node that does not answer is waited for until it counts as lost; the hold then
// begins again without it.
func (c *Coordinator) Hold(ctx context.Context, p Plan) (*Hold, error) {
	p.Scope = p.Scope.Canonical()
	for {
		h, err := c.attempt(ctx, p)
		if node := unanswering(err); node == "" || !c.departs(ctx, node) {
			return h, err
		}
		heldWithoutLost.Hit()
	}
}

// unanswering names the node that did not answer, "" for any other outcome.
func unanswering(err error) string {
	var failure *HoldError
	var refusal *Refusal
	if !errors.As(err, &failure) || errors.As(err, &refusal) {
		return ""
	}
	return failure.Node
}

// departs waits for a node to count as lost, no longer than for an answer of it.
func (c *Coordinator) departs(ctx context.Context, node string) bool {
	deadline := c.world.Clock().Now().Add(c.settings.Request)
	for slices.Contains(c.peers.Live(), node) {
		if !c.world.Clock().Now().Before(deadline) || primitives.Sleep(ctx, c.world, c.settings.Poll) != nil {
			return false
		}
	}
	return true
}

// attempt holds with the nodes that are live now.
func (c *Coordinator) attempt(ctx context.Context, p Plan) (*Hold, error) {
	var intake *Hold
	deadline := primitives.Never
	if p.Intake && len(p.Scope.Sources) > 0 && !p.Scope.Whole {
		var err error
		if intake, err = c.hold(ctx, p.Scope.intake(), false, deadline); err != nil {
			return nil, err
		}
		defer intake.release()
		deadline = intake.core.deadline
	}
	return c.hold(ctx, p.Scope, p.Freeze, deadline)
}

// hold drives one operation until it is at rest.
func (c *Coordinator) hold(ctx context.Context, scope Scope, freeze bool, deadline primitives.Instant) (*Hold, error) {
	live := c.peers.Live()
	if len(live) == 0 {
		return nil, &HoldError{Domain: scope.Domain, Err: errNobody}
	}
	if err := c.lock.Lock(ctx); err != nil {
		return nil, err
	}
	c.sequence++
	id := ID{c.self.Node, c.self.Epoch, c.sequence}
	c.active = append(c.active, id.Sequence)
	c.lock.Unlock()
	h := &Hold{
		Scope: scope, c: c, id: id,
		lock: primitives.NewMutex(c.world), core: newOperation(c.settings, id, scope, live, freeze),
		poke: primitives.NewNotice(c.world), fresh: primitives.NewNotice(c.world), over: primitives.NewEvent(c.world),
		fails: primitives.NewEvent(c.world), calls: map[uint64]context.CancelFunc{},
	}
	h.core.deadline = deadline
	h.heard = primitives.NewQueue[heard](c.world, len(h.core.cells))
	c.group.Go("hold coordinator", h.run)
	if err := h.await(ctx, func(o *operation) bool { return o.stage == stageRest }); err != nil {
		h.release()
		return nil, err
	}
	return h, nil
}

// run is the task of a hold: it asks whom the core says and tells it what came of
// it, until every gate is open.
func (h *Hold) run(ctx context.Context) error {
	defer h.end()
	for {
		var wake primitives.Instant
		over := false
		h.step(func(now primitives.Instant) {
			var calls []call
			calls, wake = h.core.next(now)
			h.giveUp()
			for _, k := range calls {
				h.start(k)
			}
			over = h.core.stage == stageOver
			if h.core.failure != nil {
				h.fails.Set()
			}
		})
		h.fresh.Raise()
		if over {
			return nil
		}
		var end heard
		fired, err := primitives.Select(ctx, h.c.world, h.heard.OnRecv(&end), h.poke.OnRaise(), primitives.AtCase(h.c.world, wake))
		if err != nil {
			return nil // the process stops
		}
		if fired == 0 {
			h.step(func(now primitives.Instant) {
				delete(h.calls, end.call.attempt)
				h.core.answered(now, &end.call, end.answer, end.err)
			})
		}
	}
}

// end forgets the hold.
func (h *Hold) end() {
	c := h.c
	if c.lock.Lock(context.Background()) == nil { // never held across a wait
		c.active = slices.DeleteFunc(c.active, func(s uint64) bool { return s == h.id.Sequence })
		c.lock.Unlock()
	}
	h.heard.Close() // calls that still end have nobody to tell
	h.over.Set()
	h.fresh.Raise()
}

// step runs f with the core.
func (h *Hold) step(f func(now primitives.Instant)) {
	if h.lock.Lock(context.Background()) == nil { // never held across a wait
		f(h.c.world.Clock().Now())
		h.lock.Unlock()
	}
}

// giveUp cancels the calls that the core no longer waits for.
func (h *Hold) giveUp() {
	for _, attempt := range primitives.SortedKeys(h.calls) {
		if !slices.ContainsFunc(h.core.cells, func(c cell) bool { return c.attempt == attempt }) {
			h.calls[attempt]()
		}
	}
}

// start makes a call in a task of its own.
func (h *Hold) start(k call) {
	ctx, cancel := primitives.WithDeadline(h.c.group.Context(), h.c.world, k.sent.Add(h.c.settings.Request))
	h.calls[k.attempt] = cancel
	node := h.core.cells[k.cell].node
	h.c.group.Go("hold call", func(context.Context) error {
		a, err := h.c.call(ctx, node, &k)
		cancel()
		return ignoreEnd(h.heard.Send(h.c.group.Context(), heard{k, a, err}))
	})
}

// ignoreEnd drops the error of a stopping process.
func ignoreEnd(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, primitives.ErrClosed) {
		return nil
	}
	return err
}

// call asks one node.
func (c *Coordinator) call(ctx context.Context, node string, k *call) (*answer, error) {
	if err := c.lock.Lock(ctx); err != nil {
		return nil, err
	}
	if len(c.active) > 0 {
		k.request.Floor = c.active[0]
	}
	c.lock.Unlock()
	b, err := encodeRequest(&k.request)
	if err != nil {
		return nil, err
	}
	if b, err = c.peers.Call(ctx, node, k.op, b); err != nil {
		return nil, fmt.Errorf("%s: %w", k.op, err)
	}
	a, err := decodeAnswer(b)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", k.op, err)
	}
	return a, nil
}

// await waits until the core is where the condition says, or gave up.
func (h *Hold) await(ctx context.Context, reached func(*operation) bool) error {
	for {
		var failure *HoldError
		done, over := false, h.over.IsSet()
		h.step(func(primitives.Instant) { done, failure = reached(h.core), h.core.failure })
		switch {
		case failure != nil:
			return failure
		case done:
			return nil
		case over:
			return primitives.ErrClosed
		}
		if err := h.fresh.Wait(ctx); err != nil {
			return err
		}
	}
}

// ID is the identity of the hold.
func (h *Hold) ID() ID { return h.id }

// Freeze returns the number of a node's freeze and the epoch of the process that
// holds there; false for a node that the hold does not cover.
func (h *Hold) Freeze(node string) (freeze uint64, epoch [16]byte, covered bool) {
	h.step(func(primitives.Instant) {
		for i := range h.core.cells {
			if c := &h.core.cells[i]; c.node == node {
				freeze, epoch, covered = c.freeze, c.epoch, true
			}
		}
	})
	return freeze, epoch, covered
}

// Err is nil while the hold is certain to be engaged everywhere.
func (h *Hold) Err() (err error) {
	h.step(func(primitives.Instant) {
		if h.core.failure != nil {
			err = h.core.failure
		}
	})
	return err
}

// OnFail is ready once the hold is not certain to be engaged any more; Err says
// why.
func (h *Hold) OnFail() primitives.Case { return h.fails.OnSet() }

// Confirm renews every lease a last time: the effect and what follows it have one
// whole lease from here, and the effect should begin within half of it. After an
// error the effect must not happen.
func (h *Hold) Confirm(ctx context.Context) error {
	h.step(h.core.settle)
	h.poke.Raise()
	return h.await(ctx, func(o *operation) bool { return o.stage == stageFinal })
}

// Release asks every node to open and waits until they did, or ctx ends; the
// asking goes on. It may be called more than once.
func (h *Hold) Release(ctx context.Context) error {
	h.release()
	return h.over.Wait(ctx)
}

func (h *Hold) release() {
	h.step(h.core.release)
	h.poke.Raise()
}
