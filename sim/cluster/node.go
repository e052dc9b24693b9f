package cluster

import (
	"context"
	"fmt"
	"net/netip"

	"plexus/connectors/contract"
	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/node"
	"plexus/engine/observe"
	"plexus/engine/session"
	"plexus/primitives"
	"plexus/sim"
	simhttp "plexus/sim/http"
)

// Where a node listens, and the first user of every cluster.
const (
	SessionPort      = 47391
	InterconnectPort = 47395
	EndpointPort     = 8088
	User             = "default"
	Password         = "correct horse"
	dataDir          = "/var/lib/plexus"
)

// Process is what one process of a node is built with. It is made anew for each.
type Process struct {
	Connectors contract.Connectors
	Tap        observe.Tap // may be nil
}

// Program says how a node is built.
type Program struct {
	// Process is called for each process before it starts.
	Process func(n *Node, w primitives.World) Process
	// Settings may change what is not the simulator's own; nil changes nothing.
	Settings func(n *Node, s *node.Settings) error
}

// Node is one node of the product on a simulated machine.
type Node struct {
	host    *sim.Host
	program Program
	cluster *Cluster

	current *node.Node // nil while none serves
	failure error      // why the last process did not start, or ended by itself
	founded bool       // a process of it served once
}

// Name returns the node's name, which is its machine's.
func (n *Node) Name() string { return n.host.Name() }

// Process returns the process that serves, nil while none does.
func (n *Node) Process() *sim.Process {
	if n.current == nil {
		return nil
	}
	return n.host.Process()
}

// State returns the replicated state that the serving process has applied.
func (n *Node) State() *catalog.State { return n.current.Group().State() }

// Host returns the machine, for faults and restarts.
func (n *Node) Host() *sim.Host { return n.host }

// Start boots the node. Later processes are started by Host().Restart().
func (n *Node) Start() { n.host.Start("plexusd", n.run) }

// Node returns what serves now, nil while nothing does.
func (n *Node) Node() *node.Node { return n.current }

// Failure returns why the last process did not start, nil when it did.
func (n *Node) Failure() error { return n.failure }

// NotReady says why the node does not serve, none when it does.
func (n *Node) NotReady() []string {
	switch {
	case n.current != nil:
		return n.current.NotReady()
	case n.failure != nil:
		return []string{"the node did not start: " + n.failure.Error()}
	}
	return []string{"no process serves"}
}

// Ready reports whether the node serves.
func (n *Node) Ready() bool { return len(n.NotReady()) == 0 }

// SessionAddr is where clients reach the node.
func (n *Node) SessionAddr() netip.AddrPort { return netip.AddrPortFrom(n.host.Addr(), SessionPort) }

// EndpointAddr is where HTTP endpoints are.
func (n *Node) EndpointAddr() netip.AddrPort { return netip.AddrPortFrom(n.host.Addr(), EndpointPort) }

// Wipe ends the node and leaves it an empty disk.
func (n *Node) Wipe() {
	n.host.Crash()
	n.host.Disk().Wipe()
}

// ClientURL is how clients name the node.
func (n *Node) ClientURL() string { return "http://" + n.SessionAddr().String() }

// Open opens a session as the first user, from the world of a client.
func (n *Node) Open(ctx context.Context, w primitives.World, o client.Options) (*client.Session, error) {
	o.Servers, o.Dial = []string{n.ClientURL()}, client.Frames(w, User, Password)
	return client.Open(ctx, w, o)
}

// run is the node's program: what cmd/plexusd does, with the simulator's
// listeners and models.
func (n *Node) run(ctx context.Context, w primitives.World) {
	n.failure = nil
	settings, err := n.configure()
	if err != nil {
		n.fail(w, err)
		return
	}
	p := n.program.Process(n, w)
	x := node.New(w, settings, p.Connectors, node.Listeners{
		Sessions:  func(s *session.Service) node.Server { return session.NewFrameServer(w, n.SessionAddr(), s) },
		Endpoints: simhttp.NewEndpointServer(w, n.EndpointAddr()),
		ClientURL: n.ClientURL(),
	}, node.Options{Version: "simulated", Tap: p.Tap})
	if err := x.Start(ctx); err != nil {
		n.fail(w, err)
		return
	}
	n.current, n.founded = x, true
	defer func() { n.current = nil }()
	if err := x.Wait(ctx); ctx.Err() == nil {
		n.fail(w, err)
	}
	// A node that was told to stop has its own time for it. When that is over the
	// process ends whatever still runs.
	forced, err := x.Stop(context.Background())
	if err != nil {
		w.Log().Error("stop", "error", err)
	}
	if forced {
		n.host.Kill()
	}
}

// configure returns the settings of a process. The cost of a password is charged
// as virtual time, not paid.
func (n *Node) configure() (node.Settings, error) {
	s := node.Defaults()
	s.Control.Dir = dataDir
	s.Control.NodeID = n.host.Name()
	s.InitialPassword = Password
	s.PasswordCost = session.LeastCost
	if err := n.cluster.configure(n, &s); err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	if n.program.Settings == nil {
		return s, nil
	}
	if err := n.program.Settings(n, &s); err != nil {
		return s, fmt.Errorf("settings: %w", err)
	}
	return s, nil
}

func (n *Node) fail(w primitives.World, err error) {
	n.failure = err
	w.Log().Error("node failed", "error", err)
}
