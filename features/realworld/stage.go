package realworld

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"plexus/features/harness"
	"plexus/primitives"
	"plexus/real"
	"plexus/real/http/sessionclient"
)

var loopback = netip.AddrFrom4([4]byte{127, 0, 0, 1})

// repository is the root of the source tree: tests run in features/.
var repository, _ = filepath.Abs("..")

const (
	patience      = 30 * time.Second
	poll          = 50 * time.Millisecond
	passMax       = 5 * time.Second
	stepWithin    = 10 * time.Minute
	commandWithin = time.Minute
	joinWithin    = 10 * time.Second
	// unavailableAfter spares most of the time that scenarios wait for the loss of a
	// node. The default is what the simulated world runs with.
	unavailableAfter = "4s"
)

// closer is a system a stage ends with itself.
type closer interface {
	harness.System
	close() error
	healAll() error
}

// stage is one scenario's set of processes and systems.
type stage struct {
	world    *World
	scenario harness.Scenario
	dir      string
	real     *real.World
	settings harness.Settings // of the cluster
	nodes    []*node
	password string // of the first user; "" where the first node draws it
	links    *links // nil where no scenario hurts them
	// authorities are nil where nodes speak in plain.
	authorities *authorities
	systems     map[string]closer
}

// Do implements harness.Stage: a step runs right here.
func (s *stage) Do(_ string, body func(ctx context.Context) error) error {
	ctx, cancel := primitives.WithDeadline(context.Background(), s.real, s.real.Clock().Now().Add(stepWithin))
	defer cancel()
	return body(ctx)
}

// World implements harness.Stage.
func (s *stage) World() primitives.World { return s.real }

// Limits implements harness.Stage.
func (s *stage) Limits() harness.Limits {
	return harness.Limits{Patience: patience, Poll: poll, PassMax: passMax}
}

