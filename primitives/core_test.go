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
	origin time.Time
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
func (b *bare) Park(w *Waiter)                { <-w.Build.(chan struct{}) }
func (b *bare) Unpark(w *Waiter)              { w.Build.(chan struct{}) <- struct{}{} }
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
