package handoff

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"plexus/engine/quiesce"
	"plexus/engine/state"
	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

var (
	prepareJoined    = invariant.Sometimes("a repeated request joined a preparation under way")
	discardFirst     = invariant.Sometimes("a discard came before its preparation")
	heldTooShort     = invariant.Sometimes("a hold ended while a preparation was under way")
	captureRepeated  = invariant.Sometimes("a capture was asked for again")
	committedRefused = invariant.Sometimes("a node refused to discard a committed preparation")
)

// Holds tells which holds are engaged here. *quiesce.Participant does.
type Holds interface {
	// Holding reports whether the hold is engaged, under exactly this freeze; 0 asks
	// for the hold alone.
	Holding(id quiesce.ID, freeze uint64) bool
}

// Applied is what this node has applied of the committed state.
type Applied interface {
	// Index is the newest applied log index.
	Index() uint64
	// Assigned returns the transition that made the owner of an operator, as the
	// applied schedule says; false when it assigns none.
	Assigned(domain string, e quiesce.Entity) (transition primitives.UUID, ok bool)
	// Running reports whether the domain runs.
	Running(domain string) bool
}

// Participant captures, prepares, discards and activates on one node.
type Participant struct {
	world      primitives.World
	settings   Settings
	self       quiesce.Process
	holds      Holds
	applied    Applied
	staging    *state.Staging
	remote     state.Remote
	components []Component

	group *primitives.Group
	disk  *primitives.Mutex // one task at a time uses the shelf
	shelf *shelf

	lock      *primitives.Mutex // guards what follows; nothing waits under it
	jobs      map[Binding]*job
	captures  map[Binding]*capture
	prepared  map[primitives.UUID]*preparation
	marks     map[primitives.UUID]string
	discarded tombstones
}

// job is a capture or a preparation under way.
type job struct {
	done   *primitives.Event
	cancel context.CancelFunc
	err    error
}

// capture is what a source keeps for its destination to fetch.
type capture struct {
	refs   []state.Ref
	staged []*state.Staged
	gone   *primitives.Event // nobody fetches it any more
}

// Deps are what a participant works with.
type Deps struct {
	Holds      Holds
	Applied    Applied
	Staging    *state.Staging
	Remote     state.Remote
	Components []Component // sorted by what has to be restored first
}

// OpenParticipant reads the preparations of a data directory.
func OpenParticipant(w primitives.World, dataDir string, s Settings, self quiesce.Process, d Deps) (*Participant, error) {
	p := &Participant{
		world: w, settings: s, self: self, holds: d.Holds, applied: d.Applied, staging: d.Staging, remote: d.Remote, components: d.Components,
		disk: primitives.NewMutex(w), lock: primitives.NewMutex(w),
		jobs: map[Binding]*job{}, captures: map[Binding]*capture{}, discarded: newTombstones(),
	}
	var err error
	if p.shelf, err = openShelf(w, dataDir); err != nil {
		return nil, err
	}
	if p.prepared, err = p.shelf.load(); err != nil {
		return nil, err
	}
	if p.marks, err = p.shelf.marks(); err != nil {
		return nil, err
	}
	return p, nil
}

// Start lets the participant work. Its tasks end with ctx or Stop.
func (p *Participant) Start(ctx context.Context) { p.group = primitives.NewGroup(ctx, p.world) }

// Stop ends what is under way. Preparations stay.
func (p *Participant) Stop(ctx context.Context) error {
	p.group.Cancel(primitives.ErrClosed)
	err := p.group.Wait(ctx)
	if errors.Is(err, primitives.ErrClosed) {
		return nil
	}
	return err
}

// locked runs f with what the lock guards.
func (p *Participant) locked(f func()) {
	if p.lock.Lock(context.Background()) == nil { // never held across a wait
		f()
		p.lock.Unlock()
	}
}

// Handle answers one request. Only a cancelled ctx is an error; a refusal is an
// answer.
func (p *Participant) Handle(ctx context.Context, from quiesce.Process, op Operation, b []byte) ([]byte, error) {
	a := &answer{Process: p.self}
	r, err := decodeRequest(op, b)
	switch {
	case err != nil:
		err = &Refusal{Malformed, err.Error()}
	case op == Capture:
		a.Refs, err = p.capture(ctx, from, r)
	case op == Prepare:
		err = p.prepare(ctx, from, r)
	case op == Confirm:
		err = p.confirm(r)
	case op == Discard:
		err = p.discard(ctx, &r.Binding)
	case op == Reconcile:
		a.Listed, err = p.list(r.Index)
	case op == StateCatalog:
		a.Refs, err = p.saved(ctx, r)
	default:
		err = &Refusal{Malformed, "unknown operation"}
	}
	if refusal := (*Refusal)(nil); errors.As(err, &refusal) {
		return encodeAnswer(&answer{Refused: refusal})
	}
	if err != nil {
		return nil, err
	}
	return encodeAnswer(a)
}

