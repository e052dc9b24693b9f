//go:build planted

package main

import (
	"runtime"

	"plexus/primitives/planted"
	"plexus/sim/campaign"
)

type mutantCommands struct {
	Mutants mutantsCommand `cmd:"" help:"Score: does a campaign find every planted defect?"`
}

type mutantsCommand struct {
	Scenario string `default:"*" help:"Which scenarios, a shell pattern."`
	Seeds    int    `default:"2000" help:"How many seeds of each scenario to try for a defect."`
	shape
}

func (m *mutantsCommand) Run(c *console) error {
	list, err := campaign.Match(scenarios(), m.Scenario)
	if err != nil {
		return err
	}
	worker, err := workerCommandLine()
	if err != nil {
		return err
	}
	missed := 0
	for _, defect := range planted.Defects() {
		found := false
		for _, sc := range list {
			if found {
				break
			}
			job := m.job(sc.Name, 0, m.Seeds)
			job.Planted, job.Twice = string(defect), 1
			co := &campaign.Coordinator{Command: worker, Workers: runtime.NumCPU()}
			err := co.Run(job, func(o campaign.Outcome) bool {
				if o.Broken != "" {
					c.printf("%-24s BROKEN %s\n", defect, o.Broken)
					return false
				}
				if o.Failure != nil {
					found = true
					c.printf("%-24s found by %s seed %d: %s\n", defect, sc.Name, o.Seed, o.Failure)
				}
				if o.Differs() && !found {
					found = true
					c.printf("%-24s found by %s seed %d: two runs of one seed differ\n", defect, sc.Name, o.Seed)
				}
				return !found
			})
			if err != nil {
				return err
			}
		}
		if !found {
			missed++
			c.printf("%-24s MISSED in %d seeds of %d scenarios\n", defect, m.Seeds, len(list))
		}
	}
	if missed > 0 {
		return status(exitViolated)
	}
	return nil
}
