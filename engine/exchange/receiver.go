package exchange

import (
	"plexus/engine/ack"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

// stage is where an arriving delivery stands.
type stage uint8

const (
	stageHeld      stage = iota + 1 // there is no room yet
	stageGranted                    // room is reserved for a while
	stageReceiving                  // bytes arrive
	stageReceived                   // the body waits for its task
	stageAccepting                  // the graph decides
	stageAdmitted                   // rows are open, or their reports on the way
	stageOver
)

// receiver is the half that takes batches in: what every sender's channels have
// decided, deliveries before their verdict, and the watches of their rows. Like
// the sender it is pure.
type receiver struct {
	limits Limits
	self   string
	tap    observe.Tap
	series *series

	known    map[string]Process // by node: members, zero while no process is known
	peers    map[string]*inPeer
	budget   budget
	held     []*inbound // in the order of asking
	inbounds int        // before their verdict
	channels int
	ledgers  map[string]*ack.Ledger
	closed   bool
	// hinted says that a held delivery found room: its sender should hear of it.
	hinted bool
	// reporting are senders with reports to send.
	reporting []*inPeer
}

// inPeer is one process that sends to this node.
type inPeer struct {
	process     Process
	channels    map[uint64]*inChannel // by incarnation
	current     map[channelKey]uint64
	first, last *inbound // everything without an end, in order
	outcomes    outbox[answer]
	reports     outbox[report]
	gone        bool
	started     bool // its reporters run
	noticed     bool
	wake        func()
}

// inChannel is what is known of one incarnation of a channel: its watermark.
type inChannel struct {
	incarnation uint64
	key         channelKey
	keyed       bool
	decided     uint64 // sequence of the last verdict
	last        answer // that verdict
	content     *grant // what was decided; nil when it was cancelled unseen
	live        *inbound
	watches     int
	used        primitives.Instant
}

// inbound is one delivery.
type inbound struct {
	peer    *inPeer
	channel *inChannel
	grant   grant
	layout  *Layout
	relay   relayKey
	stage   stage
	asked   primitives.Instant // held: when the sender last asked
	until   primitives.Instant // granted: validity
	need    int64              // reserved for the body
	watch   int64              // reserved for the watch
	hint    bool
	// received is the body, from its receipt to the verdict.
	received []byte
	note     []byte

	cancelled bool   // while the graph decides
	stop      func() // ends the graph's decision; set with stageAccepting
	waiters   []func()
	tree      *ack.Tree
	early     []report // before the verdict
	open      int      // rows without an outcome
	unsent    int      // reports that the sender has not confirmed
	number    uint64   // of the last progress report
	told      primitives.Instant

	before, after *inbound
}

func newReceiver(l Limits, self string, tap observe.Tap, series *series) *receiver {
	return &receiver{
		limits: l, self: self, tap: tap, series: series, known: map[string]Process{}, peers: map[string]*inPeer{},
		budget: newBudget(l.ReceiveMemory, l.WatchMemory), ledgers: map[string]*ack.Ledger{},
	}
}

func refuseWith(id Identity, class Class, subject, detail string) answer {
	return answer{id: id, state: stateRefused, refusal: &Refusal{Class: class, Subject: subject, Detail: detail}}
}

// from returns the sender of a question, if it is the run of its node that counts.
func (r *receiver) from(now primitives.Instant, process Process) (*inPeer, *Refusal) {
	if r.closed {
		return nil, &Refusal{Class: NotReady, Subject: "exchange", Detail: "the node is stopping"}
	}
	known, member := r.known[process.Node]
	if !member {
		return nil, &Refusal{Class: NotReady, Subject: "member", Detail: "the sender is not known as a member"}
	}
	if known != process && known.Newer(process) {
		return nil, &Refusal{Class: Rejected, Subject: "run", Detail: "a newer process of the sender is known"}
	}
	p := r.peers[process.Node]
	if p != nil && p.process == process {
		return p, nil
	}
	if p != nil {
		if p.process.Newer(process) {
			return nil, &Refusal{Class: Rejected, Subject: "run", Detail: "a newer process of the sender is known"}
		}
		senderReplaced.Hit()
		r.drop(now, p)
	}
	p = &inPeer{process: process, channels: map[uint64]*inChannel{}, current: map[channelKey]uint64{}}
	r.peers[process.Node] = p
	return p, nil
}

// ask answers a grant request. layout is that of the relay here, or refusal why
// there is none.
func (r *receiver) ask(now primitives.Instant, process Process, g *grant, layout *Layout, refusal *Refusal) answer {
	p, out := r.from(now, process)
	if out != nil {
		return answer{id: g.id, state: stateRefused, refusal: out}
	}
	key := channelKey{g.role, g.domain, g.relay, g.branch}
	c := p.channels[g.id.Incarnation]
	if c != nil {
		c.used = now
		if a, known := r.repeated(now, p, c, key, g); known {
			return a
		}
	} else if g.id.Sequence != 1 {
		return r.refused(p, g, Failed, "sequence", "an unknown channel begins with 1")
	}
	current := p.current[key]
	switch {
	case current > g.id.Incarnation:
		return r.refused(p, g, Failed, "incarnation", "the channel has a newer one")
	case current != 0 && current != g.id.Incarnation && !r.supersede(now, p, key, g.id.Incarnation):
		return answer{id: g.id, state: stateHeld} // until that verdict is known
	case refusal != nil:
		return r.refused(p, g, refusal.Class, refusal.Subject, refusal.Detail)
	case layout.Fingerprint != g.schema:
		return r.refused(p, g, Failed, "schema", "the relay has another schema here")
	case g.length > r.limits.Body:
		return r.refused(p, g, Failed, "length", "the body is too large")
	case r.inbounds >= r.limits.Admissions:
		positionsFull.Hit()
		return answer{id: g.id, state: stateHeld}
	case c == nil && r.channels >= r.limits.Channels:
		watermarksFull.Hit()
		return r.refused(p, g, NotReady, "watermarks", "no new channel can be remembered")
	}
	in := &inbound{peer: p, grant: *g, layout: layout, relay: relayKey{g.domain, g.relay}, asked: now, note: g.note}
	in.grant.note = nil
	in.need = int64(g.length) + decodeCost + decodeRowCost*int64(g.rows)
	if g.registration.Generation != 0 {
		in.watch = watchCost + watchRowCost*int64(g.rows)
	}
	if !r.budget.possible(in.need, in.watch) {
		return r.refused(p, g, Failed, "length", "the batch needs more memory than there is for relays")
	}
	if c == nil {
		c = r.remember(p, g.id.Incarnation, now)
	}
	c.key, c.keyed, c.live, in.channel = key, true, in, c
	p.current[key] = c.incarnation
	p.add(in)
	r.inbounds++
	return r.place(now, in)
}

// remember opens the watermark of a channel.
func (r *receiver) remember(p *inPeer, incarnation uint64, now primitives.Instant) *inChannel {
	c := &inChannel{incarnation: incarnation, used: now}
	p.channels[incarnation] = c
	r.channels++
	return c
}

// repeated answers a grant request about what the channel knows. A repeat of the
// same content is harmless, other content under the same identity is refused.
func (r *receiver) repeated(now primitives.Instant, p *inPeer, c *inChannel, key channelKey, g *grant) (answer, bool) {
	seq := g.id.Sequence
	switch {
	case c.keyed && c.key != key:
		return r.refused(p, g, Failed, "identity", "it is of another channel"), true
	case seq < c.decided:
		return r.refused(p, g, Failed, "sequence", "it is decided"), true
	case seq == c.decided && c.forgotten():
		return answer{}, false
	case seq == c.decided:
		if c.content != nil && !c.content.same(g) {
			contentConflict.Hit()
			return r.refused(p, g, Failed, "content", "it is another delivery's identity"), true
		}
		repeatedIdentity.Hit()
		return c.last, true
	case seq != c.decided+1:
		return r.refused(p, g, Failed, "sequence", "it is not the next"), true
	case c.live == nil:
		return answer{}, false
	case !c.live.grant.same(g):
		contentConflict.Hit()
		return r.refused(p, g, Failed, "content", "it is another delivery's identity"), true
	}
	in := c.live
	in.asked = now
	switch in.stage {
	case stageGranted:
		in.until, in.hint = now.Add(r.limits.Grant), false
	case stageHeld:
		r.promote(now, in)
	}
	return r.standingOf(in), true
}

// forgotten is never true of a sound build: the last verdict stands.
func (c *inChannel) forgotten() bool { return planted.Active(planted.ForgetWatermark) }

// standingOf is the state of a delivery without a verdict.
func (r *receiver) standingOf(in *inbound) answer {
	a := answer{id: in.grant.id}
	switch in.stage {
	case stageHeld:
		a.state = stateHeld
		if planted.Active(planted.RefuseHeld) {
			a.state, a.refusal = stateRefused, &Refusal{Class: Failed, Subject: "memory", Detail: "no room"}
		}
	case stageGranted, stageReceiving:
		a.state = stateGranted
	default:
		a.state = stateReceived
	}
	return a
}

// supersede ends an older incarnation of a channel, with what it has undecided: the
// newer one is its watermark from now on. It reports whether that is done.
func (r *receiver) supersede(now primitives.Instant, p *inPeer, key channelKey, incarnation uint64) bool {
	old := p.channels[p.current[key]]
	if old == nil {
		return true
	}
	if in := old.live; in != nil {
		superseded.Hit()
		if in.stage == stageAccepting {
			r.interrupt(in)
			return false
		}
		r.decide(now, in, answer{id: in.grant.id, state: stateCancelled})
	}
	delete(p.channels, old.incarnation)
	p.current[key] = incarnation
	r.channels--
	return true
}

// interrupt ends the graph's decision: admission and cancellation meet there.
func (r *receiver) interrupt(in *inbound) {
	if !in.cancelled {
		in.cancelled = true
		in.stop()
	}
}

// place reserves what a new delivery needs, or holds it.
func (r *receiver) place(now primitives.Instant, in *inbound) answer {
	in.stage = stageHeld
	r.held = append(r.held, in)
	r.promote(now, in)
	if in.stage == stageHeld {
		deliveryHeld.Hit()
		r.observe(in, observe.Event{Kind: observe.DeliveryHeld})
	}
	return r.standingOf(in)
}

// promote grants what is held, in the order of asking. Behind one that does not
// fit, only relays that hold nothing here may pass.
// asking is the one whose sender hears of it at once, if any.
func (r *receiver) promote(now primitives.Instant, asking *inbound) {
	kept := r.held[:0]
	blocked := false
	for _, in := range r.held {
		if !r.budget.fits(in.relay, in.need, in.watch) || blocked && r.budget.relays[in.relay] > 0 {
			blocked = true
			kept = append(kept, in)
			continue
		}
		r.budget.take(in.relay, in.need, in.watch)
		in.stage, in.until, in.hint = stageGranted, now.Add(r.limits.Grant), in != asking
		r.hinted = r.hinted || in.hint
		r.observe(in, observe.Event{Kind: observe.DeliveryGranted, Count: in.grant.rows})
	}
	clear(r.held[len(kept):])
	r.held = kept
}

// open lets the body of a granted delivery be read. Its answer says why not.
func (r *receiver) open(now primitives.Instant, process Process, id Identity, length int) (*inbound, answer) {
	p, out := r.from(now, process)
	if out != nil {
		return nil, answer{id: id, state: stateRefused, refusal: out}
	}
	c := p.channels[id.Incarnation]
	if c == nil || c.live == nil || c.live.grant.id != id {
		return nil, r.decided(c, id)
	}
	in := c.live
	switch {
	case in.stage == stageReceiving:
		return nil, refuseWith(id, NotReady, "body", "another transfer of it runs")
	case in.stage != stageGranted:
		return nil, r.standingOf(in)
	case length != in.grant.length:
		return nil, r.refused(p, &in.grant, Failed, "length", "the body is not as long as granted")
	case !now.Before(in.until):
		grantLapsed.Hit()
		return nil, answer{id: id, state: stateUnknown}
	}
	in.stage, c.used = stageReceiving, now
	return in, answer{}
}

// read ends the transfer of a body.
func (r *receiver) read(now primitives.Instant, in *inbound, body []byte, whole bool) answer {
	if in.stage != stageReceiving { // decided meanwhile
		return r.decided(in.channel, in.grant.id)
	}
	if !whole {
		in.stage, in.until = stageGranted, now.Add(r.limits.Grant)
		return answer{id: in.grant.id, state: stateUnknown}
	}
	if digestOf(body) != in.grant.digest {
		a := answer{id: in.grant.id, state: stateRejected, refusal: &Refusal{Class: Failed, Subject: "content", Detail: "the body is not what was granted"}}
		r.decide(now, in, a)
		return a
	}
	in.stage, in.received = stageReceived, body
	r.observe(in, observe.Event{Kind: observe.DeliveryReceived})
	return r.standingOf(in)
}

// decided is what a channel knows of an identity without a live delivery.
func (r *receiver) decided(c *inChannel, id Identity) answer {
	switch {
	case c == nil || id.Sequence > c.decided || c.forgotten():
		return answer{id: id, state: stateUnknown}
	case id.Sequence == c.decided:
		return c.last
	}
	return refuseWith(id, Failed, "sequence", "it is decided")
}

// status answers what is known of an identity.
func (r *receiver) status(now primitives.Instant, process Process, id Identity) answer {
	p, out := r.from(now, process)
	if out != nil {
		return answer{id: id, state: stateRefused, refusal: out}
	}
	c := p.channels[id.Incarnation]
	if c != nil && c.live != nil && c.live.grant.id == id {
		c.live.asked = now
		return r.standingOf(c.live)
	}
	return r.decided(c, id)
}

// cancel decides an identity against its admission, once and for ever. While the
// graph decides there is no answer yet: the inbound is returned to wait for.
func (r *receiver) cancel(now primitives.Instant, process Process, id Identity) (answer, *inbound) {
	p, out := r.from(now, process)
	if out != nil {
		return answer{id: id, state: stateRefused, refusal: out}, nil
	}
	c := p.channels[id.Incarnation]
	if c != nil && c.live != nil && c.live.grant.id == id {
		in := c.live
		if in.stage == stageAccepting {
			cancelRaced.Hit()
			if planted.Active(planted.UnfencedCancel) {
				return answer{id: id, state: stateCancelled}, nil
			}
			r.interrupt(in)
			return answer{}, in
		}
		a := answer{id: id, state: stateCancelled}
		r.decide(now, in, a)
		return a, nil
	}
	if c != nil && id.Sequence <= c.decided {
		return r.decided(c, id), nil
	}
	if c != nil && c.live != nil {
		return refuseWith(id, Failed, "sequence", "an earlier delivery is undecided"), nil
	}
	if c == nil {
		if r.channels >= r.limits.Channels {
			return refuseWith(id, NotReady, "watermarks", "no new channel can be remembered"), nil
		}
		c = r.remember(p, id.Incarnation, now)
	}
	fencedUnseen.Hit()
	c.decided, c.last, c.content, c.used = id.Sequence, answer{id: id, state: stateCancelled}, nil, now
	return c.last, nil
}

// accepting hands a received body to its task, which asks the graph. stop ends
// the graph's decision. It reports false when the delivery is decided already.
func (r *receiver) accepting(in *inbound, stop func()) bool {
	if in.stage != stageReceived {
		return false
	}
	in.stage, in.stop = stageAccepting, stop
	return true
}

// decide gives a delivery its one verdict.
func (r *receiver) decide(now primitives.Instant, in *inbound, a answer) {
	invariant.That(in.stage < stageAdmitted, "E1: a delivery has one verdict")
	r.observe(in, observe.Event{Kind: observe.DeliveryVerdict, Text: a.state.String()})
	r.series.verdicts[a.state].Add(1)
	if in.stage == stageHeld {
		r.held = withoutInbound(r.held, in)
		in.need, in.watch = 0, 0
	}
	watch := in.watch
	if a.state == stateAdmitted {
		watch = 0
	}
	r.budget.give(in.relay, in.need, watch)
	in.need, in.watch, in.received = 0, in.watch-watch, nil
	r.inbounds--
	c := in.channel
	c.live, c.decided, c.last, c.content, c.used = nil, in.grant.id.Sequence, a, &in.grant, now
	if !in.peer.gone {
		in.peer.outcomes.add(now, nil, a)
		r.report(in.peer)
	}
	if a.state == stateAdmitted && in.tree != nil && !in.peer.gone {
		in.stage = stageAdmitted
		c.watches++
		for _, early := range in.early {
			r.rows(now, in, early)
		}
		in.early = nil
		r.settle(now, in)
	} else {
		in.stage = stageOver
		r.budget.give(in.relay, 0, in.watch)
		in.watch = 0
		in.peer.remove(in)
	}
	for _, wake := range in.waiters {
		wake()
	}
	in.waiters = nil
	r.promote(now, nil)
}

func withoutInbound(list []*inbound, in *inbound) []*inbound {
	for i, other := range list {
		if other == in {
			return append(list[:i], list[i+1:]...)
		}
	}
	return list
}

// refused answers a request that changes nothing.
func (r *receiver) refused(p *inPeer, g *grant, class Class, subject, detail string) answer {
	if r.tap != nil && p != nil {
		r.tap.Observe(observe.Event{
			Kind: observe.DeliveryRefused, Domain: g.domain, Name: g.relay, Peer: p.process.Node, Run: number(p.process.Epoch),
			Tree: g.id.Incarnation, ID: g.id.Sequence, Text: subject, Depth: int(g.role), Count: int(class),
		})
	}
	return refuseWith(g.id, class, subject, detail)
}

func (r *receiver) observe(in *inbound, e observe.Event) {
	if r.tap == nil {
		return
	}
	g := &in.grant
	e.Domain, e.Name, e.Peer, e.Run = g.domain, g.relay, in.peer.process.Node, number(in.peer.process.Epoch)
	e.Tree, e.ID, e.Depth = g.id.Incarnation, g.id.Sequence, int(g.role)
	if g.registration.Generation != 0 {
		e.Hash = g.registration.Number(0)
	}
	r.tap.Observe(e)
}

func (p *inPeer) add(in *inbound) {
	in.before, in.after = p.last, nil
	if p.last != nil {
		p.last.after = in
	} else {
		p.first = in
	}
	p.last = in
}

func (p *inPeer) remove(in *inbound) {
	if in.before != nil {
		in.before.after = in.after
	} else if p.first == in {
		p.first = in.after
	}
	if in.after != nil {
		in.after.before = in.before
	} else if p.last == in {
		p.last = in.before
	}
	in.before, in.after = nil, nil
}
