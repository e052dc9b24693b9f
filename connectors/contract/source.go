package contract

import (
	"context"
	"time"

	"plexus/nspl/vocab"
)

// Source is the lifecycle every source has (C1).
type Source interface {
	// NeedsResume reports that connection or assignment must be established.
	NeedsResume() bool
	// Suspend stops taking messages and gives up the connection.
	Suspend(ctx context.Context) error
	// Resume connects, subscribes, is assigned. It is idempotent. A WaitFor above
	// zero means "not assigned yet, ask again after it" and is no error.
	Resume(ctx context.Context) (Resumed, error)
	// Close releases everything and waits for the source's own tasks. It is
	// called once, in any state.
	Close(ctx context.Context) error
}

// Resumed is the answer of Resume: ready, or a time to wait.
type Resumed struct{ WaitFor time.Duration }

// Ready reports whether the source takes messages now.
func (r Resumed) Ready() bool { return r.WaitFor == 0 }

// BatchSource is a source that the broker loop drives.
type BatchSource interface {
	Source
	// NextBatch waits for at least one message and returns up to Max. Messages,
	// with everything they point to, are lent until the next call of NextBatch,
	// Suspend or Close.
	NextBatch(ctx context.Context, req BatchRequest) (Batch, error)
	// Acknowledge returns nil once the transport has confirmed every position as
	// far as the entity declares (vocab.Confirmation). It is called once for each
	// batch that has positions, or Reject is.
	Acknowledge(ctx context.Context, positions []Position) error
	// Reject gives the positions back.
	Reject(ctx context.Context, positions []Position, why Refusal) error
}

// KeepAliveSource is a BatchSource whose positions lapse unless they are
// refreshed.
type KeepAliveSource interface {
	BatchSource
	// KeepAliveEvery is the longest time the host may let pass between two
	// refreshes of an unresolved position. It is known once the source is ready.
	KeepAliveEvery() time.Duration
	// KeepAlive tells the transport that the positions are still worked on. Its
	// error ends nothing: a position that lapses is presented again.
	KeepAlive(ctx context.Context, positions []Position) error
}

// StatefulSource is a cursor source: the host persists what it has consumed.
//
// NextBatch stages; it moves no cursor and deletes nothing. Acknowledge commits
// what was staged, after the host has persisted the state. Reject discards it, so
// that the same data is read again. An error of either is final for the instance.
type StatefulSource interface {
	BatchSource
	// Restore is called before the first Resume. State that cannot be used is a
	// StateUnusableError, never a fresh start.
	Restore(ctx context.Context, state State, found bool) error
}

// BatchRequest bounds one NextBatch.
type BatchRequest struct {
	Max int // at least 1
	// Timeout is how long a batch that has a message waits for more; 0 takes what
	// is there.
	Timeout time.Duration
}

// BatchKind says what NextBatch returned.
type BatchKind uint8

// The kinds.
const (
	Messages       BatchKind = iota
	ResumeRequired           // the connection or the assignment is gone; Err says why
	Closed                   // the external system ended the subscription; Err says why
)

// Batch is one result of NextBatch.
type Batch struct {
	Kind     BatchKind
	Messages []Message
	// State belongs to cursor sources. It may come with no message at all.
	State *State
	Err   error
}

// Message is one payload with its sidecars.
type Message struct {
	Payload  []byte
	Position Position
	Headers  []Header // arrival order, or name order where the transport has a map
	Metadata Metadata
}

// Metadata is the typed metadata of one message; Scope says which fields exist.
type Metadata struct {
	Scope         vocab.MetadataScope
	RecordID      string // ScopeCursor; "" is null
	OriginTime    int64  // ScopeCursor; Unix nanoseconds
	HasOriginTime bool
}

// Position names one delivery on its own transport. The two words mean something
// to the source that made them and to nobody else.
type Position struct{ Lane, Offset uint64 }

// Refusal says why positions are rejected, and when to present them again.
type Refusal struct {
	Reason RefusalReason
	Delay  time.Duration
}

// RefusalReason is a cause of rejection.
type RefusalReason uint8

// The reasons.
const (
	RefusedByOutcome      RefusalReason = iota // a record of the batch failed
	RefusedByTimeout                           // no acknowledgement progress within ACK TIMEOUT
	RefusedByIntake                            // decoding, unfolding or dispatch refused it
	RefusedByConfirmation                      // Acknowledge failed
	RefusedByResultWindow                      // cursor sources: no result within 30 s
	RefusedByStateStore                        // cursor sources: the state was not persisted
)

var refusalReasonNames = [...]string{"outcome", "timeout", "intake", "confirmation", "result_window", "state_store"}

// String returns the word that events show.
func (r RefusalReason) String() string { return refusalReasonNames[r] }
