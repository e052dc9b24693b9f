package contract

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/primitives"
)

// scriptClock moves only when a script says so.
type scriptClock struct{ now primitives.Instant }

func (c *scriptClock) Now() primitives.Instant                        { return c.now }
func (c *scriptClock) Wall() time.Time                                { return time.Unix(0, int64(c.now)) }
func (c *scriptClock) At(primitives.Instant, func()) primitives.Timer { panic("no timer is armed") }

// scripted is a pending record whose answer is given at an instant.
type scripted struct {
	clock  *scriptClock
	at     primitives.Instant
	answer Answer
}

func (s *scripted) Ready() (Answer, bool) { return s.answer, s.at <= s.clock.now }

func (s *scripted) Wait(_ context.Context, until primitives.Instant) (Answer, bool) {
	if s.at > until {
		s.clock.now = max(s.clock.now, until)
		return Answer{}, false
	}
	s.clock.now = max(s.clock.now, s.at)
	return s.answer, true
}

// scriptRecord is what happens with one record of a write.
type scriptRecord struct {
	Local    bool // refused before hand-over
	Driver   bool // the driver fails before hand-over
	Pause    int  // time before it
	AnswerAt int  // after the start; beyond every deadline for never
	Kind     AnswerKind
}

// result is an outcome in comparable form.
type result struct {
	delivered, rejected []RecordID
	failed              bool
	end                 primitives.Instant
}

// reference is section 5.5 over the whole script at once: it first finds when the
// publish ends, then sorts every record by what was known at that instant.
func reference(limit, timeout int, script []scriptRecord) result {
	type given struct {
		id       RecordID
		at, till int
		kind     AnswerKind
	}
	var r result
	var handed []given
	now, answered := 0, 0 // answered: how many of handed, oldest first, are settled
	await := func() bool {
		oldest := handed[answered]
		if oldest.at > oldest.till {
			now = max(now, oldest.till)
			return false
		}
		now = max(now, oldest.at)
		if oldest.kind == AnswerUnknown {
			return false
		}
		answered++
		return true
	}
	for i, rec := range script {
		now += rec.Pause
		id := RecordID(i)
		if rec.Driver {
			r.failed = true
			break
		}
		if rec.Local {
			r.rejected = append(r.rejected, id)
			continue
		}
		handed = append(handed, given{id, rec.AnswerAt, now + timeout, rec.Kind})
		for !r.failed && len(handed)-answered >= limit {
			r.failed = !await()
		}
		if r.failed {
			break
		}
	}
	for !r.failed && answered < len(handed) {
		r.failed = !await()
	}
	for _, g := range handed {
		switch {
		case g.at > now || g.kind == AnswerUnknown:
		case g.kind == Confirmed:
			r.delivered = append(r.delivered, g.id)
		default:
			r.rejected = append(r.rejected, g.id)
		}
	}
	slices.Sort(r.rejected)
	r.end = primitives.Instant(now)
	return r
}

func play(limit, timeout int, script []scriptRecord, outstanding func(int)) result {
	clock := &scriptClock{}
	w := NewConfirmationWindow(limit, time.Duration(timeout), clock)
	finish := func(o Outcome) result {
		r := result{delivered: o.Delivered, failed: o.Failure != nil, end: clock.now}
		for _, rej := range o.Rejected {
			r.rejected = append(r.rejected, rej.ID)
		}
		slices.Sort(r.delivered)
		slices.Sort(r.rejected)
		return r
	}
	for i, rec := range script {
		clock.now += primitives.Instant(rec.Pause)
		id := RecordID(i)
		switch {
		case rec.Driver:
			return finish(w.DriverFailed(errors.New("driver")))
		case rec.Local:
			w.RefuseLocally(Rejection{ID: id})
			continue
		}
		more := w.HandOver(context.Background(), id, &scripted{clock, primitives.Instant(rec.AnswerAt), Answer{Kind: rec.Kind, Err: errors.New("unknown")}})
		outstanding(len(w.open) - w.head)
		if !more {
			break
		}
	}
	return finish(w.Finish(context.Background()))
}

func TestWindowMatchesTheReference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.IntRange(1, 5).Draw(t, "max")
		timeout := rapid.IntRange(1, 20).Draw(t, "timeout")
		script := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) scriptRecord {
			return scriptRecord{
				Local:    rapid.IntRange(0, 9).Draw(t, "local") == 0,
				Driver:   rapid.IntRange(0, 19).Draw(t, "driver") == 0,
				Pause:    rapid.IntRange(0, 3).Draw(t, "pause"),
				AnswerAt: rapid.IntRange(0, 60).Draw(t, "at"),
				Kind:     AnswerKind(rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2}).Draw(t, "kind")),
			}
		}), 0, 12).Draw(t, "script")
		want := reference(limit, timeout, script)
		got := play(limit, timeout, script, func(n int) {
			if n > limit {
				t.Fatalf("%d records await answers, MAX is %d", n, limit)
			}
		})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

func TestWindowDeadlines(t *testing.T) {
	clock := &scriptClock{}
	confirmed := func(at int) *scripted { return &scripted{clock, primitives.Instant(at), Answer{}} }
	t.Run("an answer at the deadline is an answer", func(t *testing.T) {
		clock.now = 0
		w := NewConfirmationWindow(1, 10, clock)
		if !w.HandOver(t.Context(), 1, confirmed(10)) {
			t.Fatal("failed")
		}
		if o := w.Finish(t.Context()); o.Failure != nil || len(o.Delivered) != 1 {
			t.Fatalf("%+v", o)
		}
	})
	t.Run("one past it is none, and names the timeout", func(t *testing.T) {
		clock.now = 0
		w := NewConfirmationWindow(2, 10, clock)
		w.HandOver(t.Context(), 1, confirmed(11))
		o := w.Finish(t.Context())
		var missed *WindowError
		if !errors.As(o.Failure.Err, &missed) || missed.Error() != "no confirmation within ACK TIMEOUT 10ns" {
			t.Fatalf("%v", o.Failure.Err)
		}
	})
	t.Run("a deadline beyond the clock fails", func(t *testing.T) {
		clock.now = math.MaxInt64 - 5
		w := NewConfirmationWindow(2, 10, clock)
		if w.HandOver(t.Context(), 1, confirmed(0)) {
			t.Fatal("handed over")
		}
		o := w.Finish(t.Context())
		var beyond *WindowError
		if !errors.As(o.Failure.Err, &beyond) || !beyond.Beyond {
			t.Fatalf("%v", o.Failure.Err)
		}
		if len(o.Delivered) != 1 {
			t.Fatal("an answer already given was not settled")
		}
	})
	t.Run("use after the end panics", func(t *testing.T) {
		w := NewConfirmationWindow(1, 10, clock)
		w.Finish(t.Context())
		defer func() {
			if recover() == nil {
				t.Fatal("no panic")
			}
		}()
		w.Finish(t.Context())
	})
}
