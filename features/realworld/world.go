package realworld

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"plexus/features/harness"
	"plexus/primitives/dns"
	"plexus/real"
)

// World runs scenarios against child processes.
type World struct {
	name      string
	scratch   string
	providers map[string]Provider
	servers   servers

	build    sync.Once
	programs string
	buildErr error
}

// New returns a world whose external systems come from the providers the
// function makes, given a scratch directory.
func New(name string, providers func(scratch string) map[string]Provider) (*World, error) {
	scratch, err := os.MkdirTemp("", "plexus-"+name+"-")
	if err != nil {
		return nil, err
	}
	w := &World{name: name, scratch: scratch}
	w.providers = providers(scratch)
	w.servers.providers = w.providers
	return w, nil
}

// Name implements harness.World.
func (w *World) Name() string { return w.name }

// Missing implements harness.World.
func (w *World) Missing(kind string) string {
	if kind == "http" {
		return ""
	}
	provider, ok := w.providers[kind]
	if !ok {
		return "this world has no provider for it"
	}
	return provider.Missing()
}

// Lacks implements harness.World.
func (w *World) Lacks(tag string) string {
	switch tag {
	case "seeds", "sim":
		return "only a simulated world has schedules to choose"
	}
	fault, ok := strings.CutPrefix(tag, "fault:")
	if !ok {
		return ""
	}
	switch fault {
	case "link", "link_slow", "link_break", "link_name":
		return linksMissing()
	case "kill", "freeze", "wipe", "torn_log", "refuse", "hang", "answer_loss", "cut", "refuse_some", "reject_some":
		return ""
	default:
		return fmt.Sprintf("a real machine does not do %s on request", fault)
	}
}

// Open implements harness.World.
func (w *World) Open(s harness.Scenario) (harness.Stage, error) {
	if err := w.buildPrograms(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(w.scratch, s.ID+"-")
	if err != nil {
		return nil, err
	}
	machine := real.NewWorld(real.Options{Log: slog.NewTextHandler(io.Discard, nil)})
	if err := machine.LoadResolver(context.Background(), dns.Options{ConfigFile: "/etc/resolv.conf", HostsFile: "/etc/hosts"}); err != nil {
		return nil, err
	}
	return &stage{world: w, scenario: s, dir: dir, real: machine, systems: map[string]closer{}}, nil
}

// Close ends the external systems and removes the scratch directory.
func (w *World) Close() error {
	return errors.Join(w.servers.close(), os.RemoveAll(w.scratch))
}

// buildPrograms builds the product's programs once per run.
func (w *World) buildPrograms() error {
	w.build.Do(func() {
		w.programs = filepath.Join(w.scratch, "bin")
		cmd := exec.Command("go", "build", "-o", w.programs+string(filepath.Separator), "plexus/cmd/plexusd", "plexus/cmd/plexus")
		if out, err := cmd.CombinedOutput(); err != nil {
			w.buildErr = fmt.Errorf("building the programs: %w\n%s", err, out)
		}
	})
	return w.buildErr
}

var _ harness.World = (*World)(nil)
