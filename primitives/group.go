package primitives

import (
	"context"
	"sync"
)

// Group is a set of tasks that live and end together: the first that returns an
// error cancels the others.
type Group struct {
	world  World
	ctx    context.Context
	cancel context.CancelCauseFunc

	mu      sync.Mutex
	running int
	err     error
	waiters waitList[struct{}]
}

// NewGroup returns an empty group whose scope lies below ctx.
func NewGroup(ctx context.Context, w World) *Group {
	g := &Group{world: w}
	g.ctx, g.cancel = WithCancelCause(ctx, w)
	return g
}

// Context is the scope that the tasks of the group run under. It stays open
// until a task fails, Cancel, the parent's cancellation, or a Wait that saw the
// last task end.
func (g *Group) Context() context.Context { return g.ctx }

// Go starts f as a task of the group. The name is a constant role.
func (g *Group) Go(name string, f func(ctx context.Context) error) {
	g.mu.Lock()
	g.running++
	g.mu.Unlock()
	g.world.Tasks().Go(name, func() {
		var err error
		defer func() { g.finish(err) }()
		err = f(g.ctx)
	})
}

// finish takes a task off the group. The scope ends before anyone can see the
// group done, so that its cause is the error.
func (g *Group) finish(err error) {
	g.mu.Lock()
	first := err != nil && g.err == nil
	if first {
		g.err = err
	}
	g.mu.Unlock()
	if first {
		g.cancel(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.running--
	if g.running == 0 {
		for g.waiters.wake() {
		}
	}
}

// Cancel ends the scope of the group for a cause. It does not wait.
func (g *Group) Cancel(cause error) { g.cancel(cause) }

// Wait blocks until no task of the group runs, ends the group's scope, and
// returns the first error a task returned. A group without tasks is done at once.
// When ctx is cancelled first, its error is returned and the tasks run on.
func (g *Group) Wait(ctx context.Context) error {
	if err := waitFor(ctx, g.world.Tasks(), "group", g); err != nil {
		return err
	}
	g.cancel(nil)
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.err
}

// OnDone is ready while no task of the group runs.
func (g *Group) OnDone() Case { return Case{g, nil} }

func (g *Group) poll(any) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.running == 0
}

func (g *Group) enlist(_ any, w *Waiter, i int) (any, enlistment) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.running > 0 {
		return g.waiters.add(w, i, struct{}{}), enlisted
	}
	return nil, claimReady(w, i)
}

func (g *Group) delist(_, entry any, _ bool) {
	g.mu.Lock()
	g.waiters.recycle(entry.(*waitEntry[struct{}]))
	g.mu.Unlock()
}
