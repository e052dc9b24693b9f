package exchange

import (
	"context"

	"plexus/engine/ack"
)

// Receiver is the graph that deliveries arrive at.
type Receiver interface {
	// Layout returns the exact schema of a relay in the installed revision. A
	// relay that this node does not serve in the role is a *Refusal. note is what
	// the sender sent beside the batch.
	Layout(role Role, domain, relay string, note []byte) (*Layout, error)
	// Accept blocks until the runtime branch has admitted the batch, which is then
	// its own, or refuses it with a *Refusal. It is the one verdict between
	// admission and cancellation: nil means that the batch is seen exactly once,
	// an error - that of a cancelled ctx too - that no row of it ever is, and the
	// caller keeps the batch. acks is nil or has a share of every row; Accept
	// consumes it only when it returns nil.
	Accept(ctx context.Context, from Process, ch Channel, b *Batch, acks *ack.Set) error
}
