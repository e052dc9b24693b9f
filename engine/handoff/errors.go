package handoff

import (
	"errors"
	"fmt"

	"plexus/engine/quiesce"
	"plexus/primitives"
)

// ErrNotCommitted is what a commit returns that certainly had no effect.
var ErrNotCommitted = errors.New("the schedule was not committed")

// Reason says why a participant refuses.
type Reason uint8

// The reasons.
const (
	OtherProcess  Reason = iota + 1 // the request is bound to another process of this node
	NotHeld                         // the hold, or exactly its freeze, is not engaged here
	NoPreparation                   // there is no preparation of this identity
	Discarded                       // it was discarded before it was prepared
	Committed                       // the transition is the committed one
	NotReady                        // this node has not applied the index yet
	Failed                          // it was tried and did not work
	Malformed                       // the request does not decode, or contradicts itself
)

var reasonTexts = [...]string{
	OtherProcess: "the node changed process", NotHeld: "the hold is not engaged with this freeze", NoPreparation: "no such preparation",
	Discarded: "the preparation was discarded", Committed: "the transition is committed", NotReady: "not applied yet",
	Failed: "failed", Malformed: "the request is malformed",
}

func (r Reason) String() string {
	if int(r) < len(reasonTexts) && reasonTexts[r] != "" {
		return reasonTexts[r]
	}
	return fmt.Sprintf("reason %d", r)
}

// Refusal is a participant's no.
type Refusal struct {
	Reason Reason
	Detail string
}

func (e *Refusal) Error() string {
	if e.Detail == "" {
		return e.Reason.String()
	}
	return e.Reason.String() + ": " + e.Detail
}

// ChangedError says that a node restarted in the middle. A later attempt succeeds.
type ChangedError struct{ Role, Node string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s node '%s' changed process during the handoff", e.Role, e.Node)
}

// PrepareError says that one operator could not be prepared. The schedule is
// unchanged, and every other preparation is being discarded.
type PrepareError struct {
	Entity   quiesce.Entity
	From, To string
	Err      error
}

func (e *PrepareError) Error() string {
	return fmt.Sprintf("hand over %s '%s' from node '%s' to node '%s': %v", e.Entity.Kind.Words(), e.Entity.Name, e.From, e.To, e.Err)
}

func (e *PrepareError) Unwrap() error { return e.Err }

// UncertainError says that the schedule may or may not have been committed: the
// next leader finds out, and the gates open by their leases.
type UncertainError struct{ Err error }

func (e *UncertainError) Error() string {
	return fmt.Sprintf("the outcome of the handoff is unknown: %v", e.Err)
}
func (e *UncertainError) Unwrap() error { return e.Err }

// ActivationError says that the committed owners did not all become ready: the
// gate stays closed until its lease ends, and the nodes keep trying.
type ActivationError struct{ Err error }

func (e *ActivationError) Error() string {
	return fmt.Sprintf("the new owners are committed but not ready: %v", e.Err)
}
func (e *ActivationError) Unwrap() error { return e.Err }

// MissingError fails an activation whose preparation is not there or is another.
// No checkpoint was touched.
type MissingError struct {
	Entity     quiesce.Entity
	Transition primitives.UUID
	What       string
}

func (e *MissingError) Error() string {
	return fmt.Sprintf("activate %s '%s' by transition %s: %s", e.Entity.Kind.Words(), e.Entity.Name, e.Transition, e.What)
}

// DamageError says that a manifest or a marker does not read.
type DamageError struct{ File, What string }

func (e *DamageError) Error() string { return fmt.Sprintf("%s is damaged: %s", e.File, e.What) }
