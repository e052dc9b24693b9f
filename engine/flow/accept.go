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

// serves returns the end of the relay that takes deliveries in the role. early
// says that the sender knows a newer revision, which may serve what this one does
// not.
func (d *Domain) serves(role exchange.Role, relay string, n note) (r *Relay, early bool) {
	early = n.revision > d.number()
	rev := d.revision.Load()
	r = d.views.Load().relays[relay]
	if rev == nil || !rev.Running || r == nil {
		return nil, early
	}
	r.lock()
	defer r.mu.Unlock()
	if r.closed || r.mirror != (role == exchange.ToConsumers) {
		return nil, early
	}
	return r, early
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

// Layout answers for an exchange.Receiver: the exact schema of a relay that this
// node serves in the role.
func (d *Domain) Layout(role exchange.Role, relay string, about []byte) (*exchange.Layout, error) {
	n, err := decodeNote(about)
	if err != nil {
		return nil, errMalformed
	}
	switch r, early := d.serves(role, relay, n); {
	case r != nil:
		return r.layout, nil
	case early:
		return nil, errNotReady
	}
	return nil, d.refusal(role, relay)
}

// Accept answers for an exchange.Receiver: it blocks until the relay has admitted
// the batch or refuses it. Nil is the admission; an error, that of a cancelled ctx
// too, leaves batch and shares with the caller.
//
// A delivery that knows more than this node waits until its revision is installed
// here; one that knows less is refused, and its rows come again along the new
// routes.
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
	for {
		r, early := d.serves(ch.Role, ch.Relay, n)
		switch {
		case r != nil && (!early || r.has(n.meant)):
			switch v, err := r.accept(ctx, o, c); {
			case err != nil:
				return err
			case v == admitted:
				return nil
			}
			acceptTurned.Hit()
			continue
		case !early:
			return d.refusal(ch.Role, ch.Relay)
		}
		acceptEarly.Hit()
		if err := d.awaitRevision(ctx, n.revision); err != nil {
			return err
		}
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
		r.buffer = append(r.buffer, held{carrier: c, copied: o.copied, sequence: r.arrived})
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
