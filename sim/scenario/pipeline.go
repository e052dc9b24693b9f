package scenario

import (
	"context"
	"fmt"
	"strings"
	"time"

	natsconnector "plexus/connectors/nats"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
	"plexus/sim/brokers/http"
	"plexus/sim/brokers/nats"
	"plexus/sim/campaign"
	"plexus/sim/cluster"
	"plexus/sim/fault"
	"plexus/sim/oracle"
	"plexus/sim/workload"
)

// firstPipeline is the order pipeline on one node with three external systems.
func firstPipeline() campaign.Scenario {
	return campaign.Scenario{
		Name: "first-pipeline",
		About: "One node moves 1,000 orders a second from a stream to a second one, a channel and a partner, " +
			"while definitions change: no acknowledged loss, whatever fails.",
		Horizon: time.Minute, Steps: 60_000,
		Setup: func(r *campaign.Run) {
			newPipeline(r, workload.Standard(workload.FirstPipeline, ordersPerSecond)).start()
		},
	}
}

// variedPipeline is the order pipeline with buffers, batches and windows of any
// size.
func variedPipeline() campaign.Scenario {
	return campaign.Scenario{
		Name: "varied-pipeline",
		About: "The order pipeline with small buffers, batches and windows and several instances of its source: " +
			"whatever can be full is full.",
		Horizon: time.Minute, Steps: 60_000,
		Setup: func(r *campaign.Run) {
			p := newPipeline(r, workload.Vary(workload.FirstPipeline, ordersPerSecond, r.Sim.Stream("workload/variant")))
			p.start()
			p.operate()
		},
	}
}

// pipeline is the composition: one node, its systems, what watches them.
type pipeline struct {
	run        *campaign.Run
	sim        *sim.Simulation
	systems    *cluster.Systems
	node       *cluster.Node
	client     *sim.Host
	orders     workload.Orders
	deliveries *oracle.Deliveries
	variant    workload.Variant
	began      time.Duration // of producing
	produced   uint64
	payload    []byte
}

const (
	ordersPerSecond = 1000
	produceEvery    = 10 * time.Millisecond
	// declareBound is how long the declaration of the pipeline may take, while
	// nothing goes wrong.
	declareBound = 30 * time.Second
	// definitionClients run statements beside the pipeline.
	definitionClients = 2
	definitionThink   = 500 * time.Millisecond
	operatorThink     = 5 * time.Second
	// searchTime bounds the search for an order of operations.
	searchTime = 2 * time.Second
)

func newPipeline(r *campaign.Run, v workload.Variant) *pipeline {
	p := &pipeline{run: r, sim: r.Sim, orders: workload.Orders{Seed: r.Sim.Seed()}, variant: v}
	h := r.Sim.Host("node-1")
	p.systems = cluster.NewSystems(r.Sim)
	p.client = r.Sim.Host("client")
	p.deliveries = oracle.NewDeliveries(r.Sim.Fail, p.orders.Reference())
	p.node = cluster.NewNode(h, p.process, nil)
	return p
}

// process is what one process of the node is built with, and watched by.
func (p *pipeline) process(w primitives.World) cluster.Process {
	boundary := oracle.NewBoundary(p.sim.Fail, p.deliveries, workload.OrderNumber)
	return cluster.Process{
		Connectors: boundary.Connectors(cluster.Connectors(w, boundary.NATS(nats.Driver{}))),
		Tap:        oracle.Taps{oracle.NewRoots(p.sim.Fail, p.variant.Instances == 1), oracle.NewRelays(p.sim.Fail, p.variant.Capacities), oracle.NewDefinitions(p.sim.Fail), boundary},
	}
}

// start brings everything up while nothing goes wrong, and holds the oracles.
func (p *pipeline) start() {
	p.watch()
	p.channels()
	p.node.Start()
	definitions := &workload.Definitions{
		World: p.client.World(), On: p.node, Sim: p.sim, History: oracle.NewHistory(searchTime),
	}
	if !p.declare(p.variant.Script, definitions.Script()) {
		return
	}
	r := p.run
	r.Target(p.node.Host())
	r.Supervise(p.node.Host())
	for _, h := range p.systems.Hosts() {
		r.Peer(h)
		r.Name(h.Name())
	}
	r.Peer(p.client)
	r.Inject(fault.Broker("nats", append(p.systems.Bus.Verbs(), cluster.Outages("nats/outage", p.systems.Bus.Host()))))
	r.Inject(fault.Broker("redis", append(p.systems.Cache.Verbs(), cluster.Outages("redis/outage", p.systems.Cache.Host()))))
	r.Inject(fault.Broker("http", append(p.systems.Partner.Verbs(), cluster.Outages("http/outage", p.systems.Partner.Host()))))
	r.Hold(p.deliveries.Everything(true))
	r.Hold(definitions.History.Linearizable())
	r.Hold(oracle.Oracle{Name: "node-ready", Quiet: p.ready})
	workload.Clients(p.sim, p.client, definitionClients, definitionThink, r.Over, definitions.Step)
	p.settle("definitions", definitions.Settle)
	p.began = p.sim.Elapsed()
	p.produce()
}

