package scenario

import (
	"context"
	"fmt"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
	"plexus/sim/campaign"
	"plexus/sim/cluster"
	"plexus/sim/oracle"
	"plexus/sim/workload"
)

// FailoverName is the scenario that measures failovers.
const FailoverName = "cluster-failover"

// Bound is a distribution of virtual times and the most that is allowed.
type Bound struct {
	Name string
	Most time.Duration
}

// FailoverBounds are what the failover scenario measures.
var FailoverBounds = []Bound{
	{"commands accepted after the leader's death", 5 * time.Second},
	{"records flowing after a relay owner's death", 15 * time.Second},
	{"records in flight there presented again", 20 * time.Second},
}

// clusterFailover kills the leader, and later the owner of a relay, while nothing
// else goes wrong, and measures what follows.
func clusterFailover() campaign.Scenario {
	return campaign.Scenario{
		Name: FailoverName, Nodes: clusterNodes,
		About: "The leader of three nodes is killed, then the owner of a relay, while nothing else goes wrong: how long " +
			"until commands are accepted, records flow and what was in flight is presented again.",
		Horizon: 100 * time.Second, Steps: 150_000,
		Setup: func(r *campaign.Run) {
			p := newPipeline(r, workload.Standard(workload.FirstPipeline, failoverPerSecond))
			p.members.kinds, p.sound = nil, true
			f := &failover{pipeline: p, draw: r.Sim.Stream("workload/failover"), inFlight: map[uint64]bool{}}
			p.observe = f.observe
			if !p.start() || !p.declare("CREATE DOMAIN probes;") {
				return
			}
			p.client.World().Tasks().Go("failover", f.story)
			r.Hold(oracle.Oracle{Name: "failover-measured", Quiet: func() error {
				if !f.done {
					return fmt.Errorf("the failover is still waiting for %s", f.waits)
				}
				return nil
			}})
		},
	}
}

const (
	failoverPerSecond = 200
	// settleTime lets the cluster come to rest between two deaths.
	settleTime = 5 * time.Second
	probeEvery = 50 * time.Millisecond
)

// failover is the operator who kills and measures.
type failover struct {
	*pipeline
	draw  *sim.Stream
	waits string
	done  bool

	probes int
	killed time.Duration // when the owner of a relay died; 0 before
	// fresh is the number of the last order that was there when it died. inFlight are
	// the orders that a node had and had not acknowledged.
	fresh    uint64
	inFlight map[uint64]bool
	pending  map[uint64]bool
	flows    bool
}

func (f *failover) pause(d time.Duration, why string) { f.sim.Sleep(d, why) }

// story is what happens.
func (f *failover) story() {
	f.pause(settleTime+time.Duration(f.draw.Below(uint64(settleTime))), "orders to flow")
	f.leader()
	f.pause(settleTime, "cluster to come to rest")
	f.owner()
	f.waits = "records to flow"
	for !f.flows {
		f.pause(probeEvery, f.waits)
	}
	f.done = true
}

// leader kills the leader and sends commands until one is accepted: until a node
// that leads has applied it.
func (f *failover) leader() {
	f.waits = "a leader"
	n := f.cluster.Leader()
	for ; n == nil; n = f.cluster.Leader() {
		f.pause(probeEvery, f.waits)
	}
	f.end(n)
	began := f.sim.Elapsed()
	f.waits = "a command to be accepted"
	first := f.probes + 1
	accepted := func() bool {
		leader := f.cluster.Leader()
		if leader == nil || leader == n {
			return false
		}
		for i := first; i <= f.probes; i++ {
			if _, ok := leader.State().Model("probes", catalog.Key{Kind: vocab.EntitySchema, Name: fmt.Sprintf("p%d", i)}); ok {
				return true
			}
		}
		return false
	}
	w := f.client.World()
	for !accepted() {
		f.probes++
		text := fmt.Sprintf("CREATE SCHEMA p%d (x U8)", f.probes)
		w.Tasks().Go("probe", func() { f.probe(text) })
		f.pause(probeEvery, f.waits)
	}
	f.rig.run.Measure("commands accepted after the leader's death", f.sim.Elapsed()-began)
	n.Host().Restart()
	f.waits = "every node to serve"
	for !f.cluster.Ready() {
		f.pause(probeEvery, f.waits)
	}
}

// probe sends one command to some node and does not care for the answer.
func (f *failover) probe(text string) {
	w := f.client.World()
	ctx, cancel := primitives.WithDeadline(context.Background(), w, w.Clock().Now().Add(probeBound))
	defer cancel()
	s, err := f.cluster.Open(ctx, w, client.Options{Client: "probe", Domain: "probes", CallTimeout: probeBound})
	if err != nil {
		return
	}
	defer s.Drop()
	_, _ = s.Execute(ctx, text) // the replicated state tells
}

const probeBound = 3 * time.Second

// owner kills the owner of a relay that is not also that of the source.
func (f *failover) owner() {
	f.waits = "a relay that another node owns than the source"
	var victim *cluster.Node
	for victim == nil {
		victim = f.victim()
		f.pause(probeEvery, f.waits)
	}
	f.pending = map[uint64]bool{}
	for number := range f.inFlight { //plexus:orderfree copied into a set
		f.pending[number] = true
	}
	f.fresh, f.killed = f.produced, f.sim.Elapsed()
	f.end(victim)
}

// victim returns the node to kill, nil for none.
func (f *failover) victim() *cluster.Node {
	leader := f.cluster.Leader()
	if leader == nil {
		return nil
	}
	schedule, ok := leader.State().Schedule("shop")
	if !ok {
		return nil
	}
	owner := func(kind vocab.EntityKind, name string) string {
		a, _ := schedule.Assignment(catalog.Key{Kind: kind, Name: name})
		return a.Primary
	}
	source := owner(vocab.EntityIngestor, "orders_in")
	for _, relay := range []string{"orders", "prices"} {
		if at := owner(vocab.EntityRelay, relay); at != source {
			return f.cluster.Find(at)
		}
	}
	return nil
}

// end kills a node or takes its power.
func (f *failover) end(n *cluster.Node) {
	if f.draw.Below(2) == 0 {
		n.Host().Kill()
	} else {
		n.Host().Crash()
	}
}

// observe follows orders at their source and at the main sink.
func (f *failover) observe(e brokers.Event) {
	switch e.Channel.Name {
	case "orders":
		f.source(e)
	case "prices":
		if f.killed == 0 || f.flows || e.Kind != brokers.Answered {
			return
		}
		if number, ok := workload.OrderNumber(e.Channel.Message(e.Seq).Payload); ok && number > f.fresh {
			f.flows = true
			f.rig.run.Measure("records flowing after a relay owner's death", f.sim.Elapsed()-f.killed)
		}
	}
}

func (f *failover) source(e brokers.Event) {
	switch e.Kind {
	case brokers.Delivered:
		if f.killed > 0 && f.pending[e.Seq] {
			delete(f.pending, e.Seq)
			f.rig.run.Measure("records in flight there presented again", f.sim.Elapsed()-f.killed)
		}
		f.inFlight[e.Seq] = true
	case brokers.Acknowledged:
		delete(f.inFlight, e.Seq)
		delete(f.pending, e.Seq)
	case brokers.Rejected:
		delete(f.inFlight, e.Seq)
	}
}
