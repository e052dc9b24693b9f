package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"plexus/engine/node"
	"plexus/engine/node/config"
	"plexus/engine/session"
	"plexus/nspl/datetime"
	"plexus/primitives/dns"
	"plexus/real"
	realhttp "plexus/real/http"
)

const (
	statusStopped = iota
	statusFailed
	statusUsage
)

// forcedAfter is how long a stop may exceed its own deadline before the process
// is ended from outside it.
const forcedAfter = 5 * time.Second

const usageText = `Usage: plexusd [flags]           run a node until SIGINT or SIGTERM
       plexusd config [flags]    print every setting and where it comes from
       plexusd tls ...           make certificates for a private cluster
       plexusd version           print the version

A flag --name may also be set as PLEXUS_NAME or as a line "name = value" of the
file that --config names. The flag wins, then the variable, then the file.

  --config FILE                settings, one "name = value" a line, # comments
`

func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

func run(args []string, out, problems io.Writer) int {
	verb := ""
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		verb, args = args[0], args[1:]
	}
	switch {
	case verb == "version":
		fmt.Fprintf(out, "plexusd %s (tzdata %s)\n", version(), datetime.Release)
		return statusStopped
	case verb == "tls":
		return tlsFiles(args, out, problems)
	case len(args) == 1 && (args[0] == "--help" || args[0] == "-h"):
		fmt.Fprint(out, usageText, config.Help())
		return statusStopped
	case verb != "" && verb != "config":
		return usage(problems, fmt.Errorf("no command %q", verb))
	}
	c, values, err := config.Load(config.Inputs{Args: args, Env: os.LookupEnv, ReadFile: os.ReadFile})
	if err == nil && c.InitPasswordFile != "" {
		err = readPassword(c.InitPasswordFile, &c.Node)
	}
	if err != nil {
		return usage(problems, err)
	}
	for _, name := range config.Strangers(os.Environ()) {
		fmt.Fprintf(problems, "plexusd: %s is no setting and has no effect\n", name)
	}
	if verb == "config" {
		for _, v := range values {
			fmt.Fprintf(out, "%s = %s  # %s\n", v.Name, v.Text, v.Origin)
		}
		return statusStopped
	}
	return serve(c, out, problems)
}

func usage(problems io.Writer, err error) int {
	fmt.Fprintf(problems, "plexusd: %v; try plexusd --help\n", err)
	return statusUsage
}

// readPassword takes the password of the first user from a file.
func readPassword(file string, s *node.Settings) error {
	text, err := os.ReadFile(file)
	if err == nil {
		err = s.SetInitialPassword(strings.TrimSpace(string(text)))
	}
	if err != nil {
		return &config.UsageError{Place: "--init-password-file", Err: err}
	}
	return nil
}

// serve runs the node until it is asked to stop.
func serve(c *config.Config, out, problems io.Writer) int {
	panicked := func(task string, cause any, stack []byte) {
		fmt.Fprintf(problems, "plexusd: the task %q broke down: %v\n\n%s", task, cause, stack)
		os.Exit(statusFailed)
	}
	defer func() {
		if cause := recover(); cause != nil {
			panicked("plexusd", cause, debug.Stack())
		}
	}()
	w := real.NewWorld(real.Options{Log: logHandler(c, problems), Panicked: panicked})
	// Before any other work, so that an early signal is not lost.
	asked, release := w.StopSignals()
	ctx := context.Background()
	n, err := start(ctx, w, c)
	if unusable := (*config.UsageError)(nil); errors.As(err, &unusable) {
		return usage(problems, err)
	}
	if err != nil {
		fmt.Fprintf(problems, "plexusd: cannot start: %v\n", err)
		return statusFailed
	}
	announce(out, c, n)
	ended := n.Wait(ctx, asked.OnRaise())
	release()
	status := statusStopped
	if ended != nil {
		w.Log().Error("the node ended by itself", "reason", ended)
		defer fmt.Fprintf(problems, "plexusd: %v\n", ended)
		status = statusFailed
	}
	w.Clock().At(w.Clock().Now().Add(c.Node.ShutdownTimeout+forcedAfter), func() {
		fmt.Fprintln(problems, "plexusd: the stop did not end in time; forced")
		os.Exit(statusFailed)
	})
	forced, err := n.Stop(ctx)
	if err != nil {
		w.Log().Error("stop", "error", err)
	}
	if forced || err != nil {
		status = statusFailed
	}
	return status
}

// start builds the node on this machine: real drivers, real listeners.
func start(ctx context.Context, w *real.World, c *config.Config) (*node.Node, error) {
	resolver := dns.Options{ConfigFile: c.DNSConfig, HostsFile: c.DNSHosts, Servers: c.DNSServers}
	if err := w.LoadResolver(ctx, resolver); err != nil {
		return nil, &config.UsageError{Place: resolverPlace(c, err), Err: err}
	}
	c.Node.Parallelism = runtime.GOMAXPROCS(0)
	n := node.New(w, c.Node, connectors(w), listeners(w, c), node.Options{Version: version()})
	if err := n.Start(ctx); err != nil {
		return nil, err
	}
	return n, nil
}

// resolverPlace names the setting that an unusable configuration of name resolution
// comes from.
func resolverPlace(c *config.Config, err error) string {
	if file := (*fs.PathError)(nil); errors.As(err, &file) && file.Path == c.DNSHosts {
		return "--dns-hosts"
	}
	return "--dns-config"
}

func listeners(w *real.World, c *config.Config) node.Listeners {
	l := node.Listeners{ClientURL: c.ClientURL()}
	if c.ClientListen.IsValid() {
		l.Sessions = func(s *session.Service) node.Server { return realhttp.NewSessionServer(w, c.ClientListen, s) }
	}
	if c.HTTPListen.IsValid() {
		l.Endpoints = realhttp.NewEndpointServer(w, c.HTTPListen)
	}
	if c.ObservabilityListen.IsValid() {
		l.Observability = func(n *node.Node) node.Server {
			return realhttp.NewObservabilityServer(w, c.ObservabilityListen, n)
		}
	}
	return l
}

// announce prints one line per listener, and where the first password is.
func announce(out io.Writer, c *config.Config, n *node.Node) {
	fmt.Fprintf(out, "data directory   %s\n", c.Node.Control.Dir)
	if c.ClientListen.IsValid() {
		fmt.Fprintf(out, "clients          http://%s\n", n.SessionAddr())
	}
	if c.HTTPListen.IsValid() {
		fmt.Fprintf(out, "HTTP endpoints   http://%s\n", n.EndpointAddr())
	}
	if c.ObservabilityListen.IsValid() {
		fmt.Fprintf(out, "health, metrics  http://%s\n", n.ObservabilityAddr())
	}
	if path := n.InitialPasswordPath(); path != "" {
		fmt.Fprintf(out, "first password   of user default: %s\n", path)
	}
}

func logHandler(c *config.Config, out io.Writer) slog.Handler {
	options := &slog.HandlerOptions{Level: c.LogLevel}
	if c.LogFormat == config.LogJSON {
		return slog.NewJSONHandler(out, options)
	}
	return slog.NewTextHandler(out, options)
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
