package node

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"sync/atomic"

	"plexus/connectors/contract"
	"plexus/engine/batch"
	"plexus/engine/control"
	"plexus/engine/exchange"
	"plexus/engine/host"
	"plexus/engine/interconnect"
	"plexus/engine/leader"
	"plexus/engine/observe"
	"plexus/engine/session"
	"plexus/engine/state"
	"plexus/primitives"
)

// Server is a listener of the node.
type Server interface {
	// Start binds and serves.
	Start() error
	Addr() netip.AddrPort
	// Close stops serving and waits for every task.
	Close(ctx context.Context) error
}

// Listeners are the ways into a node; nil is off.
type Listeners struct {
	Endpoints     contract.EndpointServer
	Sessions      func(*session.Service) Server
	Observability func(*Node) Server
	ClientURL     string // how clients reach Sessions
}

// Options are what a build adds.
type Options struct {
	Version string
	Tap     observe.Tap // nil in production
}

// Node is one node of a cluster.
type Node struct {
	world     primitives.World
	settings  Settings
	table     contract.Connectors
	listeners Listeners
	options   Options

	group    *control.Group
	mesh     *interconnect.Mesh
	members  *members
	interest *interest
	exchange *exchange.Exchange
	joined   *primitives.Event // this node is a member; what follows is set
	holds    *holds
	handoffs *handoffs
	leader   *leader.Leader
	epoch    interconnect.Epoch
	executor *primitives.Executor
	service  *session.Service
	runtime  *runtime
	metrics  *metrics
	reports  *reports
	tasks    *primitives.Group

	sessions      Server
	observability Server
	endpoints     bool // the endpoint listener was started

	passwordPath string
	stopping     atomic.Bool
}

// New returns a node that does nothing yet.
func New(w primitives.World, s Settings, connectors contract.Connectors, l Listeners, o Options) *Node {
	return &Node{world: w, settings: s, table: connectors, listeners: l, options: o}
}

// Start opens the data directory and brings the node up to its listeners.
// Admission and the first installation go on behind it: NotReady tells. After an
// error nothing is left running.
func (n *Node) Start(ctx context.Context) error {
	if err := n.settings.Check(); err != nil {
		return err
	}
	n.executor = primitives.NewExecutor(n.world, n.settings.Parallelism)
	n.metrics = newMetrics(n)
	passwords := session.NewPasswords(n.world, n.executor, n.settings.PasswordCost, n.metrics.authenticated)
	n.settings.Control.Synced = n.metrics.synced
	n.settings.Control.Found = n.found(passwords)
	peering := n.settings.mesh(n.removed)
	peering.Registry = n.metrics.registry
	mesh, err := interconnect.New(n.world, peering)
	if err != nil {
		return errors.Join(err, n.executor.Close(ctx))
	}
	if err := mesh.CheckCredentials(n.settings.Control.NodeID); err != nil {
		return errors.Join(err, n.executor.Close(ctx))
	}
	n.mesh = mesh
	n.members = &members{node: n, mesh: mesh}
	consensus := newConsensus(n.world, mesh, n.settings.Control.Join)
	n.settings.Control.Peers = consensus
	n.settings.Control.Endpoints = control.Endpoints{
		Interconnect: n.settings.Interconnect.Advertised(), Client: n.listeners.ClientURL,
	}
	group, err := control.Open(ctx, n.world, n.settings.Control)
	if err != nil {
		return errors.Join(err, n.executor.Close(ctx))
	}
	n.group = group
	// The node outlives the call that starts it.
	n.tasks = primitives.NewGroup(context.Background(), n.world)
	consensus.start(group, n.tasks)
	n.epoch = interconnect.NewEpoch(n.world)
	mesh.Identify(n.process(), group.Identity().Cluster, group.Proof()...)
	n.joined = primitives.NewEvent(n.world)
	n.interest = newInterest(n)
	n.exchange = exchange.New(exchange.Settings{
		World: n.world, Port: exchange.OverMesh(mesh), Executor: n.executor, Metrics: n.metrics.registry, Tap: n.options.Tap,
	})
	n.reports = newReports(n.world)
	endpoints := n.newRuntime()
	n.service = session.NewService(context.Background(), n.world, session.Deps{
		Group: group, Runtime: n.runtime, Passwords: passwords,
		Cluster: newCluster(n), Version: n.options.Version, ClientURL: n.listeners.ClientURL, Counts: n.metrics.command,
		Limits: n.settings.Limits, RetryValidity: n.settings.Control.RetryValidity, TransactionRetention: n.settings.TransactionRetention,
	})
	n.reports.tell = n.service.Notify
	n.tasks.Go("reports", n.reports.run)
	if err := n.listen(endpoints); err != nil {
		return errors.Join(err, n.abort(ctx))
	}
	if err := group.Start(context.Background()); err != nil {
		return errors.Join(err, n.abort(ctx))
	}
	n.tasks.Go("membership", n.belong)
	n.tasks.Go("interest", n.interest.run)
	n.runtime.tasks.Go("runtime", n.runtime.run)
	n.service.Start()
	identity := group.Identity()
	n.world.Log().Info("node started", "node", identity.NodeID, "cluster", identity.ClusterID,
		"incarnation", identity.Counter, "founded", group.Founded())
	return nil
}

