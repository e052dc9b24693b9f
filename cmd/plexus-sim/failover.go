package main

import (
	"runtime"

	"plexus/sim/campaign"
	"plexus/sim/scenario"
)

type failoverCommand struct {
	First   uint64 `help:"The first seed."`
	Seeds   int    `default:"200" help:"How many seeds."`
	Workers int    `help:"Worker processes; one for each processor by default."`
}

// Run measures many failovers and prints how long each took, in virtual time.
func (f *failoverCommand) Run(c *console) error {
	_, worker, err := many{Scenario: scenario.FailoverName}.choose()
	if err != nil {
		return err
	}
	workers := f.Workers
	if workers == 0 {
		workers = runtime.NumCPU()
	}
	all := map[string]campaign.Distribution{}
	worst := exitClean
	job := campaign.Job{Scenario: scenario.FailoverName, First: f.First, Count: f.Seeds}
	err = (&campaign.Coordinator{Command: worker, Workers: workers}).Run(job, func(o campaign.Outcome) bool {
		switch {
		case o.Broken != "":
			c.printf("BROKEN seed %d: %s\n", o.Seed, o.Broken)
			worst = worse(worst, exitHarness)
		case o.Failure != nil:
			c.printf("FAIL seed %d: %v\n", o.Seed, o.Failure)
			worst = exitViolated
		}
		for name, values := range o.Measures { //plexus:orderfree the values of one name keep their order
			all[name] = append(all[name], values...)
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, bound := range scenario.FailoverBounds {
		d := all[bound.Name]
		c.printf("%s, at most %v allowed:\n%s\n", bound.Name, bound.Most, d.Histogram())
		if len(d) == 0 || d.Quantile(1) > bound.Most {
			worst = worse(worst, exitViolated)
		}
	}
	if worst != exitClean {
		return status(worst)
	}
	return nil
}
