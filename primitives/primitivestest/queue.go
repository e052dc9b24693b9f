package primitivestest

import (
	"context"
	"errors"

	"plexus/primitives"
)

var queueCases = []testCase{
	{"values keep their order", func(t *test) {
		for _, capacity := range []int{1, 2, 16} {
			q := primitives.NewQueue[int](t.w, capacity)
			g := t.spawn(func(ctx context.Context) error {
				for i := range 300 {
					if err := q.Send(ctx, i); err != nil {
						return err
					}
				}
				q.Close()
				return nil
			})
			next := 0
			for {
				v, err := q.Recv(bg)
				if errors.Is(err, primitives.ErrClosed) {
					break
				}
				t.ok(err)
				t.that(v == next, "received %d, want %d", v, next)
				next++
			}
			t.that(next == 300, "closed after %d values", next)
			t.join(g)
		}
	}},
	{"every value arrives once", func(t *test) {
		const senders, each = 4, 200
		q := primitives.NewQueue[int](t.w, 3)
		sending, receiving := primitives.NewGroup(bg, t.w), primitives.NewGroup(bg, t.w)
		for s := range senders {
			sending.Go("sender", func(ctx context.Context) error {
				for i := range each {
					if err := q.Send(ctx, s*each+i); err != nil {
						return err
					}
				}
				return nil
			})
		}
		seen := primitives.NewQueue[int](t.w, senders*each)
		for range 3 {
			receiving.Go("receiver", func(ctx context.Context) error {
				for {
					v, err := q.Recv(ctx)
					if err != nil {
						return nil
					}
					t.that(seen.TrySend(v), "more values than sent")
				}
			})
		}
		t.join(sending)
		q.Close()
		t.join(receiving)
		count := make([]int, senders*each)
		for v, ok := seen.TryRecv(); ok; v, ok = seen.TryRecv() {
			count[v]++
		}
		for v, n := range count {
			t.that(n == 1, "value %d arrived %d times", v, n)
		}
	}},
	{"a full queue holds its senders back", func(t *test) {
		q := primitives.NewQueue[int](t.w, 2)
		t.that(q.TrySend(1) && q.TrySend(2), "no room in an empty queue")
		t.that(!q.TrySend(3), "room in a full queue")
		g := t.spawn(func(ctx context.Context) error { return q.Send(ctx, 3) })
		t.let()
		t.that(q.Len() == 2, "%d values in a queue of 2", q.Len())
		for want := 1; want <= 3; want++ {
			v, err := q.Recv(bg)
			t.ok(err)
			t.that(v == want, "received %d, want %d", v, want)
		}
		t.join(g)
		_, ok := q.TryRecv()
		t.that(!ok, "a value from nowhere")
	}},
	{"closing wakes everyone and keeps what is inside", func(t *test) {
		full := primitives.NewQueue[int](t.w, 1)
		full.TrySend(1)
		empty := primitives.NewQueue[int](t.w, 1)
		sender := t.spawn(func(ctx context.Context) error { return full.Send(ctx, 2) })
		receiver := t.spawn(func(ctx context.Context) error { _, err := empty.Recv(ctx); return err })
		t.let()
		full.Close()
		empty.Close()
		empty.Close()
		err := sender.Wait(bg)
		t.that(errors.Is(err, primitives.ErrClosed), "sender ended with %v", err)
		err = receiver.Wait(bg)
		t.that(errors.Is(err, primitives.ErrClosed), "receiver ended with %v", err)
		t.that(!full.TrySend(3), "sent into a closed queue")
		err = full.Send(bg, 3)
		t.that(errors.Is(err, primitives.ErrClosed), "send after close: %v", err)
		v, err := full.Recv(bg)
		t.that(v == 1 && err == nil, "received %d, %v", v, err)
		_, err = full.Recv(bg)
		t.that(errors.Is(err, primitives.ErrClosed), "receive after drain: %v", err)
	}},
	{"a cancelled wait has no effect", func(t *test) {
		q := primitives.NewQueue[int](t.w, 1)
		ctx, cancel := primitives.WithCancel(bg, t.w)
		receiver := t.spawn(func(context.Context) error { _, err := q.Recv(ctx); return err })
		t.let()
		cancel()
		t.that(errors.Is(receiver.Wait(bg), context.Canceled), "receiver was not cancelled")
		t.that(q.TrySend(1) && q.Len() == 1, "value went to a receiver that had left")
		ctx, cancel = primitives.WithCancel(bg, t.w)
		sender := t.spawn(func(context.Context) error { return q.Send(ctx, 2) })
		t.let()
		cancel()
		t.that(errors.Is(sender.Wait(bg), context.Canceled), "sender was not cancelled")
		v, err := q.Recv(bg)
		t.that(v == 1 && err == nil, "received %d, %v", v, err)
		t.that(q.Len() == 0, "the value of a sender that had left was sent")
		t.that(errors.Is(q.Send(ctx, 3), context.Canceled), "a cancelled context sent")
	}},
}
