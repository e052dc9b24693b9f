package sim

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime/debug"
	"time"

	"plexus/primitives/invariant"
)

// Simulation is one run: virtual time, the scheduler, the hosts and what is
// between them. Its methods are called by the goroutine that runs it, between
// runs, or by the running task.
type Simulation struct {
	opts Options
	now  int64 // virtual nanoseconds

	runnable runnable
	timers   timers
	current  *task
	idle     []*task // finished tasks whose coroutines can carry another
	picks    Stream

	steps      uint64 // tasks resumed and timers fired
	stepsThere uint64 // of them, at the present instant
	taskCount  uint32
	guards     uint32

	trace   trace
	labels  []string
	logs    logs
	failure *Failure

	hosts   []*Host
	driver  *Host
	network Network
	dns     *Authority // once it is asked for

	lifetime lifetime
	entropy  Stream // of code that runs outside every host
	closed   bool
}

// New starts a simulation. It waits until an earlier one of this process is
// closed, and must be closed itself.
func New(o Options) *Simulation {
	if o.Epoch.IsZero() {
		o.Epoch = epochDefault
	}
	if o.ExpectedSteps == 0 {
		o.ExpectedSteps = expectedStepsDefault
	}
	o.Strategy = o.Strategy.For(o.Seed)
	s := &Simulation{opts: o}
	s.runnable.init(o.Seed, o.Strategy, o.ExpectedSteps)
	s.picks.init(o.Seed, "select")
	s.entropy.init(o.Seed, "outside")
	s.lifetime.begin(s)
	s.trace.init(&o)
	s.network.init(s)
	s.driver = s.Host("driver", netip.AddrFrom4([4]byte{10, 255, 255, 1}))
	return s
}

// Close unwinds every task and ends the simulation. It is idempotent (S5).
func (s *Simulation) Close() {
	if s.closed {
		return
	}
	s.closed = true
	for _, h := range s.hosts {
		if h.process != nil {
			h.process.end(endKilled)
		}
	}
	for _, t := range s.idle {
		t.stop()
	}
	s.idle = nil
	s.lifetime.end()
}

// Seed returns the seed.
func (s *Simulation) Seed() uint64 { return s.opts.Seed }

// Strategy returns the strategy in use.
func (s *Simulation) Strategy() Strategy { return s.opts.Strategy }

// Stream returns the random stream of a purpose outside the hosts: a workload, a
// fault plan, one broker.
func (s *Simulation) Stream(label string) *Stream { return NewStream(s.opts.Seed, label) }

// Elapsed returns the virtual time since the start.
func (s *Simulation) Elapsed() time.Duration { return time.Duration(s.now) }

// Steps returns how many tasks were resumed and timers fired.
func (s *Simulation) Steps() uint64 { return s.steps }

// Driver returns the host of tasks that belong to no node: workloads and steps.
func (s *Simulation) Driver() *Host { return s.driver }

// Hosts returns every machine in the order of creation.
func (s *Simulation) Hosts() []*Host { return s.hosts }

// Find returns the machine with that name, nil when there is none.
func (s *Simulation) Find(name string) *Host {
	for _, h := range s.hosts {
		if h.name == name {
			return h
		}
	}
	return nil
}

// Go starts a task of the driver.
func (s *Simulation) Go(name string, f func()) { s.spawn(s.driver.current(), name, f) }

// After calls f outside every task once d of virtual time has passed.
func (s *Simulation) After(d time.Duration, f func()) {
	t := &timer{run: callbackFunc(f)}
	s.timers.arm(t, s.now+int64(max(d, 0)))
}

// Current returns the process of the running task, nil outside tasks.
func (s *Simulation) Current() *Process {
	if s.current == nil {
		return nil
	}
	return s.current.process
}

// Sleep lets virtual time pass for the running task, of whatever host.
func (s *Simulation) Sleep(d time.Duration, reason string) { s.sleep(d, reason) }

// Fault puts an injected fault into the trace.
func (s *Simulation) Fault(class, target uint64) { s.note(KindFault, class, target) }

// Fail ends the run: an oracle saw something that must not be.
func (s *Simulation) Fail(oracle, message string) {
	s.fail(&Failure{Kind: FailureOracle, Oracle: oracle, Message: message})
}

// Failed returns the run's failure, nil so far.
func (s *Simulation) Failed() *Failure { return s.failure }

// fail keeps the first failure and completes it with its place.
func (s *Simulation) fail(f *Failure) {
	if s.failure != nil {
		return
	}
	f.At, f.Event = time.Duration(s.now), s.trace.events
	if f.Task == "" && s.current != nil {
		f.Task = s.current.process.host.name + "/" + s.current.name
	}
	s.failure = f
}

