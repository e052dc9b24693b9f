package exchange

import (
	"context"
	"time"

	"plexus/primitives"
)

// settlePoll is how often a node that stops looks whether it owes anything.
const settlePoll = 20 * time.Millisecond

// Settle waits until every delivery that was taken here has ended and its sender has
// confirmed that it knows how. A node that ends before leaves the sender to find out
// by silence.
func (x *Exchange) Settle(ctx context.Context) error {
	for {
		owes := false
		x.step(func(primitives.Instant) { owes = x.recv.busy() })
		if !owes {
			return nil
		}
		if err := primitives.Sleep(ctx, x.world, settlePoll); err != nil {
			return err
		}
	}
}
