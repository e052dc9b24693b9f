package primitives

import (
	"context"
	"time"

	"plexus/primitives/invariant"
)

// Sleep waits for d on the monotonic clock.
func Sleep(ctx context.Context, w World, d time.Duration) error {
	return SleepUntil(ctx, w, w.Clock().Now().Add(d))
}

// SleepUntil waits until the instant.
func SleepUntil(ctx context.Context, w World, at Instant) error {
	return waitFor(ctx, w.Tasks(), "timer", &alarm{world: w, at: at})
}

// AtCase is ready from the instant on. Waiting until Never arms nothing.
func AtCase(w World, at Instant) Case { return Case{&alarm{world: w, at: at}, nil} }

// alarm waits for an instant. The timer sets an event instead of claiming the
// waiter: a callback that Stop came too late for then finds nobody.
type alarm struct {
	world World
	at    Instant
	event Event
	timer Timer
}

func (a *alarm) poll(any) bool { return !a.world.Clock().Now().Before(a.at) }

func (a *alarm) enlist(_ any, w *Waiter, i int) (any, enlistment) {
	if a.poll(nil) {
		return nil, claimReady(w, i)
	}
	entry, outcome := a.event.enlist(nil, w, i)
	if a.at != Never {
		a.timer = a.world.Clock().At(a.at, a.event.Set)
	}
	return entry, outcome
}

func (a *alarm) delist(_, entry any, fired bool) {
	if a.timer != nil {
		a.timer.Stop()
	}
	a.event.delist(nil, entry, fired)
}

// Ticker fires at a fixed cadence from its creation. Ticks that nobody took
// collapse into one, and the cadence keeps its phase. One task uses it; between
// its waits nothing is armed.
type Ticker struct {
	world   World
	every   time.Duration
	next    Instant
	stopped *Event
}

// NewTicker returns a ticker whose first tick is one interval away.
func NewTicker(w World, every time.Duration) *Ticker {
	invariant.That(every > 0, "ticker interval not positive")
	return &Ticker{world: w, every: every, next: w.Clock().Now().Add(every), stopped: NewEvent(w)}
}

// Next waits for the next tick. It returns ErrClosed once the ticker is stopped.
func (t *Ticker) Next(ctx context.Context) error {
	if t.stopped.IsSet() {
		return ErrClosed
	}
	i, err := Select(ctx, t.world, t.stopped.OnSet(), t.OnTick())
	if err == nil && i == 0 {
		return ErrClosed
	}
	return err
}

// OnTick is ready when a tick is due; firing takes it. A stopped ticker has no
// further ticks.
func (t *Ticker) OnTick() Case {
	if t.stopped.IsSet() {
		return Case{}
	}
	return Case{&tick{ticker: t, alarm: alarm{world: t.world, at: t.next}}, nil}
}

// Stop ends the ticker and a Next that waits for it. Any task may stop it.
func (t *Ticker) Stop() { t.stopped.Set() }

// tick is the wait for one tick: an alarm that moves its ticker on when it fires.
type tick struct {
	ticker *Ticker
	alarm
}

func (k *tick) poll(any) bool {
	due := k.alarm.poll(nil)
	if due {
		k.advance()
	}
	return due
}

func (k *tick) enlist(_ any, w *Waiter, i int) (any, enlistment) {
	entry, outcome := k.alarm.enlist(nil, w, i)
	if outcome == completed {
		k.advance()
	}
	return entry, outcome
}

func (k *tick) delist(_, entry any, fired bool) {
	k.alarm.delist(nil, entry, fired)
	if fired {
		k.advance()
	}
}

// advance sets the next tick to the first of the cadence after now.
func (k *tick) advance() {
	t := k.ticker
	late := t.world.Clock().Now().Sub(t.next)
	t.next = t.next.Add(t.every * (late/t.every + 1))
}
