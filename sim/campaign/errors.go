package campaign

import "errors"

var (
	// ErrScenario says that there is no such scenario.
	ErrScenario = errors.New("no scenario is called")
	// ErrFlawed says that a pattern fits scenarios that must fail, and no others.
	ErrFlawed = errors.New("a scenario that must fail is chosen by its whole name only")
	// ErrReplayFile says that a file is no replay file of a known format.
	ErrReplayFile = errors.New("not a replay file")
	// ErrNotReproduced says that a failure did not come again from its own spec.
	ErrNotReproduced = errors.New("the failure did not come again")
	// ErrWorker says that a worker process ended or answered nonsense.
	ErrWorker = errors.New("worker failed")
)

// errStop ends a campaign that has seen enough.
var errStop = errors.New("stopped")
