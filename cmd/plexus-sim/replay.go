package main

import (
	"fmt"
	"os"
	"strings"
	"time"

	"plexus/sim/campaign"
)

type replayCommand struct {
	File    string `arg:"" type:"existingfile" help:"The replay file."`
	Seeds   int    `help:"Also run the plan under this many derived seeds: code changes shift what a seed does."`
	Strict  bool   `help:"Fail when the file is of another build."`
	Trace   string `type:"path" help:"Write a trace file (.plt)."`
	Logs    bool   `help:"Print the log of every node."`
	BreakAt uint64 `help:"Stop in the attached debugger at this event."`
}

// load reads a replay file and finds its scenario.
func load(path string) (campaign.Replay, campaign.Scenario, campaign.Spec, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return campaign.Replay{}, campaign.Scenario{}, campaign.Spec{}, err
	}
	p, err := campaign.DecodeReplay(data)
	if err != nil {
		return p, campaign.Scenario{}, campaign.Spec{}, fmt.Errorf("%s: %w", path, err)
	}
	spec, err := p.Spec()
	spec.File = path
	if err == nil && p.Planted != "" {
		err = campaign.SwitchPlanted(p.Planted)
	}
	if err != nil {
		return p, campaign.Scenario{}, spec, fmt.Errorf("%s: %w", path, err)
	}
	sc, err := campaign.Find(scenarios(), p.Scenario)
	return p, sc, spec, err
}

// sameRun tells that a replay came to the digest of its file.
const sameRun = "note: the run is the file's, event for event: digest %s\n"

func (r *replayCommand) Run(c *console) error {
	p, sc, spec, err := load(r.File)
	if err != nil {
		return err
	}
	if p.Build != campaign.Build() {
		c.printf("note: the file is of build %s, this is %s\n", p.Build, campaign.Build())
		if r.Strict {
			return status(exitOtherBuild)
		}
	}
	if p.Planted != "" {
		c.printf("note: with the planted defect %s\n", p.Planted)
	} else if p.Note != "" {
		c.printf("note: %s\n", p.Note)
	}
	result, err := execute(c, sc, spec, observing{r.Trace, r.Logs, false, r.BreakAt})
	if err != nil {
		return err
	}
	if digest := fmt.Sprintf("%016x", result.Digest); digest == p.Expected.Digest {
		c.printf(sameRun, digest)
	} else {
		c.printf("note: the run is another one than the file's: digest %s, not %s\n", digest, p.Expected.Digest)
	}
	if result.Failure == nil && r.Seeds > 0 {
		result = again(sc, spec, r.Seeds)
	}
	switch {
	case result.Failure == nil && p.Expected.Class != "":
		c.printf("stale: %s no longer happens: %s\n", r.File, p.Expected.Message)
		return nil
	case result.Failure != nil && result.Failure.Class() != p.Expected.Class:
		c.printf("another failure than the file expects (%q)\n", p.Expected.Class)
	}
	return conclude(c, sc, result)
}

type shrinkCommand struct {
	File   string        `arg:"" type:"existingfile" help:"The replay file."`
	Budget time.Duration `default:"60s" help:"Real time to spend."`
	Out    string        `type:"path" help:"The file to write; FILE.min.plr by default."`
}

func (s *shrinkCommand) Run(c *console) error {
	p, sc, spec, err := load(s.File)
	if err != nil {
		return err
	}
	failed := campaign.Execute(sc, spec, campaign.Watch{})
	if failed.Failure == nil {
		return campaign.ErrNotReproduced
	}
	small, err := campaign.Shrink(sc, failed, budget(s.Budget))
	if err != nil {
		return err
	}
	out := s.Out
	if out == "" {
		out = strings.TrimSuffix(s.File, ".plr") + ".min.plr"
	}
	if err := save(out, small.Result, p.Planted); err != nil {
		return err
	}
	c.printf("%d entries became %d in %d runs: %s\n%s", small.From, len(*small.Result.Spec.Plan), small.Runs, out, small.Result.Spec.Plan)
	return nil
}

// budget says when the real time is spent.
func budget(d time.Duration) func() bool {
	end := time.Now().Add(d)
	return func() bool { return time.Now().After(end) }
}
