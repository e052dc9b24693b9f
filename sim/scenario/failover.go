package scenario

import (
	"context"
	"fmt"
	"slices"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
	"plexus/sim/brokers/nats"
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
			p.systems.Bus.CreateStream(nats.Stream{Name: "answered", Subjects: []string{"answered"}})
			if !p.start() || !p.declare("CREATE DOMAIN probes;", calls) {
				return
			}
			f.call()
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

// calls is a way through the cluster whose source waits for nobody: it shows when
// records flow, while the source of orders waits for those that were in flight.
const calls = `
CREATE DOMAIN calls;
USE calls;

BEGIN;
CREATE SCHEMA call (call U64);
CREATE WIRE JSON SCHEMA call_json MODE STRICT (call integer);
CREATE CODEC call_codec FROM WIRE JSON SCHEMA call_json TO SCHEMA call;
CREATE RELAY incoming SCHEMA call UNBRANCHED CAPACITY 4;
CREATE CLIENT bus TYPE NATS CONFIG { 'addr' = 'nats://bus:4222' };
CREATE NATS SUBJECT INGESTOR calls_in
  FROM NATS bus SUBJECT calls QUEUE GROUP plexus INSTANCES 1
    MODE NO_ACK SEQUENTIAL
    ON QUIESCE BUFFER MAX SIZE 1MiB ON OVERFLOW DROP OLDEST
  DECODE USING call_codec
  TO incoming INHERIT ALL UNBRANCHED FLUSH IMMEDIATE ON MESSAGE ERROR LOG
  ON GENERAL ERROR LOG;
CREATE ATTACHED NATS SUBJECT EMITTER calls_out
  FROM incoming
  TO NATS bus SUBJECT answered
    MODE JETSTREAM ACK SEQUENTIAL ACK TIMEOUT 5s RETRY POLICY BACKOFF 100ms MAX 5s
    ENCODE USING call_codec
  INHERIT ALL
  FLUSH IMMEDIATE
  ON MESSAGE ERROR LOG
  ON GENERAL ERROR LOG;
START;
COMMIT;
`

const (
	failoverPerSecond = 200
	callEvery         = 50 * time.Millisecond
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
	// called is how many calls there were, fresh how many when it died. inFlight are
	// the orders that the owner of their source has and has not acknowledged.
	called   uint64
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
	// What its own source had comes again when the broker has waited long enough.
	f.inFlight = map[uint64]bool{}
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

// probe sends one command to some node and does not care for the answer: the
// replicated state tells.
func (f *failover) probe(text string) { f.execute("probes", text, probeBound) }

// execute runs a statement and reports whether it was completed.
func (f *failover) execute(domain, text string, bound time.Duration) bool {
	w := f.client.World()
	ctx, cancel := primitives.WithDeadline(context.Background(), w, w.Clock().Now().Add(bound))
	defer cancel()
	s, err := f.cluster.Open(ctx, w, client.Options{Client: "failover", Domain: domain, CallTimeout: bound})
	if err != nil {
		return false
	}
	defer s.Drop()
	reply, err := s.Execute(ctx, text)
	return err == nil && reply.GetDisposition() == sessionpb.Disposition_COMPLETED
}

const (
	probeBound = 3 * time.Second
	moveBound  = 100 * time.Second
)

// call publishes a call every now and then.
func (f *failover) call() {
	if f.done {
		return
	}
	f.called++
	f.systems.Bus.Produce("calls", nil, fmt.Appendf(nil, `{"call":%d}`, f.called))
	f.sim.After(callEvery, f.call)
}

// owner kills the owner of relays, among them one behind the source of orders,
// which is on another node.
func (f *failover) owner() {
	f.waits = "a node that owns relays and not the source"
	victim := f.victim()
	for victim == nil {
		f.pause(probeEvery, f.waits)
		victim = f.victim()
	}
	for _, statement := range [][2]string{{"shop", "RELAY orders"}, {"calls", "RELAY incoming"}} {
		for !f.execute(statement[0], fmt.Sprintf("RELOCATE %s ONTO NODE `%s` IGNORE PREFERENCES", statement[1], victim.Name()), moveBound) {
			f.pause(probeEvery, f.waits)
		}
	}
	f.pause(settleTime, "orders to flow")
	f.pending = map[uint64]bool{}
	for number := range f.inFlight { //plexus:orderfree copied into a set
		f.pending[number] = true
	}
	f.fresh, f.killed = f.called, f.sim.Elapsed()
	f.end(victim)
}

// victim returns the node to kill, nil while nobody knows one.
func (f *failover) victim() *cluster.Node {
	leader := f.cluster.Leader()
	if leader == nil {
		return nil
	}
	schedule, ok := leader.State().Schedule("shop")
	if !ok {
		return nil
	}
	source, ok := schedule.Assignment(catalog.Key{Kind: vocab.EntityIngestor, Name: "orders_in"})
	if !ok || source.Primary == "" {
		return nil
	}
	others := slices.DeleteFunc(slices.Clone(f.cluster.Nodes()), func(n *cluster.Node) bool { return n.Name() == source.Primary })
	return others[f.draw.Below(uint64(len(others)))]
}

// end kills a node or takes its power.
func (f *failover) end(n *cluster.Node) {
	if f.draw.Below(2) == 0 {
		n.Host().Kill()
	} else {
		n.Host().Crash()
	}
}

// observe follows orders at their source, and calls where they are answered.
func (f *failover) observe(e brokers.Event) {
	switch e.Channel.Name {
	case "orders":
		f.source(e)
	case "answered":
		if f.killed == 0 || f.flows || e.Kind != brokers.Answered {
			return
		}
		var number uint64
		if _, err := fmt.Sscanf(string(e.Channel.Message(e.Seq).Payload), `{"call":%d}`, &number); err == nil && number > f.fresh {
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