// StartCluster implements harness.Stage.
func (s *stage) StartCluster(ctx context.Context, nodes int, settings harness.Settings) error {
	if nodes > 1 {
		own := harness.Settings{{Name: "node-unavailability-timeout", Value: unavailableAfter}}
		if !s.scenario.Tagged("scheduler") {
			own = append(own, harness.Setting{Name: "scheduler", Value: "random"})
		}
		settings = own.Replaced(settings)
	}
	s.settings = settings
	if nodes > 1 {
		s.password = clusterPassword
	}
	if s.scenario.Tagged("fault:link") {
		s.links = newLinks(s.real)
	}
	if s.scenario.Tagged("tls") {
		var err error
		if s.authorities, err = newAuthorities(s.dir); err != nil {
			return err
		}
	}
	for i := range nodes {
		n, err := s.add(fmt.Sprintf("node-%d", i+1), settings)
		if err == nil && s.authorities != nil {
			err = s.Certify(n.name, harness.Certificate{})
		}
		if err != nil {
			return err
		}
		if i == 0 {
			err = n.launch(ctx)
		} else {
			err = n.Start(ctx)
		}
		if err != nil {
			return err
		}
	}
	for _, n := range s.nodes[1:] {
		if err := n.launched(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Join implements harness.Stage.
func (s *stage) Join(ctx context.Context, name string, settings harness.Settings) (harness.Node, error) {
	n, err := s.add(name, append(slices.Clip(s.settings), settings...))
	if err != nil {
		return nil, err
	}
	return n, n.Start(ctx)
}

// add gives a node its directory and its ports.
func (s *stage) add(name string, settings harness.Settings) (*node, error) {
	n := &node{stage: s, name: name, settings: settings, dir: filepath.Join(s.dir, name)}
	if err := os.MkdirAll(n.dir, 0o700); err != nil {
		return nil, err
	}
	s.nodes = append(s.nodes, n)
	return n, n.assign()
}

// Nodes implements harness.Stage.
func (s *stage) Nodes() []harness.Node {
	nodes := make([]harness.Node, len(s.nodes))
	for i, n := range s.nodes {
		nodes[i] = n
	}
	return nodes
}

// Credentials implements harness.Stage: the user every cluster starts with.
func (s *stage) Credentials() harness.Credentials {
	c := harness.Credentials{User: "default"}
	if len(s.nodes) > 0 {
		c.Password = s.nodes[0].initialPassword()
	}
	return c
}

// Client implements harness.Stage.
func (s *stage) Client(ctx context.Context, c harness.Credentials, nodes []harness.Node, domain string) (harness.Session, error) {
	var servers []string
	for _, n := range nodes {
		servers = append(servers, "http://"+n.(*node).client)
	}
	return harness.OpenSession(ctx, s.real, sessionclient.New(s.real, c.User, c.Password), servers, domain)
}

// System implements harness.Stage.
func (s *stage) System(_ context.Context, kind string) (harness.System, error) {
	if system, ok := s.systems[kind]; ok {
		return system, nil
	}
	system, err := s.open(kind)
	if err != nil {
		return nil, err
	}
	s.systems[kind] = system
	return system, nil
}

func (s *stage) open(kind string) (closer, error) {
	if kind == "http" {
		receiver, err := harness.NewReceiver(s.real, netip.AddrPortFrom(loopback, 0))
		return receiverSystem{receiver}, err
	}
	address, err := s.world.servers.address(kind)
	if err != nil {
		return nil, err
	}
	target, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	relays := func(answers func([]byte) bool) *harness.Relays {
		return harness.NewRelays(s.real, loopback, target, answers)
	}
	switch kind {
	case "nats":
		return newNATS(address, relays(natsAnswers))
	case "redis":
		return newRedis(address, relays(redisAnswers)), nil
	}
	return nil, fmt.Errorf("no verbs for %s", kind)
}

// receiverSystem is the harness's HTTP service as a system of this world.
type receiverSystem struct{ *harness.Receiver }

func (r receiverSystem) close() error   { return r.Receiver.Close() }
func (r receiverSystem) healAll() error { return r.HealAll() }

// Close implements harness.Stage.
func (s *stage) Close(failed bool) error {
	var errs []error
	for _, kind := range primitives.SortedKeys(s.systems) {
		errs = append(errs, s.systems[kind].healAll())
	}
	if failed {
		s.keepArtifacts()
	}
	for _, n := range s.nodes {
		if n.process != nil {
			n.process.end()
		}
	}
	for _, kind := range primitives.SortedKeys(s.systems) {
		errs = append(errs, s.systems[kind].close())
	}
	if s.links != nil {
		errs = append(errs, s.links.end())
	}
	if err := s.real.Close(joinWithin); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// keepArtifacts copies what a reader of the failure wants to see. It is best
// effort: the failure itself is already reported.
func (s *stage) keepArtifacts() {
	if s.scenario.Folder == "" {
		return
	}
	os.MkdirAll(s.scenario.Folder, 0o755)
	for _, n := range s.nodes {
		os.WriteFile(filepath.Join(s.scenario.Folder, n.name+".log"), []byte(n.Logs()), 0o644)
		ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		if r, err := harness.Exchange(ctx, s.real, n.observability, harness.Request{Method: "GET", Host: n.observability, Path: "/metrics"}); err == nil {
			os.WriteFile(filepath.Join(s.scenario.Folder, n.name+".metrics"), []byte(r.Body), 0o644)
		}
		cancel()
	}
}

// Command implements harness.Commands.
func (s *stage) Command(ctx context.Context, program string, args []string) (*harness.CommandResult, error) {
	bounded, cancel := context.WithTimeout(ctx, commandWithin)
	defer cancel()
	cmd := exec.CommandContext(bounded, filepath.Join(s.world.programs, program), args...)
	cmd.Dir = s.dir
	cmd.Env = os.Environ()
	if len(s.nodes) > 0 && program == "plexus" {
		var servers []string
		for _, n := range s.nodes {
			servers = append(servers, "http://"+n.client)
		}
		cmd.Env = append(cmd.Env, "PLEXUS_SERVER="+strings.Join(servers, ","), "PLEXUS_PASSWORD="+s.nodes[0].initialPassword())
	}
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return nil, err
	}
	return &harness.CommandResult{Status: cmd.ProcessState.ExitCode(), Output: stdout.String(), Errors: stderr.String()}, nil
}

// Places implements harness.Commands.
func (s *stage) Places() map[string]string {
	places := map[string]string{"scratch": s.dir, "repository": repository}
	for _, n := range s.nodes {
		places["data of "+n.name] = n.dataDir()
		places["client of "+n.name] = n.client
		places["server of "+n.name] = "http://" + n.client
		places["password of "+n.name] = n.initialPassword()
	}
	return places
}

var (
	_ harness.Stage    = (*stage)(nil)
	_ harness.Commands = (*stage)(nil)
)
