package campaign

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"plexus/sim"
	"plexus/sim/fault"
	"plexus/sim/oracle"
)

// Scenario is a composition: what users do, what may go wrong, what must hold,
// for how long.
type Scenario struct {
	Name    string
	About   string        // one sentence
	Horizon time.Duration // faults and workload
	Quiet   time.Duration // after everything healed; QuietDefault if zero
	Nodes   int           // how many unless the spec says otherwise
	Steps   uint64        // an estimate of scheduling points, for priority schedules
	// Flawed marks scenarios that must fail: they prove the harness. A pattern does
	// not choose them.
	Flawed bool
	Setup  func(*Run)
}

// QuietDefault is how long a healed system may take to settle.
const QuietDefault = 120 * time.Second

// Run is one execution as its scenario sees it.
type Run struct {
	Sim     *sim.Simulation
	Nodes   int
	Horizon time.Duration

	targets   []*sim.Host
	peers     []string
	names     []string
	kinds     []fault.Kind
	injectors []fault.Injector
	oracles   []oracle.Oracle
	over      bool
	stopping  bool
	evidence  string // of the oracle that failed
	measures  map[string][]time.Duration
}

// Target adds a node: a host whose process, clock, disk and links may suffer.
func (r *Run) Target(h *sim.Host) { r.targets = append(r.targets, h) }

// Supervise starts a node's program again whenever it ended by itself, as an init
// system does.
func (r *Run) Supervise(h *sim.Host) {
	r.Sim.After(superviseEvery, func() {
		if r.stopping {
			return
		}
		if h.Exited() {
			h.Restart()
		}
		r.Supervise(h)
	})
}

// superviseEvery is how long an ended program stays down.
const superviseEvery = time.Second

// Peer adds a host that only the links to nodes may separate.
func (r *Run) Peer(h *sim.Host) { r.peers = append(r.peers, h.Name()) }

// Name adds a name that the name server may get wrong.
func (r *Run) Name(name string) { r.names = append(r.names, name) }

// Allow adds kinds of faults. Without a call the standard kinds are allowed; a call
// with none allows none.
func (r *Run) Allow(kinds ...fault.Kind) {
	r.kinds = append(append([]fault.Kind{}, r.kinds...), kinds...)
}

// Measure adds a value to a distribution of virtual times.
func (r *Run) Measure(name string, d time.Duration) {
	if r.measures == nil {
		r.measures = map[string][]time.Duration{}
	}
	r.measures[name] = append(r.measures[name], d)
}

// Inject adds a broker whose own faults the plan may use.
func (r *Run) Inject(in fault.Injector) { r.injectors = append(r.injectors, in) }

// Hold adds an oracle.
func (r *Run) Hold(o oracle.Oracle) { r.oracles = append(r.oracles, o) }

// Over reports that the horizon has passed: workloads stop asking for more.
func (r *Run) Over() bool { return r.over }

// setting is what the plan of the run is drawn for.
func (r *Run) setting(spec Spec) fault.Setting {
	kinds := r.kinds
	if kinds == nil {
		kinds = fault.Standard()
	}
	kinds = slices.Clone(kinds)
	for _, in := range r.injectors {
		kinds = append(kinds, in.Kinds()...)
	}
	kinds = slices.DeleteFunc(kinds, func(k fault.Kind) bool { return slices.Contains(spec.Without, k.Class) })
	s := fault.Setting{Seed: spec.Seed, Profile: spec.Profile, Horizon: r.Horizon, Kinds: kinds, Peers: r.peers, Names: r.names}
	for _, h := range r.targets {
		s.Nodes = append(s.Nodes, h.Name())
	}
	return s
}

// Find returns the scenario with that name.
func Find(all []Scenario, name string) (Scenario, error) {
	for _, s := range all {
		if s.Name == name {
			return s, nil
		}
	}
	return Scenario{}, fmt.Errorf("%w %q", ErrScenario, name)
}

// Match returns the scenarios a shell pattern chooses. Flawed ones are chosen by
// their whole name only; a pattern that fits no others is ErrFlawed.
func Match(all []Scenario, pattern string) ([]Scenario, error) {
	var out []Scenario
	var flawed []string
	for _, s := range all {
		hit, err := path.Match(pattern, s.Name)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w %q: %w", ErrScenario, pattern, err)
		case !hit:
		case s.Flawed && pattern != s.Name:
			flawed = append(flawed, s.Name)
		default:
			out = append(out, s)
		}
	}
	switch {
	case len(out) > 0:
		return out, nil
	case len(flawed) > 0:
		return nil, fmt.Errorf("%w: %q fits %s", ErrFlawed, pattern, strings.Join(flawed, ", "))
	}
	return nil, fmt.Errorf("%w %q", ErrScenario, pattern)
}
