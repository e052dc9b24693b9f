package interconnect

import (
	"context"

	"plexus/primitives"
)

// Memory is the budget for messages of one class: those being received, those a
// handler holds, and what an exchange reserves beside them.
type Memory struct {
	size  int64
	units *primitives.Semaphore
}

func newMemory(w primitives.World, size int64) *Memory {
	return &Memory{size: size, units: primitives.NewSemaphore(w, size)}
}

// Size is the whole budget in bytes.
func (m *Memory) Size() int64 { return m.size }

// Try reserves n bytes if they are free and nobody waits.
func (m *Memory) Try(n int64) bool { return m.units.TryAcquire(n) }

// Take reserves n bytes, waiting for them in order.
func (m *Memory) Take(ctx context.Context, n int64) error { return m.units.Acquire(ctx, n) }

// Give returns n bytes.
func (m *Memory) Give(n int64) {
	if n > 0 {
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
