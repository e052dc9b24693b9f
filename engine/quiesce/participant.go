package quiesce

import (
	"context"
	"errors"
	"slices"

	"plexus/primitives"
)

// Participant engages holds on this node.
type Participant struct {
	world    primitives.World
	settings Settings
	self     Process
	local    Local

	group   *primitives.Group
	lock    *primitives.Mutex // guards what follows; nothing waits under it
	leases  *leases
	engaged map[*lease]*engagement
	freezes uint64
}

// engagement is what a lease has closed.
type engagement struct {
	lease   *lease
	ready   *primitives.Event  // the gates are closed, or refused is set
	gone    *primitives.Event  // the gates are open again
	changed *primitives.Notice // the lease was renewed or has ended
	scope   context.Context    // of an engage or a freeze that is under way
	cancel  context.CancelFunc
	refused *Refusal

	use        *primitives.Mutex // one call of held at a time
	held       Held              // nil where nothing of the domain runs
	generation uint64
	freeze     uint64 // not zero once frozen
}

// NewParticipant returns the participant of one process.
func NewParticipant(w primitives.World, s Settings, self Process, local Local) *Participant {
	return &Participant{
		world: w, settings: s, self: self, local: local,
		lock: primitives.NewMutex(w), leases: newLeases(), engaged: map[*lease]*engagement{},
	}
}

// Start lets the participant engage. Its tasks end with ctx or Stop.
func (p *Participant) Start(ctx context.Context) { p.group = primitives.NewGroup(ctx, p.world) }

// Stop opens every gate and returns when nothing is held.
func (p *Participant) Stop(ctx context.Context) error {
	p.group.Cancel(primitives.ErrClosed)
	err := p.group.Wait(ctx)
	if errors.Is(err, primitives.ErrClosed) {
		return nil
	}
	return err
}

