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

// rig is what pipelines have in common: one node with its external systems, the
// machine of its clients, and the oracles that hold for every pipeline.
type rig struct {
	run        *campaign.Run
	sim        *sim.Simulation
	systems    *cluster.Systems
	node       *cluster.Node
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
	// searchTime bounds the search for an order of operations.
	searchTime = 2 * time.Second
)

// newRig puts the machines there. number reads the number of a record as its
// source holds it.
func newRig(r *campaign.Run, v workload.Variant, ref oracle.Reference, number func([]byte) (uint64, bool)) *rig {
	x := &rig{run: r, sim: r.Sim, variant: v}
	h := r.Sim.Host("node-1")
	x.systems = cluster.NewSystems(r.Sim)
	x.client = r.Sim.Host("client")
	x.deliveries = oracle.NewDeliveries(r.Sim.Fail, ref)
	x.boundary = func() *oracle.Boundary { return oracle.NewBoundary(r.Sim.Fail, x.deliveries, number) }
	x.node = cluster.New().Add(h, cluster.Program{Process: x.process})
	return x
}

// process is what one process of the node is built with, and watched by.
func (x *rig) process(_ *cluster.Node, w primitives.World) cluster.Process {
	boundary := x.boundary()
	return cluster.Process{
		Connectors: boundary.Connectors(cluster.Connectors(w, boundary.NATS(nats.Driver{}))),
		Tap: oracle.Taps{
			oracle.NewRoots(x.sim.Fail, x.variant.Instances == 1),
			oracle.NewRelays(x.sim.Fail, x.variant.Capacities),
			oracle.NewDefinitions(x.sim.Fail),
			observe.Tap(boundary),
		},
	}
}

// start declares the pipeline while nothing goes wrong, says what may go wrong
// from then on, and what must hold. It reports whether the run may go on.
func (x *rig) start() bool {
	x.node.Start()
	definitions := &workload.Definitions{
		World: x.client.World(), On: x.node, Sim: x.sim, History: oracle.NewHistory(searchTime),
	}
	if !x.declare(x.variant.Script, definitions.Script()) {
		return false
	}
	r := x.run
	r.Target(x.node.Host())
	r.Supervise(x.node.Host())
	for _, h := range x.systems.Hosts() {
		r.Peer(h)
		r.Name(h.Name())
	}
	r.Peer(x.client)
	bus, cache, partner := x.systems.Bus, x.systems.Cache, x.systems.Partner
	r.Inject(fault.Broker("nats", append(bus.Verbs(), cluster.Outages("nats/outage", bus.Host()))))
	r.Inject(fault.Broker("redis", append(cache.Verbs(), cluster.Outages("redis/outage", cache.Host()))))
	r.Inject(fault.Broker("http", append(partner.Verbs(), cluster.Outages("http/outage", partner.Host()))))
	r.Hold(definitions.History.Linearizable())
	r.Hold(oracle.Oracle{Name: "node-ready", Quiet: x.ready})
	workload.Clients(x.sim, x.client, definitionClients, definitionThink, r.Over, definitions.Step)
	x.settle("definitions", definitions.Settle)
	return true
}

// declare runs scripts on the node and reports whether the run may go on.
func (x *rig) declare(scripts ...string) bool {
	var failed error
	err := x.sim.Do("declare", func() {
		ctx, w := context.Background(), x.client.World()
		for !x.node.Ready() {
			x.sim.Sleep(10*time.Millisecond, "node to serve")
		}
		for _, script := range scripts {
			if failed = workload.Declare(ctx, w, x.node, script); failed != nil {
				return
			}
		}
	}, declareBound)
	if err != nil || failed != nil {
		x.sim.Fail("declares", fmt.Sprintf("the pipeline could not be declared: %v %v", err, failed))
	}
	return x.sim.Failed() == nil
}

// operate lets an operator change the pipeline until the run is over, and then
// has it run.
func (x *rig) operate(o workload.Operator) {
	x.variant.Resized()
	o.World, o.Sim, o.On, o.Script = x.client.World(), x.sim, x.node, x.variant.Script
	workload.Clients(x.sim, x.client, 1, operatorThink, x.run.Over, o.Step)
	x.settle("operator", func(int, *sim.Stream) { o.Settle() })
}

// settle runs f once the run is over, and holds that it comes to its end: after
// everything healed the node takes statements again.
func (x *rig) settle(name string, f func(client int, r *sim.Stream)) {
	settled := false
	x.client.World().Tasks().Go(name, func() {
		r := x.sim.Stream("workload/settle/" + name)
		x.over()
		f(definitionClients, r)
		settled = true
	})
	x.run.Hold(oracle.Oracle{Name: "takes-statements", Quiet: func() error {
		if !settled {
			return fmt.Errorf("%s found no answer after everything had healed", name)
		}
		return nil
	}})
}

// over waits until the run is over.
func (x *rig) over() {
	for !x.run.Over() {
		x.sim.Sleep(time.Second, "run to be over")
	}
}

// ready is the liveness of the node itself.
func (x *rig) ready() error {
	if why := x.node.NotReady(); len(why) > 0 {
		return fmt.Errorf("the node does not serve: %s", strings.Join(why, "; "))
	}
	return nil
}
