package exchange

import (
	"context"

	"plexus/engine/ack"
	"plexus/engine/interconnect"
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

// Port is what the exchange needs of the interconnect. [OverMesh] is the one of
// the product.
type Port interface {
	// Self returns the process of this node.
	Self() Process
	// Peers returns every member but this node, by node.
	Peers() []Peer
	// Changed waits until Peers may answer otherwise than at the last look.
	Changed(ctx context.Context) error
	// Ask carries a message to exactly that process and returns its answer. An
	// error that is ErrDeparted says that the process is gone; any other says
	// nothing about what ran.
	Ask(ctx context.Context, to Process, op interconnect.Operation, message []byte) ([]byte, error)
	// Transfer carries a body behind its head and returns the answer. It fails when
	// the other side takes no bytes for a while.
	Transfer(ctx context.Context, to Process, channel uint64, head, body []byte) ([]byte, error)
	// Post sends progress and never waits; it may be lost.
	Post(to Process, message []byte)
	// Serve lets arriving questions reach the exchange. It comes before Start.
	Serve(s Server)
}

// Peer is what is known of a member.
type Peer struct {
	Node      string
	Process   Process // the newest one met, zero if none was
	Connected bool
	// Unreachable is a node that failed for so long that the cluster counts it as
	// lost.
	Unreachable bool
}

// Server answers what other processes ask.
type Server interface {
	// Answer serves every operation but the body and progress.
	Answer(ctx context.Context, from Process, op interconnect.Operation, message []byte) ([]byte, error)
	// Body serves a transfer; read returns the body behind the head.
	Body(ctx context.Context, from Process, head []byte, read func() ([]byte, error)) ([]byte, error)
	// Progress takes a progress report.
	Progress(from Process, message []byte) error
}
