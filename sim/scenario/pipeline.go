package scenario

import (
	"time"

	natsconnector "plexus/connectors/nats"
	"plexus/sim/brokers"
	"plexus/sim/brokers/http"
	"plexus/sim/brokers/nats"
	"plexus/sim/campaign"
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
		About: "The order pipeline with small buffers, batches and windows and several instances of its source, " +
			"while an operator stops, starts and replaces parts of it.",
		Horizon: time.Minute, Steps: 60_000,
		Setup: func(r *campaign.Run) {
			p := newPipeline(r, workload.Vary(workload.FirstPipeline, ordersPerSecond, r.Sim.Stream("workload/variant")))
			if p.start() {
				p.operate(workload.Operator{Replaceable: replaceable})
			}
		},
	}
}

// replaceable are the parts of the order pipeline that can be replaced.
var replaceable = []string{
	"NATS STREAM INGESTOR orders_in", "JUNCTION pricing",
	"NATS SUBJECT EMITTER prices_out", "REDIS CHANNEL EMITTER prices_live", "HTTP REQUEST EMITTER notices_out",
	"RELAY orders", "RELAY prices", "RELAY notices",
}

// pipeline is the order pipeline at work.
type pipeline struct {
	*rig
	orders   workload.Orders
	began    time.Duration // of producing
	produced uint64
	payload  []byte
	observe  func(brokers.Event) // of the bus; nil for nobody
}

const (
	ordersPerSecond = 1000
	produceEvery    = 10 * time.Millisecond
)

func newPipeline(r *campaign.Run, v workload.Variant) *pipeline {
	orders := workload.Orders{Seed: r.Sim.Seed()}
	p := &pipeline{rig: newRig(r, v, orders.Reference(), workload.OrderNumber), orders: orders}
	p.watch()
	p.streams()
	return p
}

// streams makes the streams and the consumer that the pipeline expects.
func (p *pipeline) streams() {
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
		if p.observe != nil {
			p.observe(e)
		}
	})
	cache.Observe(d.Sinks(cache, oracle.Sink{Channel: "prices", Leaf: uint8(workload.LeafChannel), Documents: oracle.JSONArray}))
	partner.Observe(d.Sinks(partner, oracle.Sink{Channel: http.Requests, Leaf: uint8(workload.LeafNotified)}))
}

// start lets orders arrive at a declared pipeline.
func (p *pipeline) start() bool {
	if !p.rig.start() {
		return false
	}
	p.run.Hold(p.deliveries.Everything(true))
	p.began = p.sim.Elapsed()
	p.produce()
	return true
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
