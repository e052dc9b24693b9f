package quiesce

import "context"

// Local reaches the domains that run on this node.
type Local interface {
	// Domain returns the running domain, nil when this node runs nothing of it at
	// the index, and [ErrNotReady] while the node has not applied the index.
	Domain(name string, index uint64) (Domain, error)
}

// Domain is one running domain. flow.Domain is one.
type Domain interface {
	// Engage closes the gates of the scope and pauses its sources. It returns once
	// nothing is admitted any more - a publisher was either counted or turned away
	// - and waits for no work to end. Holds overlap: a gate is open, and a source
	// runs, when no hold names it any more. A hold outlives the revision: what is
	// installed while it lasts begins held. An error leaves nothing closed.
	Engage(ctx context.Context, s Scope) (Held, error)
}

// Held is one engaged scope of one domain. Its methods are called one at a time.
type Held interface {
	// Flush makes everything buffered in the domain due. Generations rise by one.
	// It does not wait.
	Flush(generation uint64)
	// Look counts what the scope still holds.
	Look() Look
	// Freeze is called once, when the scope is at rest: until Release nothing may
	// change its state, branch expiry included.
	Freeze(ctx context.Context) error
	// Release opens what no other hold closes, and does not wait for traffic. It
	// is called exactly once.
	Release()
}

// Look is one look at the work of a scope. Work that moves raises the count at
// its destination before it lowers the one at its source, so a look may see work
// twice and never misses it for good.
type Look struct {
	// Flushed is the newest generation that everything inside the scope completed.
	// Whoever waits at a gate of the hold has completed it.
	Flushed uint64
	// Admitted rises with every batch that enters a relay or an operator of the
	// scope and every root that opens in it.
	Admitted uint64
	// Blockers is all visible work; at rest there is none.
	Blockers []Blocker
	// Parked rows and Obligations of the flush are reported and hold nothing up.
	Parked, Obligations uint64
}

// Work is a kind of unfinished work.
type Work uint8

// The kinds of work.
const (
	Roots        Work = iota + 1 // messages whose outcome or confirmation is open
	RelayBatches                 // buffered by a relay
	Dispatches                   // a relay offers a batch, unadmitted yet
	NodeBatches                  // accepted by an operator or buffered in its routes
	EmitterRows                  // buffered by an emitter
	Publishes                    // payloads offered to a sink and unanswered
)

// Blocker is one operator's unfinished work.
type Blocker struct {
	Entity Entity
	Work   Work
	Count  uint64
}
