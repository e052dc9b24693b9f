package campaign

import (
	"fmt"
	"slices"
	"strings"

	"plexus/sim"
	"plexus/sim/fault"
)

// Headline is the first line of a failure and the command that shows it again.
func Headline(r Result) string {
	f := r.Failure
	what := string(f.Kind)
	if f.Oracle != "" {
		what = f.Oracle
	}
	return fmt.Sprintf("FAIL %s oracle=%s seed=%d build=%s\n     %s\n",
		r.Spec.Scenario, what, r.Spec.Seed, Build(), Command(r.Asked))
}

// Command is the line that runs the spec again: from its file, which may hold
// another plan than the seed draws, or from its seed.
func Command(s Spec) string {
	if s.File != "" {
		return "plexus-sim replay " + s.File
	}
	return "plexus-sim " + strings.Join(Arguments(s), " ")
}

// CheckCommand is the line that checks whether the spec is deterministic.
func CheckCommand(s Spec) string {
	return strings.Join(append([]string{"plexus-sim check --scenario", s.Scenario, "--first", fmt.Sprint(s.Seed), "--seeds 1"}, shape(s)...), " ")
}

// Arguments are those of plexus-sim that run the spec again from its seed.
func Arguments(s Spec) []string {
	return append([]string{"run", "--scenario", s.Scenario, "--seed", fmt.Sprint(s.Seed)}, shape(s)...)
}

// shape returns the flags for what decides a run besides scenario and seed.
func shape(s Spec) []string {
	var out []string
	if s.Nodes != 0 {
		out = append(out, "--nodes", fmt.Sprint(s.Nodes))
	}
	if s.Profile != "" && s.Profile != fault.ProfileMix {
		out = append(out, "--profile", string(s.Profile))
	}
	if s.Strategy != sim.StrategyDrawn {
		out = append(out, "--strategy", s.Strategy.String())
	}
	if s.Horizon != 0 {
		out = append(out, "--for", s.Horizon.String())
	}
	for _, c := range s.Without {
		out = append(out, "--without", string(c))
	}
	return out
}

const (
	eventsPerTask = 64
	tasksInvolved = 6
	logsShown     = 40
)

// Report tells a failure: what, when, the plan as a timeline, the last events of
// every task involved, the last log lines.
func Report(sc Scenario, r Result) string {
	var b strings.Builder
	b.WriteString(Headline(r))
	fmt.Fprintf(&b, "\nclass: %s\n%s", r.Failure.Class(), r.Failure.Report())
	b.WriteString(r.Evidence)
	fmt.Fprintf(&b, "\nprofile %s, strategy %s, %d nodes, horizon %v, digest %016x\n",
		r.Spec.Profile, r.Spec.Strategy, r.Spec.Nodes, r.Spec.Horizon, r.Digest)
	fmt.Fprintf(&b, "\nplan, %d entries:\n%s", len(*r.Spec.Plan), r.Spec.Plan)
	k := newKeeper()
	Execute(sc, r.Spec, Watch{Tracer: k})
	for _, id := range involved(r) {
		fmt.Fprintf(&b, "\nlast events of %s:\n", k.names[id])
		for _, e := range k.last[id] {
			b.WriteString(k.line(e) + "\n")
		}
	}
	b.WriteString("\nlast log lines:\n")
	for _, l := range r.Logs[max(0, len(r.Logs)-logsShown):] {
		b.WriteString(l.String() + "\n")
	}
	return b.String()
}

// involved returns the tasks that did something last, latest first.
func involved(r Result) []uint32 {
	var out []uint32
	for i := len(r.Recent) - 1; i >= 0 && len(out) < tasksInvolved; i-- {
		e := r.Recent[i]
		if e.Task != 0 && e.Kind != sim.KindMark && !slices.Contains(out, e.Task) {
			out = append(out, e.Task)
		}
	}
	return out
}

// keeper is a tracer that keeps the last events of every task.
type keeper struct {
	names map[uint32]string
	marks map[uint32]string
	last  map[uint32][]sim.Record
	at    uint32 // the task that ran last; marks are its
}

func newKeeper() *keeper {
	return &keeper{names: map[uint32]string{}, marks: map[uint32]string{}, last: map[uint32][]sim.Record{}}
}

func (k *keeper) Name(kind sim.Kind, id uint32, name string) {
	if kind == sim.KindMark {
		k.marks[id] = name
	} else {
		k.names[id] = name
	}
}

func (k *keeper) Record(r sim.Record) {
	id := r.Task
	switch r.Kind {
	case sim.KindMark:
		id = k.at
	case sim.KindRun:
		k.at = id
	}
	list := append(k.last[id], r)
	if len(list) > 2*eventsPerTask {
		list = append(list[:0], list[eventsPerTask:]...)
	}
	k.last[id] = list
}

func (k *keeper) Checkpoint(uint64) {}

func (k *keeper) line(r sim.Record) string {
	who := k.names[r.Task]
	if r.Kind == sim.KindMark {
		who = k.marks[r.Task]
	}
	detail := r.Detail()
	if woken := k.names[uint32(r.A)]; r.Kind == sim.KindUnpark && woken != "" {
		detail = woken
	}
	return fmt.Sprintf("%9d %14v %-8s %-28s %s", r.Event, r.At, r.Kind, who, detail)
}
