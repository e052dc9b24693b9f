package exchange

import (
	"plexus/engine/ack"
	"plexus/engine/observe"
	"plexus/primitives"
)

// rowsPerReport keeps one report within a message.
const rowsPerReport = 16 << 10

// rows takes an outcome of rows from the graph. It waits for the verdict, if the
// graph was faster.
func (r *receiver) rows(now primitives.Instant, in *inbound, what report) {
	if in.stage == stageAccepting {
		rowsBeforeVerdict.Hit()
		in.early = append(in.early, what)
		return
	}
	if in.stage != stageAdmitted {
		return
	}
	if r.tap != nil {
		r.observe(in, observe.Event{Kind: observe.DeliveryRows, Rows: what.rows, Text: what.outcome.Reason.Text, Count: int(boolByte(what.outcome.Failed))})
	}
	what.registration = in.grant.registration
	if what.rows == nil {
		in.open = 0
		r.queue(now, in, what)
	} else {
		in.open -= len(what.rows)
		for rows := what.rows; len(rows) > 0; {
			n := min(len(rows), rowsPerReport)
			what.rows, rows = rows[:n], rows[n:]
			r.queue(now, in, what)
		}
	}
	r.report(in.peer)
}

func (r *receiver) queue(now primitives.Instant, in *inbound, what report) {
	in.unsent++
	in.peer.reports.add(now, in, what)
}

// report puts a peer on the list of those with something to send.
func (r *receiver) report(p *inPeer) {
	if !p.noticed && !p.gone {
		p.noticed = true
		r.reporting = append(r.reporting, p)
	}
}

// settle ends a watch whose rows have all been reported and confirmed.
func (r *receiver) settle(now primitives.Instant, in *inbound) {
	if in.stage == stageAdmitted && in.open == 0 && in.unsent == 0 {
		r.endWatch(now, in)
	}
}

func (r *receiver) endWatch(now primitives.Instant, in *inbound) {
	in.stage = stageOver
	r.budget.give(in.relay, 0, in.watch)
	in.watch, in.tree = 0, nil
	in.channel.watches--
	in.channel.used = now
	in.peer.remove(in)
	r.promote(now, nil)
}

// confirmed ends the message of reports on its way.
func (r *receiver) confirmed(now primitives.Instant, p *inPeer, ok bool) {
	for _, q := range p.reports.sent(ok) {
		q.in.unsent--
		r.settle(now, q.in)
	}
	if p.gone {
		p.reports.drop()
	}
}

// sizeOfReport and sizeOfAnswer measure what goes into a message.
func sizeOfReport(q *report) int { return 32 + 3*len(q.rows) + len(q.outcome.Reason.Text) }

func sizeOfAnswer(a *answer) int {
	if a.refusal == nil {
		return 40
	}
	return 40 + len(a.refusal.Subject) + len(a.refusal.Detail)
}

// tick lapses what nobody asks about any more and forgets idle watermarks.
func (r *receiver) tick(now primitives.Instant) {
	lapsed := false
	for _, node := range primitives.SortedKeys(r.peers) {
		p := r.peers[node]
		for in := p.first; in != nil; {
			after := in.after
			held := in.stage == stageHeld && now.Sub(in.asked) >= r.limits.Request
			if held || in.stage == stageGranted && !now.Before(in.until) {
				r.lapse(in)
				lapsed = true
			}
			in = after
		}
		late := now.Add(-r.limits.ReportRetention)
		p.outcomes.overdue(late)
		for _, q := range p.reports.overdue(late) {
			r.abandon(now, q.in)
		}
		r.forget(now, p)
	}
	if lapsed {
		r.promote(now, nil)
	}
}

// lapse takes an undecided delivery back that its sender does not ask for.
func (r *receiver) lapse(in *inbound) {
	grantLapsed.Hit()
	if in.stage == stageHeld {
		r.held = withoutInbound(r.held, in)
	} else {
		r.budget.give(in.relay, in.need, in.watch)
	}
	in.stage, in.need, in.watch = stageOver, 0, 0
	in.channel.live = nil
	r.inbounds--
	in.peer.remove(in)
}

// abandon ends a watch whose reports the sender cannot be told: it hears nothing
// of the delivery any more and will count the silence.
func (r *receiver) abandon(now primitives.Instant, in *inbound) {
	if in.stage == stageAdmitted {
		reportGivenUp.Hit()
		r.endWatch(now, in)
	}
}

