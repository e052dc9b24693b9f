package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/alecthomas/kong"
	"golang.org/x/term"

	"plexus/engine/client"
	"plexus/primitives"
	"plexus/real"
)

// The exit statuses.
const (
	statusDone = iota
	statusFailed
	statusUsage
	statusNoConnection
	statusUnknown
	statusInterrupted
)

// options are the global flags and the commands.
type options struct {
	Server       []string      `env:"PLEXUS_SERVER" default:"http://127.0.0.1:47391" sep:"," placeholder:"URL" help:"Nodes to try, in order; http://127.0.0.1:47391 by default."`
	Domain       string        `env:"PLEXUS_DOMAIN" default:"default" help:"Domain that is selected at first."`
	Username     string        `env:"PLEXUS_USERNAME" default:"default" help:"User."`
	Password     string        `env:"PLEXUS_PASSWORD" help:"Password."`
	PasswordFile string        `placeholder:"FILE" help:"File that holds the password; without any, plexus-data/initial-password for a node on this machine."`
	Format       string        `enum:"text,json" default:"text" help:"Form of results: text or json."`
	Timeout      time.Duration `default:"120s" help:"Time for one statement."`

	Prompt     promptCommand     `cmd:"" default:"1" hidden:"" help:"Read statements from a prompt."`
	Exec       execCommand       `cmd:"" help:"Run statements, print their results and end."`
	Subscribe  subscribeCommand  `cmd:"" help:"Print the rows of a relay, one JSON object per line, until interrupted."`
	Check      checkCommand      `cmd:"" help:"Check scripts as far as that needs no node."`
	Fmt        fmtCommand        `cmd:"" help:"Write scripts in their canonical form; needs no node."`
	Suggest    suggestCommand    `cmd:"" help:"Print what can be written at a place of a text, as JSON."`
	Lsp        lspCommand        `cmd:"" help:"Serve an editor on standard input and output; needs no node."`
	Status     statusCommand     `cmd:"" help:"Show the cluster, its domains and what runs where."`
	Completion completionCommand `cmd:"" help:"Print a completion script for a shell."`
	Version    versionCommand    `cmd:"" help:"Print the version."`
}

// terminal is where the program reads and writes.
type terminal struct {
	in       *os.File
	out, err io.Writer
}

// interactive reports whether a person types the input.
func (t *terminal) interactive() bool { return term.IsTerminal(int(t.in.Fd())) }

// command is what each command of the grammar does; it returns the exit status.
type command interface {
	run(ctx context.Context, p *program) int
}

// program is one invocation.
type program struct {
	*terminal
	world   *real.World
	options *options
	kong    *kong.Kong
}

func main() {
	os.Exit(run(os.Args[1:], &terminal{in: os.Stdin, out: os.Stdout, err: os.Stderr}))
}

func run(args []string, t *terminal) int {
	o := &options{}
	exited := -1
	parser, err := kong.New(o, kong.Name("plexus"), kong.Description("Client of a Plexus node. Without a command it reads statements from a prompt."),
		kong.Writers(t.out, t.err), kong.Exit(func(status int) { exited = status }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}))
	if err != nil {
		fmt.Fprintln(t.err, "plexus:", err)
		return statusUsage
	}
	chosen, err := parser.Parse(args)
	if exited >= 0 { // --help
		return exited
	}
	if err != nil {
		fmt.Fprintf(t.err, "plexus: %v; try plexus --help\n", err)
		return statusUsage
	}
	world := real.NewWorld(real.Options{Log: slog.NewTextHandler(t.err, &slog.HandlerOptions{Level: slog.LevelWarn})})
	p := &program{terminal: t, world: world, options: o, kong: parser}
	selected, ok := chosen.Selected().Target.Addr().Interface().(command)
	if !ok {
		fmt.Fprintln(t.err, "plexus: no command")
		return statusUsage
	}
	return p.interruptible(selected)
}

// errInterrupted cancels everything when a signal asks the program to end.
var errInterrupted = errors.New("interrupted")

// interruptible runs the command under a context that the first signal cancels;
// the second one ends the program at once.
func (p *program) interruptible(c command) int {
	ctx, cancel := primitives.WithCancelCause(context.Background(), p.world)
	defer cancel(nil)
	asked, release := p.world.StopSignals()
	p.world.Tasks().Go("signals", func() {
		if asked.Wait(ctx) == nil {
			cancel(errInterrupted)
			release()
		}
	})
	return c.run(ctx, p)
}

// statusOf says what an error of a session means for the exit status, and prints
// it.
func (p *program) statusOf(ctx context.Context, err error) int {
	if errors.Is(context.Cause(ctx), errInterrupted) {
		fmt.Fprintln(p.err, "plexus: interrupted")
		return statusInterrupted
	}
	var unknown *client.UnknownError
	if errors.As(err, &unknown) {
		fmt.Fprintf(p.err, "plexus: %v\n", unknown)
		return statusUnknown
	}
	fmt.Fprintf(p.err, "plexus: %v\n", err)
	return statusNoConnection
}
