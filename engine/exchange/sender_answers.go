package exchange

import (
	"errors"

	"plexus/engine/ack"
	"plexus/engine/observe"
	"plexus/primitives"
)

// ErrDeparted says that the process which was asked is gone for good: another
// process of its node is known, or the node left membership.
var ErrDeparted = errors.New("the process is gone")

// asked is one question of a message on its way.
type asked struct {
	d  *dispatch
	id Identity
}

// batch takes the questions of one kind that are due for a peer, at most one
// message of them; nil when there is none or one is on its way. at is when the
// next ones are due.
func (s *sender) batch(now primitives.Instant, p *outPeer, q question) (to Process, due []asked, at primitives.Instant) {
	a := &p.asks[q]
	if a.busy {
		return Process{}, nil, primitives.Never
	}
	list, at := a.take(now, eventMax, func(d *dispatch) int {
		if q != askGrant {
			return 32
		}
		g := &d.grant
		return 128 + len(g.domain) + len(g.relay) + len(g.branch) + len(g.note)
	})
	for _, d := range list {
		if len(due) == 0 {
			to = d.to
		}
		if d.to != to { // asks another process of the node: in a message of its own
			a.add(d)
			continue
		}
		due = append(due, asked{d, d.grant.id})
	}
	a.busy = len(due) > 0
	return to, due, at
}

// message encodes the questions of a batch.
func message(q question, due []asked) []byte {
	if q == askGrant {
		grants := make([]*grant, len(due))
		for i, a := range due {
			grants[i] = &a.d.grant
		}
		return encodeGrants(grants)
	}
	ids := make([]Identity, len(due))
	for i, a := range due {
		ids[i] = a.id
	}
	return encodeIdentities(ids)
}

// answered takes the answers of a batch, in its order, or the failure of the
// exchange, which says nothing about what ran.
func (s *sender) answered(now, began primitives.Instant, p *outPeer, to Process, q question, due []asked, answers []answer, err error) {
	p.asks[q].busy = false
	s.notice(p)
	if err == nil && len(answers) != len(due) {
		err = errFormat
	}
	for i, a := range due {
		if a.d.grant.id != a.id || a.d.to != to {
			continue
		}
		a.d.pending[q] = false
		switch {
		case a.d.done || !a.d.phase.undecided():
		case err != nil || answers[i].id != a.id:
			s.unsaid(now, a.d, q)
		default:
			s.said(now, began, a.d, q, answers[i])
		}
	}
	if errors.Is(err, ErrDeparted) {
		s.departed(now, p, to)
	}
}

// unsaid is a question without an answer.
func (s *sender) unsaid(now primitives.Instant, d *dispatch, q question) {
	switch {
	case d.phase == phaseCancelling && q == askCancel:
		s.ask(d, askCancel, s.again(now, d))
	case d.phase == phaseGranting && q == askGrant, d.phase == phaseChecking && q == askStatus:
		statusAfterLoss.Hit()
		d.phase = phaseChecking
		s.ask(d, askStatus, s.again(now, d))
	}
}

// said is an answer to a question.
func (s *sender) said(now, began primitives.Instant, d *dispatch, q question, a answer) {
	s.hear(d)
	if a.state.verdict() {
		s.verdict(now, d, a)
		return
	}
	if d.phase == phaseCancelling {
		if q == askCancel { // the receiver cannot decide now, or never knew
			s.ask(d, askCancel, s.again(now, d))
		}
		return
	}
	if d.phase != phaseGranting && d.phase != phaseChecking {
		return
	}
	switch a.state {
	case stateGranted:
		if q == askGrant {
			d.phase, d.tries, d.grantUntil = phaseSending, 0, began.Add(s.limits.Grant)
			s.wake(d)
			return
		}
		d.phase = phaseGranting
		s.ask(d, askGrant, now)
	case stateHeld:
		d.phase = phaseGranting
		s.ask(d, askGrant, now.Add(s.limits.HeldRetry))
	case stateReceived:
		d.phase, d.sent = phaseReceived, true
	case stateUnknown:
		d.phase = phaseGranting
		s.ask(d, askGrant, now)
	default:
		s.refused(now, d, a)
	}
}

// refused is an answer that reserved and decided nothing.
func (s *sender) refused(now primitives.Instant, d *dispatch, a answer) {
	if a.refusal.Class == NotReady {
		notReadyYet.Hit()
		d.phase = phaseGranting
		s.ask(d, askGrant, s.again(now, d))
		return
	}
	d.chain.incarnation = 0
	s.refuse(now, d, Refused, a.refusal, true)
}

// verdict is the final word of the receiver.
func (s *sender) verdict(now primitives.Instant, d *dispatch, a answer) {
	cancelling := d.phase == phaseCancelling
	if a.state == stateAdmitted {
		admittedWhileCancelling.HitIf(cancelling)
		s.admit(now, d)
		return
	}
	d.chain.next, d.chain.used = d.grant.id.Sequence+1, now
	switch {
	case cancelling:
		cancelWon.Hit()
		s.refuse(now, d, d.cause, nil, true)
	case a.state == stateRejected && a.refusal.Class != NotReady:
		s.refuse(now, d, Refused, a.refusal, true)
	default: // under the next identity
		offeredAgain.Hit()
		s.observe(d, observe.Event{Kind: observe.DeliveryDecided, Text: a.state.String(), Count: 1})
		s.unlist(d)
		at := s.again(now, d)
		s.identify(now, d)
		s.ask(d, askGrant, at)
	}
}

