package primitives

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"
)

// bare is a World of goroutines with nothing but tasks and a clock: enough to
// test the constructs from inside the package.
type bare struct {
	World
	origin  time.Time
	parks   atomic.Int64
	unparks atomic.Int64
}

func newBare() *bare                          { return &bare{origin: time.Now()} }
func (b *bare) Tasks() Tasks                  { return b }
func (b *bare) Clock() Clock                  { return b }
func (b *bare) Log() *slog.Logger             { return slog.Default() }
func (b *bare) Now() Instant                  { return Instant(time.Since(b.origin)) }
func (b *bare) Wall() time.Time               { return time.Now() }
func (b *bare) At(at Instant, f func()) Timer { return time.AfterFunc(at.Sub(b.Now()), f) }
func (b *bare) Go(_ string, f func())         { go f() }
func (b *bare) Yield()                        {}
func (b *bare) Charge(time.Duration)          {}
func (b *bare) Park(w *Waiter)                { b.parks.Add(1); <-w.Build.(chan struct{}) }
func (b *bare) Unpark(w *Waiter)              { b.unparks.Add(1); w.Build.(chan struct{}) <- struct{}{} }
func (b *bare) Waiter() *Waiter               { return &Waiter{Build: make(chan struct{}, 1)} }
func (b *bare) Release(*Waiter)               {}
func (b *bare) Pick(n int) int                { return 0 }

func TestQueuePassesValuesInOrder(t *testing.T) {
	w := newBare()
	q := NewQueue[int](w, 2)
	g := NewGroup(context.Background(), w)
	g.Go("sender", func(ctx context.Context) error {
		for i := range 1000 {
			if err := q.Send(ctx, i); err != nil {
				return err
			}
		}
		q.Close()
		return nil
	})
	for want := 0; ; want++ {
		v, err := q.Recv(g.Context())
		if errors.Is(err, ErrClosed) {
			if want != 1000 {
				t.Fatalf("closed after %d values", want)
			}
			break
		}
		if err != nil || v != want {
			t.Fatalf("received %d, %v; want %d", v, err, want)
		}
	}
	if err := g.Wait(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func TestCancellationEndsWaitsWithItsCause(t *testing.T) {
	w := newBare()
	cause := errors.New("enough")
	parent, cancel := WithCancelCause(context.Background(), w)
	ctx, stop := WithCancel(context.WithValue(parent, "k", "v"), w)
	defer stop()
	var observed atomic.Int32
	OnCancel(ctx, func() { observed.Add(1) })
	done := make(chan error)
	go func() {
		_, err := NewQueue[int](w, 1).Recv(ctx)
		done <- err
	}()
	library, libraryStop := context.WithCancel(ctx)
	defer libraryStop()
	cancel(cause)
	if err := <-done; !errors.Is(err, cause) || !errors.Is(err, context.Canceled) {
		t.Fatalf("wait ended with %v", err)
	}
	<-library.Done()
	if !errors.Is(context.Cause(library), cause) || !errors.Is(context.Cause(ctx), cause) {
		t.Fatalf("causes %v, %v", context.Cause(library), context.Cause(ctx))
	}
	if observed.Load() != 1 {
		t.Fatalf("observer ran %d times", observed.Load())
	}
}

func TestSelectTakesExactlyOneCase(t *testing.T) {
	w := newBare()
	a, b := NewQueue[int](w, 1), NewQueue[int](w, 1)
	go func() {
		for i := range 500 {
			a.Send(context.Background(), i)
			b.Send(context.Background(), i)
		}
	}()
	next := [2]int{}
	for range 1000 {
		var v [2]int
		i, err := Select(context.Background(), w, a.OnRecv(&v[0]), b.OnRecv(&v[1]))
		if err != nil || v[i] != next[i] {
			t.Fatalf("case %d gave %d, %v; want %d", i, v[i], err, next[i])
		}
		next[i]++
	}
	i, err := Select(context.Background(), w, a.OnRecv(new(int)), AtCase(w, w.Now().Add(time.Millisecond)))
	if i != 1 || err != nil {
		t.Fatalf("timer case: %d, %v", i, err)
	}
}

func TestDeadlineScope(t *testing.T) {
	w := newBare()
	ctx, stop := WithDeadline(context.Background(), w, w.Now().Add(time.Millisecond))
	defer stop()
	err := NewEvent(w).Wait(ctx)
	if !errors.Is(err, ErrDeadline) || !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("wait ended with %v", err)
	}
}

// meddler is an object whose registration lets another case of the same select
// win.
type meddler struct{ do func() }

func (m meddler) poll(any) bool { return false }

func (m meddler) enlist(_ any, w *Waiter, i int) (any, enlistment) {
	m.do()
	return nil, claimReady(w, i)
}

func (m meddler) delist(any, any, bool) {}

// TestSelectTakenWhileRegistering covers the window between two registrations:
// the claim of the earlier case brings an unpark that must be consumed.
func TestSelectTakenWhileRegistering(t *testing.T) {
	w := newBare()
	q := NewQueue[int](w, 1)
	var v int
	i, err := Select(context.Background(), w, q.OnRecv(&v), Case{meddler{func() { q.TrySend(7) }}, nil})
	if i != 0 || v != 7 || err != nil {
		t.Fatalf("case %d, value %d, %v", i, v, err)
	}
	if w.parks.Load() != w.unparks.Load() {
		t.Fatalf("%d parks, %d unparks", w.parks.Load(), w.unparks.Load())
	}
}

// TestScopesLeaveTheirParent cancels scopes below a long-lived one.
func TestScopesLeaveTheirParent(t *testing.T) {
	w := newBare()
	top, stop := WithCancel(context.Background(), w)
	defer stop()
	for range 100 {
		child, cancel := WithDeadline(top, w, w.Now().Add(time.Hour))
		grandchild, cancelled := WithCancelCause(context.WithValue(child, "k", "v"), w)
		NewQueue[int](w, 1).TrySend(1)
		cancelled(nil)
		cancel()
		if grandchild.Err() == nil {
			t.Fatal("not cancelled")
		}
	}
	if n := top.(*scope).observers.length; n != 0 {
		t.Fatalf("%d scopes still hang on their parent", n)
	}
}