// own refuses requests that are bound to another process, or that another process
// than the coordinator sends.
func (p *Participant) own(from quiesce.Process, b *Binding, role quiesce.Process) error {
	switch {
	case from != b.Coordinator:
		return &Refusal{Malformed, "it is bound to another coordinator"}
	case role != p.self:
		return &Refusal{Reason: OtherProcess}
	}
	return nil
}

// held reports whether what a binding depends on is engaged here.
func (p *Participant) held(b *Binding, freeze uint64) bool {
	if b.Sequence == 0 {
		return b.forced() || !p.applied.Running(b.Domain)
	}
	return p.holds.Holding(b.Hold(), freeze)
}

// join runs work once for all requests of one binding and waits for its end. What
// has begun goes on when a request ends, until its own deadline.
func (p *Participant) join(ctx context.Context, r *request, name string, work func(ctx context.Context) error) error {
	var j *job
	refused := false
	p.locked(func() {
		if refused = discardFirst.HitIf(p.discarded.has(r.Binding)); refused {
			return
		}
		if j = p.jobs[r.Binding]; j != nil {
			prepareJoined.Hit()
			return
		}
		scope, cancel := primitives.WithDeadline(p.group.Context(), p.world, p.world.Clock().Now().Add(r.Within))
		j = &job{done: primitives.NewEvent(p.world), cancel: cancel}
		p.jobs[r.Binding] = j
		p.group.Go(name, func(context.Context) error {
			j.err = work(scope)
			cancel()
			p.locked(func() { delete(p.jobs, r.Binding) })
			j.done.Set()
			return nil
		})
	})
	if refused {
		return &Refusal{Reason: Discarded}
	}
	if err := j.done.Wait(ctx); err != nil {
		return err
	}
	return refusing(j.err)
}

// refusing makes any failure an answer: the caller learns that the work ended.
func refusing(err error) error {
	if refusal := (*Refusal)(nil); err == nil || errors.As(err, &refusal) {
		return err
	}
	return &Refusal{Failed, err.Error()}
}

// capture stages the state of an operator that this node runs, once per binding.
func (p *Participant) capture(ctx context.Context, from quiesce.Process, r *request) ([]state.Ref, error) {
	b := &r.Binding
	if err := p.own(from, b, b.Source); err != nil {
		return nil, err
	}
	known := func() (c *capture) {
		p.locked(func() { c = p.captures[*b] })
		return c
	}
	if c := known(); captureRepeated.HitIf(c != nil) {
		return c.refs, nil
	}
	err := p.join(ctx, r, "handoff capture", func(ctx context.Context) error {
		if known() != nil {
			return nil
		}
		return p.take(ctx, r)
	})
	if err != nil {
		return nil, err
	}
	if c := known(); c != nil {
		return c.refs, nil
	}
	return nil, &Refusal{Reason: Discarded}
}

// take captures every component under the hold and exactly its freeze (H3).
func (p *Participant) take(ctx context.Context, r *request) error {
	b := &r.Binding
	if b.Sequence != 0 && r.Freeze == 0 || !p.held(b, r.Freeze) {
		return &Refusal{Reason: NotHeld}
	}
	c := &capture{gone: primitives.NewEvent(p.world)}
	drop := func(err error) error {
		for _, st := range c.staged {
			err = errors.Join(err, st.Discard())
		}
		return err
	}
	for i := range p.components {
		snapshots, err := p.components[i].Capture(ctx, b.Domain, b.Entity)
		if err != nil {
			return drop(fmt.Errorf("capture %s: %w", p.components[i].Kind, err))
		}
		for _, s := range snapshots {
			st, err := p.staging.Capture(s)
			if err != nil {
				return drop(err)
			}
			c.staged = append(c.staged, st)
			c.refs = append(c.refs, st.Ref)
		}
	}
	if heldTooShort.HitIf(!p.held(b, r.Freeze)) {
		return drop(&Refusal{NotHeld, "it ended during the capture"})
	}
	until := p.world.Clock().Now().Add(r.Within)
	p.locked(func() { p.captures[*b] = c })
	p.group.Go("handoff capture keeper", func(ctx context.Context) error {
		_, _ = primitives.Select(ctx, p.world, c.gone.OnSet(), primitives.AtCase(p.world, until))
		p.locked(func() { delete(p.captures, *b) })
		if err := drop(nil); err != nil {
			p.world.Log().Warn("a captured state was not removed from staging", "error", err)
		}
		return nil
	})
	return nil
}

// prepare fetches the containers of an operator and makes them a preparation.
func (p *Participant) prepare(ctx context.Context, from quiesce.Process, r *request) error {
	b := &r.Binding
	if err := p.own(from, b, b.Destination); err != nil {
		return err
	}
	refs := make([]state.Ref, 0, len(r.Origins))
	for _, o := range r.Origins {
		if _, ok := p.component(o.Ref.Component); !ok {
			return &Refusal{Malformed, fmt.Sprintf("this node has no component %s", o.Ref.Component)}
		}
		refs = append(refs, o.Ref)
	}
	return p.join(ctx, r, "handoff prepare", func(ctx context.Context) error {
		switch known := p.find(b.Transition); {
		case known != nil && known.binding == *b && slices.Equal(known.refs, refs):
			return nil
		case known != nil:
			return &Refusal{Malformed, "the transition has another preparation"}
		}
		return p.build(ctx, r, refs)
	})
}

