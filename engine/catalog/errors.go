package catalog

import (
	"errors"
	"fmt"

	"plexus/engine/catalog/catalogpb"
)

var (
	// ErrFormat says that bytes are no command or record of this build's format.
	// All nodes run one format, so it is fatal to the node.
	ErrFormat = errors.New("unknown catalog encoding")
	// ErrModel says that the canonical text of a stored model does not parse.
	ErrModel = errors.New("stored model does not parse")
)

// Code classes a refusal, in the words of the language's errors.
type Code string

// The codes of refusals.
const (
	Exists           Code = "exists"
	RefMissing       Code = "ref.missing"
	DomainMissing    Code = "domain.missing"
	DomainState      Code = "domain.state"
	Invalid          Code = "invalid"
	Conflict         Code = "conflict"
	ReferenceExpired Code = "reference.expired"
	Busy             Code = "busy"
	TxState          Code = "tx.state"
	TxLimit          Code = "tx.limit"
	Unauthorized     Code = "unauthorized"
	NodeRefused      Code = "node"
)

// Refusal is why a step did not apply. It is the recorded result of its command.
type Refusal struct {
	Code    Code
	Message string
	Step    int // from 0
	// Stale says that an input of planning changed before the command applied: the
	// refusal is no outcome, and the command may be planned again.
	Stale bool
}

func (r *Refusal) Error() string { return string(r.Code) + ": " + r.Message }

func refuse(code Code, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Message: fmt.Sprintf(format, args...)}
}

// Record returns the refusal as commands and records hold it.
func (r *Refusal) Record() *catalogpb.Refusal {
	return &catalogpb.Refusal{Code: string(r.Code), Message: r.Message, Step: uint32(r.Step), Stale: r.Stale}
}

func newRefusal(r *catalogpb.Refusal) *Refusal {
	return &Refusal{Code: Code(r.GetCode()), Message: r.GetMessage(), Step: int(r.GetStep()), Stale: r.GetStale()}
}

func recordError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
}

// stale is the refusal of a step whose expected prior value is gone.
func stale(format string, args ...any) *Refusal {
	r := refuse(Conflict, format, args...)
	r.Stale = true
	return r
}
