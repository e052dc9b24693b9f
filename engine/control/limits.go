package control

import "time"

// format numbers the data directory: identity, log and snapshots together.
const format = 1

const (
	// segmentBytesMax bounds a log segment; one oversized record may exceed it.
	segmentBytesMax = 64 << 20
	// sectionBytesMax bounds one snapshot section.
	sectionBytesMax = 8 << 20
	// recordBytesMax bounds what recovery believes of a length field: a record
	// holds the entries of one append, which raft limits far below.
	recordBytesMax = 256 << 20
)

// tickEvery is the raft clock.
const tickEvery = 50 * time.Millisecond

// admissionEvery is how long a start waits before it asks for a leader again.
const admissionEvery = 500 * time.Millisecond

// Bounds of the raft machine.
const (
	messageBytesMax     = 1 << 20
	inflightMessagesMax = 16
	inflightBytesMax    = 16 << 20
	uncommittedBytesMax = 64 << 20
	committedBytesMax   = 4 << 20
)

const (
	// inboxCapacity holds what other tasks tell the core. The core drains it
	// whole at every turn, so it is a batch size rather than a bound on work.
	inboxCapacity = 256
	// storageCapacity holds appends, and applies, the core handed over; the rest
	// waits in the core's own backlog.
	storageCapacity = 64
)
