package sim

import (
	"fmt"
	"iter"
	"runtime"
	"runtime/debug"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

// task is one coroutine and the task it currently carries. A finished task's
// coroutine carries the next one, so a start costs no stack.
type task struct {
	sim      *Simulation
	id       uint32
	name     string
	f        func()
	process  *Process
	priority int64
	state    taskState
	killed   bool
	doomed   bool // ends at its next switch: its own process was killed by itself
	yields   int32
	debt     time.Duration // modelled work that has not passed yet
	stalled  int64         // not scheduled before this virtual time

	waiter *primitives.Waiter // what it is parked on, or
	reason string             // why the simulation parked it
	since  int64              // when it parked
	alarm  timer              // for waits of the simulation itself

	prev, next *task // the process's tasks, oldest first

	resume func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	gid    uint64 // of the coroutine's goroutine, for the guard
}

type taskState uint8

const (
	taskRunnable taskState = iota
	taskRunning
	taskParked
	taskFinished
)

// parking is the build's half of a primitives.Waiter.
type parking struct {
	task  *task
	woken bool // Unpark came before Park
}

// spawn starts a task of the process.
func (s *Simulation) spawn(p *Process, name string, f func()) *task {
	var t *task
	if n := len(s.idle); n > 0 {
		t = s.idle[n-1]
		s.idle = s.idle[:n-1]
	} else {
		t = s.newTask()
	}
	s.taskCount++
	t.id, t.name, t.f, t.process = s.taskCount, name, f, p
	t.state, t.yields, t.debt, t.stalled = taskRunnable, 0, 0, 0
	t.alarm.owner = p
	t.priority = s.runnable.priority()
	p.link(t)
	if s.trace.tracer != nil {
		s.trace.tracer.Name(KindSpawn, t.id, p.host.name+"/"+name)
	}
	s.record(KindSpawn, t.id, uint64(p.host.index), 0)
	s.runnable.add(t)
	return t
}

func (s *Simulation) newTask() *task {
	t := &task{sim: s}
	t.alarm.run = (*taskAlarm)(t)
	t.resume, t.stop = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		t.gid = goroutineID()
		for {
			t.main()
			if !yield(struct{}{}) {
				return
			}
		}
	})
	return t
}

// main runs the task's function and turns its panic into the run's failure,
// with the stack that resuming would lose.
func (t *task) main() {
	returned := false
	defer func() {
		if returned || t.killed {
			return
		}
		t.state = taskFinished
		r := recover()
		if r == nil {
			// runtime.Goexit by the task itself, t.FailNow of a test for example. It
			// goes on in the goroutine that runs the simulation.
			t.sim.fail(&Failure{Kind: FailureGoexit, Message: "runtime.Goexit"})
			t.sim.current = nil
			return
		}
		t.sim.failPanic(r, debug.Stack())
	}()
	t.f()
	returned = true
	t.state = taskFinished
}

// switchOut gives control to the scheduler; the caller has put the task where it
// will be found again. It does not return in a killed task.
func (t *task) switchOut() {
	if !t.yield(struct{}{}) {
		runtime.Goexit()
	}
}

// park blocks the running task until wake; reason is for reports.
func (s *Simulation) park(reason string) {
	t := s.running()
	t.reason = reason
	s.block(t)
	t.reason = ""
}

func (s *Simulation) block(t *task) {
	t.state = taskParked
	t.yields = 0
	t.since = s.now
	s.record(KindPark, t.id, 0, 0)
	t.switchOut()
}

// wake makes a parked task runnable.
func (s *Simulation) wake(t *task) {
	if t.state != taskParked || t.killed {
		return
	}
	t.state = taskRunnable
	s.note(KindUnpark, uint64(t.id), 0)
	s.runnable.add(t)
}

// taskAlarm is the task's own timer as a callback.
type taskAlarm task

func (a *taskAlarm) fire() { a.sim.wake((*task)(a)) }

// sleep lets virtual time pass for the running task.
func (s *Simulation) sleep(d time.Duration, reason string) {
	t := s.running()
	until := s.now + int64(max(d, 0))
	s.timers.arm(&t.alarm, until)
	for s.now < until {
		s.park(reason)
	}
	if t.alarm.armed() {
		s.timers.disarm(&t.alarm)
	}
}

