package sim

import (
	"log/slog"
	"time"
)

// Options shape a simulation. The zero value with a seed is a good run.
type Options struct {
	Seed uint64
	// Strategy chooses among runnable tasks; StrategyDrawn draws it from the seed.
	Strategy Strategy
	// ExpectedSteps is the length over which StrategyPCT spreads its change points.
	ExpectedSteps uint64
	// Epoch is the wall time of every host at virtual time zero, before skew.
	Epoch time.Time
	// Tracer receives every record of the run. Without one only the digest, the
	// checkpoints and the last records are kept.
	Tracer Tracer
	// Logs receives every captured log line.
	Logs func(LogLine)
	// LogLevel is the lowest captured level.
	LogLevel slog.Level
	// BreakAt stops in an attached debugger at the event with this number.
	BreakAt uint64
	// Guard checks on every primitive call that it comes from the running task.
	// Without it one call in 4,096 is checked.
	Guard bool
}

// Limits of a run.
const (
	// stepsWithoutTimeMax is how many steps may pass at one virtual instant before
	// the run counts as a livelock.
	stepsWithoutTimeMax = 1_000_000
	// stuckAfter is the real time after which a task that never comes back to the
	// scheduler aborts the process with every stack.
	stuckAfter = 60 * time.Second
	// expectedStepsDefault is a short scenario's length.
	expectedStepsDefault = 50_000
	// chargeQuantum is the modelled work a task collects before time passes for it.
	chargeQuantum = 10 * time.Microsecond
)

var epochDefault = time.Date(2026, time.January, 5, 8, 0, 0, 0, time.UTC)
