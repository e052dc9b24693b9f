package host

import (
	"context"

	"plexus/engine/ack"
	"plexus/engine/flow"
	"plexus/primitives"
)

// publishHeld tells the keepalive helper what is held by policy.
func (e *emitter) publishHeld() {
	var sets []*ack.Set
	add := func(k *chunk) {
		if k.acks != nil {
			sets = append(sets, k.acks)
		}
	}
	for _, k := range e.flying {
		add(k)
	}
	for _, k := range e.buffer {
		add(k)
	}
	for _, c := range e.collected {
		sets = append(sets, c.Pending()...)
	}
	sets = append(sets, e.admission.errors.Pending()...)
	if sets == nil {
		e.held.Store(nil)
		return
	}
	if e.held.Swap(&sets) == nil {
		e.holding.Raise()
	}
}

// keepAlive refreshes the roots of held rows, also while the emitter's task is
// inside a connector call. A set that is resolved meanwhile takes a refresh
// without harm.
func (e *emitter) keepAlive(ctx context.Context) error {
	for {
		if err := e.holding.Wait(ctx); err != nil {
			return nil
		}
		for e.held.Load() != nil {
			if err := primitives.Sleep(ctx, e.world, flow.KeepaliveEvery); err != nil {
				return nil
			}
			if sets := e.held.Load(); sets != nil {
				now := e.world.Clock().Now()
				for _, s := range *sets {
					s.Touch(now)
				}
			}
		}
	}
}
