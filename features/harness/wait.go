package harness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/primitives"
)

// observation is one look at the running system: what was seen, and whether it
// is what the step waits for.
type observation struct {
	seen  string
	holds bool
}

// eventually looks until the observation holds. A look that fails is a value
// like any other: a node that just restarts refuses connections for a while.
func (s *Scene) eventually(ctx context.Context, within time.Duration, look func(ctx context.Context) (observation, error)) error {
	w, limits := s.stage.World(), s.stage.Limits()
	if within == 0 {
		within = limits.Patience
	}
	until := w.Clock().Now().Add(within)
	last := "nothing yet"
	for {
		looked := w.Clock().Now()
		o, err := look(ctx)
		switch {
		case errors.Is(err, errHopeless):
			return err
		case err != nil:
			last = err.Error()
		case o.holds:
			return nil
		default:
			last = o.seen
		}
		if !w.Clock().Now().Before(until) {
			return fmt.Errorf("not within %s; last seen: %s", within, last)
		}
		// A look that takes long comes less often, so that counting many records
		// does not slow down what it waits for.
		pause := max(limits.Poll, 4*w.Clock().Now().Sub(looked))
		if err := primitives.Sleep(ctx, w, min(pause, until.Sub(w.Clock().Now()))); err != nil {
			return err
		}
	}
}

// steadily checks that the observation holds now and keeps holding.
func (s *Scene) steadily(ctx context.Context, during time.Duration, look func(ctx context.Context) (observation, error)) error {
	w := s.stage.World()
	until := w.Clock().Now().Add(during)
	for {
		o, err := look(ctx)
		if err != nil {
			return err
		}
		if !o.holds {
			return fmt.Errorf("did not hold for %s; seen: %s", during, o.seen)
		}
		if !w.Clock().Now().Before(until) {
			return nil
		}
		if err := primitives.Sleep(ctx, w, s.stage.Limits().Poll); err != nil {
			return err
		}
	}
}

// errHopeless ends a wait at once: looking again cannot help.
var errHopeless = errors.New("cannot happen any more")
