package contract

import (
	"fmt"

	"plexus/nspl/vocab"
)

// SourceOperation is what a source was doing.
type SourceOperation uint8

// The operations of a source.
const (
	SourceOpen SourceOperation = iota
	SourceResume
	SourceRead
	SourceAcknowledge
	SourceReject
	SourceKeepAlive
)

var sourceOperationNames = [...]string{"open", "resume", "read", "acknowledge", "reject", "keep-alive"}

// SourceError is a failure of one operation of a source. The source can still be
// resumed or closed.
type SourceError struct {
	Entity    vocab.SourceEntity
	Operation SourceOperation
	Err       error
}

func (e *SourceError) Error() string {
	return e.Entity.String() + " source: " + sourceOperationNames[e.Operation] + " failed"
}
func (e *SourceError) Unwrap() error { return e.Err }

// SinkOperation is what a sink was doing.
type SinkOperation uint8

// The operations of a sink.
const (
	SinkOpen SinkOperation = iota
	SinkPublish
)

var sinkOperationNames = [...]string{"open", "publish"}

// SinkError is a failure of one operation of a sink.
type SinkError struct {
	Entity    vocab.SinkEntity
	Operation SinkOperation
	Err       error
}

func (e *SinkError) Error() string {
	return e.Entity.String() + " sink: " + sinkOperationNames[e.Operation] + " failed"
}
func (e *SinkError) Unwrap() error { return e.Err }

// MissingExternalError names something that an operator has to create: nothing
// external is ever created by a node.
type MissingExternalError struct {
	Role string // "stream", "consumer"
	Name string
	Err  error
}

func (e *MissingExternalError) Error() string {
	return fmt.Sprintf("%s '%s' does not exist", e.Role, e.Name)
}
func (e *MissingExternalError) Unwrap() error { return e.Err }

// UnsuitableExternalError names a difference between what an external entity is
// and what the statement needs.
type UnsuitableExternalError struct {
	Role, Name string
	Difference string
}

func (e *UnsuitableExternalError) Error() string {
	return fmt.Sprintf("%s '%s' %s", e.Role, e.Name, e.Difference)
}

// StateUnusableError says that a persisted cursor cannot be continued from.
type StateUnusableError struct {
	Entity vocab.SourceEntity
	Err    error
}

func (e *StateUnusableError) Error() string {
	return e.Entity.String() + " source: persisted state is unusable"
}
func (e *StateUnusableError) Unwrap() error { return e.Err }