// admit ends the dispatch and keeps the shares as the entry of its rows.
func (s *sender) admit(now primitives.Instant, d *dispatch) {
	s.observe(d, observe.Event{Kind: observe.DeliveryDecided, Text: stateAdmitted.String()})
	d.chain.next, d.chain.used = d.grant.id.Sequence+1, now
	s.unask(d)
	if d.acks == nil {
		s.forget(d)
	} else {
		d.phase, d.heard, d.silent = phaseAdmitted, true, 0
		d.share, d.acks = d.acks.Forward(), nil
	}
	s.end(now, d, nil)
}

// transferred is the end of a body's transfer.
func (s *sender) transferred(now primitives.Instant, d *dispatch, id Identity, a answer, err error) {
	if d.done || d.grant.id != id || !d.phase.undecided() {
		return
	}
	switch {
	case errors.Is(err, ErrDeparted):
		s.departed(now, d.peer, d.to)
	case err != nil || a.id != id:
		if d.phase == phaseSending {
			transferLost.Hit()
			d.phase = phaseChecking
			s.ask(d, askStatus, s.again(now, d))
		}
	case a.state.verdict():
		s.verdict(now, d, a)
	case d.phase != phaseSending:
	case a.state == stateReceived:
		s.hear(d)
		d.phase = phaseReceived
	case a.state == stateRefused:
		s.refused(now, d, a)
	default: // the grant was over
		d.phase = phaseGranting
		s.ask(d, askGrant, now)
	}
}

// unreachable takes whether a node has been out of reach for so long that others
// may have taken its place: no cancellation waits for its word then.
func (s *sender) unreachable(now primitives.Instant, node string, is bool) {
	p := s.peer(node)
	p.unreachable = is
	if !is {
		return
	}
	for d := p.first; d != nil; {
		after := d.after
		if d.phase == phaseCancelling {
			cancelUnreachable.Hit()
			s.lost(now, d, Unknown, false)
		}
		d = after
	}
}

// follow takes what is known about a node: its process, whether it is a member,
// and whether it was out of reach before.
func (s *sender) follow(now primitives.Instant, node string, process Process, member, reached bool) {
	p := s.peer(node)
	before := p.process
	joined := member && !p.member
	p.member = member
	if !process.IsZero() {
		p.process = process
	}
	switch {
	case !member:
		if !before.IsZero() {
			s.departed(now, p, before)
		}
		p.process = Process{}
		s.reconsider(now, p)
	case !before.IsZero() && before != p.process:
		s.departed(now, p, before)
		s.reconsider(now, p)
	case joined || before != p.process:
		s.reconsider(now, p)
	case reached:
		for d := p.first; d != nil; d = d.after {
			if d.phase == phaseReceived {
				statusAfterLoss.Hit()
				d.phase = phaseChecking
				s.ask(d, askStatus, now)
			}
		}
	}
}

// reconsider looks again at holders of slots that wait for a process.
func (s *sender) reconsider(now primitives.Instant, p *outPeer) {
	for _, key := range sortedChannels(p.channels) {
		c := p.channels[key]
		if d := c.holder; d != nil && d.phase == phaseWaiting && d.positioned {
			s.advance(now, d)
		}
	}
}

// departed ends everything with a process that is gone. What it may have seen is
// indeterminate; what it cannot have seen goes to the next process of its node.
func (s *sender) departed(now primitives.Instant, p *outPeer, process Process) {
	if p.process == process {
		p.process = Process{}
	}
	for d := p.first; d != nil; {
		after := d.after
		switch {
		case d.to != process:
		case d.phase == phaseAdmitted:
			departedOpen.Hit()
			s.resolve(now, d, nil, ack.Outcome{Failed: true, Reason: ack.Reason{Class: ack.ClassDispatch, Text: "acknowledgement lost: " + p.node + " restarted or left"}}, Process{})
		case d.sent:
			departedUndecided.Hit()
			s.lost(now, d, Departed, false)
		default:
			retargeted.Hit()
			s.observe(d, observe.Event{Kind: observe.DeliveryDecided, Text: "retargeted", Count: 1})
			s.unlist(d)
			d.chain.incarnation = 0
			s.advance(now, d)
		}
		d = after
	}
}

// close fails every entry and ends every dispatch.
func (s *sender) close(now primitives.Instant) {
	s.closed = true
	for _, node := range primitives.SortedKeys(s.peers) {
		p := s.peers[node]
		for d := p.first; d != nil; {
			after := d.after
			if d.phase == phaseAdmitted {
				s.resolve(now, d, nil, ack.Outcome{Failed: true, Reason: ack.Reason{Class: ack.ClassTeardown, Text: "the exchange was closed"}}, Process{})
			} else {
				s.lost(now, d, Closed, !d.sent)
			}
			d = after
		}
		for _, key := range sortedChannels(p.channels) {
			for c := p.channels[key]; c.holder != nil; {
				s.refuse(now, c.holder, Closed, nil, true)
			}
		}
	}
}