// forget drops watermarks that nothing needs any more.
func (r *receiver) forget(now primitives.Instant, p *inPeer) {
	for incarnation, c := range p.channels { //plexus:orderfree only deletes what is idle
		if c.live != nil || c.watches > 0 || now.Sub(c.used) < r.limits.Watermark {
			continue
		}
		delete(p.channels, incarnation)
		if p.current[c.key] == incarnation {
			delete(p.current, c.key)
		}
		r.channels--
	}
}

// busy says whether something needs progress reports or may lapse.
func (r *receiver) busy() bool {
	for _, p := range r.peers { //plexus:orderfree looks for one
		if p.first != nil || len(p.outcomes.waiting) > 0 || len(p.reports.waiting) > 0 {
			return true
		}
	}
	return false
}

// idleUntil is when the next watermark may be forgotten.
func (r *receiver) idleUntil() primitives.Instant {
	at := primitives.Never
	for _, p := range r.peers { //plexus:orderfree takes an extreme
		for _, c := range p.channels {
			at = min(at, c.used.Add(r.limits.Watermark))
		}
	}
	return at
}

// progress says how everything stands that the process has not heard the end of.
// hints says only what is granted after it was held.
func (r *receiver) progress(now primitives.Instant, p *inPeer, hints bool) (list []standing) {
	for in := p.first; in != nil; in = in.after {
		s := standing{id: in.grant.id}
		switch {
		case in.stage == stageGranted && in.hint:
			s.state = stateGranted
		case hints:
			continue
		case in.stage == stageReceived, in.stage == stageAccepting:
			s.state = stateReceived
		case in.stage == stageAdmitted:
			s.state = stateAdmitted
			r.stand(in, &s)
			in.told = now
		default:
			continue
		}
		in.number++
		s.number = in.number
		list = append(list, s)
	}
	return list
}

// stand adds what is known of the rows.
func (r *receiver) stand(in *inbound, s *standing) {
	held := make([]byte, (in.grant.rows+7)/8)
	t := in.tree.Standing(in.told, held)
	s.parked = t.Parked
	switch {
	case t.Held == 0:
	case t.Held == t.Open, len(held) > eventMax/2:
		s.all = true
	default:
		s.held = held
	}
}

// follow takes what is known about a node.
func (r *receiver) follow(now primitives.Instant, node string, process Process, member bool) {
	if !member {
		delete(r.known, node)
	} else if before := r.known[node]; before.IsZero() || !process.IsZero() {
		r.known[node] = process
	}
	p := r.peers[node]
	if p != nil && (!member || !process.IsZero() && p.process != process && !p.process.Newer(process)) {
		r.depart(now, p)
	}
}

// depart forgets a process that the interconnect says is gone.
func (r *receiver) depart(now primitives.Instant, p *inPeer) {
	r.drop(now, p)
	if r.peers[p.process.Node] == p {
		delete(r.peers, p.process.Node)
	}
	r.promote(now, nil)
}

// drop forgets everything of a process that is gone. What the graph decides just
// now ends with its decision.
func (r *receiver) drop(now primitives.Instant, p *inPeer) {
	p.gone = true
	for in := p.first; in != nil; {
		after := in.after
		switch in.stage {
		case stageAccepting:
			r.interrupt(in)
		case stageAdmitted:
			r.budget.give(in.relay, 0, in.watch)
			in.stage, in.watch, in.tree = stageOver, 0, nil
			p.remove(in)
		case stageReceiving, stageReceived:
			r.decide(now, in, answer{id: in.grant.id, state: stateCancelled})
		default:
			r.lapse(in)
		}
		in = after
	}
	r.channels -= len(p.channels)
	p.channels = map[uint64]*inChannel{}
	p.outcomes.drop()
	p.reports.drop()
	if p.wake != nil {
		p.wake()
	}
}

// close ends everything: nothing is admitted any more, and no row is reported.
func (r *receiver) close(now primitives.Instant) {
	r.closed = true
	for _, node := range primitives.SortedKeys(r.peers) {
		r.drop(now, r.peers[node])
	}
	r.peers = map[string]*inPeer{}
}

// ledger is where the watches of a domain report.
func (r *receiver) ledger(domain string) *ack.Ledger {
	l := r.ledgers[domain]
	if l == nil {
		l = ack.NewLedger(domain, nil, r.tap)
		r.ledgers[domain] = l
	}
	return l
}
