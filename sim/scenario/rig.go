package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers/nats"
	"plexus/sim/campaign"
	"plexus/sim/cluster"
	"plexus/sim/fault"
	"plexus/sim/oracle"
	"plexus/sim/workload"
)

// rig is what pipelines have in common: the nodes with their external systems, the
// machine of their clients, and the oracles that hold for every pipeline.
type rig struct {
	run        *campaign.Run
	sim        *sim.Simulation
	systems    *cluster.Systems
	cluster    *cluster.Cluster
	node       *cluster.Node // the first one
	members    *members      // what holds for several nodes; nil for one
	sound      bool          // the external systems never misbehave
	restart    bool          // whoever moves units restarts the domain in the end
	client     *sim.Host
	variant    workload.Variant
	deliveries *oracle.Deliveries
	boundary   func() *oracle.Boundary // of one process
}

const (
	// declareBound is how long the declaration of a pipeline may take, while
	// nothing goes wrong.
	declareBound = 30 * time.Second
	// definitionClients run statements beside the pipeline.
	definitionClients = 2
	definitionThink   = 500 * time.Millisecond
	operatorThink     = 5 * time.Second
	// settleClient is the number of clients that work once the run is over, when
	// others may still wait for an answer.
	settleClient = 100
	// nameClients change definitions of a cluster: few enough for the search of an
	// order.
	nameClients = 3
	nameThink   = 700 * time.Millisecond
	// searchTime bounds the search for an order of operations.
	searchTime = 2 * time.Second
)

// newRig puts the machines there. number reads the number of a record as its
// source holds it.
func newRig(r *campaign.Run, v workload.Variant, ref oracle.Reference, number func([]byte) (uint64, bool)) *rig {
	x := &rig{run: r, sim: r.Sim, variant: v, cluster: cluster.New()}
	p := cluster.Program{Process: x.process}
	intake := oracle.NewIntake
	if r.Nodes > 1 {
		x.members = newMembers(r, x.cluster)
		p.Settings = x.members.settings
		intake = func() *oracle.Intake { return x.members.intake }
	}
	for i := range r.Nodes {
		x.cluster.Add(r.Sim.Host(fmt.Sprintf("node-%d", i+1)), p)
	}
	x.node = x.cluster.Nodes()[0]
	x.systems = cluster.NewSystems(r.Sim)
	x.client = r.Sim.Host("client")
	x.deliveries = oracle.NewDeliveries(r.Sim.Fail, ref)
	x.boundary = func() *oracle.Boundary { return oracle.NewBoundary(r.Sim.Fail, x.deliveries, number, intake()) }
	return x
}

// process is what one process of the node is built with, and watched by.
func (x *rig) process(n *cluster.Node, w primitives.World) cluster.Process {
	boundary := x.boundary()
	taps := oracle.Taps{
		oracle.NewRoots(x.sim.Fail, x.variant.Instances == 1),
		oracle.NewRelays(x.sim.Fail, x.variant.Capacities),
		oracle.NewDefinitions(x.sim.Fail),
		observe.Tap(boundary),
	}
	if x.members != nil {
		taps = append(taps, x.members.taps(n)...)
	}
	return cluster.Process{Connectors: boundary.Connectors(cluster.Connectors(w, boundary.NATS(nats.Driver{}))), Tap: taps}
}

// start declares the pipeline while nothing goes wrong, says what may go wrong
// from then on, and what must hold. It reports whether the run may go on.
func (x *rig) start() bool {
	x.cluster.Start()
	script, statements := x.statements()
	if !x.declare(x.variant.Script, script) {
		return false
	}
	r := x.run
	suffer(r, x.cluster)
	for _, h := range x.systems.Hosts() {
		r.Peer(h)
		r.Name(h.Name())
	}
	r.Peer(x.client)
	if !x.sound {
		x.misbehave()
	}
	r.Hold(oracle.Oracle{Name: "node-ready", Quiet: x.ready})
	if x.members != nil {
		x.members.hold()
	}
	statements()
	return true
}

