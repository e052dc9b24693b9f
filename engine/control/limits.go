package control

import "time"

// format numbers the data directory: identity, log and snapshots together.
const format = 2

const (
	// segmentBytesMax bounds a log segment; one oversized record may exceed it.
	segmentBytesMax = 64 << 20
	// sectionBytesMax bounds one snapshot section. A record alone is shorter: it came
	// in a command.
	sectionBytesMax = 8 << 20
	// sectionsMax bounds the sections of a snapshot, far above what a state in
	// memory can fill.
	sectionsMax = 4096
	// recordBytesMax bounds what recovery believes of a length field: a record
	// holds the entries of one append, which raft limits far below.
	recordBytesMax = 256 << 20
)

// tickEvery is the raft clock.
const tickEvery = 50 * time.Millisecond

// admissionEvery is how long a start waits before it asks for a leader again, and
// how long a read waits for its answer before it is asked again.
const admissionEvery = 500 * time.Millisecond

// Membership.
const (
	// A claim that found no leader is made again with a growing pause.
	claimAgainMin = 200 * time.Millisecond
	claimAgainMax = 5 * time.Second
	// claimPatience is the first attempt whose failure is told, a power of two.
	claimPatience = 8
	// claimBound ends one attempt: the leader may have to commit a change.
	claimBound = 12 * time.Second
	// claimLeaderless is how long a member without a leader waits before it asks
	// whether it still is one.
	claimLeaderless = 10 * time.Second
	// promoteEvery is how often learners are looked at; promoteBound is the time
	// for one to catch up, and again for its promotion.
	promoteEvery = time.Second
	promoteBound = 10 * time.Second
	progressPoll = 50 * time.Millisecond
)

// Transfer of snapshots.
const (
	transferMin        = 30 * time.Second
	transferPerSection = 4 * time.Second
	// offerStall is how long the leader waits for the next question about a snapshot
	// it offered, and for the answer that it is installed.
	offerStall = 15 * time.Second
)

// reclaimBound is how long a command waits for room in the log.
const reclaimBound = 30 * time.Second

// transferBound is how long fetching a snapshot may take.
func transferBound(sections int) time.Duration {
	return max(transferMin, time.Duration(sections)*transferPerSection)
}

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
	// offersCapacity holds snapshot offers while one is being fetched.
	offersCapacity = 2
)

// logCapSegments is how many segments share the cap of the log at least: only whole
// ones can be given up.
const logCapSegments = 8
