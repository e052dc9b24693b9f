package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"plexus/primitives"
	"plexus/sim/campaign"
	"plexus/sim/fault"
)

type campaignCommand struct {
	many
	Seeds     int           `xor:"size" help:"How many seeds of each scenario; 200 if --during is not given."`
	During    time.Duration `xor:"size" help:"How long, in real time, for each scenario."`
	Workers   int           `help:"Worker processes; one for each processor by default."`
	KeepGoing bool          `help:"Go on after the first failure of a scenario."`
	NoShrink  bool          `help:"Do not shrink failures."`
	Out       string        `type:"path" default:"plexus-sim-failures" help:"Where replay files and reports go."`
	JSON      string        `name:"json" type:"path" help:"Write the summaries as JSON."`
	Guard     bool          `help:"Check on every primitive call that the running task makes it."`
}

const (
	seedsDefault  = 200
	seedsEndless  = 1 << 30
	shrinkSeconds = 25 * time.Second
	brokenMax     = 3
	planShown     = 20
	// twiceEvery is how many seeds share one that is run twice and compared.
	twiceEvery = 50
)

func (k *campaignCommand) Run(c *console) error {
	list, worker, err := k.choose()
	if err != nil {
		return err
	}
	var summaries []*campaign.Summary
	worst := exitClean
	for _, sc := range list {
		sum, code, err := k.one(c, sc, worker)
		if err != nil {
			return err
		}
		summaries = append(summaries, sum)
		worst = worse(worst, code)
	}
	for _, name := range campaign.NeverHit(summaries) {
		c.printf("never reached: %s\n", name)
	}
	if k.JSON != "" {
		data, err := json.MarshalIndent(summaries, "", "  ")
		if err != nil {
			return err
		}
		if err := os.WriteFile(k.JSON, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	if worst != exitClean {
		return status(worst)
	}
	return nil
}

// worse lets a violated invariant win over different runs, and those over a
// failure of the harness.
func worse(a, b int) int {
	for _, code := range []int{exitViolated, exitNondeterministic} {
		if a == code || b == code {
			return code
		}
	}
	return max(a, b)
}

// one runs the campaign of one scenario.
func (k *campaignCommand) one(c *console, sc campaign.Scenario, worker []string) (*campaign.Summary, int, error) {
	count := k.Seeds
	spent := func() bool { return false }
	switch {
	case k.During > 0:
		count, spent = seedsEndless, budget(k.During)
	case count == 0:
		count = seedsDefault
	}
	workers := k.Workers
	if workers == 0 {
		workers = runtime.NumCPU()
	}
	job := k.job(sc.Name, k.First, count)
	job.Guard, job.Twice = k.Guard, twiceEvery
	spec, err := job.Spec(job.First)
	if err != nil {
		return nil, exitHarness, err
	}
	sum := campaign.NewSummary(sc.Name)
	start := time.Now()
	seen := map[string]bool{}
	var failures []campaign.Outcome
	err = (&campaign.Coordinator{Command: worker, Workers: workers}).Run(job, func(o campaign.Outcome) bool {
		sum.Add(o)
		spec.Seed = o.Seed
		switch {
		case o.Broken != "":
			c.printf("BROKEN %s seed=%d build=%s\n     %s\n%s\n",
				sc.Name, o.Seed, campaign.Build(), campaign.Command(spec), o.Broken)
			return sum.Broken < brokenMax && !spent()
		case o.Differs():
			c.printf("NOT DETERMINISTIC %s seed=%d build=%s: digests %016x and %016x\n     %s\n",
				sc.Name, o.Seed, campaign.Build(), o.Digest, o.Again, campaign.CheckCommand(spec))
			return k.KeepGoing && !spent()
		case o.Failure != nil && !seen[o.Failure.Class()]:
			seen[o.Failure.Class()] = true
			failures = append(failures, o)
			return k.KeepGoing && !spent()
		}
		return !spent()
	})
	if err != nil {
		return sum, exitHarness, err
	}
	took := time.Since(start)
	for _, o := range failures {
		if err := k.tell(c, sc, o); err != nil {
			return sum, exitHarness, err
		}
	}
	k.summarize(c, sum, took)
	switch {
	case sum.Failed > 0:
		return sum, exitViolated, nil
	case sum.Unequal > 0:
		return sum, exitNondeterministic, nil
	case sum.Broken > 0 || len(sum.Silent()) > 0:
		return sum, exitHarness, nil
	}
	return sum, exitClean, nil
}

// tell shrinks a failure, writes its files and prints it.
func (k *campaignCommand) tell(c *console, sc campaign.Scenario, o campaign.Outcome) error {
	spec, err := o.Replay.Spec()
	if err != nil {
		return err
	}
	result := campaign.Execute(sc, spec, campaign.Watch{})
	if result.Asked, err = k.job(sc.Name, o.Seed, 1).Spec(o.Seed); err != nil {
		return err
	}
	name := filepath.Join(k.Out, fmt.Sprintf("%s-%d", sc.Name, o.Seed))
	if err := os.MkdirAll(k.Out, 0o755); err != nil {
		return err
	}
	if result.Failure == nil {
		c.printf("NOT DETERMINISTIC %s seed=%d: it failed in a worker and is clean here: %s\n", sc.Name, o.Seed, o.Failure)
		return status(exitNondeterministic)
	}
	from := len(*spec.Plan)
	if !k.NoShrink {
		small, err := campaign.Shrink(sc, result, budget(shrinkSeconds))
		if err != nil {
			return err
		}
		result = small.Result
	}
	report := campaign.Report(sc, result)
	if err := save(name+".plr", result, ""); err != nil {
		return err
	}
	if err := os.WriteFile(name+".txt", []byte(report), 0o644); err != nil {
		return err
	}
	c.printf("%s     plexus-sim replay %s.plr\n", campaign.Headline(result), name)
	plan := *result.Spec.Plan
	c.printf("     %s\n     at %v, event %d; %d of %d plan entries left:\n%s",
		result.Failure, result.Failure.At, result.Failure.Event, len(plan), from, plan[:min(len(plan), planShown)])
	if len(plan) > planShown {
		c.printf("     ... and %d more\n", len(plan)-planShown)
	}
	c.printf("     report: %s.txt\n", name)
	return nil
}

func (k *campaignCommand) summarize(c *console, s *campaign.Summary, took time.Duration) {
	c.printf("%s: %d seeds, %d failed, %d broken; %v of virtual time in %v (%.0f times real time), %.1f seeds/s\n",
		s.Scenario, s.Seeds, s.Failed, s.Broken, s.Virtual.Round(time.Second), took.Round(time.Millisecond),
		s.Virtual.Seconds()/took.Seconds(), float64(s.Seeds)/took.Seconds())
	c.printf("  faults:")
	for _, class := range primitives.SortedKeys(s.Fired) {
		c.printf(" %s %d", class, s.Fired[class])
	}
	c.printf("\n")
	for _, class := range s.Silent() {
		c.printf("  SILENT: %s was allowed and never took effect\n", class)
	}
	for _, class := range primitives.SortedKeys(s.Classes) {
		c.printf("  failure class, %d seeds: %s\n", s.Classes[class], fault.Class(class))
	}
}
