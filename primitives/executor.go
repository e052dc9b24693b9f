package primitives

import (
	"context"
	"time"

	"plexus/primitives/invariant"
)

// Class is a kind of blocking or CPU-heavy work. Its slots and queue are never
// lent to another class.
type Class uint8

// The classes of work.
const (
	Control           Class = iota // consensus and administrative encoding
	Credentials                    // password hashing
	Data                           // encoding, decoding and large programs of the data plane
	Extension                      // operator-supplied code
	Bulk                           // archives, large reads, compilation
	ConsensusStorage               // consensus writes, in order
	FilesystemStorage              // every other synchronous file operation
	classCount
)

var classNames = [classCount]string{"control", "credentials", "data", "extension", "bulk", "consensus storage", "filesystem storage"}

func (c Class) String() string { return classNames[c] }

// jobsQueuedMax bounds the jobs that wait in one class: enough for a burst of
// every branch of a node, few enough that a stuck class is noticed by refusals.
const jobsQueuedMax = 1024

// Executor bounds how much blocking and CPU-heavy work of each class runs at
// once. A job runs in the task that brought it, which waits for its slot first,
// so that the task's own order is kept and no hand-off is paid.
type Executor struct {
	tasks   Tasks
	classes [classCount]*Semaphore
}

// NewExecutor returns an executor for a machine that runs the given number of
// tasks at once.
func NewExecutor(w World, parallelism int) *Executor {
	wide := int64(max(1, parallelism-1))
	slots := [classCount]int64{Control: 1, Credentials: 1, Data: wide, Extension: wide, Bulk: wide, ConsensusStorage: 1, FilesystemStorage: 2}
	e := &Executor{tasks: w.Tasks()}
	for c, n := range slots {
		e.classes[c] = NewSemaphore(w, n)
	}
	return e
}

// Run runs f in its class. It refuses with ErrBusy when the queue of the class is
// full, and with the error of a context cancelled while the job waits; f then has
// not started. A started job is not interrupted. cost is the time f takes on a
// production machine; the simulated build lets it pass.
func (e *Executor) Run(ctx context.Context, class Class, cost time.Duration, f func()) error {
	return e.run(ctx, class, cost, f, jobsQueuedMax)
}

// RunWaiting is Run for work the node has accepted and cannot be offered again:
// with a full queue it waits for a place, first come, first served.
func (e *Executor) RunWaiting(ctx context.Context, class Class, cost time.Duration, f func()) error {
	return e.run(ctx, class, cost, f, unlimited)
}

// One list holds the queue and those who wait for a place in it: both are first
// in, first out, so the place only decides who is refused.
func (e *Executor) run(ctx context.Context, class Class, cost time.Duration, f func(), queuedMax int) error {
	invariant.That(class < classCount, "unknown executor class")
	slots := e.classes[class]
	if err := slots.acquire(ctx, 1, queuedMax); err != nil {
		return err
	}
	defer slots.Release(1)
	f()
	e.tasks.Charge(cost)
	return nil
}

// Close refuses queued and later jobs with ErrClosed and waits for those that
// run.
func (e *Executor) Close(ctx context.Context) error {
	for _, slots := range e.classes {
		slots.close()
	}
	for _, slots := range e.classes {
		if err := slots.drain(ctx); err != nil {
			return err
		}
	}
	return nil
}
