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

	OpenOnCoordinatorLoss Defect = "open-on-coordinator-loss" // a gate opens when its coordinator is lost, not when its lease ends
	ReuseGeneration       Defect = "reuse-generation"         // state of a superseded generation is installed again
	InstallUnverified     Defect = "install-unverified"       // a transferred section is installed without its digest being checked
	IgnoreLease       Defect = "ignore-lease"        // a write to a domain is applied without checking the lease
)

// Defects lists every defect.
func Defects() []Defect {
	return []Defect{AckBeforeSink, SkipChildShare, AnswerBeforeSync, NoTornTailCheck, ResendConfirmed, MapOrderedEffects, IgnoreLease}
}
