package control

import (
	"errors"
	"fmt"
	"io/fs"
	"time"
)

var (
	// ErrStorageFailed answers every write after a failed one (G2). The outcome
	// of the command it answers first is unknown.
	ErrStorageFailed = errors.New("consensus storage stopped after a failed write; restart the node")
	// ErrBusy says that too much uncommitted work is queued; nothing happened.
	ErrBusy = errors.New("the control plane is busy; retry")
	// ErrNotLeader says that this node cannot take commands now; nothing happened.
	// A *NotLeaderError says who can.
	ErrNotLeader = errors.New("no leader is elected yet; retry")
	// ErrTooLarge says that a command exceeds catalog.CommandBytesMax.
	ErrTooLarge = errors.New("the command is too large")
	// ErrOutcomeUnknown says that the command may have been committed: the same
	// execution reference finds out.
	ErrOutcomeUnknown = errors.New("outcome unknown")
	// ErrStopped says that the group is no longer running.
	ErrStopped = errors.New("control plane stopped")
)

// LogFullError is ErrBusy with the numbers of a log that was not reclaimed in time.
type LogFullError struct {
	Retained, Cap uint64 // bytes
	Waited        time.Duration
}

func (e *LogFullError) Error() string {
	return fmt.Sprintf("the control plane is busy: its log holds %d bytes of at most %d, and nothing was reclaimed for %v; retry", e.Retained, e.Cap, e.Waited)
}

// Is reports that the error is ErrBusy.
func (e *LogFullError) Is(target error) bool { return target == ErrBusy }

// NotLeaderError is ErrNotLeader with the leader this node knows of.
type NotLeaderError struct {
	Leader       uint64 // raft id; 0 while none is known
	Node         string // "" while its node record has not arrived here
	Interconnect string
}

func (e *NotLeaderError) Error() string {
	switch {
	case e.Leader == 0:
		return ErrNotLeader.Error()
	case e.Node == "":
		return fmt.Sprintf("the leader is another node (raft id %d)", e.Leader)
	}
	return fmt.Sprintf("the leader is node '%s' at %s", e.Node, e.Interconnect)
}

// Is reports that the error is ErrNotLeader.
func (e *NotLeaderError) Is(target error) bool { return target == ErrNotLeader }

// StartError says why a node without stored state does not start.
type StartError struct {
	Text string
	// Contradiction says that the settings exclude each other.
	Contradiction bool
}

func (e *StartError) Error() string { return e.Text }

// DamageError names a file whose content is not what was written.
type DamageError struct {
	File   string
	Offset int64
	What   string
}

func (e *DamageError) Error() string {
	place := e.File
	if e.Offset > 0 {
		place = fmt.Sprintf("%s:%d", e.File, e.Offset)
	}
	return fmt.Sprintf("the data directory is damaged at %s (%s); %s", place, e.What, mending)
}

// mending is what to do about a directory that lacks something.
const mending = "of a node in a cluster, run DROP NODE on another member, then join again with an empty directory; " +
	"of a node that is alone, put a copy of the whole directory back, or start with an empty one"

// unlisted says why the content of a directory that has to be there is not known.
func unlisted(what, dir string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return &DamageError{File: dir, What: "the directory is missing"}
	}
	return fmt.Errorf("list %s: %w", what, err)
}

// LostLogError says that the log lacks entries which this member had acknowledged.
type LostLogError struct{ Dir, Node string }

func (e *LostLogError) Error() string {
	return fmt.Sprintf("the consensus log in %s lacks entries that this node had acknowledged; run DROP NODE %s, then start it with an empty data directory",
		e.Dir, e.Node)
}

// DivergedError says that the cluster goes on from a log which lacks what this
// member had committed.
type DivergedError struct {
	Dir, Node string
	Index     uint64
}

func (e *DivergedError) Error() string {
	return fmt.Sprintf("the cluster has another entry %d than this node had committed: other members lost confirmed entries, which only %s still holds; "+
		"keep a copy of it, run DROP NODE %s, then start it with an empty data directory", e.Index, e.Dir, e.Node)
}

// ForeignError says that the data directory belongs to someone else.
type ForeignError struct {
	Dir  string
	What string
}

func (e *ForeignError) Error() string { return fmt.Sprintf("data directory %s: %s", e.Dir, e.What) }
