package flow

import (
	"context"

	"plexus/engine/exchange"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var dispatchRouted = invariant.Sometimes("a dispatch went to the next owner of its relay")

// copyCapacity is what a mirror holds of its owner: one copy in fan-out.
const copyCapacity = 1

// sender is the task of a relay's end that takes dispatches to the owner while
// another node is that: one at a time and in the order of asking.
type sender struct {
	relay *Relay
	wake  *primitives.Notice
	task  *Task

	// Under relay.mu, while a dispatch is on its way.
	outlet    *outlet // which stays busy
	cancel    context.CancelFunc
	withdrawn bool // its producer ended
}

// recall cancels what is on its way, under the lock: the owner is another one
// now. withdraw does so because the producer ended.
func (s *sender) recall() {
	if s.outlet != nil {
		s.cancel()
	}
}

func (s *sender) withdraw() {
	s.withdrawn = true
	s.recall()
}

func (s *sender) run(ctx context.Context) error {
	r := s.relay
	for ctx.Err() == nil {
		o, parcels, ch, note, scope := s.depart(ctx)
		if o == nil {
			if err := s.wake.Wait(ctx); err != nil {
				return nil
			}
			continue
		}
		rest := r.ship(scope, ch, note, parcels, func(c *Carrier) {
			o.edge.Batch(r.now(), c.Rows(), c.Bytes)
			if tap := r.d.deps.Tap; tap != nil {
				tap.Observe(observe.Event{Kind: observe.DispatchSent, Domain: r.d.name, Name: r.name, Peer: ch.Node, Count: c.Rows()})
			}
		})
		s.arrive(o, rest)
	}
	return nil
}

// depart takes the first dispatch if it may go.
func (s *sender) depart(ctx context.Context) (o *outlet, parcels []parcel, ch exchange.Channel, to []byte, scope context.Context) {
	r := s.relay
	r.lock()
	defer r.mu.Unlock()
	if r.owner == "" || len(r.waiting) == 0 || r.gates > 0 || r.closed {
		return
	}
	o = r.waiting[0]
	r.waiting = r.waiting[1:]
	parcels = []parcel{{carrier: o.pending}}
	for _, c := range o.rest {
		parcels = append(parcels, parcel{carrier: c})
	}
	o.pending, o.rest = nil, nil
	s.outlet, s.withdrawn = o, false
	scope, s.cancel = primitives.WithCancel(ctx, r.d.world)
	ch = exchange.Channel{Node: r.owner, Role: exchange.ToOwner, Domain: r.d.name, Relay: r.name}
	return o, parcels, ch, note{revision: r.revision}.encode(), scope
}

// arrive ends a dispatch. What nobody admitted waits for the next owner of the
// relay, in front of what asked later, or fails with its producer.
func (s *sender) arrive(o *outlet, rest []*Carrier) {
	r := s.relay
	r.lock()
	s.cancel()
	withdrawn := s.withdrawn
	s.outlet, s.cancel = nil, nil
	if len(rest) > 0 && !withdrawn && !r.closed {
		dispatchRouted.Hit()
		o.pending, o.rest = rest[0], rest[1:]
		r.waiting = append([]*outlet{o}, r.waiting...)
		r.admitWaiting() // this node may be the owner by now
		r.mu.Unlock()
		r.wake.Raise()
		return
	}
	r.capacityWait.Add(int(r.now().Sub(o.since)))
	o.busy.Store(false)
	o.wake.Raise()
	r.mu.Unlock()
	why := reasonStopped
	if withdrawn {
		why = reasonWithdrawn
	}
	for _, c := range rest {
		c.Fail(r.now(), why)
	}
	r.load.Add(-1)
}
