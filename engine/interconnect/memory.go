package interconnect

import (
	"context"

	"plexus/engine/observe"
	"plexus/primitives"
)

// Memory is the budget for messages of one class: those being received, those a
// handler holds, and what an exchange reserves beside them.
type Memory struct {
	size     int64
	units    *primitives.Semaphore
	taken    *observe.Gauge
	rejected *observe.Counter
}

func newMemory(w primitives.World, size int64) *Memory {
	return &Memory{size: size, units: primitives.NewSemaphore(w, size), taken: new(observe.Gauge), rejected: new(observe.Counter)}
}

// Size is the whole budget in bytes.
func (m *Memory) Size() int64 { return m.size }

// Try reserves n bytes if they are free and nobody waits.
func (m *Memory) Try(n int64) bool {
	if !m.units.TryAcquire(n) {
		m.rejected.Add(1)
		return false
	}
	m.taken.Add(int(n))
	return true
}

// Take reserves n bytes, waiting for them in order.
func (m *Memory) Take(ctx context.Context, n int64) error {
	if err := m.units.Acquire(ctx, n); err != nil {
		return err
	}
	m.taken.Add(int(n))
	return nil
}

// Give returns n bytes.
func (m *Memory) Give(n int64) {
	if n > 0 {
		m.taken.Add(-int(n))
		m.units.Release(n)
	}
}

// memories are the budgets of a node by class.
type memories [classCount]*Memory

func newMemories(w primitives.World) (m memories) {
	commands := newMemory(w, memoryCommands)
	return memories{
		Management: newMemory(w, memoryManagement), Commands: commands, Replication: commands,
		Relay: newMemory(w, memoryRelay), Bulk: newMemory(w, memoryBulk),
	}
}

// admissions are the exchanges of a node in one direction, by lane.
type admissions [laneCount]*primitives.Semaphore

func newAdmissions(w primitives.World) (a admissions) {
	for lane, n := range laneAdmissions {
		a[lane] = primitives.NewSemaphore(w, n)
	}
	return a
}
