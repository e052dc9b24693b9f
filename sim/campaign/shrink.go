package campaign

import (
	"slices"
	"time"

	"plexus/sim"
	"plexus/sim/fault"
)

// Shrunk is the outcome of shrinking.
type Shrunk struct {
	Result Result // of the smallest spec that still fails in the same way
	Runs   int
	From   int // plan entries at the start
}

// horizonLeast keeps enough of a run for a fault to follow the setup.
const horizonLeast = time.Second

// Shrink makes a failing run small: a shorter horizon, no needless class, no
// needless entry, the simplest schedule, over and over until nothing helps. spent
// ends the search early. The failure's class stays the same.
func Shrink(sc Scenario, failed Result, spent func() bool) (Shrunk, error) {
	h := &shrinker{scenario: sc, spent: spent, best: failed, class: failed.Failure.Class()}
	if !h.try(failed.Spec) {
		return Shrunk{Runs: h.runs}, ErrNotReproduced
	}
	for h.improved = true; h.improved && !spent(); {
		h.improved = false
		h.shorten()
		h.dropClasses()
		h.dropEntries()
		h.shortenEntries()
		h.simplify()
		if !h.improved {
			h.isolate()
		}
	}
	return Shrunk{Result: h.best, Runs: h.runs, From: len(*failed.Spec.Plan)}, nil
}

type shrinker struct {
	scenario Scenario
	spent    func() bool
	best     Result
	class    string
	runs     int
	improved bool
}

// try runs a spec and keeps it when it fails in the same way.
func (h *shrinker) try(spec Spec) bool {
	h.runs++
	r := Execute(h.scenario, spec, Watch{})
	if r.Failure == nil || r.Failure.Class() != h.class {
		return false
	}
	r.Asked = h.best.Asked
	h.best = r
	return true
}

// better is try for a change that counts as progress.
func (h *shrinker) better(change func(*Spec)) bool {
	if h.spent() {
		return false
	}
	spec := h.best.Spec
	plan := slices.Clone(*spec.Plan)
	spec.Plan = &plan
	change(&spec)
	if !h.try(spec) {
		return false
	}
	h.improved = true
	return true
}

// shorten ends the faults earlier.
func (h *shrinker) shorten() {
	for _, divisor := range []time.Duration{2, 4, 8} {
		for {
			shorter := (h.best.Spec.Horizon - h.best.Spec.Horizon/divisor).Round(time.Millisecond)
			if shorter < horizonLeast || shorter == h.best.Spec.Horizon || !h.better(func(s *Spec) {
				s.Horizon = shorter
				*s.Plan = s.Plan.Before(shorter)
			}) {
				break
			}
		}
	}
}

func (h *shrinker) dropClasses() {
	for _, c := range h.best.Spec.Plan.Classes() {
		h.better(func(s *Spec) { *s.Plan = s.Plan.Without(c) })
	}
}

// dropEntries is delta debugging over the plan.
func (h *shrinker) dropEntries() {
	for size := max(1, len(*h.best.Spec.Plan)/2); ; size /= 2 {
		for i := 0; i+size <= len(*h.best.Spec.Plan); {
			if h.spent() {
				return
			}
			if !h.better(func(s *Spec) { *s.Plan = slices.Delete(*s.Plan, i, i+size) }) {
				i += size
			}
		}
		if size <= 1 {
			return
		}
	}
}

// shortenEntries makes lasting faults end earlier.
func (h *shrinker) shortenEntries() {
	for i := range *h.best.Spec.Plan {
		for e := (*h.best.Spec.Plan)[i]; e.For > 2*time.Millisecond && h.better(func(s *Spec) {
			(*s.Plan)[i].For = (e.For / 2).Round(time.Microsecond)
		}); {
			e = (*h.best.Spec.Plan)[i]
		}
	}
}

const (
	// plainPlan is a plan small enough to read.
	plainPlan = 2
	// retimings is how often an entry that ends a process is tried at another
	// moment, and retimingsOther how often another one.
	retimings      = 300
	retimingsOther = 4
	retimeWithin   = 3 * time.Second
	retimeTurns    = 200
)

// isolate looks for one entry that does it alone. Often only its moment kept the
// others: leaving one out shifts everything after it, and a crash no longer hits
// the write it has to hit. So the entry is tried at other moments too.
func (h *shrinker) isolate() {
	plan := *h.best.Spec.Plan
	if len(plan) <= plainPlan {
		return
	}
	r := sim.NewStream(h.best.Spec.Seed, "shrink")
	for i := len(plan) - 1; i >= 0; i-- {
		e := plan[i]
		ends := e.Class == fault.ProcessKill || e.Class == fault.HostCrash || e.Class == fault.PowerLoss
		tries := retimingsOther
		if ends {
			tries = retimings
		}
		for range tries {
			if h.spent() || h.better(func(s *Spec) { *s.Plan = fault.Plan{e} }) {
				return
			}
			e.At = time.Duration(r.Between(0, int64(min(plan[i].At+retimeWithin, h.best.Spec.Horizon-1)))).Round(time.Microsecond)
			if ends && e.Class != fault.PowerLoss {
				e.Amount = r.Between(0, retimeTurns)
			}
		}
	}
}

func (h *shrinker) simplify() {
	if h.best.Spec.Strategy != sim.StrategyFIFO {
		h.better(func(s *Spec) { s.Strategy = sim.StrategyFIFO })
	}
}
