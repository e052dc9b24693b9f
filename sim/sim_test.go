package sim

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"strings"
	"testing"
	"time"

	"plexus/primitives"
)

func open(t testing.TB, o Options) *Simulation {
	t.Helper()
	s := New(o)
	t.Cleanup(s.Close)
	return s
}

var bg = context.Background()

// pipeline is a small program with queues, sleeps and a select.
func pipeline(s *Simulation) {
	w := s.Host("node-1").World()
	q := primitives.NewQueue[int](w, 2)
	out := primitives.NewQueue[int](w, 4)
	g := primitives.NewGroup(bg, w)
	for range 3 {
		g.Go("worker", func(ctx context.Context) error {
			for {
				v, err := q.Recv(ctx)
				if err != nil {
					return nil
				}
				if err := primitives.Sleep(ctx, w, time.Duration(w.Entropy().Uint64()%1000)); err != nil {
					return err
				}
				if err := out.Send(ctx, v); err != nil {
					return err
				}
			}
		})
	}
	g.Go("source", func(ctx context.Context) error {
		for i := range 100 {
			if err := q.Send(ctx, i); err != nil {
				return err
			}
		}
		q.Close()
		return nil
	})
	g.Go("sink", func(ctx context.Context) error {
		for range 100 {
			var v int
			if _, err := primitives.Select(ctx, w, out.OnRecv(&v), primitives.AtCase(w, w.Clock().Now().Add(time.Second))); err != nil {
				return err
			}
			s.Mark(s.Label("sink"), uint64(v), 0)
		}
		return nil
	})
}

func digest(seed uint64, strategy Strategy, program func(*Simulation)) uint64 {
	s := New(Options{Seed: seed, Strategy: strategy})
	defer s.Close()
	program(s)
	if err := s.Run(time.Second); err != nil {
		panic(err)
	}
	if live := s.Live(); len(live) > 0 {
		panic(live[0].String())
	}
	return s.Digest()
}

func TestEqualSeedsGiveEqualRuns(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(60) {
		for _, strategy := range []Strategy{StrategyRandom, StrategySticky, StrategyPCT, StrategyFIFO} {
			a, b := digest(seed, strategy, pipeline), digest(seed, strategy, pipeline)
			if a != b {
				t.Fatalf("seed %d %v: digests %x and %x", seed, strategy, a, b)
			}
			seen[a] = true
		}
	}
	if len(seen) < 200 {
		t.Errorf("240 runs gave only %d different digests", len(seen))
	}
}

func TestCloseLeavesNoGoroutine(t *testing.T) {
	before := runtime.NumGoroutine()
	for seed := range uint64(20) {
		s := New(Options{Seed: seed})
		pipeline(s)
		if err := s.Run(time.Microsecond); err != nil {
			t.Fatal(err)
		}
		s.Close()
	}
	// The goroutine that ended the last task may still be on its way out.
	for range 1000 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Errorf("%d goroutines before, %d after", before, runtime.NumGoroutine())
}

func TestPanicKeepsTheStack(t *testing.T) {
	s := open(t, Options{Seed: 1})
	s.Host("node-1").World().Tasks().Go("faulty", explode)
	err := s.Run(time.Second)
	var f *Failure
	if !errors.As(err, &f) || f.Kind != FailurePanic || f.Task != "node-1/faulty" {
		t.Fatalf("got %v", err)
	}
	if !strings.Contains(f.Stack, "explode") {
		t.Errorf("stack without the function:\n%s", f.Stack)
	}
}

func explode() { panic("no such thing as 42") }

func TestPanicInATimerFails(t *testing.T) {
	s := open(t, Options{Seed: 1})
	c := s.Host("node-1").World().Clock()
	c.At(c.Now().Add(time.Second), explode)
	if err := s.Run(2 * time.Second); err == nil {
		t.Fatal("no failure")
	}
}

func TestDeadlockNamesEveryTask(t *testing.T) {
	s := open(t, Options{Seed: 1})
	w := s.Host("node-1").World()
	q := primitives.NewQueue[int](w, 1)
	w.Tasks().Go("reader", func() { q.Recv(bg) })
	err := s.RunUntil(func() bool { return false }, time.Hour)
	var f *Failure
	if !errors.As(err, &f) || f.Kind != FailureDeadlock || len(f.Waiting) != 1 {
		t.Fatalf("got %v", err)
	}
	if w := f.Waiting[0]; w.Host != "node-1" || w.Name != "reader" || w.Reason == "" {
		t.Errorf("reported %+v", w)
	}
}

func TestLivelockIsFound(t *testing.T) {
	for _, strategy := range []Strategy{StrategyRandom, StrategySticky, StrategyPCT, StrategyFIFO} {
		s := New(Options{Seed: 1, Strategy: strategy})
		for range 2 {
			s.Go("spinner", func() {
				for {
					s.Driver().World().Tasks().Yield()
				}
			})
		}
		err := s.Run(time.Second)
		var f *Failure
		if !errors.As(err, &f) || f.Kind != FailureLivelock {
			t.Errorf("%v: got %v", strategy, err)
		}
		s.Close()
	}
}

