package handoff

import (
	"context"
	"slices"

	"plexus/engine/quiesce"
	"plexus/engine/state"
)

// Component is one kind of state that operators own.
type Component struct {
	Kind state.Component
	// Capture returns the state of an operator that is at rest on this node; nothing
	// if it has none of this kind. Snapshots are immutable.
	Capture func(ctx context.Context, domain string, e quiesce.Entity) ([]*state.Snapshot, error)
	// Restore makes a verified container the operator's state, durably. It is
	// repeated after a crash, always before the operator runs.
	Restore func(ctx context.Context, c *state.Container) error
	// Reset makes the operator start empty, durably: before Restore, or instead of
	// it. It may be repeated.
	Reset func(ctx context.Context, domain string, e quiesce.Entity) error
	// Saved lists what this node keeps of the operator's state, as owner or replica,
	// for a forced recovery. Serve finds each.
	Saved func(ctx context.Context, domain string, e quiesce.Entity) ([]state.Ref, error)
	// Open reads one that Saved listed.
	Open func(ctx context.Context, ref state.Ref) (*state.Container, error)
}

// Stored is a component whose durable form is a checkpoint in the store, by the
// identity that the committed schedule publishes.
func Stored(kind state.Component, store *state.Store, identity func(domain string, e quiesce.Entity) (state.Identity, bool),
	capture func(ctx context.Context, domain string, e quiesce.Entity) ([]*state.Snapshot, error)) Component {
	placements := func(domain string, e quiesce.Entity) []state.Placement {
		id, ok := identity(domain, e)
		if !ok {
			return nil
		}
		return store.List(id)
	}
	return Component{
		Kind: kind, Capture: capture,
		Restore: func(_ context.Context, c *state.Container) error { return store.Restore(c) },
		Reset: func(_ context.Context, domain string, e quiesce.Entity) error {
			for _, p := range placements(domain, e) {
				if err := store.Remove(p); err != nil {
					return err
				}
			}
			return nil
		},
		Saved: func(_ context.Context, domain string, e quiesce.Entity) (refs []state.Ref, err error) {
			for _, p := range placements(domain, e) {
				ref, ok, err := store.Ref(p)
				if err != nil {
					return nil, err
				}
				if ok {
					refs = append(refs, ref)
				}
			}
			return refs, nil
		},
		Open: func(_ context.Context, ref state.Ref) (*state.Container, error) { return store.Open(ref.Placement) },
	}
}

// component returns the registered component of a kind.
func (p *Participant) component(kind state.Component) (*Component, bool) {
	i := slices.IndexFunc(p.components, func(c Component) bool { return c.Kind == kind })
	if i < 0 {
		return nil, false
	}
	return &p.components[i], true
}