// misbehave lets the external systems do what such systems do.
func (x *rig) misbehave() {
	bus, cache, partner := x.systems.Bus, x.systems.Cache, x.systems.Partner
	x.run.Inject(fault.Broker("nats", append(bus.Verbs(), cluster.Outages("nats/outage", bus.Host()))))
	x.run.Inject(fault.Broker("redis", append(cache.Verbs(), cluster.Outages("redis/outage", cache.Host()))))
	x.run.Inject(fault.Broker("http", append(partner.Verbs(), cluster.Outages("http/outage", partner.Host()))))
}

// statements returns the clients that run statements beside the pipeline: the
// script they need, and what starts them. On one node what a client reads is what
// was written last; the nodes of a cluster answer reads from what they have.
func (x *rig) statements() (script string, start func()) {
	if x.run.Nodes > 1 {
		return x.members.statements(x.client)
	}
	d := &workload.Definitions{World: x.client.World(), On: x.cluster, Sim: x.sim, History: oracle.NewHistory(searchTime)}
	return d.Script(), func() {
		x.run.Hold(d.History.Linearizable())
		workload.Clients(x.sim, x.client, definitionClients, definitionThink, x.run.Over, d.Step)
		x.settle("definitions", d.Settle)
	}
}

// declare runs scripts and reports whether the run may go on.
func (x *rig) declare(scripts ...string) bool { return declare(x.run, x.cluster, x.client, scripts...) }

// declare runs scripts once every node serves, and reports whether the run may go
// on.
func declare(run *campaign.Run, c *cluster.Cluster, on *sim.Host, scripts ...string) bool {
	var failed error
	err := run.Sim.Do("declare", func() {
		ctx, w := context.Background(), on.World()
		for !c.Ready() {
			run.Sim.Sleep(10*time.Millisecond, "nodes to serve")
		}
		for _, script := range scripts {
			if failed = workload.Declare(ctx, w, c, script); failed != nil {
				return
			}
		}
	}, declareBound)
	if err != nil || failed != nil {
		run.Sim.Fail("declares", fmt.Sprintf("the scripts could not be run: %v %v; %s", err, failed, strings.Join(c.NotReady(), ", ")))
	}
	return run.Sim.Failed() == nil
}

// operate lets an operator change the pipeline until the run is over, and then
// has it run.
func (x *rig) operate(o workload.Operator) {
	x.variant.Resized()
	o.World, o.Sim, o.On, o.Script = x.client.World(), x.sim, x.cluster, x.variant.Script
	workload.Clients(x.sim, x.client, 1, operatorThink, x.run.Over, o.Step)
	x.settle("operator", func(int, *sim.Stream) { o.Settle() })
}

// settle runs f once the run is over, and holds that it comes to its end.
func (x *rig) settle(name string, f func(client int, r *sim.Stream)) {
	settle(x.run, x.client, name, f)
}

// settle runs f on a machine once the run is over, and holds that it comes to its
// end: after everything healed statements are taken again.
func settle(run *campaign.Run, on *sim.Host, name string, f func(client int, r *sim.Stream)) {
	settled := false
	on.World().Tasks().Go(name, func() {
		r := run.Sim.Stream("workload/settle/" + name)
		over(run)
		f(settleClient, r)
		settled = true
	})
	run.Hold(oracle.Oracle{Name: "takes-statements", Quiet: func() error {
		if !settled {
			return fmt.Errorf("%s found no answer after everything had healed", name)
		}
		return nil
	}})
}

// over waits until the run is over.
func over(run *campaign.Run) {
	for !run.Over() {
		run.Sim.Sleep(time.Second, "run to be over")
	}
}

// ready is the liveness of the nodes themselves.
func (x *rig) ready() error {
	if why := x.cluster.NotReady(); len(why) > 0 {
		return fmt.Errorf("not every node serves: %s", strings.Join(why, "; "))
	}
	return nil
}
