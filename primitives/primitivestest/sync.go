package primitivestest

import (
	"context"
	"errors"
	"slices"

	"plexus/primitives"
)

var syncCases = []testCase{
	{"event wakes everyone", func(t *test) {
		e := primitives.NewEvent(t.w)
		g := primitives.NewGroup(bg, t.w)
		for range 5 {
			g.Go("waiter", e.Wait)
		}
		t.let()
		t.that(!e.IsSet(), "set by itself")
		e.Set()
		e.Set()
		t.join(g)
		t.ok(e.Wait(bg))
	}},
	{"notice collapses and is taken once", func(t *test) {
		n := primitives.NewNotice(t.w)
		n.Raise()
		n.Raise()
		t.ok(n.Wait(bg))
		ctx, stop := primitives.WithDeadline(bg, t.w, t.soon())
		defer stop()
		t.that(n.Wait(ctx) != nil, "two raises woke twice")
		waiter := t.spawn(n.Wait)
		t.let()
		n.Raise()
		t.join(waiter)
		t.that(primitives.TrySelect(t.w, n.OnRaise()) == -1, "a taken notice stayed raised")
	}},
	{"mutex excludes", func(t *test) {
		m := primitives.NewMutex(t.w)
		inside, worst := 0, 0
		g := primitives.NewGroup(bg, t.w)
		for range 4 {
			g.Go("locker", func(ctx context.Context) error {
				for range 50 {
					if err := m.Lock(ctx); err != nil {
						return err
					}
					inside++
					t.w.Tasks().Yield()
					worst = max(worst, inside)
					inside--
					m.Unlock()
				}
				return nil
			})
		}
		t.join(g)
		t.that(worst == 1, "%d tasks held the lock", worst)
		t.that(m.TryLock(), "a free lock was not taken")
		t.that(!m.TryLock(), "a held lock was taken")
		m.Unlock()
	}},
	{"a cancelled lock is passed over", func(t *test) {
		m := primitives.NewMutex(t.w)
		t.ok(m.Lock(bg))
		ctx, cancel := primitives.WithCancel(bg, t.w)
		gone := t.spawn(func(context.Context) error { return m.Lock(ctx) })
		t.let()
		next := t.spawn(m.Lock)
		t.let()
		cancel()
		t.that(errors.Is(gone.Wait(bg), context.Canceled), "not cancelled")
		m.Unlock()
		t.join(next)
		m.Unlock()
	}},
	{"condition", func(t *test) {
		m := primitives.NewMutex(t.w)
		c := primitives.NewCond(t.w, m)
		ready, passed, inside := 0, 0, 0
		g := primitives.NewGroup(bg, t.w)
		for range 3 {
			g.Go("waiter", func(ctx context.Context) error {
				if err := m.Lock(ctx); err != nil {
					return err
				}
				defer m.Unlock()
				for ready == 0 {
					if err := c.Wait(ctx); err != nil {
						return err
					}
					inside++
					t.that(inside == 1, "%d tasks hold the lock after waiting", inside)
					for range 20 {
						t.w.Tasks().Yield()
					}
					inside--
				}
				ready--
				passed++
				return nil
			})
		}
		t.let()
		t.ok(m.Lock(bg))
		ready = 1
		c.Signal()
		m.Unlock()
		t.let()
		t.ok(m.Lock(bg))
		t.that(passed == 1, "%d tasks passed", passed)
		ready = 2
		c.Broadcast()
		t.let() // the woken tasks have to wait for the lock
		t.that(passed == 1 && inside == 0, "a task passed without the lock")
		m.Unlock()
		t.join(g)
		t.that(passed == 3 && ready == 0, "%d tasks passed", passed)
	}},
	{"semaphore grants in order", func(t *test) {
		s := primitives.NewSemaphore(t.w, 4)
		t.ok(s.Acquire(bg, 3))
		var order []int64
		queue := func(n int64) *primitives.Group {
			g := t.spawn(func(ctx context.Context) error {
				if err := s.Acquire(ctx, n); err != nil {
					return err
				}
				order = append(order, n)
				s.Release(n)
				return nil
			})
			t.let()
			return g
		}
		large := queue(4)
		small := queue(1)
		t.that(!s.TryAcquire(1), "overtook a waiting request")
		s.Release(3)
		t.join(large, small)
		t.that(slices.Equal(order, []int64{4, 1}), "granted %v", order)
		t.that(s.TryAcquire(4), "units were lost")
	}},
	{"a request that gives up lets smaller ones by", func(t *test) {
		s := primitives.NewSemaphore(t.w, 2)
		t.ok(s.Acquire(bg, 1))
		ctx, cancel := primitives.WithCancel(bg, t.w)
		large := t.spawn(func(context.Context) error { return s.Acquire(ctx, 2) })
		t.let()
		small := t.spawn(func(ctx context.Context) error { return s.Acquire(ctx, 1) })
		t.let()
		cancel()
		t.that(errors.Is(large.Wait(bg), context.Canceled), "not cancelled")
		t.join(small)
		s.Release(2)
		t.that(s.TryAcquire(2), "units were lost")
	}},
}
