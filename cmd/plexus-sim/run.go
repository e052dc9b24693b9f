package main

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"time"

	"plexus/sim"
	"plexus/sim/campaign"
	"plexus/sim/fault"
	"plexus/sim/trace"
)

type listCommand struct{}

func (listCommand) Run(c *console) error {
	list := func(title string, flawed bool) {
		c.printf("%s:\n", title)
		for _, s := range scenarios() {
			if s.Flawed == flawed {
				c.printf("  %-24s %s\n", s.Name, s.About)
			}
		}
	}
	list("Scenarios", false)
	list("\nScenarios that must fail, which no pattern chooses", true)
	c.printf("\nFault kinds (standard):\n")
	for _, k := range fault.Standard() {
		c.printf("  %s\n", k.Class)
	}
	c.printf("\nFault kinds (of clusters):\n")
	for _, k := range fault.Clustered() {
		c.printf("  %s\n", k.Class)
	}
	c.printf("\nFault kinds (destructive, where a scenario allows them):\n")
	for _, k := range fault.Destructive() {
		c.printf("  %s\n", k.Class)
	}
	c.printf("\nProfiles: %v\nStrategies: random, sticky, pct, fifo; drawn from the seed by default\n", fault.Profiles())
	return nil
}

// many are the flags of commands that run many seeds of many scenarios.
type many struct {
	Scenario string `default:"*" help:"Which scenarios, a shell pattern; one that must fail by its whole name only."`
	First    uint64 `help:"The first seed."`
	shape
}

// choose returns the scenarios, and the command line that starts a worker.
func (m many) choose() ([]campaign.Scenario, []string, error) {
	list, err := campaign.Match(scenarios(), m.Scenario)
	if err != nil {
		return nil, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("find this program: %w", err)
	}
	return list, []string{self, "worker"}, nil
}

// shape are the flags that decide a run besides its seed.
type shape struct {
	Nodes    int           `help:"How many nodes; the scenario's number by default."`
	Profile  string        `enum:"mix,all,swarm,single,calm" default:"mix" help:"How much goes wrong: ${enum}."`
	Strategy string        `enum:"drawn,random,sticky,pct,fifo" default:"drawn" help:"How runnable tasks are chosen: ${enum}."`
	For      time.Duration `help:"Virtual time under faults; the scenario's by default."`
	Without  []fault.Class `help:"Fault classes to leave out, to look behind a known failure."`
}

func (s shape) job(scenario string, first uint64, count int) campaign.Job {
	return campaign.Job{
		Scenario: scenario, Nodes: s.Nodes, Profile: fault.Profile(s.Profile), Strategy: s.Strategy,
		Horizon: s.For, Without: s.Without, First: first, Count: count,
	}
}

type runCommand struct {
	Scenario string `required:"" help:"The scenario's name."`
	Seed     uint64 `required:"" help:"The seed."`
	shape
	Trace   string `type:"path" help:"Write a trace file (.plt)."`
	Logs    bool   `help:"Print the log of every node."`
	Guard   bool   `help:"Check on every primitive call that the running task makes it."`
	BreakAt uint64 `help:"Stop in the attached debugger at this event."`
	Save    string `type:"path" help:"Write a replay file (.plr), of a clean run too."`
}

func (r *runCommand) Run(c *console) error {
	sc, err := campaign.Find(scenarios(), r.Scenario)
	if err != nil {
		return err
	}
	spec, err := r.job(r.Scenario, r.Seed, 1).Spec(r.Seed)
	if err != nil {
		return fmt.Errorf("%w: %w", errUsage, err)
	}
	result, err := execute(c, sc, spec, observing{r.Trace, r.Logs, r.Guard, r.BreakAt})
	if err != nil {
		return err
	}
	if r.Save != "" {
		if err := save(r.Save, result, ""); err != nil {
			return err
		}
	}
	return conclude(c, sc, result)
}

// observing are the flags that look at a run.
type observing struct {
	trace   string
	logs    bool
	guard   bool
	breakAt uint64
}

// execute runs a spec with what the flags ask for.
func execute(c *console, sc campaign.Scenario, spec campaign.Spec, o observing) (campaign.Result, error) {
	watch := campaign.Watch{Guard: o.guard, BreakAt: o.breakAt}
	if o.logs {
		watch.Logs = func(l sim.LogLine) { c.printf("%s\n", l) }
	}
	if o.trace == "" {
		return campaign.Execute(sc, spec, watch), nil
	}
	f, err := os.Create(o.trace)
	if err != nil {
		return campaign.Result{}, err
	}
	w := trace.NewWriter(f, header(sc, spec))
	watch.Tracer = w
	result := campaign.Execute(sc, spec, watch)
	if err := w.Close(); err != nil {
		return result, err
	}
	return result, f.Close()
}

func header(sc campaign.Scenario, spec campaign.Spec) trace.Header {
	h := trace.Header{
		Build: campaign.Build(), Go: runtime.Version(), Arch: runtime.GOOS + "/" + runtime.GOARCH, Mode: "sim",
		Scenario: sc.Name, Seed: spec.Seed, Nodes: spec.Nodes, Profile: string(spec.Profile), Strategy: spec.Strategy.For(spec.Seed).String(),
	}
	if spec.Plan != nil {
		if plan, err := json.Marshal(spec.Plan); err == nil {
			h.Plan = plan
		}
	}
	return h
}

// save writes the replay file of a run, made with a planted defect or none.
func save(path string, r campaign.Result, planted string) error {
	p := campaign.NewReplay(r)
	p.Planted = planted
	data, err := p.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}

// conclude prints how a run ended and turns it into an exit status.
func conclude(c *console, sc campaign.Scenario, r campaign.Result) error {
	if r.Failure != nil {
		c.printf("%s", campaign.Report(sc, r))
		return status(exitViolated)
	}
	fired := 0
	for _, n := range r.Fired { //plexus:orderfree a sum
		fired += n
	}
	c.printf("ok %s seed=%d digest=%016x build=%s\n", sc.Name, r.Spec.Seed, r.Digest, campaign.Build())
	c.printf("   profile %s, strategy %s, %d faults, %d events, %v of virtual time\n",
		r.Spec.Profile, r.Spec.Strategy, fired, r.Events, r.Virtual)
	return nil
}

type workerCommand struct{}

func (workerCommand) Run(c *console) error {
	return campaign.Work(scenarios(), os.Stdin, c.out)
}
