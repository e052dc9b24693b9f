package primitivestest

import (
	"context"
	"errors"

	"plexus/primitives"
)

var taskCases = []testCase{
	{"group waits for every task", func(t *test) {
		g := primitives.NewGroup(bg, t.w)
		n := primitives.NewQueue[int](t.w, 100)
		for i := range 100 {
			g.Go("test task", func(context.Context) error {
				t.w.Tasks().Yield()
				n.TrySend(i)
				return nil
			})
		}
		t.join(g)
		t.that(n.Len() == 100, "%d tasks had run", n.Len())
	}},
	{"an empty group is done", func(t *test) { t.join(primitives.NewGroup(bg, t.w)) }},
	{"the first error cancels the group and is its result", func(t *test) {
		broken := errors.New("broken")
		g := primitives.NewGroup(bg, t.w)
		for range 3 {
			g.Go("test task", func(ctx context.Context) error {
				err := primitives.NewEvent(t.w).Wait(ctx)
				t.that(errors.Is(err, broken), "sibling ended with %v", err)
				return err
			})
		}
		g.Go("test task", func(context.Context) error { return broken })
		err := g.Wait(bg)
		t.that(errors.Is(err, broken), "group ended with %v", err)
		t.that(errors.Is(g.Context().Err(), broken), "scope ended with %v", g.Context().Err())
	}},
	{"cancelling a group ends its tasks with the cause", func(t *test) {
		enough := errors.New("enough")
		g := t.spawn(primitives.NewEvent(t.w).Wait)
		g.Cancel(enough)
		err := g.Wait(bg)
		t.that(errors.Is(err, enough) && errors.Is(err, context.Canceled), "group ended with %v", err)
	}},
	{"waiting for a group can be given up", func(t *test) {
		release := primitives.NewEvent(t.w)
		g := t.spawn(release.Wait)
		ctx, stop := primitives.WithDeadline(bg, t.w, t.soon())
		defer stop()
		err := g.Wait(ctx)
		t.that(errors.Is(err, primitives.ErrDeadline), "wait ended with %v", err)
		release.Set()
		t.join(g)
	}},
	{"a task starts tasks", func(t *test) {
		g := primitives.NewGroup(bg, t.w)
		var down func(n int) func(context.Context) error
		reached := primitives.NewEvent(t.w)
		down = func(n int) func(context.Context) error {
			return func(context.Context) error {
				if n == 0 {
					reached.Set()
				} else {
					g.Go("test task", down(n-1))
				}
				return nil
			}
		}
		g.Go("test task", down(20))
		t.join(g)
		t.that(reached.IsSet(), "group ended before its last task")
	}},
}