func TestSpinningTaskLetsOthersRun(t *testing.T) {
	for _, strategy := range []Strategy{StrategyRandom, StrategySticky, StrategyPCT, StrategyFIFO} {
		for seed := range uint64(20) {
			s := New(Options{Seed: seed, Strategy: strategy})
			w, done := s.Driver().World(), false
			s.Go("poller", func() {
				for !done {
					w.Tasks().Yield()
				}
			})
			s.Go("worker", func() { done = true })
			if err := s.Run(time.Second); err != nil {
				t.Fatalf("%v: %v", strategy, err)
			}
			s.Close()
		}
	}
}

func TestForeignGoroutineIsFound(t *testing.T) {
	s := open(t, Options{Seed: 1, Guard: true})
	w := s.Host("node-1").World()
	s.Go("outer", func() {
		failed := make(chan any)
		go func() {
			defer func() { failed <- recover() }()
			w.Tasks().Yield()
		}()
		panic(<-failed)
	})
	if err := s.Run(time.Second); err == nil || !strings.Contains(err.Error(), "goroutine that is no task") {
		t.Fatalf("got %v", err)
	}
}

func TestKilledTaskUnwindsWithoutEffects(t *testing.T) {
	s := open(t, Options{Seed: 3})
	h := s.Host("node-1")
	other := s.Host("broker").World()
	inbox := primitives.NewQueue[string](other, 4)
	unwound, recovered := false, false
	h.Start("program", func(ctx context.Context, w primitives.World) {
		defer func() {
			unwound = true
			inbox.Send(bg, "from the grave") // a wait of a dead task ends it again
		}()
		defer func() { recovered = recover() != nil }()
		primitives.NewEvent(w).Wait(ctx)
	})
	if err := s.Run(time.Second); err != nil {
		t.Fatal(err)
	}
	h.Crash()
	if err := s.Run(time.Second); err != nil {
		t.Fatal(err)
	}
	if !unwound || recovered || inbox.Len() != 0 || h.Running() {
		t.Errorf("unwound %v, recovered %v, sent %d, running %v", unwound, recovered, inbox.Len(), h.Running())
	}
}

func TestProcessCanKillItself(t *testing.T) {
	s := open(t, Options{Seed: 3})
	h := s.Host("node-1")
	runs := 0
	h.Start("program", func(ctx context.Context, w primitives.World) {
		runs++
		w.Tasks().Go("bystander", func() { primitives.NewEvent(w).Wait(ctx) })
		if runs == 1 {
			h.Crash()
			t.Error("a crashed task went on")
		}
		primitives.NewEvent(w).Wait(ctx)
	})
	if err := s.Run(time.Second); err != nil {
		t.Fatal(err)
	}
	if len(s.Live()) != 0 {
		t.Errorf("alive: %v", s.Live())
	}
	h.Restart()
	if err := s.Run(time.Second); err != nil {
		t.Fatal(err)
	}
	if runs != 2 || len(s.Live()) != 2 {
		t.Errorf("%d runs, alive: %v", runs, s.Live())
	}
}

func TestDeadReceiverGetsNothing(t *testing.T) {
	s := open(t, Options{Seed: 5})
	h := s.Host("node-1")
	broker := s.Host("broker").World()
	q := primitives.NewQueue[int](broker, 1)
	h.World().Tasks().Go("consumer", func() { q.Recv(bg) })
	if err := s.Run(time.Second); err != nil {
		t.Fatal(err)
	}
	h.Kill()
	q.TrySend(7)
	if q.Len() != 1 {
		t.Error("the value went to a dead task")
	}
}

func TestLeftoversOfAnExitAreALeak(t *testing.T) {
	s := open(t, Options{Seed: 1})
	s.Host("node-1").Start("program", func(ctx context.Context, w primitives.World) {
		w.Tasks().Go("forgotten", func() { primitives.NewEvent(w).Wait(ctx) })
		primitives.Sleep(ctx, w, time.Second)
	})
	var f *Failure
	if err := s.Run(time.Minute); !errors.As(err, &f) || f.Kind != FailureLeak {
		t.Fatalf("got %v", err)
	}
}

func TestFreezeAndThaw(t *testing.T) {
	s := open(t, Options{Seed: 1})
	h := s.Host("node-1")
	beats := 0
	h.Start("program", func(ctx context.Context, w primitives.World) {
		for primitives.Sleep(ctx, w, time.Second) == nil {
			beats++
		}
	})
	run := func(d time.Duration) {
		t.Helper()
		if err := s.Run(d); err != nil {
			t.Fatal(err)
		}
	}
	run(10*time.Second + 1)
	h.Freeze()
	run(30 * time.Second)
	if beats != 10 {
		t.Errorf("%d beats after the freeze", beats)
	}
	h.Thaw()
	run(10 * time.Second)
	if beats < 20 || beats > 21 {
		t.Errorf("%d beats after the thaw", beats)
	}
	h.Stop()
	run(time.Second)
	if h.Running() {
		t.Error("still running after Stop")
	}
}

