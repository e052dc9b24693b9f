package primitivestest

import (
	"context"
	"errors"
	"time"

	"plexus/primitives"
)

var executorCases = []testCase{
	{"a class runs as many jobs as it has slots", func(t *test) {
		e := primitives.NewExecutor(t.w, 4)
		for _, c := range []struct {
			class primitives.Class
			slots int
		}{
			{primitives.Control, 1}, {primitives.Credentials, 1}, {primitives.Data, 3}, {primitives.Extension, 3},
			{primitives.Bulk, 3}, {primitives.ConsensusStorage, 1}, {primitives.FilesystemStorage, 2},
		} {
			started := primitives.NewQueue[int](t.w, 10)
			release := primitives.NewEvent(t.w)
			g := primitives.NewGroup(bg, t.w)
			for i := range c.slots + 2 {
				g.Go("job", func(ctx context.Context) error {
					return e.Run(ctx, c.class, time.Millisecond, func() {
						started.TrySend(i)
						t.ok(release.Wait(bg))
					})
				})
			}
			for range c.slots {
				_, err := started.Recv(bg)
				t.ok(err)
			}
			t.let()
			t.that(started.Len() == 0, "%s ran more than %d jobs", c.class, c.slots)
			release.Set()
			t.join(g)
		}
		t.ok(e.Close(bg))
	}},
	{"a job that panics gives its slot back", func(t *test) {
		e := primitives.NewExecutor(t.w, 1)
		for range 3 {
			func() {
				defer func() { t.that(recover() == "broken", "the panic was swallowed") }()
				_ = e.Run(bg, primitives.Data, 0, func() { panic("broken") })
			}()
		}
		t.ok(e.Run(bg, primitives.Data, 0, func() {}))
		t.ok(e.Close(bg))
	}},
	{"a cancelled job never starts", func(t *test) {
		e := primitives.NewExecutor(t.w, 1)
		release := primitives.NewEvent(t.w)
		running := t.spawn(func(ctx context.Context) error {
			return e.Run(ctx, primitives.Data, 0, func() { t.ok(release.Wait(bg)) })
		})
		t.let()
		ctx, cancel := primitives.WithCancel(bg, t.w)
		queued := t.spawn(func(context.Context) error {
			return e.Run(ctx, primitives.Data, 0, func() { t.Error("a cancelled job ran") })
		})
		t.let()
		cancel()
		t.that(errors.Is(queued.Wait(bg), context.Canceled), "not cancelled")
		release.Set()
		t.join(running)
	}},
	{"a full queue refuses, and the patient wait", func(t *test) {
		e := primitives.NewExecutor(t.w, 1)
		release := primitives.NewEvent(t.w)
		g := primitives.NewGroup(bg, t.w)
		done := primitives.NewQueue[int](t.w, 2000)
		g.Go("job", func(ctx context.Context) error {
			return e.Run(ctx, primitives.Bulk, 0, func() { t.ok(release.Wait(bg)) })
		})
		t.let()
		// One job more than there are places: one of them, whichever, is refused.
		refused := primitives.NewQueue[error](t.w, 1)
		for i := range 1025 {
			g.Go("job", func(ctx context.Context) error {
				if err := e.Run(ctx, primitives.Bulk, 0, func() { done.TrySend(i) }); err != nil {
					return refused.Send(ctx, err)
				}
				return nil
			})
		}
		err, _ := refused.Recv(bg)
		t.that(errors.Is(err, primitives.ErrBusy), "a full queue refused with %v", err)
		t.ok(e.Run(bg, primitives.Data, 0, func() {}))
		g.Go("job", func(ctx context.Context) error {
			return e.RunWaiting(ctx, primitives.Bulk, 0, func() { done.TrySend(-1) })
		})
		t.let()
		release.Set()
		t.join(g)
		t.that(done.Len() == 1025, "%d jobs ran", done.Len())
	}},
	{"closing refuses what waits and lets run what runs", func(t *test) {
		e := primitives.NewExecutor(t.w, 1)
		release, finished := primitives.NewEvent(t.w), false
		running := t.spawn(func(ctx context.Context) error {
			return e.Run(ctx, primitives.Control, 0, func() {
				t.ok(release.Wait(bg))
				finished = true
			})
		})
		t.let()
		queued := t.spawn(func(ctx context.Context) error { return e.Run(ctx, primitives.Control, 0, func() {}) })
		t.let()
		closer := t.spawn(e.Close)
		err := queued.Wait(bg)
		t.that(errors.Is(err, primitives.ErrClosed), "queued job ended with %v", err)
		release.Set()
		t.join(running, closer)
		t.that(finished, "closed before the running job was done")
		t.that(errors.Is(e.Run(bg, primitives.Data, 0, func() {}), primitives.ErrClosed), "ran after close")
	}},
}
