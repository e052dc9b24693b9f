package sim

import (
	"fmt"
	"slices"
)

// Strategy chooses the next task among the runnable ones.
type Strategy uint8

// The strategies. No single one finds everything: random finds interleavings of
// many tasks, sticky long runs of one task overtaking others, PCT (random
// priorities with a few change points) rare orders of few steps, FIFO what a
// fair machine would do.
const (
	StrategyDrawn Strategy = iota
	StrategyRandom
	StrategySticky
	StrategyPCT
	StrategyFIFO
)

var strategyNames = [...]string{"drawn", "random", "sticky", "pct", "fifo"}

func (s Strategy) String() string { return strategyNames[s] }

// ParseStrategy is the inverse of String.
func ParseStrategy(name string) (Strategy, error) {
	if i := slices.Index(strategyNames[:], name); i >= 0 {
		return Strategy(i), nil
	}
	return 0, fmt.Errorf("unknown strategy %q: use one of %v", name, strategyNames)
}

// For returns the strategy a simulation of the seed uses.
func (s Strategy) For(seed uint64) Strategy {
	if s != StrategyDrawn {
		return s
	}
	return drawStrategy(NewStream(seed, "strategy"))
}

// drawStrategy follows the measured weights of chapter 51 section 5.
func drawStrategy(r *Stream) Strategy {
	switch p := r.Below(100); {
	case p < 40:
		return StrategyRandom
	case p < 60:
		return StrategySticky
	case p < 85:
		return StrategyPCT
	}
	return StrategyFIFO
}

// runnable holds the tasks that may run next: a ring for the list strategies, a
// heap by priority for PCT.
type runnable struct {
	strategy Strategy
	draw     Stream
	step     uint64  // scheduling points passed
	ring     []*task // power of two
	head     int
	count    int

	byPriority []*task
	lowest     int64 // the last demotion
	changes    []uint64
}

func (q *runnable) init(seed uint64, strategy Strategy, expectedSteps uint64) {
	q.draw.init(seed, "schedule")
	q.strategy = strategy
	q.ring = make([]*task, 64)
	if strategy != StrategyPCT {
		return
	}
	for depth := 2 + q.draw.Below(4); depth > 1; depth-- {
		q.changes = append(q.changes, q.draw.Below(expectedSteps))
	}
	slices.Sort(q.changes)
}

func (q *runnable) len() int { return q.count + len(q.byPriority) }

// add makes a task runnable.
func (q *runnable) add(t *task) {
	if q.strategy == StrategyPCT {
		q.byPriority = append(q.byPriority, t)
		q.rise(len(q.byPriority) - 1)
		return
	}
	if q.count == len(q.ring) {
		bigger := make([]*task, 2*len(q.ring))
		n := copy(bigger, q.ring[q.head:])
		copy(bigger[n:], q.ring[:q.head])
		q.ring, q.head = bigger, 0
	}
	q.ring[(q.head+q.count)&(len(q.ring)-1)] = t
	q.count++
}

// take removes the next task to run, nil when there is none.
func (q *runnable) take() *task {
	q.step++
	if q.strategy == StrategyPCT {
		return q.takePriority()
	}
	if q.count == 0 {
		return nil
	}
	mask := len(q.ring) - 1
	at := 0
	if q.count > 1 {
		switch q.strategy {
		case StrategyRandom:
			at = int(q.draw.Below(uint64(q.count)))
		case StrategySticky:
			at = q.count - 1
			if q.draw.Below(8) == 0 {
				at = int(q.draw.Below(uint64(q.count)))
			}
		}
	}
	i := (q.head + at) & mask
	t := q.ring[i]
	if at == q.count-1 {
		q.ring[i] = nil
	} else {
		q.ring[i] = q.ring[q.head]
		q.ring[q.head] = nil
		q.head = (q.head + 1) & mask
	}
	q.count--
	return t
}

// changeDue reports that a priority change point has come.
func (q *runnable) changeDue() bool {
	if len(q.changes) == 0 || q.step < q.changes[0] {
		return false
	}
	q.changes = q.changes[1:]
	return true
}

func (q *runnable) takePriority() *task {
	if len(q.byPriority) == 0 {
		return nil
	}
	if q.changeDue() {
		q.demote(q.byPriority[0])
		q.sink(0)
	}
	t := q.byPriority[0]
	last := len(q.byPriority) - 1
	q.byPriority[0] = q.byPriority[last]
	q.byPriority[last] = nil
	q.byPriority = q.byPriority[:last]
	if last > 0 {
		q.sink(0)
	}
	return t
}

// demote puts a task behind every other one. A task that yields is demoted, or
// polling loops would starve the task they wait for.
func (q *runnable) demote(t *task) {
	q.lowest--
	t.priority = q.lowest
}

// priority draws the priority of a new task.
func (q *runnable) priority() int64 {
	if q.strategy != StrategyPCT {
		return 0
	}
	return int64(q.draw.Uint64() >> 1)
}

// preempts reports whether the running task should give way at a point where it
// could go on.
func (q *runnable) preempts(t *task) bool {
	q.step++
	if q.len() == 0 {
		return false
	}
	switch q.strategy {
	case StrategyRandom:
		return q.draw.Below(8) == 0
	case StrategySticky:
		return q.draw.Below(64) == 0
	case StrategyPCT:
		if q.changeDue() {
			q.demote(t)
		}
		return q.byPriority[0].before(t)
	}
	return false
}

// before orders by priority, older tasks first among equals.
func (t *task) before(o *task) bool {
	return t.priority > o.priority || t.priority == o.priority && t.id < o.id
}

func (q *runnable) rise(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !q.byPriority[i].before(q.byPriority[parent]) {
			return
		}
		q.byPriority[i], q.byPriority[parent] = q.byPriority[parent], q.byPriority[i]
		i = parent
	}
}

func (q *runnable) sink(i int) {
	for {
		best := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(q.byPriority); c++ {
			if q.byPriority[c].before(q.byPriority[best]) {
				best = c
			}
		}
		if best == i {
			return
		}
		q.byPriority[i], q.byPriority[best] = q.byPriority[best], q.byPriority[i]
		i = best
	}
}