// Handle answers one request of a coordinator. Only a cancelled ctx is an error;
// a refusal is an answer.
func (p *Participant) Handle(ctx context.Context, from Process, op Operation, b []byte) ([]byte, error) {
	r, err := decodeRequest(b)
	if err != nil {
		return encodeAnswer(&answer{Refused: &Refusal{Malformed, err.Error()}})
	}
	a := &answer{Epoch: p.self.Epoch}
	switch op {
	case HoldEngage:
		err = p.engage(ctx, from, r, a)
	case HoldRelease:
		err = p.release(ctx, from, r)
	case FlushRequest:
		err = p.flush(ctx, from, r)
	case DrainStatus:
		err = p.look(ctx, from, r, a)
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

// locked runs f with the state of the leases.
func (p *Participant) locked(ctx context.Context, f func(now primitives.Instant) *Refusal) error {
	if err := p.lock.Lock(ctx); err != nil {
		return err
	}
	defer p.lock.Unlock()
	if refusal := f(p.world.Clock().Now()); refusal != nil {
		return refusal
	}
	return nil
}

// engage begins or renews a lease and waits until its gates are closed. What has
// begun goes on when the request ends.
func (p *Participant) engage(ctx context.Context, from Process, r *request, a *answer) error {
	var e *engagement
	err := p.locked(ctx, func(now primitives.Instant) *Refusal {
		l, fresh, refusal := p.leases.engage(now, from, r)
		switch {
		case refusal != nil:
			return refusal
		case fresh:
			e = p.begin(l)
		default:
			e = p.engaged[l]
		}
		a.Left = l.left(now)
		e.changed.Raise()
		return nil
	})
	if err != nil {
		return err
	}
	if err := e.ready.Wait(ctx); err != nil {
		return err
	}
	return p.locked(ctx, func(primitives.Instant) *Refusal {
		switch {
		case e.refused != nil:
			return e.refused
		case e.lease.phase == ended:
			return &Refusal{Reason: Ended} // released while it closed its gates
		}
		return nil
	})
}

// begin starts the task of a new lease.
func (p *Participant) begin(l *lease) *engagement {
	e := &engagement{
		lease: l, ready: primitives.NewEvent(p.world), gone: primitives.NewEvent(p.world),
		changed: primitives.NewNotice(p.world), use: primitives.NewMutex(p.world),
	}
	p.engaged[l] = e
	e.scope, e.cancel = primitives.WithCancel(p.group.Context(), p.world)
	p.group.Go("hold", func(ctx context.Context) error {
		p.close(e)
		e.ready.Set()
		p.keep(ctx, e)
		e.cancel()
		p.open(e)
		return nil
	})
	return e
}

// close closes the gates of a lease.
func (p *Participant) close(e *engagement) {
	bounded, cancel := primitives.WithDeadline(e.scope, p.world, p.world.Clock().Now().Add(p.settings.Request))
	defer cancel()
	domain, err := p.local.Domain(e.lease.scope.Domain, e.lease.scope.Index)
	if err == nil && domain != nil {
		e.held, err = domain.Engage(bounded, e.lease.scope)
	}
	p.must(func() {
		switch {
		case errors.Is(err, ErrNotReady):
			e.refused = &Refusal{NotReady, err.Error()}
			p.leases.refused(e.lease)
		case err != nil:
			e.refused = &Refusal{Failed, err.Error()}
			p.leases.refused(e.lease)
		default:
			e.lease.closed()
		}
	})
}

// must changes the leases from a task that has no request to give up.
func (p *Participant) must(f func()) {
	// The lock is never held across a wait.
	if p.lock.Lock(context.Background()) == nil {
		f()
		p.lock.Unlock()
	}
}

// keep waits for the end of a lease.
func (p *Participant) keep(ctx context.Context, e *engagement) {
	for {
		over, until := false, primitives.Never
		p.must(func() {
			p.leases.expire(p.world.Clock().Now(), e.lease)
			over, until = e.lease.phase == ended, e.lease.until
		})
		if over {
			return
		}
		if _, err := primitives.Select(ctx, p.world, e.changed.OnRaise(), primitives.AtCase(p.world, until)); err != nil {
			return // the participant stops
		}
	}
}

// open opens the gates of a lease that is over.
func (p *Participant) open(e *engagement) {
	if e.held != nil && e.use.Lock(context.Background()) == nil {
		e.held.Release()
		e.use.Unlock()
	}
	p.must(func() {
		if e.refused == nil {
			p.leases.end(e.lease)
		}
		p.leases.forget(e.lease)
		delete(p.engaged, e.lease)
	})
	e.gone.Set()
}

// release ends a hold and waits until its gates are open.
func (p *Participant) release(ctx context.Context, from Process, r *request) error {
	var e *engagement
	err := p.locked(ctx, func(primitives.Instant) *Refusal {
		l, refusal := p.leases.release(from, r)
		if l != nil {
			e = p.engaged[l]
			e.cancel()
			e.changed.Raise()
		}
		return refusal
	})
	if err != nil || e == nil {
		return err
	}
	return e.gone.Wait(ctx)
}

// with runs f for the engaged hold that a request means.
func (p *Participant) with(ctx context.Context, from Process, r *request, f func(e *engagement)) error {
	var e *engagement
	err := p.locked(ctx, func(now primitives.Instant) *Refusal {
		l, refusal := p.leases.find(now, from, r)
		if l != nil {
			e = p.engaged[l]
		}
		return refusal
	})
	if err != nil {
		return err
	}
	if err := e.use.Lock(ctx); err != nil {
		return err
	}
	defer e.use.Unlock()
	// The lease may have ended while another call used what it holds.
	if e.gone.IsSet() {
		return &Refusal{Reason: Ended}
	}
	f(e)
	return nil
}

func (p *Participant) flush(ctx context.Context, from Process, r *request) error {
	return p.with(ctx, from, r, func(e *engagement) {
		if r.Generation > e.generation {
			e.generation = r.Generation
			if e.held != nil {
				e.held.Flush(r.Generation)
			}
		}
	})
}

// look counts the work of a hold and, if asked, freezes it at rest.
func (p *Participant) look(ctx context.Context, from Process, r *request, a *answer) error {
	var frozen error
	err := p.with(ctx, from, r, func(e *engagement) {
		a.Look = Look{Flushed: e.generation}
		if e.held != nil {
			a.Look = e.held.Look()
			a.Look.Blockers = largest(a.Look.Blockers)
		}
		if r.Freeze && len(a.Look.Blockers) == 0 && e.freeze == 0 {
			frozen = p.freeze(e)
		}
		a.Freeze = e.freeze
		p.must(func() { a.Left = e.lease.left(p.world.Clock().Now()) })
	})
	return errors.Join(err, frozen)
}

// freeze goes on when the request ends, as long as the lease lives.
func (p *Participant) freeze(e *engagement) error {
	if e.held != nil {
		if err := e.held.Freeze(e.scope); err != nil {
			return &Refusal{Failed, err.Error()}
		}
	}
	p.must(func() {
		p.freezes++
		e.freeze = p.freezes
	})
	return nil
}

// blockersSent bounds an answer; one blocker is enough to go on waiting.
const blockersSent = 64

func largest(list []Blocker) []Blocker {
	if len(list) <= blockersSent {
		return list
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, bySize)
	return list[:blockersSent]
}

// Departed says that a process of a coordinator is gone for good. Its leases run
// on to their ends.
func (p *Participant) Departed(process Process) {
	p.must(func() {
		p.leases.departed(process)
		for _, l := range p.leases.sorted() {
			p.engaged[l].changed.Raise()
		}
	})
}

// Holding reports whether exactly this hold is engaged here, frozen under that
// number; 0 asks for the hold alone.
func (p *Participant) Holding(id ID, freeze uint64) (holding bool) {
	p.must(func() {
		l := p.leases.live[id]
		if l == nil {
			return
		}
		p.leases.expire(p.world.Clock().Now(), l)
		holding = l.phase == held && (freeze == 0 || p.engaged[l].freeze == freeze)
	})
	return holding
}