func (p *Participant) find(id primitives.UUID) (known *preparation) {
	p.locked(func() { known = p.prepared[id] })
	return known
}

// build fetches, verifies and stores one preparation (H2).
func (p *Participant) build(ctx context.Context, r *request, refs []state.Ref) (err error) {
	b := &r.Binding
	if !p.held(b, 0) {
		return &Refusal{Reason: NotHeld}
	}
	var containers []*state.Staged
	defer func() {
		if err == nil {
			return
		}
		for _, st := range containers {
			err = errors.Join(err, st.Discard())
		}
	}()
	for _, o := range r.Origins {
		st, err := p.fetch(ctx, o)
		if err != nil {
			return err
		}
		containers = append(containers, st)
	}
	if heldTooShort.HitIf(!p.held(b, 0)) {
		return &Refusal{NotHeld, "it ended during the preparation"}
	}
	if err := p.disk.Lock(ctx); err != nil {
		return err
	}
	defer p.disk.Unlock()
	made := &preparation{*b, refs}
	if err := p.shelf.put(made, containers); err != nil {
		return errors.Join(fmt.Errorf("store preparation: %w", err), p.shelf.remove(b.Transition))
	}
	p.locked(func() { p.prepared[b.Transition] = made })
	return nil
}

// fetch brings one container into staging, from another node or from this one.
func (p *Participant) fetch(ctx context.Context, o Origin) (*state.Staged, error) {
	if o.Node != p.self.Node {
		return p.staging.Fetch(ctx, p.remote, o.Node, o.Ref)
	}
	component, ok := p.component(o.Ref.Component)
	if !ok {
		return nil, &Refusal{Malformed, "unknown component"}
	}
	c, err := component.Open(ctx, o.Ref)
	if err != nil {
		return nil, err
	}
	st, err := p.staging.Adopt(c, o.Ref)
	return st, errors.Join(err, c.Close())
}

// confirm answers whether exactly this preparation is here.
func (p *Participant) confirm(r *request) error {
	b := &r.Binding
	if b.Destination != p.self {
		return &Refusal{Reason: OtherProcess}
	}
	if known := p.find(b.Transition); known == nil || known.binding != *b {
		return &Refusal{Reason: NoPreparation}
	}
	return nil
}

// discard forgets exactly this preparation and whatever was captured for it. It
// wins over requests that come later, and may be repeated (H4). What was captured
// for a committed transition goes too; its preparation does not.
func (p *Participant) discard(ctx context.Context, b *Binding) error {
	id, ok := p.applied.Assigned(b.Domain, b.Entity)
	committed := ok && id == b.Transition
	var j *job
	p.locked(func() {
		if !committed {
			p.discarded.add(*b)
		}
		if j = p.jobs[*b]; j != nil {
			j.cancel()
		}
	})
	if j != nil {
		if err := j.done.Wait(ctx); err != nil {
			return err
		}
	}
	p.locked(func() {
		if c := p.captures[*b]; c != nil {
			c.gone.Set()
		}
	})
	if err := p.disk.Lock(ctx); err != nil {
		return err
	}
	defer p.disk.Unlock()
	known := p.find(b.Transition)
	switch {
	case known == nil || known.binding != *b:
		return nil
	case committed && !planted.Active(planted.DiscardCommitted):
		committedRefused.Hit()
		return &Refusal{Reason: Committed}
	}
	if err := p.shelf.remove(b.Transition); err != nil {
		return refusing(fmt.Errorf("discard preparation: %w", err))
	}
	p.locked(func() { delete(p.prepared, b.Transition) })
	return nil
}

// list answers a reconciliation, once this node has applied the index.
func (p *Participant) list(index uint64) (listed []Listed, err error) {
	if p.applied.Index() < index {
		return nil, &Refusal{Reason: NotReady}
	}
	var bindings []Binding
	p.locked(func() {
		for _, id := range sortedIDs(p.prepared) {
			bindings = append(bindings, p.prepared[id].binding)
		}
	})
	for i := range bindings {
		b := &bindings[i]
		id, ok := p.applied.Assigned(b.Domain, b.Entity)
		listed = append(listed, Listed{*b, p.held(b, 0), ok && id == b.Transition})
	}
	return listed, nil
}

// saved lists what this node keeps of an operator.
func (p *Participant) saved(ctx context.Context, r *request) (refs []state.Ref, err error) {
	for i := range p.components {
		list, err := p.components[i].Saved(ctx, r.Domain, r.Entity)
		if err != nil {
			return nil, refusing(err)
		}
		refs = append(refs, list...)
	}
	return refs, nil
}
