package handoff

import (
	"cmp"
	"crypto/sha256"
	"slices"
	"time"

	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/primitives"
)

// Move gives one operator another owner.
type Move struct {
	Transition primitives.UUID // new for every attempt
	Entity     quiesce.Entity
	From, To   string
}

// Plan is a planned change of owners: it happens whole or not at all.
type Plan struct {
	Domain string
	// Base is the index of the schedule that names the sources as owners.
	Base uint64
	// Target is the fingerprint of the schedule to commit.
	Target [32]byte
	Moves  []Move
	// Hold is the boundary of the moved operators. It is frozen, and forced: moved
	// sources stop at once.
	Hold quiesce.Plan
	// Stopped says that the domain does not run: there is nothing to hold.
	Stopped bool
}

// Binding is the whole identity of one preparation.
type Binding struct {
	Coordinator quiesce.Process
	Sequence    uint64 // of the coordinator's hold; 0 where nothing is held
	Transition  primitives.UUID
	Domain      string
	Entity      quiesce.Entity
	Source      quiesce.Process // a name alone where the owner was lost
	Destination quiesce.Process
	Base        uint64
	Target      [32]byte
}

// Hold is the hold the preparation depends on; zero where nothing is held.
func (b *Binding) Hold() quiesce.ID {
	if b.Sequence == 0 {
		return quiesce.ID{}
	}
	return quiesce.ID{Coordinator: b.Coordinator.Node, Epoch: b.Coordinator.Epoch, Sequence: b.Sequence}
}

// forced reports whether the owner was lost: there is nobody to capture from.
func (b *Binding) forced() bool { return b.Source.Epoch == [16]byte{} }

// Origin is a container and the node that has it.
type Origin struct {
	Ref  state.Ref
	Node string
}

// Outcome is what a committed forced recovery says about one component of the
// lost owner: the digest of the staged checkpoints, or zero for an explicit reset.
type Outcome struct {
	Component state.Component
	Staged    [32]byte
}

// Reset reports whether the component starts empty.
func (o Outcome) Reset() bool { return o.Staged == [32]byte{} }

// staged is the digest of the checkpoints of one component, in canonical order.
func staged(refs []state.Ref) ([32]byte, error) {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, compareRefs)
	h := sha256.New()
	for _, r := range refs {
		b, err := r.Encode()
		if err != nil {
			return [32]byte{}, err
		}
		h.Write(b)
	}
	return [32]byte(h.Sum(nil)), nil
}

func compareRefs(a, b state.Ref) int {
	return cmp.Or(a.Placement.Compare(b.Placement), cmp.Compare(a.Fence, b.Fence), cmp.Compare(a.Revision, b.Revision))
}

// Settings are the bounds of ownership changes.
type Settings struct {
	Lease   time.Duration // for capture and preparation together; the gates' own
	Request time.Duration // every other request
	Poll    time.Duration // before a request is repeated
}

// SettingsOf derives the bounds from those of holds.
func SettingsOf(s quiesce.Settings) Settings {
	return Settings{Lease: s.Lease, Request: s.Request, Poll: s.Poll}
}
