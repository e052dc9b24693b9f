package quiesce

import (
	"fmt"
	"slices"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	drainMoved      = invariant.Sometimes("work moved between the two looks of a drain")
	heldWithoutLost = invariant.Sometimes("a hold began again without a node that was declared lost")
	callRepeated    = invariant.Sometimes("a request of a hold was repeated after a failure")
	holdLapsed      = invariant.Sometimes("a coordinator found its hold lapsed")
	openedByLease   = invariant.Sometimes("a node that answered no release opened by its lease")
)

// stage is where an operation stands.
type stage uint8

const (
	stageEngage  stage = iota // asking every node to engage
	stageDrain                // flushing and looking until everything is at rest
	stageFreeze               // asking every node for its freeze
	stageRest                 // renewing leases
	stageConfirm              // renewing every lease a last time
	stageFinal                // renewing nothing any more
	stageRelease              // asking every node to open
	stageOver
)

// cell is what the operation knows of one node.
type cell struct {
	node   string
	asked  bool // to engage
	held   bool
	epoch  [16]byte
	lease  primitives.Instant // when the newest confirmed engage was sent
	last   primitives.Instant // when the newest engage was sent
	opened bool

	flush  uint64 // newest generation requested
	round  uint64 // of the newest look
	look   Look
	freeze uint64

	attempt uint64 // names the call in flight; 0 without one
	since   primitives.Instant
	failing bool // since is when the calls began to fail
	again   primitives.Instant
}

// call is one request to one node.
type call struct {
	cell    int
	attempt uint64
	op      Operation
	sent    primitives.Instant
	request request
}

// operation is the core of a coordinator: one hold from engage to release. It
// decides whom to ask what, and what the answers mean.
type operation struct {
	settings Settings
	id       ID
	scope    Scope
	freeze   bool
	cells    []cell

	stage    stage
	attempts uint64
	deadline primitives.Instant // of the drain; Never until it begins
	confirm  primitives.Instant // leases sent before it do not count

	generation uint64
	round      uint64
	roundAt    primitives.Instant // the round begins
	clean      []uint64           // admission sequences of the last clean look
	cleanIn    uint64             // its generation

	failure *HoldError
}

func newOperation(s Settings, id ID, scope Scope, nodes []string, freeze bool) *operation {
	o := &operation{settings: s, id: id, scope: scope, freeze: freeze, deadline: primitives.Never}
	for _, node := range nodes {
		o.cells = append(o.cells, cell{node: node})
	}
	return o
}

// next returns the calls that are due and when to look again.
func (o *operation) next(now primitives.Instant) (calls []call, wake primitives.Instant) {
	o.check(now)
	o.advance(now)
	wake = primitives.Never
	sooner := func(at primitives.Instant) { wake = min(wake, at) }
	for i := range o.cells {
		c := &o.cells[i]
		if c.attempt != 0 {
			continue
		}
		op, due := o.need(now, c, sooner)
		switch {
		case !due:
		case now.Before(c.again):
			sooner(c.again)
		default:
			calls = append(calls, o.ask(now, i, op))
		}
	}
	switch o.stage {
	case stageDrain, stageFreeze:
		sooner(o.deadline)
	}
	if o.stage < stageRelease {
		for i := range o.cells {
			if c := &o.cells[i]; c.held {
				sooner(c.lease.Add(o.relied()))
			}
		}
	}
	return calls, wake
}

// need says what a node is to be asked, if anything, or when that will be.
func (o *operation) need(now primitives.Instant, c *cell, later func(primitives.Instant)) (Operation, bool) {
	if o.stage == stageRelease {
		return HoldRelease, c.asked && !c.opened
	}
	if o.stage == stageOver || o.stage == stageFinal {
		return 0, false
	}
	switch renew := c.lease.Add(o.settings.renewAfter()); {
	case !c.held, o.stage == stageConfirm && c.lease.Before(o.confirm), !now.Before(renew):
		return HoldEngage, true
	default:
		later(renew)
	}
	switch {
	case o.stage != stageDrain && o.stage != stageFreeze:
		return 0, false
	case c.flush < o.generation:
		return FlushRequest, true
	case c.round >= o.round:
		return 0, false
	case now.Before(o.roundAt):
		later(o.roundAt)
		return 0, false
	}
	return DrainStatus, true
}

