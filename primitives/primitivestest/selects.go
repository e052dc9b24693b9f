package primitivestest

import (
	"context"
	"errors"

	"plexus/primitives"
)

var selectCases = []testCase{
	{"exactly one case completes", func(t *test) {
		a, b := primitives.NewQueue[int](t.w, 1), primitives.NewQueue[int](t.w, 1)
		senders := primitives.NewGroup(bg, t.w)
		for _, q := range []*primitives.Queue[int]{a, b} {
			senders.Go("sender", func(ctx context.Context) error {
				for i := range 200 {
					if err := q.Send(ctx, i); err != nil {
						return err
					}
				}
				return nil
			})
		}
		var next [2]int
		for range 400 {
			v := [2]int{-1, -1}
			i, err := primitives.Select(bg, t.w, a.OnRecv(&v[0]), b.OnRecv(&v[1]))
			t.ok(err)
			t.that(v[i] == next[i] && v[1-i] == -1, "case %d: received %v, want %d", i, v, next[i])
			next[i]++
		}
		t.join(senders)
	}},
	{"selects meet each other", func(t *test) {
		q := primitives.NewQueue[int](t.w, 1)
		never := primitives.NewEvent(t.w)
		sender := t.spawn(func(ctx context.Context) error {
			for i := range 300 {
				if _, err := primitives.Select(ctx, t.w, never.OnSet(), q.OnSend(i)); err != nil {
					return err
				}
			}
			return nil
		})
		for want := range 300 {
			v := -1
			i, err := primitives.Select(bg, t.w, q.OnRecv(&v), never.OnSet())
			t.ok(err)
			t.that(i == 0 && v == want, "case %d, value %d, want %d", i, v, want)
		}
		t.join(sender)
	}},
	{"every ready case gets its turn", func(t *test) {
		a, b, c := primitives.NewEvent(t.w), primitives.NewEvent(t.w), primitives.NewEvent(t.w)
		a.Set()
		b.Set()
		c.Set()
		var taken [3]int
		for range 300 {
			i, err := primitives.Select(bg, t.w, a.OnSet(), b.OnSet(), c.OnSet())
			t.ok(err)
			taken[i]++
		}
		for i, n := range taken {
			t.that(n > 30, "case %d was taken %d times of 300", i, n)
		}
	}},
	{"a case that lost loses nothing", func(t *test) {
		a, b := primitives.NewQueue[int](t.w, 1), primitives.NewNotice(t.w)
		waiter := t.spawn(func(ctx context.Context) error {
			var v int
			i, err := primitives.Select(ctx, t.w, a.OnRecv(&v), b.OnRaise())
			t.that(i == 1, "case %d", i)
			return err
		})
		t.let()
		b.Raise()
		t.join(waiter)
		t.that(a.TrySend(7) && a.Len() == 1, "a lost case took a value")
		b.Raise()
		var v int
		i, err := primitives.Select(bg, t.w, a.OnRecv(&v))
		t.that(i == 0 && v == 7 && err == nil, "case %d, value %d, %v", i, v, err)
		t.ok(b.Wait(bg))
	}},
	{"a closed queue is ready", func(t *test) {
		q := primitives.NewQueue[int](t.w, 1)
		waiter := t.spawn(func(ctx context.Context) error {
			v := 9
			i, err := primitives.Select(ctx, t.w, primitives.NewEvent(t.w).OnSet(), q.OnRecv(&v))
			t.that(i == 1 && v == 0, "case %d, value %d", i, v)
			return err
		})
		t.let()
		q.Close()
		t.join(waiter)
		v := 9
		t.that(primitives.TrySelect(t.w, q.OnRecv(&v)) == 0 && v == 0 && q.Closed(), "receive from a closed queue")
		t.that(primitives.TrySelect(t.w, q.OnSend(1)) == 0, "send to a closed queue is not ready")
	}},
	{"the end of a queue shows only behind its last value", func(t *test) {
		for range 5000 {
			q := primitives.NewQueue[int](t.w, 1)
			sender := t.spawn(func(context.Context) error {
				q.TrySend(1)
				q.Close()
				return nil
			})
			v := 0
			_, err := primitives.Select(bg, t.w, q.OnRecv(&v))
			t.ok(err)
			t.that(v == 1, "the queue ended with %d values inside", q.Len())
			t.join(sender)
		}
	}},
	{"trying does not wait", func(t *test) {
		q := primitives.NewQueue[int](t.w, 1)
		var v int
		t.that(primitives.TrySelect(t.w) == -1, "no case was ready")
		t.that(primitives.TrySelect(t.w, q.OnRecv(&v), primitives.Case{}) == -1, "an empty queue was ready")
		t.that(primitives.TrySelect(t.w, q.OnRecv(&v), q.OnSend(3)) == 1, "a queue with room was not ready")
		t.that(primitives.TrySelect(t.w, q.OnSend(4), q.OnRecv(&v)) == 1 && v == 3, "a full queue was not ready")
	}},
	{"cancellation ends a select without effect", func(t *test) {
		enough := errors.New("enough")
		full := primitives.NewQueue[int](t.w, 1)
		full.TrySend(1)
		ctx, cancel := primitives.WithCancelCause(bg, t.w)
		waiter := t.spawn(func(context.Context) error {
			i, err := primitives.Select(ctx, t.w, full.OnSend(2), primitives.Case{})
			t.that(i == -1, "case %d", i)
			return err
		})
		t.let()
		cancel(enough)
		err := waiter.Wait(bg)
		t.that(errors.Is(err, enough), "select ended with %v", err)
		v, err := full.Recv(bg)
		t.that(v == 1 && err == nil && full.Len() == 0, "received %d, %v; %d left", v, err, full.Len())
	}},
	{"many cases", func(t *test) {
		events := make([]*primitives.Event, 30)
		cases := make([]primitives.Case, len(events))
		for i := range events {
			events[i] = primitives.NewEvent(t.w)
			cases[i] = events[i].OnSet()
		}
		waiter := t.spawn(func(ctx context.Context) error {
			i, err := primitives.Select(ctx, t.w, cases...)
			t.that(i == 17, "case %d", i)
			return err
		})
		t.let()
		events[17].Set()
		t.join(waiter)
	}},
}
