package handoff

import (
	"errors"
	"slices"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	cleanupRepeated  = invariant.Sometimes("a discard was repeated until it was answered")
	cleanupLeft      = invariant.Sometimes("a preparation was left to reconciliation")
	participantMoved = invariant.Sometimes("a node changed process during a handoff")
	requestRepeated  = invariant.Sometimes("a request of a handoff was repeated after a failure")
)

// step is where one move stands.
type step uint8

const (
	stepCapture step = iota
	stepPrepare
	stepPrepared
	stepConfirmed
)

// cell is one move.
type cell struct {
	binding Binding
	freeze  uint64
	step    step
	origins []Origin

	// Whom an unused preparation, or a capture, has to be taken away from.
	atSource, atDestination bool

	attempt uint64 // names the call in flight; 0 without one
	again   primitives.Instant
}

// call is one request to one node.
type call struct {
	cell    int
	attempt uint64
	node    string
	op      Operation
	until   primitives.Instant
	request request
}

// core prepares the moves of one plan and takes everything back that is not used.
type core struct {
	settings Settings
	cells    []cell
	deadline primitives.Instant // of the preparation; it does not move

	attempts uint64
	confirm  bool // every preparation is being confirmed
	failure  error
	cleaning bool               // what is left at the nodes goes away
	until    primitives.Instant // of the cleaning
	left     bool               // something may stay at the nodes
}

func newCore(s Settings, now primitives.Instant, cells []cell) *core {
	return &core{settings: s, deadline: now.Add(s.Lease), cells: cells}
}

// prepared reports whether every move is prepared and was confirmed after that.
func (c *core) prepared() bool {
	return !slices.ContainsFunc(c.cells, func(x cell) bool { return x.step != stepConfirmed })
}

// clean reports whether nothing is left to take away.
func (c *core) clean() bool {
	return c.cleaning && !slices.ContainsFunc(c.cells, func(x cell) bool { return x.atSource || x.atDestination })
}

// next returns the calls that are due and when to look again.
func (c *core) next(now primitives.Instant) (calls []call, wake primitives.Instant) {
	c.advance(now)
	wake = primitives.Never
	switch {
	case c.cleaning:
		wake = c.until
	case !c.prepared():
		wake = c.deadline
	}
	for i := range c.cells {
		x := &c.cells[i]
		op, node, due := c.need(x)
		switch {
		case !due || x.attempt != 0:
		case now.Before(x.again):
			wake = min(wake, x.again)
		default:
			calls = append(calls, c.ask(now, i, op, node))
		}
	}
	return calls, wake
}

// advance looks at the bounds.
func (c *core) advance(now primitives.Instant) {
	if c.cleaning {
		if !now.Before(c.until) {
			for i := range c.cells {
				x := &c.cells[i]
				c.left = cleanupLeft.HitIf(x.atSource || x.atDestination) || c.left
				x.atSource, x.atDestination, x.attempt = false, false, 0
			}
		}
		return
	}
	if !c.prepared() && !now.Before(c.deadline) {
		for i := range c.cells {
			if x := &c.cells[i]; x.step != stepConfirmed {
				c.fail(now, x, errTooSlow)
				return
			}
		}
	}
	if !c.confirm && !slices.ContainsFunc(c.cells, func(x cell) bool { return x.step != stepPrepared }) {
		c.confirm = true
	}
}

var errTooSlow = errors.New("it was not prepared within the lease of its gate")

// need says what is to be asked for a move, and whom.
func (c *core) need(x *cell) (op Operation, node string, due bool) {
	b := &x.binding
	switch {
	case c.cleaning && x.atDestination:
		return Discard, b.Destination.Node, true
	case c.cleaning:
		return Discard, b.Source.Node, x.atSource // never of a lost source
	case x.step == stepCapture:
		return Capture, b.Source.Node, true
	case x.step == stepPrepare:
		return Prepare, b.Destination.Node, true
	case x.step == stepPrepared:
		return Confirm, b.Destination.Node, c.confirm
	}
	return 0, "", false
}

// ask makes a call. Whoever may persist something is recorded before (H4).
func (c *core) ask(now primitives.Instant, i int, op Operation, node string) call {
	x := &c.cells[i]
	c.attempts++
	x.attempt = c.attempts
	r := request{Binding: x.binding}
	until := now.Add(c.settings.Request)
	switch op {
	case Capture:
		x.atSource = true
		// The destination may fetch until the preparation has to be done.
		r.Freeze, r.Within, until = x.freeze, c.deadline.Sub(now), c.deadline
	case Prepare:
		x.atDestination = true
		r.Origins, r.Within, until = x.origins, c.deadline.Sub(now), c.deadline
	}
	return call{cell: i, attempt: x.attempt, node: node, op: op, until: until, request: r}
}

// answered takes the answer to a call. An error says that nothing is known.
func (c *core) answered(now primitives.Instant, k *call, a *answer, err error) {
	x := &c.cells[k.cell]
	if x.attempt != k.attempt {
		return // given up
	}
	x.attempt = 0
	switch {
	case err != nil, a.Refused != nil && a.Refused.Reason == NotReady:
		requestRepeated.HitIf(!c.cleaning)
		cleanupRepeated.HitIf(c.cleaning)
		x.again = now.Add(c.settings.Poll)
	case k.op == Discard:
		// A refusal is an answer, too: what is committed stays, and a node whose disk
		// fails keeps it for reconciliation.
		if x.atDestination {
			x.atDestination = false
		} else {
			x.atSource = false
		}
	case a.Refused != nil:
		c.fail(now, x, c.cause(k, x, a.Refused))
	case k.op == Capture:
		for _, r := range a.Refs {
			x.origins = append(x.origins, Origin{r, k.node})
		}
		x.step = stepPrepare
	case k.op == Prepare:
		x.step = stepPrepared
	case k.op == Confirm:
		x.step = stepConfirmed
	}
}

// cause says what a refusal means.
func (c *core) cause(k *call, x *cell, r *Refusal) error {
	if r.Reason != OtherProcess {
		return r
	}
	participantMoved.Hit()
	if k.op == Capture {
		return &ChangedError{"source", x.binding.Source.Node}
	}
	return &ChangedError{"destination", x.binding.Destination.Node}
}

// fail gives the plan up for one of its moves.
func (c *core) fail(now primitives.Instant, x *cell, err error) {
	b := &x.binding
	c.undo(now, &PrepareError{b.Entity, b.Source.Node, b.Destination.Node, err})
}

// undo takes everything away that was prepared.
func (c *core) undo(now primitives.Instant, cause error) {
	if c.cleaning {
		return
	}
	c.failure = cause
	c.tidy(now, false)
}

// tidy takes away what nobody needs any more: of committed moves, the captures.
func (c *core) tidy(now primitives.Instant, committed bool) {
	if c.cleaning {
		return
	}
	c.cleaning, c.until = true, now.Add(c.settings.Lease)
	for i := range c.cells {
		x := &c.cells[i]
		x.attempt, x.again = 0, now
		if committed {
			x.atDestination = false
		}
	}
}
