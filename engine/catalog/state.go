package catalog

import (
	"iter"

	"plexus/nspl/model"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// State is everything replicated, at one log index. It is immutable.
type State struct {
	// Applied is the index of the last command.
	Applied uint64
	Cluster primitives.UUID
	// NextRaftID is never reused.
	NextRaftID uint64
	// Fence is the retry fence: references created before it are refused.
	Fence int64
	// HighWater is the largest stamped time, Unix nanoseconds.
	HighWater int64
	Limits    Limits

	users      tree[*User]
	domains    tree[*Domain]
	models     tree[*Model]
	resources  tree[*Resource]
	executions tree[*Execution]
	nodes      tree[*Node]
	removed    tree[uint64] // raft ids
	schedules  tree[*Schedule]
	handoffs   tree[primitives.UUID] // transitions that were taken over

	transactions tree[*Transaction]
	operations   tree[*Operation]
	parts        tree[[]byte] // of plans

	// What a leader works on, derived from executions and transactions.
	unfinished tree[*Execution]
	active     tree[*Transaction]
}

// User may open sessions.
type User struct {
	Name         string
	PasswordHash string // argon2id PHC string
	Revision     uint64
}

// Domain is one graph with its lifecycle.
type Domain struct {
	Name    string
	Running bool
	// Generation counts starts.
	Generation uint64
	// Definition is the index that last changed the models.
	Definition uint64
	// Runtime is the index that last changed what executes: models or lifecycle.
	Runtime uint64
	// Positions is the index since which source positions of the domain count.
	Positions uint64
	// Placement is what connected operators do where no rule says otherwise.
	Placement vocab.PlacementPolicy
	Pace      *model.Pace // nil for an unpaced domain
	Lease     *Lease      // nil while nobody changes the domain
}

// Key names a model within its domain.
type Key struct {
	Kind vocab.EntityKind
	Name string
}

// String returns the form messages use.
func (k Key) String() string { return k.Kind.String() + " '" + k.Name + "'" }

// Model is one stored definition.
type Model struct {
	Domain string
	Key
	Text       string // canonical statement
	Definition model.Entity
	Revision   uint64 // index that wrote it

	references []model.Ref
}

// References lists what the definition refers to.
func (m *Model) References() []model.Ref { return m.references }

// New returns the state of a cluster that has applied nothing. Raft id 1 is its
// founder's.
func New(cluster primitives.UUID) *State {
	return &State{Cluster: cluster, NextRaftID: 2, Limits: DefaultLimits}
}

// User returns a user.
func (s *State) User(name string) (*User, bool) { return s.users.get(name) }

// Users yields the users by name.
func (s *State) Users() iter.Seq[*User] { return values(s.users.all()) }

// Domain returns a domain.
func (s *State) Domain(name string) (*Domain, bool) { return s.domains.get(name) }

// Domains yields the domains by name.
func (s *State) Domains() iter.Seq[*Domain] { return values(s.domains.all()) }

// Model returns a model.
func (s *State) Model(domain string, key Key) (*Model, bool) {
	return s.models.get(modelKey(domain, key))
}

// Models yields the models of a domain by kind, in the order of the kinds, and
// name.
func (s *State) Models(domain string) iter.Seq[*Model] {
	return values(s.models.prefix(domain + "\x00"))
}

// Node returns a member.
func (s *State) Node(id string) (*Node, bool) { return s.nodes.get(id) }

// NodeByRaft returns the member with a raft id.
func (s *State) NodeByRaft(raftID uint64) (*Node, bool) {
	for n := range s.Nodes() {
		if n.RaftID == raftID {
			return n, true
		}
	}
	return nil, false
}

// Nodes yields the members by name.
func (s *State) Nodes() iter.Seq[*Node] { return values(s.nodes.all()) }

// Removed reports whether a raft id was dropped: no process may use it again.
func (s *State) Removed(raftID uint64) bool {
	_, ok := s.removed.get(raftKey(raftID))
	return ok
}

// Schedule returns the assignment of a domain. A domain that was never scheduled
// has none.
func (s *State) Schedule(domain string) (*Schedule, bool) { return s.schedules.get(domain) }

// modelKey orders by domain, kind and name: names hold no NUL, and a kind is one
// byte.
func modelKey(domain string, key Key) string {
	return domain + "\x00" + string([]byte{byte(key.Kind)}) + key.Name
}

func values[V any](seq iter.Seq2[string, V]) iter.Seq[V] {
	return func(yield func(V) bool) {
		for _, v := range seq {
			if !yield(v) {
				return
			}
		}
	}
}
