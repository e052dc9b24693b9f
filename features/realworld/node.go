package realworld

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"plexus/features/harness"
)

const (
	startWithin   = 28 * time.Second // per attempt
	startAttempts = 3
	stopWithin    = 80 * time.Second // the daemon's own shutdown bound and 30 s
	requestWithin = 10 * time.Second
)

// node is one plexusd child process and the directory it keeps.
type node struct {
	stage    *stage
	name     string
	dir      string
	settings harness.Settings

	process                         *process
	client, endpoint, observability string
}

// Name implements harness.Node.
func (n *node) Name() string { return n.name }

// Running implements harness.Node.
func (n *node) Running() bool { return n.process != nil && n.process.running() }

func (n *node) dataDir() string { return filepath.Join(n.dir, "data") }

func (n *node) logFile() string { return filepath.Join(n.dir, "log") }

func (n *node) initialPassword() string {
	text, err := os.ReadFile(filepath.Join(n.dataDir(), "initial-password"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// start picks ports and starts the process; a port that somebody took between
// picking and binding costs one attempt.
func (n *node) start(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		for _, address := range []*string{&n.client, &n.endpoint, &n.observability} {
			port, err := freePort()
			if err != nil {
				return err
			}
			*address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
		}
		err := n.run(ctx)
		if err == nil || attempt == startAttempts || !strings.Contains(n.Logs(), "address already in use") {
			return err
		}
	}
}

// run starts the process on the ports it has and waits until it is ready.
func (n *node) run(ctx context.Context) error {
	args := []string{
		"--data-dir", n.dataDir(), "--client-listen", n.client,
		"--http-listen", n.endpoint, "--observability-listen", n.observability,
	}
	for _, setting := range n.settings {
		args = append(args, "--"+setting.Name, setting.Value)
	}
	child, err := spawn(filepath.Join(n.stage.world.programs, "plexusd"), args, nil, n.dir, n.logFile())
	if err != nil {
		return err
	}
	n.process = child
	return n.ready(ctx)
}

func (n *node) ready(ctx context.Context) error {
	last := "no answer"
	for deadline := time.Now().Add(startWithin); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if !n.process.running() {
			return fmt.Errorf("%s exited with status %d while starting:\n%s", n.name, n.process.status, n.Logs())
		}
		r, err := harness.Exchange(ctx, n.stage.real, n.observability, harness.Request{Method: "GET", Host: n.observability, Path: "/readyz"})
		switch {
		case err != nil:
			last = err.Error()
		case r.Status == 200:
			return nil
		default:
			last = r.Body
		}
	}
	return fmt.Errorf("%s is not ready after %s: %s\n%s", n.name, startWithin, last, n.Logs())
}

// Kill implements harness.Node with SIGKILL.
func (n *node) Kill(context.Context) error {
	if err := n.process.signal(syscall.SIGKILL); err != nil {
		return err
	}
	_, err := n.process.wait(requestWithin)
	return err
}

// Stop implements harness.Node with SIGTERM.
func (n *node) Stop(context.Context) (int, error) {
	if err := n.process.signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	return n.process.wait(stopWithin)
}

// Freeze implements harness.Node with SIGSTOP.
func (n *node) Freeze(context.Context) error { return n.process.signal(syscall.SIGSTOP) }

// Thaw implements harness.Node with SIGCONT.
func (n *node) Thaw(context.Context) error { return n.process.signal(syscall.SIGCONT) }

// Restart implements harness.Node: the same ports, the same directory.
func (n *node) Restart(ctx context.Context) error { return n.run(ctx) }

// EndpointAddress implements harness.Node.
func (n *node) EndpointAddress() string { return n.endpoint }

// ObservabilityAddress implements harness.Node.
func (n *node) ObservabilityAddress() string { return n.observability }

// Metrics implements harness.Node.
func (n *node) Metrics(ctx context.Context) (harness.Metrics, error) {
	r, err := harness.Exchange(ctx, n.stage.real, n.observability, harness.Request{Method: "GET", Host: n.observability, Path: "/metrics"})
	if err != nil {
		return nil, err
	}
	if r.Status != 200 {
		return nil, fmt.Errorf("metrics of %s: status %d", n.name, r.Status)
	}
	return harness.ParseMetrics(r.Body)
}

// Logs implements harness.Node.
func (n *node) Logs() string {
	text, err := os.ReadFile(n.logFile())
	if err != nil {
		return err.Error()
	}
	return string(text)
}

var _ harness.Node = (*node)(nil)