// ask makes a call.
func (o *operation) ask(now primitives.Instant, i int, op Operation) call {
	c := &o.cells[i]
	o.attempts++
	c.attempt = o.attempts
	r := request{ID: o.id}
	switch op {
	case HoldEngage:
		c.asked, c.last = true, now
		r.Scope, r.Lease = o.scope, o.settings.Lease
	case FlushRequest:
		r.Generation = o.generation
	case DrainStatus:
		r.Freeze = o.stage == stageFreeze
	}
	return call{cell: i, attempt: c.attempt, op: op, sent: now, request: r}
}

// answered takes the answer to a call. An error says that nothing is known.
func (o *operation) answered(now primitives.Instant, k *call, a *answer, err error) {
	c := &o.cells[k.cell]
	if c.attempt != k.attempt {
		return // given up: the hold is being released
	}
	c.attempt = 0
	if err != nil {
		o.unanswered(now, k, c, err)
		return
	}
	if a.Refused != nil {
		o.refused(now, k, c, a.Refused)
		return
	}
	c.failing = false
	if c.held && c.epoch != a.Epoch && k.op != HoldRelease {
		o.lapse(now, fmt.Sprintf("node '%s' changed process", c.node))
		return
	}
	switch k.op {
	case HoldEngage:
		c.held, c.epoch, c.lease = true, a.Epoch, k.sent
	case HoldRelease:
		c.opened = true
	case FlushRequest:
		c.flush = k.request.Generation
	case DrainStatus:
		c.round, c.look, c.freeze = o.round, a.Look, a.Freeze
	}
}

// unanswered repeats a call until its bound.
func (o *operation) unanswered(now primitives.Instant, k *call, c *cell, err error) {
	if !c.failing {
		c.failing, c.since = true, k.sent
	}
	callRepeated.Hit()
	c.again = now.Add(o.settings.Poll)
	if o.stage < stageRelease && now.Sub(c.since) >= o.settings.Request {
		o.fail(now, c.node, err)
	}
}

// refused takes a participant's no.
func (o *operation) refused(now primitives.Instant, k *call, c *cell, r *Refusal) {
	switch {
	case k.op == HoldRelease:
		// A later run of this node speaks for its holds, or the message is not
		// understood: the lease is what opens the gate.
		c.again = now.Add(o.settings.Request)
	case r.Reason == NotReady:
		o.unanswered(now, k, c, r)
	case c.held && (r.Reason == Ended || r.Reason == Unknown):
		o.lapse(now, fmt.Sprintf("node '%s' answers: %v", c.node, r))
	default:
		if !c.held && r.Reason != Ended {
			c.asked = false // it closed nothing
		}
		o.fail(now, c.node, r)
	}
}

// check looks whether a lease or the deadline has run out.
func (o *operation) check(now primitives.Instant) {
	if o.stage == stageRelease {
		for i := range o.cells {
			if c := &o.cells[i]; c.asked && !c.opened && !now.Before(c.last.Add(o.settings.Lease+o.settings.Request)) {
				openedByLease.Hit()
				c.opened = true
			}
		}
		return
	}
	for i := range o.cells {
		if c := &o.cells[i]; c.held && !now.Before(c.lease.Add(o.relied())) {
			o.lapse(now, fmt.Sprintf("node '%s' did not renew its lease in time", c.node))
			return
		}
	}
	if (o.stage == stageDrain || o.stage == stageFreeze) && !now.Before(o.deadline) {
		o.fail(now, "", &DrainError{Domain: o.scope.Domain, After: o.settings.Timeout, Blockers: merge(o.looks())})
	}
}

// relied is how long the operation goes on without a renewal. The last lease is
// used up: what was decided under it may take as long as the gates stay closed.
func (o *operation) relied() time.Duration {
	if o.stage == stageFinal {
		return o.settings.Lease
	}
	return o.settings.trusted()
}