// preempt is a point at which the running task may lose its turn although it
// could go on.
func (s *Simulation) preempt() {
	t := s.running()
	t.yields++
	if t.yields > spinMax {
		// It polls for something that another task has to do.
		t.yields = 0
		s.runnable.demote(t)
	} else if !s.runnable.preempts(t) {
		return
	}
	t.state = taskRunnable
	s.runnable.add(t)
	t.switchOut()
}

// spinMax is how many scheduling points a task may pass without waiting before
// it gives way in every strategy.
const spinMax = 64

// running returns the current task and fails the run when there is none or the
// caller is another goroutine.
func (s *Simulation) running() *task {
	t := s.current
	invariant.That(t != nil, "a blocking primitives call outside every task")
	if t.process.dead || t.killed {
		runtime.Goexit() // S2: nothing of a dead process goes on
	}
	s.guards++
	if s.opts.Guard || s.guards&0xfff == 0 {
		invariant.That(goroutineID() == t.gid, "a primitives call from a goroutine that is no task")
	}
	return t
}

// unwind ends a task of a dead process: its deferred functions run, against
// primitives that do nothing any more (S2).
func (s *Simulation) unwind(t *task) {
	t.killed = true
	t.process.unlink(t)
	if t.alarm.armed() {
		s.timers.disarm(&t.alarm)
	}
	if t.waiter != nil {
		t.waiter.Abandon()
		t.waiter = nil
	}
	s.record(KindExit, t.id, 1, 0)
	before := s.current
	s.current = t
	done := make(chan struct{})
	go func() {
		// Stopping a coroutine that unwinds by Goexit ends the goroutine that
		// stops it, so this one exists to be ended. A panic of a deferred function
		// means nothing: a killed process does not run them.
		defer close(done)
		defer func() { _ = recover() }()
		t.stop()
	}()
	<-done
	s.current = before
	t.state = taskFinished
}

// TaskInfo describes a live task in a report.
type TaskInfo struct {
	Host, Name, Reason string
	ID                 uint32
	Since              time.Duration // when it began to wait
}

func (t TaskInfo) String() string {
	return fmt.Sprintf("%s/%s (task %d): %s since %v", t.Host, t.Name, t.ID, t.Reason, t.Since)
}

func (t *task) info() TaskInfo {
	i := TaskInfo{Host: t.process.host.name, Name: t.name, ID: t.id, Since: time.Duration(t.since)}
	switch {
	case t.process.host.frozen:
		i.Reason = "frozen"
	case t.state == taskRunning:
		i.Reason = "running"
	case t.state == taskRunnable:
		i.Reason = "runnable"
	case t.waiter != nil:
		i.Reason = t.waiter.Reason
	default:
		i.Reason = t.reason
	}
	return i
}

// Tasks implements primitives.World.
func (p *Process) Tasks() primitives.Tasks { return (*tasks)(p) }

// tasks is a process as primitives.Tasks.
type tasks Process

func (p *tasks) Go(name string, f func()) {
	if p.dead {
		return
	}
	p.sim.spawn((*Process)(p), name, f)
}

func (p *tasks) Yield() { p.sim.preempt() }

func (p *tasks) Charge(d time.Duration) {
	t := p.sim.running()
	t.debt += d
	if t.debt >= chargeQuantum {
		d, t.debt = t.debt, 0
		p.sim.sleep(d, "computing")
	}
}

func (p *tasks) Park(w *primitives.Waiter) {
	s := p.sim
	t := s.running()
	k := w.Build.(*parking)
	if k.woken {
		k.woken = false
		return
	}
	k.task = t
	t.waiter = w
	s.block(t)
	t.waiter = nil
}

func (p *tasks) Unpark(w *primitives.Waiter) {
	k := w.Build.(*parking)
	t := k.task
	if t == nil {
		k.woken = true
		return
	}
	k.task = nil
	p.sim.wake(t)
}

func (p *tasks) Waiter() *primitives.Waiter {
	if n := len(p.waiters); n > 0 {
		w := p.waiters[n-1]
		p.waiters = p.waiters[:n-1]
		w.Arm()
		return w
	}
	return &primitives.Waiter{Build: new(parking)}
}

func (p *tasks) Release(w *primitives.Waiter) {
	k := w.Build.(*parking)
	k.task, k.woken = nil, false
	p.waiters = append(p.waiters, w)
}

func (p *tasks) Pick(n int) int {
	if n <= 1 {
		return 0
	}
	return int(p.sim.picks.Below(uint64(n)))
}

var _ primitives.Tasks = (*tasks)(nil)