func TestStallDelaysOneTask(t *testing.T) {
	s := open(t, Options{Seed: 1})
	h := s.Host("node-1")
	w := h.World()
	var at time.Duration
	w.Tasks().Go("task", func() {
		primitives.Sleep(bg, w, time.Second)
		at = s.Elapsed()
	})
	h.Stall(0, 5*time.Second)
	if err := s.Run(time.Minute); err != nil {
		t.Fatal(err)
	}
	if at != 6*time.Second {
		t.Errorf("woke at %v", at)
	}
}

func TestClocksDriftAndJump(t *testing.T) {
	s := open(t, Options{Seed: 9})
	a, b := s.Host("a"), s.Host("b")
	b.Clock().SetDrift(-300_000)
	wall, mono := b.Clock().Wall(), b.Clock().Now()
	var fired time.Duration
	b.World().Clock().At(mono.Add(7*time.Second), func() { fired = s.Elapsed() })
	if err := s.Run(10 * time.Second); err != nil {
		t.Fatal(err)
	}
	if d := b.Clock().Now().Sub(mono); d != 7*time.Second {
		t.Errorf("slow clock counted %v", d)
	}
	if fired != 10*time.Second {
		t.Errorf("alarm at %v", fired)
	}
	b.Clock().Jump(-time.Hour)
	if d := b.Clock().Wall().Sub(wall); d != 7*time.Second-time.Hour {
		t.Errorf("wall moved by %v", d)
	}
	if d := a.Clock().Wall().Sub(epochDefault); d != 10*time.Second {
		t.Errorf("healthy wall clock moved by %v", d)
	}
}

func TestChargeLetsTimePass(t *testing.T) {
	s := open(t, Options{Seed: 1})
	w := s.Host("node-1").World()
	err := s.Do("worker", func() {
		for range 1000 {
			w.Tasks().Charge(time.Microsecond)
		}
	}, time.Minute)
	if err != nil || s.Elapsed() != time.Millisecond {
		t.Errorf("%v after %v", err, s.Elapsed())
	}
}

func BenchmarkSwitch(b *testing.B) {
	for _, strategy := range []Strategy{StrategyFIFO, StrategyRandom, StrategySticky, StrategyPCT} {
		b.Run(strategy.String(), func(b *testing.B) {
			s := open(b, Options{Seed: 1, Strategy: strategy, ExpectedSteps: 1000})
			n := 0
			for range 100 {
				s.Go("worker", func() {
					for n < b.N {
						n++
						s.sleep(time.Microsecond, "next turn")
					}
				})
			}
			b.ReportAllocs()
			b.ResetTimer()
			if err := s.Run(24 * time.Hour); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "switches/s")
		})
	}
}

func BenchmarkQueueHandOff(b *testing.B) {
	s := open(b, Options{Seed: 1, Strategy: StrategyRandom})
	w := s.Driver().World()
	q := primitives.NewQueue[int](w, 1)
	s.Go("sender", func() {
		for i := range b.N {
			q.Send(bg, i)
		}
	})
	s.Go("receiver", func() {
		for range b.N {
			q.Recv(bg)
			if s.stepsThere > 1000 {
				s.stepsThere = 0
			}
		}
	})
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.Run(time.Hour); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(s.steps)/b.Elapsed().Seconds(), "switches/s")
}

func BenchmarkParkedTask(b *testing.B) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	s := open(b, Options{Seed: 1})
	for range b.N {
		s.Go("sleeper", func() { s.sleep(time.Hour, "never mind") })
	}
	if err := s.Run(time.Second); err != nil {
		b.Fatal(err)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc+after.StackInuse-before.HeapAlloc-before.StackInuse)/float64(b.N), "bytes/task")
}

func echoNothing(context.Context, primitives.World) {}

func TestCrashBetweenTwoTurns(t *testing.T) {
	s := open(t, Options{Seed: 1})
	h := s.Host("node-1")
	turns := 0
	h.Start("program", func(ctx context.Context, w primitives.World) {
		for {
			turns++
			s.Sleep(time.Second, "next turn")
		}
	})
	h.AfterTurns(5, h.Crash)
	if err := s.Run(time.Hour); err != nil {
		t.Fatal(err)
	}
	if turns != 5 || h.Running() {
		t.Errorf("%d turns, running %v", turns, h.Running())
	}
}

// BenchmarkCoroutine is the floor under every switch: what the runtime takes.
func BenchmarkCoroutine(b *testing.B) {
	next, stop := iter.Pull(func(yield func(struct{}) bool) {
		for yield(struct{}{}) {
		}
	})
	defer stop()
	for b.Loop() {
		next()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "switches/s")
}

// BenchmarkWake is a hundred tasks that wake each other in a ring.
func BenchmarkWake(b *testing.B) {
	s := open(b, Options{Seed: 1, Strategy: StrategyRandom})
	ring := make([]*task, 100)
	n := 0
	for i := range ring {
		ring[i] = s.spawn(s.driver.current(), "worker", func() {
			for n < b.N {
				n++
				s.stepsThere = 0
				s.wake(ring[(i+1)%len(ring)])
				s.park("its turn")
			}
			for _, t := range ring {
				s.wake(t)
			}
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	if err := s.Run(time.Hour); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "switches/s")
}
