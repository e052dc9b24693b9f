package flow

import (
	"context"
	"slices"

	"plexus/engine/ack"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

var (
	copyUnread  = invariant.Sometimes("an acknowledged copy found no attached consumer on its node")
	copyPartial = invariant.Sometimes("a copy found only some of the consumers that it was meant for")
)

// fanOut is a batch on its way to the consumers it was read with.
type fanOut struct {
	held    held
	rows    int
	targets []*consumer
	// On the owner, with other nodes: the revision that connected them, and the
	// attached consumers of each.
	revision uint64
	meant    [][]consumerID
	missing  int // attached consumers a copy was meant for and that are not here

	few [handoversFew]handover // room for the hand-overs of most relays
}

const handoversFew = 4

// head reads the batch to fan out and whom to; false when there is none or a swap
// is in progress. The batch is counted at every consumer before the lock is free:
// a swap that paused the relay sees all that is still on its way (F4).
func (f *fanOut) head(r *Relay) bool {
	r.lock()
	defer r.mu.Unlock()
	if len(r.buffer) == 0 || r.paused > 0 {
		return false
	}
	f.held, f.targets, f.missing = r.buffer[0], *r.consumers.Load(), 0
	f.rows = f.held.carrier.Rows()
	if f.held.copied != nil {
		f.meantOnly()
	} else if len(r.remotes) > 0 {
		f.revision, f.meant = r.revision, make([][]consumerID, len(f.targets))
	}
	for i, t := range f.targets {
		if t.lane != nil {
			t.lane.load.Add(1)
		} else {
			f.meant[i] = t.remote.meant
		}
	}
	r.busy = true
	return true
}

// meantOnly leaves the consumers of this node that a copy is for: no other node,
// and of the attached ones those the owner reserved shares for.
func (f *fanOut) meantOnly() {
	all, meant := f.targets, f.held.copied.meant
	f.targets, f.missing = nil, len(meant)
	for _, t := range all {
		if t.remote != nil {
			continue
		}
		if t.attached {
			if _, ok := slices.BinarySearch(meant, t.id); !ok {
				continue
			}
			f.missing--
		}
		f.targets = append(f.targets, t)
	}
}

// handover is a batch that a consumer has yet to take.
type handover struct {
	to       *consumer
	delivery Delivery // for a consumer of this node
	away     *away    // for another node
}

// away is the hand-over to another node. That node's task has the job once it has
// begun.
type away struct {
	acks *ack.Set
	note []byte
	job  *job
}

// fanOut hands the batch to every consumer and consumes it. Children of attached
// consumers are reserved before anyone sees the batch; detached consumers and
// subscriptions touch no share. It returns when everyone has taken it or is gone:
// a share waits for no detached hand-over, the slot of the batch does.
func (r *Relay) fanOut(ctx context.Context, f *fanOut) error {
	pending := r.handovers(f)
	defer func() {
		r.stalled.Store(false)
		clear(f.few[:])
	}()
	pending = r.begin(ctx, f.held.carrier, pending)
	f.held.carrier.Release()
	for len(pending) > 0 {
		if r.stalled.CompareAndSwap(false, true) {
			// A lane may have got room before it could see that we wait.
			pending = r.advance(pending)
			continue
		}
		relayStalled.Hit()
		if err := r.wake.Wait(ctx); err != nil {
			for _, h := range pending {
				if h.away == nil { // a job ends with its own task
					h.refuse(r.now())
				}
			}
			return err
		}
		pending = r.advance(pending)
	}
	return nil
}

// handovers reserves the shares of a batch and prepares what each consumer gets.
func (r *Relay) handovers(f *fanOut) []handover {
	c := f.held.carrier
	attached := f.missing
	for _, t := range f.targets {
		if t.attached {
			attached++
		}
	}
	var children []*ack.Set
	if f.held.copied != nil && attached == 0 && c.Acks != nil {
		copyUnread.Hit()
		r.unread(c.Acks)
	} else {
		children = c.Acks.Fork(attached, r.now())
	}
	pending := f.few[:0]
	if len(f.targets) > handoversFew {
		pending = make([]handover, 0, len(f.targets))
	}
	pending = pending[:len(f.targets)]
	for i, t := range f.targets {
		var acks *ack.Set
		if t.attached {
			acks, children = children[0], children[1:]
		}
		if t.remote == nil {
			pending[i] = handover{to: t, delivery: Delivery{Relay: r.name, Carrier: c.share(acks)}}
		} else {
			pending[i] = handover{to: t, away: &away{acks: acks, note: note{f.revision, f.meant[i]}.encode()}}
		}
	}
	for _, gone := range children { // of consumers that have left this node
		copyPartial.Hit()
		r.unread(gone)
	}
	return pending
}

// unread ends the shares of rows that a consumer was to see and will not (F8).
func (r *Relay) unread(acks *ack.Set) {
	if planted.Active(planted.FinishUnread) {
		acks.OK(r.now())
		return
	}
	acks.Fail(r.now(), reasonUnread)
}

// begin offers the batch to everyone in hand-over order. For other nodes it is
// encoded once, after the attached consumers of this node were offered theirs.
func (r *Relay) begin(ctx context.Context, c *Carrier, pending []handover) []handover {
	var cargo freight
	kept := pending[:0]
	for _, h := range pending {
		if h.away != nil {
			if cargo == nil {
				cargo = r.encode(ctx, c)
			}
			h.away.job = &job{parcels: cargo.parcels(r.now(), h.away.acks), note: h.away.note}
			if !h.to.remote.jobs.TrySend(h.away.job) {
				h.away.job.refuse(r.now(), reasonGone)
			}
		}
		if !h.advance(r) {
			kept = append(kept, h)
		}
	}
	cargo.release()
	return kept
}

// advance tries what is left and returns what is left then.
func (r *Relay) advance(pending []handover) []handover {
	kept := pending[:0]
	for _, h := range pending {
		if !h.advance(r) {
			kept = append(kept, h)
		}
	}
	return kept
}

// advance takes one step of a hand-over that has begun and reports whether it is
// over.
func (h *handover) advance(r *Relay) bool {
	switch {
	case h.away != nil:
		return h.away.job.done.Load()
	case h.to.lane.queue.TrySend(h.delivery):
		return true
	case h.to.lane.queue.Closed():
		h.refuse(r.now())
		return true
	}
	return false
}

func (h *handover) refuse(now primitives.Instant) {
	h.delivery.Carrier.Fail(now, reasonGone)
	h.to.lane.Done(1)
}

func (f *fanOut) observe(r *Relay) {
	tap := r.d.deps.Tap
	if tap == nil {
		return
	}
	e := observe.Event{Kind: observe.RelayDispatched, Domain: r.d.name, Name: r.name, ID: f.held.sequence, Count: f.rows}
	if f.held.copied != nil {
		e.Kind, e.Peer = observe.CopyDispatched, f.held.copied.owner
	}
	tap.Observe(e)
}
