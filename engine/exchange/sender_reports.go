package exchange

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"plexus/engine/ack"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

// reporter returns the entry of an identity that the process may report about.
func (s *sender) reporter(from Process, id Identity) *dispatch {
	p := s.peers[from.Node]
	if p == nil {
		return nil
	}
	d := p.entries[id]
	if d == nil || d.to != from {
		return nil
	}
	return d
}

func (s *sender) hear(d *dispatch) {
	if !d.heard {
		d.heard = true
		s.observe(d, observe.Event{Kind: observe.DeliveryHeard})
	}
}

// outcomes are verdicts. What repeats one is harmless, what names nobody is
// ignored.
func (s *sender) outcomes(now primitives.Instant, from Process, list []answer) {
	for _, a := range list {
		d := s.reporter(from, a.id)
		if d == nil {
			continue
		}
		s.hear(d)
		if d.phase.undecided() {
			s.verdict(now, d, a)
		}
	}
}

// reports are outcomes of rows. Rows report only after admission, so a report
// that overtook the verdict is one. It returns how many name another registration
// than there is.
func (s *sender) reports(now primitives.Instant, from Process, list []report) (ignored int) {
	for _, r := range list {
		d := s.positions.find(r.registration)
		if d == nil || d.to != from || d.peer.node != from.Node {
			staleReport.Hit()
			ignored++
			continue
		}
		if d.phase.undecided() {
			reportBeforeVerdict.Hit()
			s.hear(d)
			s.admit(now, d)
		}
		if d.phase != phaseAdmitted {
			continue
		}
		s.hear(d)
		s.resolve(now, d, r.rows, r.outcome, from)
	}
	return ignored
}

// resolve ends the shares of rows; the entry ends with its last open row. by is
// who reported them.
func (s *sender) resolve(now primitives.Instant, d *dispatch, rows []int32, out ack.Outcome, by Process) {
	if s.tap != nil {
		e := observe.Event{Kind: observe.DeliveryResolved, Rows: rows, Text: out.Reason.Text, Count: int(boolByte(out.Failed))}
		if by.IsZero() {
			e.Row = 1 // by this node itself
		}
		s.observe(d, e)
	}
	d.share.Resolve(rows, now, out)
	if d.share.Open() == 0 {
		s.observe(d, observe.Event{Kind: observe.DeliveryEnded})
		s.forget(d)
		s.admitWaiting(now)
	}
}

// progress are signs of life. They keep what a declared policy holds alive, and
// tell what is parked; an older report changes nothing that a newer one said.
func (s *sender) progress(now primitives.Instant, from Process, list []standing) {
	for i := range list {
		r := &list[i]
		d := s.reporter(from, r.id)
		if d == nil {
			continue
		}
		s.hear(d)
		if r.number <= d.number {
			staleProgress.Hit()
			continue
		}
		d.number = r.number
		switch {
		case r.state == stateGranted && d.phase == phaseGranting:
			s.ask(d, askGrant, now) // there is room for it now
		case r.state == stateAdmitted && d.phase.undecided():
			s.verdict(now, d, answer{id: r.id, state: stateAdmitted})
		}
		if d.phase != phaseAdmitted {
			continue
		}
		if r.parked {
			d.share.Park()
		} else {
			d.share.Unpark()
		}
		switch {
		case r.all:
			d.share.Touch(nil, now)
		case len(r.held) > 0:
			d.share.Touch(r.heldRows(), now)
		}
	}
}

// sweep counts the silence of every delivery. It comes once a second while this
// process runs: a sweep that did not happen counts for nobody.
func (s *sender) sweep(now primitives.Instant) {
	observe.Emit(s.tap, observe.Event{Kind: observe.DeliveriesSwept})
	missed := 0
	if planted.Active(planted.CountMissedSweeps) && s.sweptAt != 0 {
		missed = int(now.Sub(s.sweptAt)/s.limits.Sweep) - 1
	}
	s.sweptAt = now
	for _, node := range primitives.SortedKeys(s.peers) {
		p := s.peers[node]
		for d := p.first; d != nil; {
			after := d.after
			s.swept(now, d, missed)
			d = after
		}
		for key, c := range p.channels { //plexus:orderfree only deletes what is idle
			if c.holder == nil && now.Sub(c.used) >= s.limits.Rotation {
				delete(p.channels, key)
			}
		}
	}
}

func (s *sender) swept(now primitives.Instant, d *dispatch, missed int) {
	d.silent += missed
	if d.heard {
		d.heard, d.silent = false, 0
		return
	}
	d.silent++
	switch {
	case d.phase == phaseAdmitted && d.silent >= s.limits.SilenceSweeps:
		ackSilence.Hit()
		s.series.silence.Add(1)
		s.observe(d, observe.Event{Kind: observe.DeliverySilent, Count: d.share.Open()})
		lost := time.Duration(s.limits.SilenceSweeps) * s.limits.Sweep
		s.resolve(now, d, nil, ack.Outcome{Failed: true, Reason: ack.Reason{
			Class: ack.ClassSilence, Text: fmt.Sprintf("acknowledgement lost: %s reported nothing for %v", d.peer.node, lost),
		}}, Process{})
	case d.sent && d.silent >= s.limits.StallSweeps && d.phase.undecided() && d.phase != phaseCancelling:
		exchangeStalled.Hit()
		s.cancel(now, d, GaveUp)
	}
}

// sweeping says whether a sweep has anything to look at.
func (s *sender) sweeping() bool { return s.live > 0 }

// reasonOf is what rows of a delivery that was not admitted fail with.
func reasonOf(e *NotAdmitted) ack.Reason {
	text := "delivery to " + e.Channel.Node + " was not admitted: " + e.Cause.String()
	if e.Refusal != nil {
		text += ": " + e.Refusal.Subject
	}
	if e.Cause == Closed {
		return ack.Reason{Class: ack.ClassTeardown, Text: text}
	}
	return ack.Reason{Class: ack.ClassDispatch, Text: text}
}

func sortedChannels(m map[channelKey]*outChannel) []channelKey {
	keys := make([]channelKey, 0, len(m))
	for k := range m { //plexus:orderfree sorted below
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b channelKey) int {
		return cmp.Or(cmp.Compare(a.role, b.role), cmp.Compare(a.domain, b.domain), cmp.Compare(a.relay, b.relay), cmp.Compare(a.branch, b.branch))
	})
	return keys
}

// check asserts what always holds between steps; tests call it after each.
func (s *sender) check() {
	n, admitting := 0, 0
	for _, p := range s.peers { //plexus:orderfree counts
		last := (*dispatch)(nil)
		for d := p.first; d != nil; d = d.after {
			n++
			invariant.That(d.before == last && p.entries[d.grant.id] == d && !(d.phase == phaseAdmitted) == (d.share == nil), "E2: entries are linked")
			invariant.That(d.phase == phaseAdmitted || d.chain.holder == d, "E3: an undecided delivery holds the slot of its channel")
			last = d
		}
		invariant.That(len(p.entries) == 0 || p.last == last, "E2: entries are linked")
		for _, c := range p.channels { //plexus:orderfree counts
			if c.holder != nil && c.holder.positioned {
				admitting++
			}
			invariant.That(c.holder != nil || len(c.queue) == 0, "E3: a free slot has no queue")
		}
	}
	invariant.That(n == s.live && admitting == s.admitting, "E2: entries and positions are counted")
}
