package host

import "time"

const (
	// Reconnection of sources without a RETRY POLICY.
	reconnectFirst = 250 * time.Millisecond
	reconnectMax   = 30 * time.Second

	// resultWindow is how long a cursor source waits for the result of a batch.
	resultWindow = 30 * time.Second
	// rejectionsMax consecutive rejections stop a cursor source, waiting
	// rejectionFirst doubling between them.
	rejectionsMax  = 5
	rejectionFirst = 100 * time.Millisecond
	rejectionMax   = 800 * time.Millisecond

	// An open ingest group closes when it holds this many messages, or when none
	// followed for a while.
	groupRowsMax = 1024
	groupIdleMax = 5 * time.Millisecond

	// stopGrace is what a connector gets to close after its task was cancelled.
	stopGrace = 2 * time.Second
)
