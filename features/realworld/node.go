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
	// clusterPassword is the first user's in clusters of several nodes.
	clusterPassword = "correct horse"
)

// node is one plexusd child process and the directory it keeps.
type node struct {
	stage    *stage
	name     string
	dir      string
	settings harness.Settings

	process                         *process
	client, endpoint, observability string
	interconnect, advertised        string // where it listens for nodes, and what it tells them
	started, frozen                 bool
	stopped                         bool // the process was told to end, or killed
}

// Name implements harness.Node.
func (n *node) Name() string { return n.name }

// Running implements harness.Node.
func (n *node) Running() bool { return n.process != nil && n.process.running() }

func (n *node) dataDir() string { return filepath.Join(n.dir, "data") }

func (n *node) logFile() string { return filepath.Join(n.dir, "log") }

func (n *node) initialPassword() string {
	if n.stage.password != "" {
		return n.stage.password
	}
	text, err := os.ReadFile(filepath.Join(n.dataDir(), "initial-password"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// assign picks the ports of the node, and opens the ways to it.
func (n *node) assign() error {
	for _, address := range []*string{&n.client, &n.endpoint, &n.observability, &n.interconnect} {
		port, err := freePort()
		if err != nil {
			return err
		}
		*address = net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	}
	n.advertised = n.interconnect
	if n.stage.links == nil {
		return nil
	}
	number := ordinal(n.name)
	if err := writeHosts(n.hostsFile(), number, 0); err != nil {
		return err
	}
	if err := n.stage.links.shut(number); err != nil {
		return err
	}
	port, err := freePort()
	if err != nil {
		return err
	}
	n.advertised = net.JoinHostPort(memberName(number), strconv.Itoa(port))
	return n.stage.links.open(number, uint16(port), func() string { return n.interconnect })
}

func (n *node) hostsFile() string { return filepath.Join(n.dir, "hosts") }

// launch starts the node for the first time and waits until it is ready.
func (n *node) launch(ctx context.Context) error {
	if err := n.Start(ctx); err != nil {
		return err
	}
	return n.launched(ctx)
}

// launched waits until a node that was started for the first time is ready; a
// port that somebody took between picking and binding costs one attempt.
func (n *node) launched(ctx context.Context) error {
	for attempt := 1; ; attempt++ {
		err := n.Ready(ctx)
		if err == nil || attempt == startAttempts || !strings.Contains(n.Logs(), "address already in use") {
			return err
		}
		if err := n.assign(); err != nil {
			return err
		}
		if err := n.Start(ctx); err != nil {
			return err
		}
	}
}

// Start implements harness.Node: the same ports, the same directory.
func (n *node) Start(context.Context) error {
	own := harness.Settings{
		{Name: "data-dir", Value: n.dataDir()}, {Name: "node-id", Value: n.name}, {Name: "client-listen", Value: n.client},
		{Name: "http-listen", Value: n.endpoint}, {Name: "observability-listen", Value: n.observability},
	}
	own = append(own, n.clusterSettings()...)
	own = append(own, n.stage.authorities.settings(n.name)...)
	var args []string
	for _, setting := range own.Replaced(n.settings) {
		args = append(args, "--"+setting.Name+"="+setting.Value)
	}
	child, err := spawn(filepath.Join(n.stage.world.programs, "plexusd"), args, n.environment(), n.dir, n.logFile())
	if err != nil {
		return err
	}
	n.process, n.frozen, n.stopped = child, false, false
	n.started = true
	return nil
}

// clusterSettings say how the node finds the others. The first one founds the
// cluster, once.
func (n *node) clusterSettings() harness.Settings {
	s := harness.Settings{{Name: "interconnect-listen", Value: n.interconnect}}
	if n.stage.links != nil {
		s = append(s, harness.Setting{Name: "interconnect-advertise", Value: n.advertised},
			harness.Setting{Name: "interconnect-insecure", Value: "true"}, harness.Setting{Name: "dns-hosts", Value: n.hostsFile()})
	}
	if n == n.stage.nodes[0] && !n.started {
		return s
	}
	var seeds []string
	for _, other := range n.stage.nodes {
		if other != n {
			seeds = append(seeds, other.advertised)
		}
	}
	s = append(s, harness.Setting{Name: "bootstrap", Value: "never"})
	if len(seeds) > 0 {
		s = append(s, harness.Setting{Name: "join", Value: strings.Join(seeds, ",")})
	}
	return s
}

// environment holds the password of the first user, where the scenario chose it.
func (n *node) environment() []string {
	if n.stage.password == "" {
		return nil
	}
	return []string{"PLEXUS_INIT_PASSWORD=" + n.stage.password}
}

// Ready implements harness.Node.
func (n *node) Ready(ctx context.Context) error {
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

// Frozen implements harness.Node.
func (n *node) Frozen() bool { return n.frozen }

// Exited implements harness.Node.
func (n *node) Exited() (status int, ended bool) {
	if n.process == nil || n.process.running() || n.stopped {
		return 0, false
	}
	return n.process.status, true
}

// Wipe implements harness.Node.
func (n *node) Wipe(context.Context) error { return os.RemoveAll(n.dataDir()) }

// CopyStorage implements harness.Node.
func (n *node) CopyStorage(context.Context) error {
	if err := os.RemoveAll(n.dataDir() + ".copy"); err != nil {
		return err
	}
	return os.CopyFS(n.dataDir()+".copy", os.DirFS(n.dataDir()))
}

// PutStorageBack implements harness.Node.
func (n *node) PutStorageBack(ctx context.Context) error {
	if err := n.Wipe(ctx); err != nil {
		return err
	}
	return os.CopyFS(n.dataDir(), os.DirFS(n.dataDir()+".copy"))
}

// Kill implements harness.Node with SIGKILL.
func (n *node) Kill(context.Context) error {
	n.stopped = true
	if err := n.process.signal(syscall.SIGKILL); err != nil {
		return err
	}
	_, err := n.process.wait(requestWithin)
	return err
}

// Stop implements harness.Node with SIGTERM.
func (n *node) Stop(context.Context) (int, error) {
	n.stopped = true
	if err := n.process.signal(syscall.SIGTERM); err != nil {
		return 0, err
	}
	return n.process.wait(stopWithin)
}

// Freeze implements harness.Node with SIGSTOP.
func (n *node) Freeze(context.Context) error {
	n.frozen = true
	return n.process.signal(syscall.SIGSTOP)
}

// Thaw implements harness.Node with SIGCONT.
func (n *node) Thaw(context.Context) error {
	n.frozen = false
	return n.process.signal(syscall.SIGCONT)
}

// EndpointAddress implements harness.Node.
func (n *node) EndpointAddress() string { return n.endpoint }

// InterconnectAddress implements harness.Node.
func (n *node) InterconnectAddress() string { return n.interconnect }

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
