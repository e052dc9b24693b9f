package exchange

import (
	"plexus/engine/ack"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// phase is where a dispatch stands.
type phase uint8

const (
	phaseWaiting    phase = iota + 1 // for its channel, a position, or a process to talk to
	phaseGranting                    // asks for a grant
	phaseSending                     // holds a grant
	phaseChecking                    // something was lost: asks for the status
	phaseReceived                    // waits for the verdict
	phaseCancelling                  // asks for the cancellation
	phaseAdmitted                    // rows are open
	phaseOver
)

// undecided says that the delivery has an identity and no verdict yet.
func (p phase) undecided() bool { return p >= phaseGranting && p <= phaseCancelling }

// question is what a dispatch asks its receiver, in a message with others.
type question uint8

const (
	askGrant question = iota
	askStatus
	askCancel
	questions
)

// sender is the half that offers batches: channels, dispatches before their
// verdict, and the shares of rows that other nodes work on. It is pure: instants
// come in, what to ask comes out, and nothing here waits.
type sender struct {
	limits Limits
	tap    observe.Tap
	series *series

	peers     map[string]*outPeer
	positions positions
	admitting int         // dispatches that hold an admission position
	waiting   []*dispatch // for a position, in order
	live      int         // entries of every peer
	closed    bool
	sweptAt   primitives.Instant
	// woken are dispatches whose task has something to look at.
	woken []*dispatch
	// asking are peers with questions that can be sent.
	asking []*outPeer
}

// outPeer is what this node sends to one other node.
type outPeer struct {
	node         string
	process      Process // the last one known; zero before the first
	member       bool
	unreachable  bool // for so long that others may have taken its place
	incarnations uint64
	channels     map[channelKey]*outChannel
	entries      map[Identity]*dispatch
	first, last  *dispatch // entries in the order of their identities
	asks         [questions]asks
	noticed      bool // in the asking list
}

type channelKey struct {
	role                  Role
	domain, relay, branch string
}

// outChannel is an ordered path. Its dispatch slot is held from the first try to
// the verdict.
type outChannel struct {
	key         channelKey
	process     Process            // that the incarnation is of
	incarnation uint64             // zero: the next dispatch opens one
	next        uint64             // sequence
	used        primitives.Instant // last verdict of the receiver
	holder      *dispatch
	queue       []*dispatch
}

// dispatch is one batch on its way: before the verdict on behalf of a task of its
// own, after it as the entry of its rows' shares.
type dispatch struct {
	ch    Channel
	peer  *outPeer
	chain *outChannel
	grant grant // its identity and registration are those of the present try
	body  *Body
	acks  *ack.Set       // until admission
	share *ack.Forwarded // from admission on

	phase      phase
	to         Process
	began      primitives.Instant
	deadline   primitives.Instant // of the admission
	retryAt    primitives.Instant
	tries      int
	grantUntil primitives.Instant
	positioned bool
	sent       bool            // bytes of the body may be over there
	pending    [questions]bool // in an ask list, or on its way
	cause      Cause
	cancelBy   primitives.Instant

	number uint64 // of the last progress report
	heard  bool   // since the last sweep
	silent int    // sweeps in a row

	done   bool // the verdict is for the task to take
	result *NotAdmitted

	before, after *dispatch // in the peer's entries
	wake          func()
}

func newSender(l Limits, tap observe.Tap, series *series) *sender {
	return &sender{limits: l, tap: tap, series: series, peers: map[string]*outPeer{}, positions: positions{most: l.Deliveries, generations: l.Generations}}
}

func (s *sender) peer(node string) *outPeer {
	p := s.peers[node]
	if p == nil {
		p = &outPeer{node: node, channels: map[channelKey]*outChannel{}, entries: map[Identity]*dispatch{}}
		s.peers[node] = p
	}
	return p
}

// offer takes a batch in. Its task then follows next.
func (s *sender) offer(now primitives.Instant, d *dispatch) {
	d.phase, d.began, d.deadline = phaseWaiting, now, now.Add(s.limits.Admission)
	d.peer = s.peer(d.ch.Node)
	if s.closed {
		s.refuse(now, d, Closed, nil, true)
		return
	}
	key := channelKey{d.ch.Role, d.ch.Domain, d.ch.Relay, d.ch.Branch}
	c := d.peer.channels[key]
	if c == nil {
		c = &outChannel{key: key}
		d.peer.channels[key] = c
	}
	d.chain = c
	if c.holder != nil {
		channelBusy.Hit()
		c.queue = append(c.queue, d)
		return
	}
	c.holder = d
	s.advance(now, d)
}

// advance brings the holder of a channel's slot as far as it can come without an
// answer.
func (s *sender) advance(now primitives.Instant, d *dispatch) {
	if !d.positioned {
		if len(s.waiting) > 0 || !s.position(d) {
			positionsFull.Hit()
			s.waiting = append(s.waiting, d)
			return
		}
	}
	if !d.peer.member {
		s.refuse(now, d, Refused, &Refusal{Class: Rejected, Subject: "member", Detail: "node " + d.ch.Node + " is not a member"}, true)
		return
	}
	if d.peer.process.IsZero() {
		peerUnknown.Hit()
		return // follow looks again
	}
	s.identify(now, d)
	s.ask(d, askGrant, now)
}

// position takes what a dispatch needs before it may ask.
func (s *sender) position(d *dispatch) bool {
	if s.admitting >= s.limits.Admissions {
		return false
	}
	if d.acks != nil {
		r, ok := s.positions.take(d)
		if !ok {
			return false
		}
		d.grant.registration = r
	}
	s.admitting++
	d.positioned = true
	return true
}

// identify gives the next identity of the channel to its holder.
func (s *sender) identify(now primitives.Instant, d *dispatch) {
	c, p := d.chain, d.peer
	idle := c.used != 0 && now.Sub(c.used) >= s.limits.Rotation
	if c.incarnation == 0 || c.process != p.process || idle {
		channelRotated.HitIf(idle)
		p.incarnations++
		c.incarnation, c.next, c.process = p.incarnations, 1, p.process
	}
	d.grant.id = Identity{c.incarnation, c.next}
	d.pending = [questions]bool{} // what is on its way asks about another identity
	d.to, d.phase, d.sent, d.number, d.heard, d.silent = p.process, phaseGranting, false, 0, false, 0
	p.add(d)
	s.count(1)
	s.observe(d, observe.Event{Kind: observe.DeliveryOffered, Count: d.grant.rows, Text: d.ch.Branch})
}

// ask puts a question into a message of its kind, from the instant on. The same
// question on its way is enough.
func (s *sender) ask(d *dispatch, q question, at primitives.Instant) {
	d.retryAt = at
	if !d.pending[q] {
		d.pending[q] = true
		d.peer.asks[q].add(d)
	}
	s.notice(d.peer)
}

func (s *sender) notice(p *outPeer) {
	if !p.noticed {
		p.noticed = true
		s.asking = append(s.asking, p)
	}
}

func (s *sender) wake(d *dispatch) { s.woken = append(s.woken, d) }

// again plans the next try after a failure.
func (s *sender) again(now primitives.Instant, d *dispatch) primitives.Instant {
	wait := s.limits.RetryMax
	if shift := d.tries; shift < 16 {
		wait = min(wait, s.limits.RetryMin<<shift)
	}
	d.tries++
	return now.Add(wait)
}

// action is what the task of a dispatch does next.
type action uint8

const (
	actWait action = iota
	actSend
	actEnd
)

// next tells the task of a dispatch what to do, and until when to wait.
func (s *sender) next(now primitives.Instant, d *dispatch) (action, primitives.Instant) {
	switch {
	case d.done:
		return actEnd, 0
	case d.phase == phaseCancelling:
		if now.Before(d.cancelBy) {
			return actWait, d.cancelBy
		}
		cancelUnanswered.Hit()
		s.lost(now, d, Unknown, false)
		return actEnd, 0
	case !now.Before(d.deadline):
		fiveMinutes.Hit()
		s.cancel(now, d, GaveUp)
		if d.done {
			return actEnd, 0
		}
		return actWait, d.cancelBy
	case d.phase == phaseSending && !now.Before(d.grantUntil):
		d.phase = phaseGranting
		s.ask(d, askGrant, now)
	case d.phase == phaseSending:
		d.sent = true
		return actSend, d.deadline
	}
	return actWait, d.deadline
}

// abandon says that the caller gives the dispatch up.
func (s *sender) abandon(now primitives.Instant, d *dispatch) {
	if !d.done && d.phase != phaseCancelling {
		s.cancel(now, d, Cancelled)
	}
}

// cancel lets cancellation race admission. Without a byte of the body over there
// nobody can admit it: then cancellation has won, and a dead owner holds nobody up.
func (s *sender) cancel(now primitives.Instant, d *dispatch, cause Cause) {
	switch {
	case d.phase == phaseWaiting:
		s.refuse(now, d, cause, nil, true)
		return
	case !d.sent:
		cancelledUnsent.Hit()
		s.lost(now, d, cause, true)
		return
	case d.peer.unreachable:
		cancelUnreachable.Hit()
		s.lost(now, d, Unknown, false)
		return
	}
	d.phase, d.cause, d.tries = phaseCancelling, cause, 0
	d.cancelBy = min(now.Add(s.limits.Request), d.deadline.Add(s.limits.Request))
	s.unask(d)
	s.ask(d, askCancel, now)
	s.wake(d)
}

// unask takes a question back that is not on its way yet.
func (s *sender) unask(d *dispatch) {
	for q := range d.peer.asks {
		if d.pending[q] && d.peer.asks[q].remove(d) {
			d.pending[q] = false
		}
	}
}

// lost ends a dispatch without the word of its receiver: the incarnation of its
// channel ends with it, and the next one fences whatever is left of it.
func (s *sender) lost(now primitives.Instant, d *dispatch, cause Cause, again bool) {
	d.chain.incarnation = 0
	s.refuse(now, d, cause, nil, again)
}

// refuse ends a dispatch that was not admitted. Its shares fail, except those of
// a cancellation by the caller.
func (s *sender) refuse(now primitives.Instant, d *dispatch, cause Cause, r *Refusal, again bool) {
	invariant.That(d.phase != phaseAdmitted && d.phase != phaseOver, "E1: a delivery has one verdict")
	if d.phase != phaseWaiting { // it had an identity
		s.observe(d, observe.Event{Kind: observe.DeliveryDecided, Text: cause.String(), Count: int(boolByte(again))})
	}
	e := &NotAdmitted{Channel: d.ch, Cause: cause, Refusal: r, Again: again}
	if d.acks != nil && cause != Cancelled {
		e.Bare = d.acks.Bare()
		d.acks.Fail(now, reasonOf(e))
		d.acks = nil
	}
	s.forget(d)
	s.end(now, d, e)
}

// end gives the verdict to the task and the slot to the next.
func (s *sender) end(now primitives.Instant, d *dispatch, e *NotAdmitted) {
	if d.positioned {
		d.positioned = false
		s.admitting--
	} else {
		s.waiting = without(s.waiting, d)
	}
	d.result, d.done, d.body = e, true, nil
	s.series.admissionWait.Add(int(now.Sub(d.began)))
	s.wake(d)
	if c := d.chain; c != nil {
		if c.holder == d {
			c.holder = nil
			if len(c.queue) > 0 {
				c.holder, c.queue = c.queue[0], c.queue[1:]
				s.advance(now, c.holder)
			}
		} else {
			c.queue = without(c.queue, d)
		}
	}
	s.admitWaiting(now)
}

// admitWaiting gives free positions to those who wait for them.
func (s *sender) admitWaiting(now primitives.Instant) {
	for len(s.waiting) > 0 && !s.closed && s.position(s.waiting[0]) {
		d := s.waiting[0]
		s.waiting = s.waiting[1:]
		s.advance(now, d)
	}
}

func without(list []*dispatch, d *dispatch) []*dispatch {
	for i, other := range list {
		if other == d {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// unlist takes the present identity of a dispatch off its peer's entries.
func (s *sender) unlist(d *dispatch) {
	if d.phase != phaseWaiting && d.phase != phaseOver {
		s.unask(d)
		d.peer.remove(d)
		s.count(-1)
	}
	d.phase = phaseWaiting
}

// forget unlists a dispatch for good and frees its registration.
func (s *sender) forget(d *dispatch) {
	s.unlist(d)
	if d.grant.registration.Generation != 0 {
		s.positions.give(d.grant.registration)
		d.grant.registration = Registration{}
	}
	d.phase = phaseOver
}

func (s *sender) count(n int) {
	s.live += n
	s.series.active.Add(n)
}

func (s *sender) observe(d *dispatch, e observe.Event) {
	if s.tap == nil {
		return
	}
	e.Domain, e.Name, e.Peer, e.Run = d.ch.Domain, d.ch.Relay, d.ch.Node, number(d.to.Epoch)
	e.Tree, e.ID = d.grant.id.Incarnation, d.grant.id.Sequence
	if d.grant.registration.Generation != 0 {
		e.Hash = d.grant.registration.Number(0)
	}
	e.Depth = int(d.ch.Role)
	s.tap.Observe(e)
}

// add and remove keep the entries of a peer in the order of their identities.
func (p *outPeer) add(d *dispatch) {
	invariant.That(p.entries[d.grant.id] == nil, "E2: an identity is used once")
	p.entries[d.grant.id] = d
	d.before, d.after = p.last, nil
	if p.last != nil {
		p.last.after = d
	} else {
		p.first = d
	}
	p.last = d
}

func (p *outPeer) remove(d *dispatch) {
	delete(p.entries, d.grant.id)
	if d.before != nil {
		d.before.after = d.after
	} else {
		p.first = d.after
	}
	if d.after != nil {
		d.after.before = d.before
	} else {
		p.last = d.before
	}
	d.before, d.after = nil, nil
}
