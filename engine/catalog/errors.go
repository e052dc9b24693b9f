package catalog

import (
	"errors"
	"fmt"
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
	Busy             Code = "tx.limit"
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

// stale is the refusal of a step whose expected prior value is gone.
func stale(format string, args ...any) *Refusal {
	r := refuse(Conflict, format, args...)
	r.Stale = true
	return r
}
