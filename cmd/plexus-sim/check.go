package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"plexus/sim/campaign"
	"plexus/sim/trace"
)

type checkCommand struct {
	many
	Seeds int      `default:"50" help:"How many seeds of each."`
	Fresh bool     `help:"Also in fresh processes with other GOMAXPROCS and GOGC."`
	Arch  []string `help:"Also built for these architectures (386); needs the Go toolchain and the sources."`
}

func (k *checkCommand) Run(c *console) error {
	list, worker, err := k.choose()
	if err != nil {
		return err
	}
	ways := []campaign.Way{{Name: "in this process again"}}
	if k.Fresh {
		ways = append(ways, campaign.FreshWays(worker)...)
	}
	dir, err := os.MkdirTemp("", "plexus-sim-check")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, arch := range k.Arch {
		path, err := buildFor(dir, arch)
		if err != nil {
			return err
		}
		ways = append(ways, campaign.Way{Name: "built for " + arch, Command: []string{path, "worker"}})
	}
	bad := 0
	for _, sc := range list {
		job := k.job(sc.Name, k.First, k.Seeds)
		mismatches, err := campaign.Check(sc, job, ways, func(string, uint64) {})
		if err != nil {
			return err
		}
		bad += len(mismatches)
		c.printf("%s: %d seeds, %d ways, %d differences\n", sc.Name, k.Seeds, len(ways), len(mismatches))
		for _, m := range mismatches {
			c.printf("  %s\n", m)
		}
		if len(mismatches) > 0 {
			if err := k.firstDifference(c, sc, job, mismatches[0], dir); err != nil {
				return err
			}
		}
	}
	if bad > 0 {
		return status(exitNondeterministic)
	}
	return nil
}

// buildFor builds this program for another architecture of this system.
func buildFor(dir, arch string) (string, error) {
	path := filepath.Join(dir, "plexus-sim-"+arch)
	cmd := exec.Command("go", "build", "-o", path, "plexus/cmd/plexus-sim")
	cmd.Env = append(os.Environ(), "GOARCH="+arch, "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build for %s: %w\n%s", arch, err, out)
	}
	return path, nil
}

// firstDifference traces both runs and prints where they part.
func (k *checkCommand) firstDifference(c *console, sc campaign.Scenario, job campaign.Job, m campaign.Mismatch, dir string) error {
	spec, err := job.Spec(m.Seed)
	if err != nil {
		return err
	}
	here, there := filepath.Join(dir, "here.plt"), filepath.Join(dir, "there.plt")
	if _, err := execute(c, sc, spec, observing{trace: here}); err != nil {
		return err
	}
	if len(m.Command) == 0 {
		_, err = execute(c, sc, spec, observing{trace: there})
	} else {
		args := append(campaign.Arguments(spec), "--trace", there)
		cmd := exec.Command(m.Command[0], args...)
		cmd.Env = slices.Concat(os.Environ(), m.Env)
		if out, failed := cmd.CombinedOutput(); failed != nil && cmd.ProcessState.ExitCode() != exitViolated {
			err = fmt.Errorf("trace %s: %w\n%s", m.Way, failed, out)
		}
	}
	if err != nil {
		return err
	}
	return diffFiles(c, here, there)
}

func diffFiles(c *console, a, b string) error {
	readers := [2]*trace.Reader{}
	for i, path := range []string{a, b} {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		if readers[i], err = trace.NewReader(f); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	d, err := trace.Diff(readers[0], readers[1])
	if err != nil {
		return err
	}
	if d == nil {
		c.printf("no difference\n")
		return nil
	}
	c.printf("%s", d)
	return status(exitNondeterministic)
}
