package flow

import (
	"context"
	"fmt"
	"slices"

	"plexus/engine/ack"
	"plexus/engine/exchange"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	acceptEarly   = invariant.Sometimes("a delivery waited for the revision of its sender")
	acceptLate    = invariant.Sometimes("a delivery waited for its sender to learn of the relay's new place")
	acceptTurned  = invariant.Sometimes("a waiting delivery was turned away because the relay moved")
	acceptCancels = invariant.Sometimes("a waiting delivery was cancelled by its sender")
)

// verdict is what became of a batch of another node that waited.
type verdict uint8

const (
	undecided verdict = iota
	admitted
	turnedAway // look again: this end of the relay is another one now
)

// refusal says that the installed revision does not serve the relay so, and a
// newer one would not either.
func (d *Domain) refusal(role exchange.Role, relay string) error {
	return &exchange.Refusal{Class: exchange.Rejected, Subject: "relay", Detail: fmt.Sprintf("%s.%s is not served %v by this node", d.name, relay, role)}
}

var (
	errNotReady  = &exchange.Refusal{Class: exchange.NotReady, Subject: "revision", Detail: "this node has yet to install the sender's revision"}
	errMalformed = &exchange.Refusal{Class: exchange.Failed, Subject: "note", Detail: errNote.Error()}
)

// standing says how the sender's revision stands to what this node knows.
type standing uint8

const (
	same  standing = iota // both know the same
	early                 // the sender knows a newer revision, which may serve what this one does not
	late                  // the sender has yet to learn what this node knows
)

// serves returns the end of the relay that takes deliveries in the role, nil for
// none, and how the sender stands to it.
func (d *Domain) serves(role exchange.Role, relay string, n note) (*Relay, standing) {
	rev := d.revision.Load()
	known := d.number()
	r := d.views.Load().relays[relay]
	if r == nil || rev == nil || !rev.Running {
		if n.revision > known {
			return nil, early
		}
		return nil, same // it is gone, or the domain stands still: nothing to wait for
	}
	r.lock()
	defer r.mu.Unlock()
	known = max(known, r.revision) // an installation may be on its way
	s := same
	switch {
	case n.revision > known:
		s = early
	case n.revision < known:
		s = late
	}
	if r.closed || r.mirror != (role == exchange.ToConsumers) {
		return nil, s
	}
	return r, s
}

