package planted

// Defect is one switchable mistake.
type Defect string

// The defects.
const (
	AckBeforeSink     Defect = "ack-before-sink"     // a share is resolved when the payload is offered, not when the sink answered
	SkipChildShare    Defect = "skip-child-share"    // fan-out reserves one child share too few
	AnswerBeforeSync  Defect = "answer-before-sync"  // a log append answers before its bytes are synchronised
	NoTornTailCheck   Defect = "no-torn-tail-check"  // recovery accepts a record whose checksum does not match
	ResendConfirmed   Defect = "resend-confirmed"    // a retry offers records the broker had confirmed
	MapOrderedEffects Defect = "map-ordered-effects" // effects follow the iteration order of a map

	ForgetWatermark   Defect = "forget-watermark"    // a channel forgets its last verdict, so a repeat is admitted again
	RefuseHeld        Defect = "refuse-held"         // a delivery without room is refused instead of held
	UnfencedCancel    Defect = "unfenced-cancel"     // a cancellation is answered while the graph still decides, and does not bind it
	ReusePosition     Defect = "reuse-position"      // a delivery position is used again under the same generation
	CountMissedSweeps Defect = "count-missed-sweeps" // silence is counted over sweeps that the frozen sender did not make
	AdmitBeforeGraph  Defect = "admit-before-graph"  // a verdict is told before the runtime branch took the batch

	FinishUnread Defect = "finish-unread" // a copy finishes the shares of attached consumers that its node does not run
	LeakyGate    Defect = "leaky-gate"    // a closed admission gate lets a publisher in

	OpenOnCoordinatorLoss Defect = "open-on-coordinator-loss" // a gate opens when its coordinator is lost, not when its lease ends
	ReuseGeneration       Defect = "reuse-generation"         // state of a superseded generation is installed again
	InstallUnverified     Defect = "install-unverified"       // a transferred section is installed without its digest being checked
	IgnoreLease           Defect = "ignore-lease"             // a write to a domain is applied without checking the lease

	SnapshotUnverified Defect = "snapshot-unverified" // a fetched snapshot section is installed without its digest being checked
	ForgetVote         Defect = "forget-vote"         // a vote is answered, but not written to the log
	KeepConflicts      Defect = "keep-conflicts"      // recovery keeps old entries behind an overwritten one
	StaleRead          Defect = "stale-read"          // a read is answered without asking a quorum
	LearnerVotes       Defect = "learner-votes"       // a new member votes before it has the log
	WipedReturns       Defect = "wiped-returns"       // a member without its state takes part again under its raft id

	KeepHalf        Defect = "keep-half"        // a refused command leaves what its first steps did
	HalfBatch       Defect = "half-batch"       // only the first of several changes of definitions is made
	EarlyBarrier    Defect = "early-barrier"    // a command is answered before other nodes are ready for it
	RunUnowned      Defect = "run-unowned"      // a node executes what another one owns
	RepeatReference Defect = "repeat-reference" // a reference that is known is executed again

	HoldForever      Defect = "hold-forever"      // a gate does not open when its lease ends
	DiscardCommitted Defect = "discard-committed" // a preparation is discarded although its move is committed
)

// Defects lists every defect that campaigns look for. FinishUnread shows only when a
// consumer leaves a live node without a hold, which no move of the product does: the
// tests of engine/flow look for it.
func Defects() []Defect {
	return []Defect{
		AckBeforeSink, SkipChildShare, AnswerBeforeSync, NoTornTailCheck, ResendConfirmed, MapOrderedEffects,
		ForgetWatermark, RefuseHeld, UnfencedCancel, ReusePosition, CountMissedSweeps, AdmitBeforeGraph,
		LeakyGate,
		OpenOnCoordinatorLoss, ReuseGeneration, InstallUnverified, IgnoreLease,
		SnapshotUnverified, ForgetVote, KeepConflicts, StaleRead, LearnerVotes, WipedReturns,
		KeepHalf, HalfBatch, EarlyBarrier, RunUnowned, RepeatReference,
		HoldForever, DiscardCommitted,
	}
}