func (n *Node) newRuntime() *host.Endpoints {
	endpoints := host.NewEndpoints(n.world)
	n.runtime = &runtime{
		node: n, endpoints: endpoints, memory: new(batch.Pool),
		lock: primitives.NewMutex(n.world), domains: map[string]*domain{},
		tasks: primitives.NewGroup(context.Background(), n.world),
	}
	n.runtime.changed = primitives.NewCond(n.world, n.runtime.lock)
	n.runtime.view.Store(&view{})
	n.exchange.Serve(deliveries{n.runtime})
	n.exchange.Start(context.Background())
	var bound *host.Endpoints
	if n.listeners.Endpoints != nil {
		bound = endpoints
	}
	n.runtime.positions = newPositions(n.world, n.group, state.NewCursors(n.world, n.settings.Control.Dir))
	n.runtime.external = host.New(n.world, n.table, n.runtime.positions, bound, n.group.Identity().NodeID)
	return endpoints
}

// listen binds every listener. A listener that cannot bind fails the start:
// there is no other port to fall back to.
func (n *Node) listen(endpoints *host.Endpoints) error {
	if err := n.mesh.Start(context.Background()); err != nil {
		return err
	}
	n.mesh.Announce(func(a *interconnect.Announcement) { a.Client = n.listeners.ClientURL })
	if n.listeners.Observability != nil {
		n.observability = n.listeners.Observability(n)
		if err := n.observability.Start(); err != nil {
			n.observability = nil
			return fmt.Errorf("observability listener: %w", err)
		}
	}
	if n.listeners.Endpoints != nil {
		if err := n.listeners.Endpoints.Start(endpoints.Handle); err != nil {
			return fmt.Errorf("http listener: %w", err)
		}
		n.endpoints = true
	}
	if n.listeners.Sessions != nil {
		n.sessions = n.listeners.Sessions(n.service)
		if err := n.sessions.Start(); err != nil {
			n.sessions = nil
			return fmt.Errorf("client listener: %w", err)
		}
	}
	return nil
}

// abort undoes a start that failed.
func (n *Node) abort(ctx context.Context) error {
	n.stopping.Store(true)
	return errors.Join(n.closeListeners(ctx), n.closeObservability(ctx), n.teardown(ctx))
}

// belong waits until this node is a member of its cluster, and then takes part in
// it.
func (n *Node) belong(ctx context.Context) error {
	if _, err := primitives.Select(ctx, n.world, n.group.OnJoined()); err != nil {
		return err
	}
	n.mesh.Identify(n.process(), n.group.Identity().Cluster)
	n.holds = newHolds(n)
	var err error
	if n.handoffs, err = newHandoffs(n); err != nil {
		return err
	}
	n.leader = leader.New(n.world, leader.Deps{
		Group: n.group, Cluster: n.members.cluster, Settled: n.runtime.Settle, Moves: n.handoffs.coordinator, Schedules: n.handoffs,
		Changed: n.members.follow, Leaving: n.members.leaving, Silence: n.settings.UnavailabilityTimeout,
	})
	n.joined.Set()
	n.tasks.Go("hold coordinators", n.holds.follow)
	n.tasks.Go("leader", n.leader.Run)
	return n.members.run(ctx)
}

// process is who this process is among all that ever ran as a node of the cluster.
func (n *Node) process() interconnect.Process {
	id := n.group.Identity()
	return interconnect.Process{Node: id.NodeID, RaftID: id.RaftID, Counter: id.Counter, Epoch: n.epoch}
}

// removed reports whether a raft id was dropped from the cluster.
func (n *Node) removed(raftID uint64) bool { return n.group != nil && n.group.State().Removed(raftID) }

// Founded reports whether this start founded the cluster.
func (n *Node) Founded() bool { return n.group.Founded() }

// InitialPasswordPath is the file this start wrote the first password to, "" if
// it wrote none.
func (n *Node) InitialPasswordPath() string { return n.passwordPath }

// SessionAddr is where clients reach the node.
func (n *Node) SessionAddr() netip.AddrPort { return n.sessions.Addr() }

// EndpointAddr is where the paths of HTTP endpoints are.
func (n *Node) EndpointAddr() netip.AddrPort { return n.listeners.Endpoints.Addr() }

// ObservabilityAddr is where health and metrics are.
func (n *Node) ObservabilityAddr() netip.AddrPort { return n.observability.Addr() }

// Group returns the node's control plane.
func (n *Node) Group() *control.Group { return n.group }

// Service returns the node's session service.
func (n *Node) Service() *session.Service { return n.service }

// NotReady says why the node does not serve yet, or no longer: one reason each,
// none when it does.
func (n *Node) NotReady() (reasons []string) {
	if n.stopping.Load() {
		return []string{"the node is stopping"}
	}
	if n.group.Status().Leader == 0 {
		reasons = append(reasons, "no leader is known")
	}
	return append(reasons, n.runtime.notReady()...)
}

// Samples returns the metrics of the node.
func (n *Node) Samples() []observe.Sample { return n.metrics.samples() }

// Wait blocks until the node ended by itself, which is fatal, and says why: the
// control plane cannot go on, the cluster does not admit this process, or a task
// failed on which the node depends. It returns nil when another case is ready first.
func (n *Node) Wait(ctx context.Context, others ...primitives.Case) error {
	cases := append([]primitives.Case{n.group.OnEnd(), n.tasks.OnDone(), n.runtime.tasks.OnDone()}, others...)
	fired, err := primitives.Select(ctx, n.world, cases...)
	switch {
	case err != nil:
		return err
	case fired == 0:
		var refused *control.ClaimError
		if errors.As(n.group.Err(), &refused) {
			return fmt.Errorf("the cluster does not admit this node: %w", n.group.Err())
		}
		return fmt.Errorf("the control plane ended: %w", n.group.Err())
	case fired == 1:
		return fmt.Errorf("the node failed: %w", n.tasks.Wait(ctx))
	case fired == 2:
		return fmt.Errorf("the runtime failed: %w", n.runtime.tasks.Wait(ctx))
	}
	return nil
}