func (s *Simulation) failPanic(value any, stack []byte) {
	f := &Failure{Kind: FailurePanic, Message: fmt.Sprint(value), Stack: string(stack)}
	if err, ok := value.(error); ok {
		f.Err = err
		var v invariant.Violation
		if errors.As(err, &v) {
			f.Kind, f.Message = FailureInvariant, v.What
		}
	}
	s.fail(f)
}

// Run lets d of virtual time pass. It returns the run's failure.
func (s *Simulation) Run(d time.Duration) error {
	until := s.now + int64(d)
	s.loop(until, nil)
	if s.failure != nil {
		return s.failure
	}
	s.advance(until)
	return nil
}

// RunUntil runs until the condition holds, and returns ErrBound when it does not
// within the virtual bound. It is asked after every step. Nothing left that could
// change it is a deadlock, which fails the run.
func (s *Simulation) RunUntil(cond func() bool, bound time.Duration) error {
	until := s.now + int64(bound)
	idle := s.loop(until, cond)
	switch {
	case s.failure != nil:
		return s.failure
	case cond():
		return nil
	case idle:
		s.fail(&Failure{Kind: FailureDeadlock, Message: "every task waits and nothing will wake one", Waiting: s.Live()})
		return s.failure
	}
	s.advance(until)
	return fmt.Errorf("%w: %v", ErrBound, bound)
}

// Do runs f as a driver task until it returned.
func (s *Simulation) Do(name string, f func(), bound time.Duration) error {
	done := false
	s.Go(name, func() {
		f()
		done = true
	})
	return s.RunUntil(func() bool { return done }, bound)
}

// loop runs until the instant, the condition or a failure, and reports whether
// it stopped because nothing was left to do.
func (s *Simulation) loop(until int64, cond func() bool) (idle bool) {
	invariant.That(s.current == nil, "a task runs the simulation it is part of")
	invariant.That(!s.closed, "a closed simulation runs")
	s.lifetime.running()
	defer s.lifetime.paused()
	for s.failure == nil {
		if cond != nil && cond() {
			return false
		}
		if t := s.runnable.take(); t != nil {
			s.resume(t)
			continue
		}
		if len(s.timers.heap) == 0 {
			return true
		}
		next := s.timers.heap[0]
		if next.at > until {
			return false
		}
		s.timers.disarm(next.t)
		s.fire(next.t, next.at)
	}
	return false
}

// resume gives the task its turn.
func (s *Simulation) resume(t *task) {
	if t.killed {
		return
	}
	if h := t.process.host; h.frozen {
		h.held = append(h.held, t)
		return
	}
	if t.stalled > s.now {
		at := t.stalled
		id := t.id
		s.timers.arm(&timer{owner: t.process, run: callbackFunc(func() {
			if t.id == id && !t.killed {
				s.runnable.add(t)
			}
		})}, at)
		return
	}
	s.step()
	t.state = taskRunning
	s.record(KindRun, t.id, uint64(s.runnable.len()), 0)
	s.current = t
	t.resume()
	s.current = nil
	h := t.process.host
	switch {
	case t.doomed:
		s.unwind(t)
	case t.state == taskFinished:
		s.record(KindExit, t.id, 0, 0)
		t.process.unlink(t)
		t.f, t.process = nil, nil
		s.idle = append(s.idle, t)
	}
	if h.fuse > 0 {
		h.burn()
	}
}

// fire runs a timer's callback.
func (s *Simulation) fire(t *timer, at int64) {
	owner := uint64(0)
	if p := t.owner; p != nil {
		if p.dead {
			return
		}
		if p.host.frozen {
			p.host.deferred = append(p.host.deferred, t)
			return
		}
		owner = uint64(p.host.index)
	}
	s.advance(at)
	s.step()
	s.record(KindTimer, 0, owner, 0)
	s.protect(t.run)
}

func (s *Simulation) protect(c callback) {
	defer func() {
		if r := recover(); r != nil {
			s.failPanic(r, debug.Stack())
		}
	}()
	c.fire()
}

func (s *Simulation) advance(at int64) {
	if at > s.now {
		s.now = at
		s.stepsThere = 0
	}
}

func (s *Simulation) step() {
	s.steps++
	s.stepsThere++
	if s.stepsThere > stepsWithoutTimeMax {
		s.fail(&Failure{Kind: FailureLivelock, Message: "time does not advance", Waiting: s.Live()})
	}
}

// Live lists every live task in host and age order.
func (s *Simulation) Live() []TaskInfo {
	var out []TaskInfo
	for _, h := range s.hosts {
		if h.process == nil {
			continue
		}
		for t := h.process.oldest; t != nil; t = t.next {
			out = append(out, t.info())
		}
	}
	return out
}
