//go:build planted

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"plexus/primitives/planted"
	"plexus/sim/campaign"
	"plexus/sim/scenario"
)

type mutantCommands struct {
	Mutants mutantsCommand `cmd:"" help:"Score: does a campaign find every planted defect, shrink it and replay it?"`
}

type mutantsCommand struct {
	many
	Defect string        `default:"*" help:"Which defects, a shell pattern."`
	Seeds  int           `default:"2000" help:"How many seeds of each scenario to try for a defect."`
	Budget time.Duration `default:"25s" help:"Real time to spend on shrinking one failure."`
	Out    string        `default:"plexus-sim-mutants" type:"path" help:"Where replay files go."`
}

// catch is what became of one planted defect.
type catch struct {
	found    string // "" while it is missed
	seed     uint64
	what     string
	tried    int
	replay   *campaign.Replay
	from, to int
	took     time.Duration
	again    string
}

func (m *mutantsCommand) Run(c *console) error {
	list, worker, err := m.choose()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(m.Out, 0o755); err != nil {
		return err
	}
	table := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "defect\tfound by\tseed\tseeds tried\tplan shrunk\tin\treplayed in a fresh process\twhat was seen")
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
		found, err := m.hunt(string(defect), scenario.Suited(list, string(defect)), worker)
		if err != nil {
			return err
		}
		if found.found == "" {
			missed++
			fmt.Fprintf(table, "%s\tMISSED in %d seeds\n", defect, found.tried)
			continue
		}
		if found.replay != nil {
			if err := m.shrink(string(defect), &found); err != nil {
				return err
			}
		}
		if found.again != sameDigest {
			missed++
		}
		tried = append(tried, found.tried)
		fmt.Fprintf(table, "%s\t%s\t%d\t%d\t%d to %d\t%v\t%s\t%.90s\n", defect, found.found, found.seed, found.tried,
			found.from, found.to, found.took.Round(100*time.Millisecond), found.again, found.what)
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if slices.Sort(tried); len(tried) > 0 {
		c.printf("%d found, %d missed; seeds until found: median %d, most %d\n", len(tried), missed, tried[len(tried)/2], tried[len(tried)-1])
	}
	if missed > 0 {
		return status(exitViolated)
	}
	return nil
}

// hunt runs seeds until one shows the defect. The lowest of a round of workers
// counts only by chance, so the result says nothing but that it was found.
func (m *mutantsCommand) hunt(defect string, list []campaign.Scenario, worker []string) (catch, error) {
	var found catch
	for _, sc := range list {
		job := m.job(sc.Name, m.First, m.Seeds)
		job.Planted, job.Twice = defect, 1
		co := &campaign.Coordinator{Command: worker, Workers: runtime.NumCPU()}
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

const sameDigest = "same digest"

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
	began := time.Now()
	small, err := campaign.Shrink(sc, campaign.Execute(sc, spec, campaign.Watch{}), budget(m.Budget))
	if err != nil {
		return err
	}
	found.took, found.from, found.to = time.Since(began), small.From, len(*small.Result.Spec.Plan)
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
