package simworld

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"plexus/engine/observe"
	"plexus/features/harness"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/cluster"
)

const (
	patience    = 10 * time.Second // virtual, like everything here
	poll        = 10 * time.Millisecond
	passMax     = time.Hour
	stepWithin  = 2 * time.Hour
	quietSuffix = 120 * time.Second
)

// system is an external system a stage ends with itself.
type system interface {
	harness.System
	healAll() error
	close()
}

// stage is one scenario's simulation.
type stage struct {
	scenario harness.Scenario
	sim      *sim.Simulation
	cluster  *cluster.Cluster
	settings harness.Settings // of the cluster
	nodes    []*node
	systems  map[string]system
}

// Do implements harness.Stage: the body is a driver task, and the calling
// goroutine runs the scheduler until the task ended.
func (s *stage) Do(step string, body func(ctx context.Context) error) error {
	var err error
	if failed := s.sim.Do(step, func() { err = body(context.Background()) }, stepWithin); failed != nil {
		return errors.Join(failed, err)
	}
	return err
}

// World implements harness.Stage.
func (s *stage) World() primitives.World { return s.sim.Driver().World() }

// Limits implements harness.Stage.
func (s *stage) Limits() harness.Limits {
	return harness.Limits{Patience: patience, Poll: poll, PassMax: passMax}
}

// Nodes implements harness.Stage.
func (s *stage) Nodes() []harness.Node {
	nodes := make([]harness.Node, len(s.nodes))
	for i, n := range s.nodes {
		nodes[i] = n
	}
	return nodes
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

func (s *stage) open(kind string) (system, error) {
	switch kind {
	case "nats":
		return newNATS(s.sim), nil
	case "redis":
		return newRedis(s.sim), nil
	case "http":
		host := s.sim.Host("http")
		receiver, err := harness.NewReceiver(host.World(), netip.AddrPortFrom(host.Addr(), 80))
		return receiverSystem{receiver}, err
	}
	return nil, fmt.Errorf("the simulator has no model of %s", kind)
}

// receiverSystem is the harness's HTTP service on a simulated host.
type receiverSystem struct{ *harness.Receiver }

func (r receiverSystem) healAll() error { return r.HealAll() }
func (r receiverSystem) close()         { r.Receiver.Close() }

// Close implements harness.Stage.
func (s *stage) Close(failed bool) error {
	defer s.sim.Close()
	if !failed {
		err := s.settle()
		if err == nil {
			return nil
		}
		s.keepArtifacts()
		return err
	}
	s.keepArtifacts()
	return nil
}

// settle heals every damage, lets the world be quiet, and checks what must hold
// then.
func (s *stage) settle() error {
	err := s.Do("heal", func(ctx context.Context) error {
		var errs []error
		for _, kind := range primitives.SortedKeys(s.systems) {
			errs = append(errs, s.systems[kind].healAll())
		}
		s.healLinks()
		for _, n := range s.nodes {
			n.revive()
		}
		for _, n := range s.nodes {
			if !n.refused() {
				errs = append(errs, n.Ready(ctx))
			}
		}
		return errors.Join(errs...)
	})
	if err != nil {
		return fmt.Errorf("healing: %w", err)
	}
	if err := s.sim.Run(quietSuffix); err != nil {
		return fmt.Errorf("in the quiet suffix: %w", err)
	}
	return s.check()
}

// keepArtifacts leaves what a reader of the failure wants to see. It is best
// effort: the failure itself is already reported.
func (s *stage) keepArtifacts() {
	if s.scenario.Folder == "" {
		return
	}
	os.MkdirAll(s.scenario.Folder, 0o755)
	for _, n := range s.nodes {
		os.WriteFile(filepath.Join(s.scenario.Folder, n.Name()+".log"), []byte(n.Logs()), 0o644)
		os.WriteFile(filepath.Join(s.scenario.Folder, n.Name()+".metrics"), []byte(s.metricsPage(n)), 0o644)
	}
	summary := fmt.Sprintf("seed %d, strategy %v, digest %016x at %v\n", s.sim.Seed(), s.sim.Strategy(), s.sim.Digest(), s.sim.Elapsed())
	for _, task := range s.sim.Live() {
		summary += fmt.Sprintf("%+v\n", task)
	}
	os.WriteFile(filepath.Join(s.scenario.Folder, "simulation.txt"), []byte(summary), 0o644)
}

func (s *stage) metricsPage(n *node) (page string) {
	if err := s.Do("metrics", func(context.Context) error {
		if serving := n.cluster.Node(); serving != nil {
			page = string(observe.AppendText(nil, serving.Samples()))
		}
		return nil
	}); err != nil {
		return err.Error()
	}
	return page
}

var _ harness.Stage = (*stage)(nil)
