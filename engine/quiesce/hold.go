package quiesce

import (
	"cmp"
	"slices"

	"plexus/nspl/vocab"
)

// Process is one run of a node, as the transport authenticated it.
type Process struct {
	Node    string
	RaftID  uint64
	Counter uint64
	Epoch   [16]byte
}

// ID names a hold. Coordinator and Epoch are those of the process that holds;
// Sequence rises within it.
type ID struct {
	Coordinator string
	Epoch       [16]byte
	Sequence    uint64
}

// Entity is one operator or relay of a domain.
type Entity struct {
	Kind vocab.EntityKind
	Name string
}

func (e Entity) compare(o Entity) int {
	return cmp.Or(cmp.Compare(e.Kind, o.Kind), cmp.Compare(e.Name, o.Name))
}

// Purpose says what a hold is for.
type Purpose uint8

// The purposes.
const (
	ForChange Purpose = iota + 1
	ForHandoff
	ForReset
	ForBackup
	ForStop
)

// Scope is what a hold covers.
type Scope struct {
	Domain  string
	Purpose Purpose
	// Index is the log index whose domain revision the scope was computed from. A
	// node that has not applied it yet cannot engage.
	Index uint64
	// Whole pauses every source and generator of the domain and counts all its
	// work; the lists below are empty then.
	Whole bool
	// Gates are the relays that admit nothing.
	Gates []string
	// Sources are the ingestors and generators that pause.
	Sources []Entity
	// Drain are the operators and relays whose work has to end, sources included.
	Drain []Entity
	// Force pauses sources at once, whatever their ON QUIESCE says, and makes
	// endpoints refuse.
	Force bool
	// Branches restricts gates to these branch fingerprints; empty means all.
	Branches [][32]byte
}

// Canonical returns the scope with its lists sorted and without repetitions, so
// that equal scopes are encoded equally.
func (s Scope) Canonical() Scope {
	s.Gates = distinct(s.Gates, cmp.Compare[string])
	s.Sources = distinct(s.Sources, Entity.compare)
	s.Drain = distinct(s.Drain, Entity.compare)
	s.Branches = distinct(s.Branches, func(a, b [32]byte) int { return slices.Compare(a[:], b[:]) })
	return s
}

func distinct[T comparable](list []T, compare func(a, b T) int) []T {
	list = slices.Clone(list)
	slices.SortFunc(list, compare)
	return slices.Compact(list)
}

// intake is the part of the scope that pauses sources and closes no gate.
func (s Scope) intake() Scope {
	s.Gates, s.Branches = nil, nil
	s.Drain = s.Sources
	return s
}

func (s Scope) equal(o Scope) bool {
	return s.Domain == o.Domain && s.Purpose == o.Purpose && s.Index == o.Index && s.Whole == o.Whole && s.Force == o.Force &&
		slices.Equal(s.Gates, o.Gates) && slices.Equal(s.Sources, o.Sources) && slices.Equal(s.Drain, o.Drain) &&
		slices.Equal(s.Branches, o.Branches)
}
