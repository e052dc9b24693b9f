package campaign

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"plexus/primitives/invariant"
	"plexus/sim"
	"plexus/sim/fault"
	"plexus/sim/oracle"
)

// Spec is everything that decides a run of a scenario.
type Spec struct {
	Scenario string
	Seed     uint64
	Nodes    int           // 0: the scenario's
	Profile  fault.Profile // decides the plan, if there is none
	Strategy sim.Strategy  // StrategyDrawn: by the seed
	Horizon  time.Duration // 0: the scenario's
	Plan     *fault.Plan   // nil: drawn from seed and profile
	File     string        // the replay file it was read from, if it was
	Without  []fault.Class // classes left out of a drawn plan
}

// Watch is what may observe a run without changing it.
type Watch struct {
	Tracer  sim.Tracer
	Logs    func(sim.LogLine)
	BreakAt uint64
	Guard   bool
}

// Result is what came of a run.
type Result struct {
	Asked       Spec // as it was given
	Spec        Spec // completed: plan, nodes, horizon, strategy and profile as used
	Failure     *sim.Failure
	Evidence    string // beside the failure, for its report
	Digest      uint64
	Events      uint64
	Steps       uint64
	Checkpoints []uint64
	Virtual     time.Duration
	Fired       map[fault.Class]int
	Allowed     []fault.Class     // classes the setting offered
	Hits        map[string]uint64 // of every rare branch
	Measures    map[string][]time.Duration
	Recent      []sim.Record
	Logs        []sim.LogLine
}

const (
	oracleEvery = time.Second
	stopBound   = 120 * time.Second
)

// Execute runs one spec of the scenario.
func Execute(sc Scenario, spec Spec, watch Watch) Result {
	asked := spec
	spec.Scenario = sc.Name
	spec.Nodes = cmp.Or(spec.Nodes, sc.Nodes, 1)
	spec.Horizon = cmp.Or(spec.Horizon, sc.Horizon)
	invariant.Reset()
	s := sim.New(sim.Options{
		Seed: spec.Seed, Strategy: spec.Strategy, ExpectedSteps: sc.Steps,
		Tracer: watch.Tracer, Logs: watch.Logs, BreakAt: watch.BreakAt, Guard: watch.Guard,
	})
	defer s.Close()
	spec.Strategy = s.Strategy()
	r := &Run{Sim: s, Nodes: spec.Nodes, Horizon: spec.Horizon}
	out := Result{Asked: asked, Fired: map[fault.Class]int{}, Hits: map[string]uint64{}}
	sc.Setup(r)
	setting := r.setting(spec)
	if spec.Plan == nil {
		plan, profile := fault.Draw(setting)
		spec.Plan, spec.Profile = &plan, profile
	}
	if s.Failed() == nil {
		c := fault.Start(s, *spec.Plan, r.targets, r.injectors...)
		r.phases(c, cmp.Or(sc.Quiet, QuietDefault))
		out.Fired = c.Fired()
		for _, k := range setting.Kinds {
			out.Allowed = append(out.Allowed, k.Class)
		}
	}
	t := s.Trace()
	out.Spec, out.Failure, out.Digest, out.Events, out.Checkpoints = spec, s.Failed(), t.Digest, t.Events, t.Checkpoints
	out.Steps, out.Virtual, out.Recent, out.Logs = s.Steps(), s.Elapsed(), t.Recent, s.Logs()
	out.Evidence, out.Measures = r.evidence, r.measures
	for _, site := range invariant.Sites() {
		out.Hits[site.Name] = site.Hits()
	}
	return out
}

// phases are the life of a run after its setup. A failure ends it, through the
// simulation, which keeps the first one.
func (r *Run) phases(c *fault.Controller, quiet time.Duration) {
	r.watch()
	if r.Sim.Run(r.Horizon) != nil {
		return
	}
	r.over = true
	c.Heal()
	if r.Sim.Run(quiet) != nil {
		return
	}
	for _, o := range r.oracles {
		r.ask(o, o.Quiet)
	}
	if r.Sim.Failed() != nil {
		return
	}
	r.stop()
}

// watch asks the continuous oracles from time to time.
func (r *Run) watch() {
	for _, o := range r.oracles {
		r.ask(o, o.Continuous)
	}
	r.Sim.After(oracleEvery, r.watch)
}

func (r *Run) ask(o oracle.Oracle, check func() error) {
	if check == nil {
		return
	}
	if err := check(); err != nil {
		if r.Sim.Failed() == nil && o.Evidence != nil {
			r.evidence = o.Evidence()
		}
		r.Sim.Fail(o.Name, err.Error())
	}
}

// stop ends every node gracefully; what a node leaves behind fails the run.
func (r *Run) stop() {
	r.stopping = true
	for _, h := range r.targets {
		h.Stop()
	}
	err := r.Sim.RunUntil(func() bool {
		for _, h := range r.targets {
			if h.Running() {
				return false
			}
		}
		return true
	}, stopBound)
	if errors.Is(err, sim.ErrBound) {
		r.Sim.Fail("stops", fmt.Sprintf("a node still runs %v after it was told to stop", stopBound))
	}
}
