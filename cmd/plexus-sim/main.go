package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"

	"github.com/alecthomas/kong"

	"plexus/sim/campaign"
	"plexus/sim/scenario"
)

// Exit statuses.
const (
	exitClean            = 0
	exitViolated         = 1
	exitUsage            = 2
	exitNondeterministic = 3
	exitOtherBuild       = 4
	exitHarness          = 5
)

const about = `Runs simulated Plexus systems under faults. Everything follows from the seed: the
same command gives the same run, on every machine.

Exit status: 0 clean, 1 an invariant was violated, 2 usage, 3 not deterministic,
4 the replay file is of another build (with --strict), 5 the harness failed.`

type commands struct {
	List     listCommand     `cmd:"" help:"List scenarios, fault kinds, profiles and strategies."`
	Run      runCommand      `cmd:"" help:"Run one seed of a scenario."`
	Campaign campaignCommand `cmd:"" help:"Run many seeds in worker processes, shrink what fails."`
	Failover failoverCommand `cmd:"" help:"Measure how long failovers of a cluster take, in virtual time."`
	Replay   replayCommand   `cmd:"" help:"Run a replay file (.plr) again."`
	Shrink   shrinkCommand   `cmd:"" help:"Make the failure of a replay file smaller."`
	Check    checkCommand    `cmd:"" help:"Check that runs are deterministic."`
	Corpus   corpusCommand   `cmd:"" help:"Regression runs of confirmed failures."`
	Trace    traceCommand    `cmd:"" help:"Read a trace file (.plt)."`
	Diff     diffCommand     `cmd:"" help:"Find the first difference of two trace files."`
	Worker   workerCommand   `cmd:"" hidden:"" help:"Read jobs and answer outcomes, one JSON object a line."`
	mutantCommands
}

// status ends the program with an exit status after the output was written.
type status int

func (s status) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// console is where a command writes.
type console struct {
	out, err io.Writer
}

func (c *console) printf(format string, args ...any) {
	_, _ = fmt.Fprintf(c.out, format, args...) // a closed terminal ends nothing
}

func main() {
	if os.Getenv("GOGC") == "" {
		// A simulated system allocates much and keeps little.
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

const gcPercent = 800

// run is the program without its process.
func run(args []string, out, errOut io.Writer) int {
	c := &console{out, errOut}
	fail := func(code int, err error) int {
		_, _ = fmt.Fprintf(errOut, "plexus-sim: %v\n", err)
		return code
	}
	exited := -1
	var cli commands
	parser, err := kong.New(&cli, kong.Name("plexus-sim"), kong.Description(about), kong.UsageOnError(),
		kong.Writers(out, errOut), kong.Exit(func(code int) { exited = code }), kong.Bind(c))
	if err != nil {
		return fail(exitHarness, err)
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	if exited >= 0 {
		return exited
	}
	if err != nil {
		return fail(exitUsage, err)
	}
	err = ctx.Run()
	var s status
	switch {
	case err == nil:
		return exitClean
	case errors.As(err, &s):
		return int(s)
	case errors.Is(err, campaign.ErrScenario), errors.Is(err, campaign.ErrFlawed), errors.Is(err, campaign.ErrReplayFile), errors.Is(err, errUsage):
		return fail(exitUsage, err)
	}
	return fail(exitHarness, err)
}

// errUsage marks mistakes of the caller.
var errUsage = errors.New("usage")

func scenarios() []campaign.Scenario { return scenario.All() }
