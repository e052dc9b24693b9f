package primitivestest

import (
	"context"
	"errors"
	"slices"
	"time"

	"plexus/primitives"
)

var cancelCases = []testCase{
	{"cancellation reaches every scope below", func(t *test) {
		enough := errors.New("enough")
		top, cancel := primitives.WithCancelCause(bg, t.w)
		middle, stop := primitives.WithCancel(context.WithValue(top, contextKey{}, "value"), t.w)
		defer stop()
		bottom, stop := primitives.WithDeadline(middle, t.w, t.far())
		defer stop()
		t.that(bottom.Err() == nil, "cancelled early: %v", bottom.Err())
		t.that(bottom.Value(contextKey{}) == "value", "value lost")
		cancel(enough)
		cancel(errors.New("again"))
		for _, ctx := range []context.Context{top, middle, bottom} {
			err := primitives.Canceled(ctx)
			t.that(errors.Is(err, enough) && errors.Is(err, context.Canceled), "cancelled with %v", err)
			t.that(errors.Is(context.Cause(ctx), enough), "cause %v", context.Cause(ctx))
		}
		late, stop := primitives.WithCancel(bottom, t.w)
		defer stop()
		t.that(errors.Is(late.Err(), enough), "a scope below a cancelled one: %v", late.Err())
	}},
	{"cancelling a scope leaves those above alone", func(t *test) {
		top, stop := primitives.WithCancel(bg, t.w)
		defer stop()
		bottom, cancel := primitives.WithCancel(top, t.w)
		cancel()
		t.that(top.Err() == nil, "parent cancelled: %v", top.Err())
		t.that(bottom.Err() == context.Canceled, "error %v", bottom.Err())
	}},
	{"observers run once, in order", func(t *test) {
		ctx, cancel := primitives.WithCancel(bg, t.w)
		var ran []int
		stops := make([]func() bool, 4)
		for i := range stops {
			stops[i] = primitives.OnCancel(ctx, func() { ran = append(ran, i) })
		}
		t.that(stops[2](), "could not stop an observer")
		t.that(!stops[2](), "stopped an observer twice")
		cancel()
		cancel()
		primitives.OnCancel(ctx, func() { ran = append(ran, 9) })
		t.that(slices.Equal(ran, []int{0, 1, 3, 9}), "ran %v", ran)
		t.that(!stops[0](), "stopped an observer that ran")
	}},
	{"a deadline ends every kind of wait", func(t *test) {
		full := primitives.NewQueue[int](t.w, 1)
		full.TrySend(1)
		held := primitives.NewMutex(t.w)
		t.ok(held.Lock(bg))
		taken := primitives.NewSemaphore(t.w, 1)
		t.ok(taken.Acquire(bg, 1))
		guard := primitives.NewMutex(t.w)
		for _, wait := range []struct {
			name string
			f    func(context.Context) error
		}{
			{"receive", func(ctx context.Context) error { _, err := primitives.NewQueue[int](t.w, 1).Recv(ctx); return err }},
			{"send", func(ctx context.Context) error { return full.Send(ctx, 2) }},
			{"event", primitives.NewEvent(t.w).Wait},
			{"notice", primitives.NewNotice(t.w).Wait},
			{"mutex", held.Lock},
			{"semaphore", func(ctx context.Context) error { return taken.Acquire(ctx, 1) }},
			{"sleep", func(ctx context.Context) error { return primitives.Sleep(ctx, t.w, time.Hour) }},
			{"sleep for ever", func(ctx context.Context) error { return primitives.SleepUntil(ctx, t.w, primitives.Never) }},
			{"condition", func(ctx context.Context) error {
				t.ok(guard.Lock(bg))
				defer guard.Unlock()
				return primitives.NewCond(t.w, guard).Wait(ctx)
			}},
		} {
			at := t.soon()
			ctx, stop := primitives.WithDeadline(bg, t.w, at)
			err := wait.f(ctx)
			stop()
			t.that(errors.Is(err, primitives.ErrDeadline) && errors.Is(err, context.DeadlineExceeded), "%s ended with %v", wait.name, err)
			t.that(!t.w.Clock().Now().Before(at), "%s ended early", wait.name)
			err = wait.f(ctx)
			t.that(errors.Is(err, primitives.ErrDeadline), "%s in a dead scope: %v", wait.name, err)
		}
	}},
	{"a past deadline is over at once", func(t *test) {
		ctx, stop := primitives.WithDeadline(bg, t.w, t.w.Clock().Now())
		defer stop()
		err := primitives.NewEvent(t.w).Wait(ctx)
		t.that(errors.Is(err, primitives.ErrDeadline), "ended with %v", err)
	}},
	{"a cancellation on the way into a wait ends it", func(t *test) {
		never, held := primitives.NewEvent(t.w), primitives.NewMutex(t.w)
		t.ok(held.Lock(bg))
		for range 100 {
			ctx, cancel := primitives.WithCancel(bg, t.w)
			g := primitives.NewGroup(bg, t.w)
			for _, wait := range []func() error{
				func() error { return never.Wait(ctx) },
				func() error { return held.Lock(ctx) },
				func() error { _, err := primitives.NewQueue[int](t.w, 1).Recv(ctx); return err },
				func() error { _, err := primitives.Select(ctx, t.w, never.OnSet(), primitives.Case{}); return err },
			} {
				g.Go("waiter", func(context.Context) error {
					if err := wait(); !errors.Is(err, context.Canceled) {
						return errors.New("a wait was not cancelled")
					}
					return nil
				})
			}
			t.w.Tasks().Yield()
			cancel()
			t.join(g)
		}
	}},
	{"cancellation and completion never both happen", func(t *test) {
		for range 200 {
			q := primitives.NewQueue[int](t.w, 1)
			ctx, cancel := primitives.WithCancel(bg, t.w)
			got := false
			receiver := t.spawn(func(context.Context) error {
				_, err := q.Recv(ctx)
				got = err == nil
				return nil
			})
			sender := t.spawn(func(ctx context.Context) error { return q.Send(ctx, 1) })
			t.w.Tasks().Yield()
			cancel()
			t.join(sender, receiver)
			t.that(got == (q.Len() == 0), "received %v, but %d values left", got, q.Len())
		}
	}},
}

type contextKey struct{}
