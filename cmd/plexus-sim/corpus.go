package main

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"plexus/sim/campaign"
)

type corpusCommand struct {
	Run corpusRunCommand `cmd:"" help:"Run every file of the corpus: no defect may come back."`
	Add corpusAddCommand `cmd:"" help:"Add a replay file to the corpus."`
}

const corpusDir = "sim/corpus"

type corpusRunCommand struct {
	Dir   string `arg:"" optional:"" help:"The corpus; sim/corpus by default."`
	Seeds int    `default:"16" help:"How many derived seeds each plan also runs under."`
}

// Run replays every file. A defect of the product must stay away; the flaw of a
// flawed scenario must still be caught.
func (k *corpusRunCommand) Run(c *console) error {
	files, err := filepath.Glob(filepath.Join(cmp.Or(k.Dir, corpusDir), "*.plr"))
	if err != nil {
		return err
	}
	slices.Sort(files)
	worst := exitClean
	for _, file := range files {
		p, sc, spec, err := load(file)
		if err != nil {
			return err
		}
		result := again(sc, spec, k.Seeds)
		switch caught := result.Failure != nil; {
		case caught && sc.Flawed:
			c.printf("caught  %s: %s\n", filepath.Base(file), p.Note)
		case caught:
			c.printf("BACK    %s: %s\n%s", filepath.Base(file), p.Note, campaign.Report(sc, result))
			worst = exitViolated
		case sc.Flawed:
			c.printf("MISSED  %s: %s\n", filepath.Base(file), p.Note)
			worst = worse(worst, exitHarness)
		default:
			c.printf("clean   %s: %s\n", filepath.Base(file), p.Note)
		}
	}
	c.printf("%d files\n", len(files))
	if worst != exitClean {
		return status(worst)
	}
	return nil
}

// again runs a spec under its own seed and derived ones, until it fails: a change
// of the code shifts what a seed does.
func again(sc campaign.Scenario, spec campaign.Spec, seeds int) campaign.Result {
	result := campaign.Execute(sc, spec, campaign.Watch{})
	for i := 0; result.Failure == nil && i < seeds; i++ {
		derived := spec
		derived.Seed = spec.Seed + uint64(i+1)<<32
		result = campaign.Execute(sc, derived, campaign.Watch{})
	}
	return result
}

type corpusAddCommand struct {
	File string `arg:"" type:"existingfile" help:"The replay file, shrunk."`
	Name string `required:"" help:"A short name for the file in the corpus."`
	Note string `required:"" help:"One line: which defect it caught."`
	Dir  string `type:"path" default:"sim/corpus" help:"The corpus."`
}

func (a *corpusAddCommand) Run(c *console) error {
	p, _, _, err := load(a.File)
	if err != nil {
		return err
	}
	p.Note = a.Note
	data, err := p.Encode()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(a.Dir, 0o755); err != nil {
		return err
	}
	out := filepath.Join(a.Dir, a.Name+".plr")
	if _, err := os.Stat(out); err == nil {
		return fmt.Errorf("%w: %s exists", errUsage, out)
	}
	if err := os.WriteFile(out, data, 0o644); err != nil {
		return err
	}
	c.printf("%s\n", out)
	return nil
}