// channels creates what the pipeline's client expects to find.
func (p *pipeline) channels() {
	bus := p.systems.Bus
	for _, name := range []string{"orders", "prices", "rejections"} {
		bus.CreateStream(nats.Stream{Name: name, Subjects: []string{name}})
	}
	bus.CreateConsumer("orders", "plexus", natsconnector.ConsumerConfig{Explicit: true, AckWait: 30 * time.Second})
}

// watch follows the orders in the ledgers of the systems.
func (p *pipeline) watch() {
	d := p.deliveries
	bus, cache, partner := p.systems.Bus.Ledger(), p.systems.Cache.Ledger(), p.systems.Partner.Ledger()
	source := d.Source(bus.Channel("orders"))
	sinks := d.Sinks(bus,
		oracle.Sink{Channel: "prices", Leaf: uint8(workload.LeafPriced)},
		oracle.Sink{Channel: "rejections", Leaf: uint8(workload.LeafRejected)})
	bus.Observe(func(e brokers.Event) {
		source(e)
		sinks(e)
	})
	cache.Observe(d.Sinks(cache, oracle.Sink{Channel: "prices", Leaf: uint8(workload.LeafChannel), Documents: oracle.JSONArray}))
	partner.Observe(d.Sinks(partner, oracle.Sink{Channel: http.Requests, Leaf: uint8(workload.LeafNotified)}))
}

// declare runs scripts on the node and reports whether it may go on.
func (p *pipeline) declare(scripts ...string) bool {
	var failed error
	err := p.sim.Do("declare", func() {
		ctx, w := context.Background(), p.client.World()
		for !p.node.Ready() {
			p.sim.Sleep(10*time.Millisecond, "node to serve")
		}
		for _, script := range scripts {
			if failed = workload.Declare(ctx, w, p.node, script); failed != nil {
				return
			}
		}
	}, declareBound)
	if err != nil || failed != nil {
		p.sim.Fail("declares", fmt.Sprintf("the pipeline could not be declared: %v %v", err, failed))
	}
	return p.sim.Failed() == nil
}

// settle runs f once the run is over, and holds that it comes to its end: after
// everything healed the node takes statements again.
func (p *pipeline) settle(name string, f func(client int, r *sim.Stream)) {
	settled := false
	p.client.World().Tasks().Go(name, func() {
		r := p.sim.Stream("workload/settle/" + name)
		for !p.run.Over() {
			p.sim.Sleep(time.Second, "run to be over")
		}
		f(definitionClients, r)
		settled = true
	})
	p.run.Hold(oracle.Oracle{Name: "takes-statements", Quiet: func() error {
		if !settled {
			return fmt.Errorf("%s found no answer after everything had healed", name)
		}
		return nil
	}})
}

// operate lets an operator change the pipeline until the run is over, and then
// has it run.
func (p *pipeline) operate() {
	o := &workload.Operator{World: p.client.World(), On: p.node, Script: p.variant.Script}
	workload.Clients(p.sim, p.client, 1, operatorThink, p.run.Over, o.Step)
	p.settle("operator", func(int, *sim.Stream) { o.Settle() })
}

// produce lets orders arrive until the run is over.
func (p *pipeline) produce() {
	if p.run.Over() {
		return
	}
	due := uint64(p.variant.PerSecond) * uint64(p.sim.Elapsed()-p.began) / uint64(time.Second)
	for p.produced < due {
		p.produced++
		o := p.orders.Order(p.produced)
		p.payload = o.AppendPayload(p.payload[:0])
		p.systems.Bus.Produce("orders", nil, p.payload)
	}
	p.sim.After(produceEvery, p.produce)
}

// ready is the liveness of the node itself.
func (p *pipeline) ready() error {
	if why := p.node.NotReady(); len(why) > 0 {
		return fmt.Errorf("the node does not serve: %s", strings.Join(why, "; "))
	}
	return nil
}
