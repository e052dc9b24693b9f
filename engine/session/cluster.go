package session

import (
	"context"
	"errors"

	"plexus/engine/catalog"
	"plexus/engine/decide"
	"plexus/engine/session/document"
	"plexus/primitives"
)

// Cluster is what the service needs of the other nodes. A node that is alone has
// none.
type Cluster interface {
	// Leader says who leads, as far as this node knows.
	Leader() Leadership
	// Planning is what schedules depend on besides the definitions.
	Planning() decide.Cluster
	// Status lists the members by name.
	Status() []NodeStatus
	// Describe asks a node for [Service.DescribeLocal].
	Describe(ctx context.Context, node, domain string, key catalog.Key) ([]byte, error)
	// Move brings what changes its owner to rest, has the effect committed, waits
	// until it is usable and lets go. The error of what failed before the effect was
	// committed is a *MoveError.
	Move(ctx context.Context, m Move, effect Effect) error
	// Drain moves every unit off a node that is cordoned already, and Drop ends a
	// membership. A task may be one that an earlier leader began.
	Drain(ctx context.Context, t Task, node string) (*TaskOutcome, error)
	Drop(ctx context.Context, t Task, node string) (*TaskOutcome, error)
}

// Leadership is who leads.
type Leadership struct {
	Node, ClientURL, ConsoleURL string // "" where not known or not offered
	Here, Known                 bool
}

// NodeStatus is one member in SHOW CLUSTER STATUS.
type NodeStatus struct {
	Node         string
	Role         string // leader, voter, learner
	Availability string // live, unknown, unavailable
	Incarnation  uint64
	Endpoints    []string
	Cordoned     bool
	Terminating  bool
	Applied      uint64 // control revision, as announced
	Ready        uint64 // runtime revision, as announced
}

// Move is a planned change of owners.
type Move struct {
	Domain string
	// Lease is held by whoever asks.
	Lease    uint64
	Running  bool
	Moves    []decide.Move
	Boundary decide.Boundary
	Drains   bool // all running work of the domain has to finish, too
	// Base is the committed schedule, nil for none, and Target the one that the
	// effect sets.
	Base, Target *catalog.Schedule
}

// Effect is the caller's half of a move.
type Effect struct {
	// Commit proposes the effect. An error that is ErrNotCommitted means that
	// nothing happened.
	Commit func(ctx context.Context) error
	// Ready waits until the effect is usable on every live node.
	Ready func(ctx context.Context) error
}

// ErrNotCommitted says that an effect was not committed, and will not be.
var ErrNotCommitted = errors.New("the effect was not committed")

// MoveError says that a move changed nothing. Uncertain says that a node may have
// been held without anybody knowing.
type MoveError struct {
	Code      string // drain, conflict, ...
	Uncertain bool
	Err       error
}

func (e *MoveError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *MoveError) Unwrap() error { return e.Err }

// Task is a command that a leader carries out in several steps.
type Task struct {
	// Owner is who takes the leases; they are given back when the task ends.
	Owner     string
	Reference primitives.UUID
}

// TaskOutcome is what a task came to.
type TaskOutcome struct {
	Document document.Value
	Failed   *catalog.Refusal // nil for success
}