func (o *operation) looks() (looks []Look) {
	for i := range o.cells {
		looks = append(looks, o.cells[i].look)
	}
	return looks
}

// all reports whether the condition holds for every node.
func (o *operation) all(f func(c *cell) bool) bool {
	return !slices.ContainsFunc(o.cells, func(c cell) bool { return !f(&c) })
}

// advance goes on to the next stage when every node is where this one ends.
func (o *operation) advance(now primitives.Instant) {
	switch o.stage {
	case stageEngage:
		if o.all(func(c *cell) bool { return c.held }) {
			o.stage, o.generation, o.round, o.roundAt = stageDrain, 1, 1, now
			o.deadline = min(o.deadline, now.Add(o.settings.Timeout))
		}
	case stageDrain, stageFreeze:
		if o.all(func(c *cell) bool { return c.round == o.round }) {
			o.evaluate(now)
			o.round++
			o.roundAt = max(now, o.roundAt.Add(o.settings.Poll))
		}
	case stageConfirm:
		if o.all(func(c *cell) bool { return !c.lease.Before(o.confirm) }) {
			o.stage = stageFinal
		}
	case stageRelease:
		if o.all(func(c *cell) bool { return c.opened || !c.asked }) {
			o.stage = stageOver
		}
	}
}

// evaluate judges a look at every node. All answers of one round precede all
// questions of the next, so work that hides from a look has to be admitted
// somewhere before the next, and shows in the sequences (Q5).
func (o *operation) evaluate(now primitives.Instant) {
	flushed := o.all(func(c *cell) bool { return c.look.Flushed >= o.generation })
	empty := o.all(func(c *cell) bool { return len(c.look.Blockers) == 0 })
	if o.stage == stageFreeze {
		if !empty {
			o.stage, o.clean = stageDrain, nil
			o.generation++
		} else if o.all(func(c *cell) bool { return c.freeze != 0 }) {
			o.stage = stageRest
		}
		return
	}
	if !flushed {
		return
	}
	if !empty {
		// What arrived behind this generation needs another.
		o.clean = nil
		o.generation++
		return
	}
	sequences := make([]uint64, 0, len(o.cells))
	for i := range o.cells {
		sequences = append(sequences, o.cells[i].look.Admitted)
	}
	if o.clean != nil && o.cleanIn < o.generation && !drainMoved.HitIf(!slices.Equal(o.clean, sequences)) {
		o.stage = stageRest
		if o.freeze {
			o.stage = stageFreeze
		}
		return
	}
	o.clean, o.cleanIn = sequences, o.generation
	o.generation++
}

// settle asks for the last renewal.
func (o *operation) settle(now primitives.Instant) {
	if o.stage == stageRest {
		o.stage, o.confirm = stageConfirm, now
		o.abandon() // a renewal in flight was sent before
	}
}

// fail gives the hold up.
func (o *operation) fail(now primitives.Instant, node string, err error) {
	if o.stage >= stageRelease {
		return
	}
	o.failure = &HoldError{Domain: o.scope.Domain, Node: node, Engagement: o.engagement(), Err: err}
	o.release(now)
}

func (o *operation) lapse(now primitives.Instant, what string) {
	holdLapsed.HitIf(o.stage < stageRelease)
	o.fail(now, "", &LapsedError{what})
}

func (o *operation) engagement() Engagement {
	is := NotEngaged
	for i := range o.cells {
		switch c := &o.cells[i]; {
		case c.held:
			return Engaged
		case c.asked:
			is = Uncertain
		}
	}
	return is
}

// release begins to open every gate that may be closed.
func (o *operation) release(now primitives.Instant) {
	if o.stage >= stageRelease {
		return
	}
	o.stage = stageRelease
	o.abandon()
	for i := range o.cells {
		o.cells[i].again = now
	}
}

// abandon lets nobody wait for the calls in flight.
func (o *operation) abandon() {
	for i := range o.cells {
		o.cells[i].attempt = 0
	}
}
