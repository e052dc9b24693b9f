package workload

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/parse"
	"plexus/primitives"
	"plexus/sim"
)

// Operator changes a running pipeline: it stops and starts the domain, and
// replaces operators and relays by ones with other sizes and times.
type Operator struct {
	World  primitives.World
	Sim    *sim.Simulation
	On     Opener
	Script string // of the pipeline
	// Replaceable are the entities the operator replaces, as their statements name
	// them. No attached path loses its way by it: what is in them is drained, or
	// waits.
	Replaceable []string
	// NeverStops leaves the domain running: a stop forgets what unacknowledged
	// intake holds.
	NeverStops bool
}

const (
	// changeBound is how long an operator waits for a change.
	changeBound = 20 * time.Second
	stoppedMost = 3 * time.Second
	// lateMost is how long after a run a change of it may still take effect.
	lateMost = 15 * time.Second
	// settleEvery is the pause between two attempts to have the domain run.
	settleEvery = time.Second
)

// Step is one change.
func (o *Operator) Step(_ int, r *sim.Stream) {
	if r.Below(3) == 0 && !o.NeverStops {
		o.attempt("STOP")
		pause := time.Duration(r.Between(0, int64(stoppedMost)))
		o.Sim.Sleep(pause, "stopped domain")
		o.attempt("START")
		return
	}
	o.attempt(o.replacement(o.Replaceable[r.Below(uint64(len(o.Replaceable)))], r))
}

// Settle has the domain run, whatever became of earlier changes: one whose answer
// was lost may take effect after all, when the next leader goes on with it.
func (o *Operator) Settle() {
	for since, runs := o.Sim.Elapsed(), false; !runs || o.Sim.Elapsed()-since < lateMost; o.Sim.Sleep(settleEvery, "next attempt") {
		switch o.attempt("START") {
		case alreadyRunning:
			if !runs {
				since, runs = o.Sim.Elapsed(), true
			}
		case completed:
			since, runs = o.Sim.Elapsed(), true
		default:
			runs = false
		}
	}
}

// What a statement came to, besides the code of a refusal.
const (
	completed      = "completed"
	alreadyRunning = "domain.state"
)

// attempt runs a statement and returns what it came to, "" for unknown.
func (o *Operator) attempt(text string) string {
	ctx, cancel := primitives.WithDeadline(context.Background(), o.World, o.World.Clock().Now().Add(changeBound))
	defer cancel()
	s, err := o.On.Open(ctx, o.World, client.Options{Client: "operator", Domain: pipelineDomain, CallTimeout: changeBound})
	if err != nil {
		return ""
	}
	defer s.Drop()
	reply, err := s.Execute(ctx, text)
	if err != nil {
		return ""
	}
	if reply.GetDisposition() == sessionpb.Disposition_COMPLETED {
		return completed
	}
	if found := reply.GetDiagnostics(); len(found) > 0 {
		return found[0].GetCode()
	}
	return ""
}

// pipelineDomain is the domain of the script.
const pipelineDomain = "shop"

// replacement is the transaction that drops an entity and creates another of its
// name.
func (o *Operator) replacement(entity string, r *sim.Stream) string {
	text := vary(o.statement(entity), r)
	words := strings.Fields(entity)
	kind, name := words[len(words)-2], words[len(words)-1]
	return fmt.Sprintf("BEGIN; DROP %s %s; %s; COMMIT", kind, name, text)
}

// statement finds the statement that creates an entity.
func (o *Operator) statement(entity string) string {
	spans, _, err := parse.Split(o.Script)
	if err != nil {
		return ""
	}
	for _, span := range spans {
		if text := o.Script[span.Start:span.End]; strings.Contains(text, entity+" ") || strings.Contains(text, entity+"\n") {
			return strings.TrimSuffix(strings.TrimSpace(text), ";")
		}
	}
	return ""
}
