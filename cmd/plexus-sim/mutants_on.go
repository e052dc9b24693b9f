//go:build planted

package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"plexus/primitives/planted"
	"plexus/sim/campaign"
	"plexus/sim/scenario"
)

type mutantCommands struct {
	Mutants mutantsCommand `cmd:"" help:"Score: does a campaign find every planted defect, shrink it and replay it?"`
}

type mutantsCommand struct {
	Defect   string `default:"*" help:"Which defects, a shell pattern."`
	Scenario string `help:"In which scenarios, a shell pattern; those that suit the defect by default."`
	First    uint64 `help:"The first seed."`
	Seeds    int    `default:"2000" help:"How many seeds to try for a defect."`
	shape
	Workers int           `help:"Worker processes; one for each processor by default."`
	Budget  time.Duration `default:"10s" help:"Real time to spend on shrinking one failure."`
	Out     string        `default:"plexus-sim-mutants" type:"path" help:"Where replay files go."`
}

// catch is what became of one planted defect.
type catch struct {
	found    string // "" while it is missed
	seed     uint64
	what     string
	tried    int
	replay   *campaign.Replay
	from, to int
	again    string
}

// mutantsRow are the columns of the table. It is printed as it grows, because a
// campaign takes its time.
const mutantsRow = "%-26s %-21s %6v %6v  %-11s %-13s %.110s\n"

func (m *mutantsCommand) Run(c *console) error {
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find this program: %w", err)
	}
	if err := os.MkdirAll(m.Out, 0o755); err != nil {
		return err
	}
	c.printf(mutantsRow, "defect", "found by", "seed", "tried", "plan shrunk", "replayed", "what was seen")
	missed := 0
	var tried []int
	for _, defect := range planted.Defects() {
		chosen, err := path.Match(m.Defect, string(defect))
		if err != nil {
			return fmt.Errorf("%w: %q: %w", errUsage, m.Defect, err)
		}
		if !chosen {
			continue
		}
		list := scenario.Suited(scenarios(), string(defect))
		if m.Scenario != "" {
			if list, err = campaign.Match(scenarios(), m.Scenario); err != nil {
				return err
			}
		}
		found, err := m.hunt(string(defect), list, []string{self, "worker"})
		if err != nil {
			return err
		}
		if found.found == "" {
			missed++
			c.printf(mutantsRow, defect, "MISSED", "", found.tried, "", "", "")
			continue
		}
		if found.replay != nil {
			if err := m.shrink(string(defect), &found); err != nil {
				return err
			}
			if found.again != sameDigest {
				missed++
			}
		}
		tried = append(tried, found.tried)
		c.printf(mutantsRow, defect, found.found, found.seed, found.tried, found.plan(), found.again, found.what)
	}
	if slices.Sort(tried); len(tried) > 0 {
		c.printf("%d found, %d missed; seeds until found: median %d, most %d\n", len(tried), missed, tried[len(tried)/2], tried[len(tried)-1])
	}
	if missed > 0 {
		return status(exitViolated)
	}
	return nil
}

// plan says how small the plan of faults became.
func (c catch) plan() string {
	if c.replay == nil {
		return ""
	}
	return fmt.Sprintf("%d to %d", c.from, c.to)
}

// hunt runs seeds until one shows the defect. The lowest of a round of workers
// counts only by chance, so the result says nothing but that it was found.
func (m *mutantsCommand) hunt(defect string, list []campaign.Scenario, worker []string) (catch, error) {
	var found catch
	for _, sc := range list {
		job := m.job(sc.Name, m.First, m.Seeds-found.tried)
		job.Planted, job.Twice = defect, mutantsTwice
		co := &campaign.Coordinator{Command: worker, Workers: cmp.Or(m.Workers, runtime.NumCPU())}
		var broken error
		err := co.Run(job, func(o campaign.Outcome) bool {
			found.tried++
			switch {
			case o.Broken != "":
				broken = fmt.Errorf("%s with %s: seed %d: %s", sc.Name, defect, o.Seed, o.Broken)
			case o.Failure != nil:
				found.found, found.seed, found.what, found.replay = sc.Name, o.Seed, o.Failure.Error(), o.Replay
			case o.Differs():
				found.found, found.seed, found.what = sc.Name, o.Seed, "two runs of one seed differ"
			}
			return broken == nil && found.found == ""
		})
		if err == nil {
			err = broken
		}
		if err != nil || found.found != "" {
			return found, err
		}
	}
	return found, nil
}

const (
	sameDigest = "same digest"
	// mutantsTwice is how many seeds share one that is run twice and compared: the
	// only sign of what differs between two runs of a seed.
	mutantsTwice = 5
)

// shrink makes the failure small, writes its replay file, and runs that in a
// fresh process.
func (m *mutantsCommand) shrink(defect string, found *catch) error {
	if err := campaign.SwitchPlanted(defect); err != nil {
		return err
	}
	defer campaign.SwitchPlanted("")
	sc, err := campaign.Find(scenarios(), found.found)
	if err != nil {
		return err
	}
	spec, err := found.replay.Spec()
	if err != nil {
		return err
	}
	small, err := campaign.Shrink(sc, campaign.Execute(sc, spec, campaign.Watch{}), budget(m.Budget))
	if err != nil {
		return err
	}
	found.from, found.to = small.From, len(*small.Result.Spec.Plan)
	p := campaign.NewReplay(small.Result)
	p.Planted = defect
	p.Note = "shows the planted defect " + defect
	text, err := p.Encode()
	if err != nil {
		return err
	}
	file := filepath.Join(m.Out, defect+".plr")
	if err := os.WriteFile(file, text, 0o644); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	// It exits with the status of a violation, which is what is wanted.
	out, _ := exec.Command(self, "replay", file).CombinedOutput()
	found.again = "ANOTHER RUN"
	if strings.Contains(string(out), fmt.Sprintf(sameRun, p.Expected.Digest)) && strings.Contains(string(out), p.Expected.Class) {
		found.again = sameDigest
	}
	return nil
}
