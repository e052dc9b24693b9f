package simworld

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"plexus/engine/client"
	enginenode "plexus/engine/node"
	"plexus/engine/observe"
	"plexus/features/harness"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers/nats"
	"plexus/sim/cluster"
)

const (
	readyWithin = 30 * time.Second
	stopWithin  = 80 * time.Second
)

// StartCluster implements harness.Stage.
func (s *stage) StartCluster(ctx context.Context, nodes int, settings harness.Settings) error {
	if nodes > 1 && !s.scenario.Tagged("scheduler") {
		settings = append(harness.Settings{{Name: "scheduler", Value: "random"}}, settings...)
	}
	s.settings = settings
	for i := range nodes {
		s.add(fmt.Sprintf("node-%d", i+1), settings)
	}
	s.nodes[0].cluster.Start()
	if err := s.nodes[0].Ready(ctx); err != nil {
		return err
	}
	for _, n := range s.nodes[1:] {
		n.cluster.Start()
	}
	for _, n := range s.nodes[1:] {
		if err := n.Ready(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Join implements harness.Stage.
func (s *stage) Join(_ context.Context, name string, settings harness.Settings) (harness.Node, error) {
	if s.sim.Find(name) != nil {
		return nil, fmt.Errorf("%s is there already", name)
	}
	n := s.add(name, append(slices.Clip(s.settings), settings...))
	n.cluster.Start()
	return n, nil
}

// add puts a node on a machine of its own.
func (s *stage) add(name string, settings harness.Settings) *node {
	n := &node{stage: s, host: s.sim.Host(name)}
	n.cluster = s.cluster.Add(n.host, cluster.Program{
		Process: func(_ *cluster.Node, w primitives.World) cluster.Process {
			return cluster.Process{Connectors: cluster.Connectors(w, nats.Driver{})}
		},
		Settings: func(_ *cluster.Node, to *enginenode.Settings) error {
			for _, setting := range settings {
				if err := to.Set(setting.Name, setting.Value); err != nil {
					return err
				}
			}
			return nil
		},
	})
	s.nodes = append(s.nodes, n)
	return n
}

// Credentials implements harness.Stage.
func (s *stage) Credentials() harness.Credentials {
	return harness.Credentials{User: cluster.User, Password: cluster.Password}
}

// Client implements harness.Stage.
func (s *stage) Client(ctx context.Context, c harness.Credentials, nodes []harness.Node, domain string) (harness.Session, error) {
	var servers []string
	for _, n := range nodes {
		servers = append(servers, n.(*node).cluster.ClientURL())
	}
	return harness.OpenSession(ctx, s.World(), client.Frames(s.World(), c.User, c.Password), servers, domain)
}

// node is one simulated node.
type node struct {
	stage   *stage
	host    *sim.Host
	cluster *cluster.Node
	logs    strings.Builder
	copied  map[string][]byte // files, by name
}

// Name implements harness.Node.
func (n *node) Name() string { return n.host.Name() }

// Running implements harness.Node.
func (n *node) Running() bool { return n.host.Running() }

// Frozen implements harness.Node.
func (n *node) Frozen() bool { return n.host.Frozen() }

// Exited implements harness.Node. A simulated process has no exit status of its
// own: 1 is one that failed.
func (n *node) Exited() (status int, ended bool) {
	if !n.host.Exited() {
		return 0, false
	}
	if n.cluster.Failure() != nil {
		status = 1
	}
	return status, true
}

// Ready implements harness.Node.
func (n *node) Ready(ctx context.Context) error {
	w := n.stage.World()
	for until := w.Clock().Now().Add(readyWithin); !n.cluster.Ready(); {
		if !n.host.Running() || !w.Clock().Now().Before(until) {
			return fmt.Errorf("%s is not ready: %s", n.Name(), strings.Join(n.cluster.NotReady(), ", "))
		}
		if err := primitives.Sleep(ctx, w, poll); err != nil {
			return err
		}
	}
	return nil
}

// Wipe implements harness.Node.
func (n *node) Wipe(context.Context) error {
	n.host.Disk().Wipe()
	return nil
}

// Kill implements harness.Node.
func (n *node) Kill(context.Context) error {
	n.host.Kill()
	return nil
}

// Stop implements harness.Node. A simulated process has no exit status of its
// own: 0 is one that ended in time.
func (n *node) Stop(ctx context.Context) (int, error) {
	n.host.Stop()
	w := n.stage.World()
	for until := w.Clock().Now().Add(stopWithin); n.host.Running(); {
		if !w.Clock().Now().Before(until) {
			return 1, fmt.Errorf("%s did not stop within %s", n.Name(), stopWithin)
		}
		if err := primitives.Sleep(ctx, w, poll); err != nil {
			return 1, err
		}
	}
	return 0, nil
}

// Freeze implements harness.Node.
func (n *node) Freeze(context.Context) error {
	n.host.Freeze()
	return nil
}

// Thaw implements harness.Node.
func (n *node) Thaw(context.Context) error {
	n.host.Thaw()
	return nil
}

// CopyStorage implements harness.Node.
func (n *node) CopyStorage(context.Context) error {
	n.copied = map[string][]byte{}
	for _, name := range n.host.Disk().Names() {
		n.copied[name] = n.host.Disk().Get(name)
	}
	return nil
}

// PutStorageBack implements harness.Node.
func (n *node) PutStorageBack(context.Context) error {
	n.host.Disk().Wipe()
	for _, name := range primitives.SortedKeys(n.copied) {
		n.host.Disk().Put(name, n.copied[name])
	}
	return nil
}

// Start implements harness.Node.
func (n *node) Start(context.Context) error {
	n.host.Restart()
	return nil
}

// revive brings a node that a scenario left down or frozen back to life.
func (n *node) revive() {
	n.host.Thaw()
	n.host.Disk().Heal()
	if !n.host.Running() && !n.refused() {
		n.host.Restart()
	}
}

// refused reports whether the process ended by itself: a node that the cluster
// does not admit stays down.
func (n *node) refused() bool {
	_, ended := n.Exited()
	return ended
}

// tornRecord claims a length that the file does not hold.
var tornRecord = []byte{0x40, 0x01, 0x00, 0x00, 0xde, 0xad, 0xbe, 0xef, 0x01, 0x02, 0x03}

// DamageStorage implements harness.Node.
func (n *node) DamageStorage(_ context.Context, damage harness.StorageDamage) error {
	if n.Running() {
		return fmt.Errorf("%s runs", n.Name())
	}
	segment := ""
	for _, name := range n.host.Disk().Names() {
		if strings.HasSuffix(name, ".wal") {
			segment = name // the last in order is the newest
		}
	}
	if segment == "" {
		return errors.New("no consensus log on the disk")
	}
	content := n.host.Disk().Get(segment)
	switch damage {
	case harness.TornLog:
		n.host.Disk().Put(segment, append(content, tornRecord...))
	case harness.FlippedLog:
		n.host.Disk().Damage(segment, int64(len(content)/2), 4)
	default:
		return fmt.Errorf("no way to do %s", damage)
	}
	return nil
}

// EndpointAddress implements harness.Node.
func (n *node) EndpointAddress() string { return n.cluster.EndpointAddr().String() }

// ObservabilityAddress implements harness.Node: there is no such listener here.
func (n *node) ObservabilityAddress() string { return "" }

// Metrics implements harness.Node with the text the real build serves.
func (n *node) Metrics(context.Context) (harness.Metrics, error) {
	serving := n.cluster.Node()
	if serving == nil {
		return nil, fmt.Errorf("%s does not serve", n.Name())
	}
	return harness.ParseMetrics(string(observe.AppendText(nil, serving.Samples())))
}

// Logs implements harness.Node.
func (n *node) Logs() string { return n.logs.String() }

// log keeps the lines of nodes.
func (s *stage) log(line sim.LogLine) {
	for _, n := range s.nodes {
		if n.Name() == line.Host {
			fmt.Fprintf(&n.logs, "%v %v %s\n", line.At, line.Level, line.Text)
		}
	}
}

// check looks at what must hold once the world is quiet: every node serves, and
// ends when it is told to with nothing left behind, which the simulator checks
// when the program returns.
func (s *stage) check() error {
	return s.Do("stop", func(ctx context.Context) error {
		var errs []error
		for _, n := range s.nodes {
			if !n.refused() && !n.cluster.Ready() {
				errs = append(errs, fmt.Errorf("%s does not serve: %s", n.Name(), strings.Join(n.cluster.NotReady(), ", ")))
			}
		}
		if len(errs) > 0 {
			return errors.Join(errs...)
		}
		for _, n := range s.nodes {
			if !n.refused() {
				_, err := n.Stop(ctx)
				errs = append(errs, err)
			}
		}
		return errors.Join(errs...)
	})
}

var _ harness.Node = (*node)(nil)