// awaitRevision blocks until the revision, or a newer one, is installed.
func (d *Domain) awaitRevision(ctx context.Context, number uint64) error {
	if err := d.routing.Lock(ctx); err != nil {
		return err
	}
	defer d.routing.Unlock()
	for d.number() < number {
		if err := d.installed.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// number is the installed revision; zero before the first.
func (d *Domain) number() uint64 {
	if rev := d.revision.Load(); rev != nil {
		return rev.Number
	}
	return 0
}

// Layout answers for an exchange.Receiver: the exact schema of a relay. Whether
// this node serves it in the role is for Accept to say, which can wait.
func (d *Domain) Layout(role exchange.Role, relay string, about []byte) (*exchange.Layout, error) {
	n, err := decodeNote(about)
	if err != nil {
		return nil, errMalformed
	}
	r, s := d.serves(role, relay, n)
	switch {
	case r != nil:
		return r.layout, nil
	case s == early:
		return nil, errNotReady
	case s == late:
		return d.views.Load().relays[relay].layout, nil
	}
	return nil, d.refusal(role, relay)
}

// Accept answers for an exchange.Receiver: it blocks until the relay has admitted
// the batch or refuses it. Nil is the admission; an error, that of a cancelled ctx
// too, leaves batch and shares with the caller.
//
// A sender that knows more than this node waits until its revision is installed
// here. One that knows less is given a while to learn where the relay went: then
// it takes the batch back and loses nothing. After that it is refused, and its
// rows come again along the new routes.
func (d *Domain) Accept(ctx context.Context, from exchange.Process, ch exchange.Channel, b *exchange.Batch, acks *ack.Set) error {
	n, err := decodeNote(b.Note)
	if err != nil {
		return errMalformed
	}
	o := &outlet{wake: primitives.NewNotice(d.world), from: from.Node}
	if ch.Role == exchange.ToConsumers {
		o.copied = &copied{owner: from.Node, meant: n.meant}
	}
	c := NewCarrier(b.Record, b.Low, b.High, acks)
	patience := d.now().Add(lateGrace)
	for {
		r, s := d.serves(ch.Role, ch.Relay, n)
		switch {
		case r != nil && (s != early || r.has(n.meant)):
			switch v, err := r.accept(ctx, o, c); {
			case err != nil:
				return err
			case v == admitted:
				return nil
			}
			acceptTurned.Hit()
			continue
		case s == early:
			acceptEarly.Hit()
			if err := d.awaitRevision(ctx, n.revision); err != nil {
				return err
			}
			continue
		case s == late && d.now() < patience:
			acceptLate.Hit()
			if err := primitives.Sleep(ctx, d.world, lateLook); err != nil {
				return err
			}
			continue
		}
		return d.refusal(ch.Role, ch.Relay)
	}
}

// has reports whether every one of the attached consumers is connected.
func (r *Relay) has(meant []consumerID) bool {
	found := 0
	for _, t := range *r.consumers.Load() {
		if t.attached && t.remote == nil {
			if _, ok := slices.BinarySearch(meant, t.id); ok {
				found++
			}
		}
	}
	return found == len(meant)
}

// accept puts a batch of another node into the relay, waiting for room.
func (r *Relay) accept(ctx context.Context, o *outlet, c *Carrier) (verdict, error) {
	o.relay, o.pending, o.verdict, o.since = r, c, undecided, r.now()
	r.load.Add(1)
	r.lock()
	switch {
	case r.closed || r.mirror != (o.copied != nil):
		o.verdict = turnedAway
	case o.copied != nil:
		r.arriving = append(r.arriving, o)
		r.admitArriving()
	default:
		r.waiting = append(r.waiting, o)
		r.admitWaiting()
	}
	relayGated.HitIf(o.verdict == undecided && r.gates > 0)
	r.mu.Unlock()
	r.wake.Raise()
	for {
		err := o.wait(ctx)
		r.lock()
		v := o.verdict
		if v == undecided && err != nil {
			r.takeBack(o)
		}
		r.mu.Unlock()
		switch {
		case v == admitted:
			return v, nil
		case v == turnedAway || err != nil:
			acceptCancels.HitIf(v == undecided)
			o.pending = nil
			r.load.Add(-1)
			return v, err
		}
	}
}

// wait blocks until the dispatch was decided or ctx ended. A verdict that was
// given counts even then.
func (o *outlet) wait(ctx context.Context) error {
	if o.settled() {
		return nil
	}
	return o.wake.Wait(ctx)
}

func (o *outlet) settled() bool {
	o.relay.lock()
	defer o.relay.mu.Unlock()
	return o.verdict != undecided
}

// admitArriving admits copies of the owner while there is room, under the lock. A
// swap in progress keeps them out: they meet the consumers that follow.
func (r *Relay) admitArriving() {
	for len(r.arriving) > 0 && len(r.buffer) < copyCapacity && r.mirror && r.paused == 0 {
		o := r.arriving[0]
		r.arriving = r.arriving[1:]
		r.arrived++
		c := o.pending
		o.pending = nil
		r.put(held{carrier: c, copied: o.copied, sequence: r.arrived})
		observe.Emit(r.d.deps.Tap, observe.Event{Kind: observe.CopyAdmitted, Domain: r.d.name, Name: r.name, Peer: o.from, ID: r.arrived, Count: c.Rows(), Depth: len(r.buffer)})
		o.decide(admitted)
	}
}

// turnAway ends the wait of a batch of another node that does not belong here any
// more, under the lock. It stays with whoever brought it.
func (r *Relay) turnAway(o *outlet) {
	r.takeBack(o)
	o.decide(turnedAway)
}
