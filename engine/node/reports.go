package node

import (
	"context"
	"fmt"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/observe"
	"plexus/primitives"
)

// reports writes the runtime errors of domains to the log and tells them to the
// sessions. A condition that repeats is told when it begins and then at most once
// a minute with a count.
type reports struct {
	world primitives.World
	queue *primitives.Queue[runtimeError]
	tell  func(ctx context.Context, level, source, text string) error // set before run
}

// runtimeError is one report.
type runtimeError struct {
	domain   string
	operator observe.Endpoint
	text     string
}

const (
	reportsQueued = 1024
	reportsKnown  = 1024
	reportEvery   = time.Minute
)

func newReports(w primitives.World) *reports {
	return &reports{world: w, queue: primitives.NewQueue[runtimeError](w, reportsQueued)}
}

// report takes an error without blocking. What does not fit the queue is one of
// so many that its loss tells nothing new.
func (r *reports) report(domain string, operator observe.Endpoint, err error) {
	r.queue.TrySend(runtimeError{domain, operator, observe.Explain(err)})
}

// repeated counts a condition since it was last logged.
type repeated struct {
	logged primitives.Instant
	count  int
}

func (r *reports) run(ctx context.Context) error {
	known := map[runtimeError]*repeated{}
	for {
		e, err := r.queue.Recv(ctx)
		if err != nil {
			return err
		}
		now := r.world.Clock().Now()
		seen := known[e]
		if seen != nil && now.Sub(seen.logged) < reportEvery {
			seen.count++
			continue
		}
		attributes := []any{"domain", e.domain, "kind", e.operator.Kind, "name", e.operator.Name, "error", e.text}
		if seen != nil && seen.count > 0 {
			attributes = append(attributes, "repeated", seen.count)
		}
		r.world.Log().Warn("runtime error", attributes...)
		source := fmt.Sprintf("%s '%s' in domain '%s'", e.operator.Kind, e.operator.Name, e.domain)
		if err := r.tell(ctx, "warn", source, e.text); err != nil {
			return err
		}
		if len(known) >= reportsKnown {
			known = map[runtimeError]*repeated{}
		}
		known[e] = &repeated{logged: now}
	}
}

// tell logs what a command changed, in the order of its effects.
func (r *runtime) tell(effects []catalog.ModelEffect) {
	for _, e := range effects {
		observe.Emit(r.node.options.Tap, observe.Event{
			Kind: observe.DefinitionChanged, Domain: e.Domain, Name: e.Name, ID: e.Index, Row: int(e.Kind),
		})
	}
	for _, e := range effects {
		verb := "dropped"
		switch {
		case e.Created && e.Dropped:
			verb = "replaced"
		case e.Created:
			verb = "created"
		}
		r.node.world.Log().Info(fmt.Sprintf("%s %s in domain '%s'", verb, e.Key, e.Domain))
	}
}
