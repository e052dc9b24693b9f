package primitivestest

import (
	"context"
	"errors"
	"time"

	"plexus/primitives"
)

var timeCases = []testCase{
	{"the monotonic clock never goes back", func(t *test) {
		last := t.w.Clock().Now()
		for range 1000 {
			now := t.w.Clock().Now()
			t.that(!now.Before(last), "went back by %s", last.Sub(now))
			last = now
		}
	}},
	{"sleep lasts", func(t *test) {
		for _, d := range []time.Duration{-time.Hour, 0, time.Nanosecond, moment} {
			start := t.w.Clock().Now()
			t.ok(primitives.Sleep(bg, t.w, d))
			t.that(t.w.Clock().Now().Sub(start) >= d, "slept shorter than %s", d)
		}
	}},
	{"timers fire in order of their instants", func(t *test) {
		fired := primitives.NewQueue[int](t.w, 3)
		base := t.w.Clock().Now()
		for i, after := range []int{3, 1, 2} {
			at := base.Add(time.Duration(after) * 20 * time.Millisecond)
			t.w.Clock().At(at, func() { fired.TrySend(i) })
		}
		for _, want := range []int{1, 2, 0} {
			i, err := fired.Recv(bg)
			t.ok(err)
			t.that(i == want, "timer %d fired, want %d", i, want)
		}
	}},
	{"a stopped timer does not fire", func(t *test) {
		fired := primitives.NewEvent(t.w)
		timer := t.w.Clock().At(t.soon(), fired.Set)
		stopped := timer.Stop()
		t.that(!timer.Stop(), "stopped twice")
		t.let()
		t.let()
		t.that(stopped != fired.IsSet(), "stopped %v, fired %v", stopped, fired.IsSet())
		timer = t.w.Clock().At(t.w.Clock().Now(), fired.Set)
		t.ok(fired.Wait(bg))
		t.that(!timer.Stop(), "stopped after firing")
	}},
	{"an instant as a case", func(t *test) {
		at := t.soon()
		i, err := primitives.Select(bg, t.w, primitives.NewEvent(t.w).OnSet(), primitives.AtCase(t.w, primitives.Never), primitives.AtCase(t.w, at))
		t.ok(err)
		t.that(i == 2 && !t.w.Clock().Now().Before(at), "case %d", i)
		t.that(primitives.TrySelect(t.w, primitives.AtCase(t.w, at)) == 0, "a past instant is not ready")
	}},
	{"a ticker keeps its phase and collapses", func(t *test) {
		start := t.w.Clock().Now()
		ticker := primitives.NewTicker(t.w, 10*time.Millisecond)
		t.ok(ticker.Next(bg))
		t.that(t.w.Clock().Now().Sub(start) >= 10*time.Millisecond, "first tick early")
		t.ok(primitives.Sleep(bg, t.w, 45*time.Millisecond))
		t.ok(ticker.Next(bg))
		t.that(primitives.TrySelect(t.w, ticker.OnTick()) == -1, "missed ticks were all delivered")
		t.ok(ticker.Next(bg))
		t.that(t.w.Clock().Now().Sub(start) >= 60*time.Millisecond, "the tick after missed ones came early")
	}},
	{"a stopped ticker ends its wait", func(t *test) {
		ticker := primitives.NewTicker(t.w, time.Hour)
		waiter := t.spawn(func(ctx context.Context) error { return ticker.Next(ctx) })
		t.let()
		ticker.Stop()
		err := waiter.Wait(bg)
		t.that(errors.Is(err, primitives.ErrClosed), "ended with %v", err)
		t.that(errors.Is(ticker.Next(bg), primitives.ErrClosed), "ticked after its stop")
	}},
	{"wall time has no monotonic reading", func(t *test) {
		wall := t.w.Clock().Wall()
		t.that(wall.Equal(wall.Round(0)) && wall == wall.Round(0), "wall carries a monotonic reading")
	}},
}
