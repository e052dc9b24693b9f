package scenario

import (
	"fmt"
	"strconv"
	"time"

	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers/nats"
	"plexus/sim/campaign"
	"plexus/sim/cluster"
	"plexus/sim/fault"
	"plexus/sim/oracle"
	"plexus/sim/workload"
)

// clusterNodes is how many nodes the clusters of campaigns have.
const clusterNodes = 3

// clusterPipeline is the order pipeline on three nodes.
func clusterPipeline() campaign.Scenario {
	return campaign.Scenario{
		Name: "cluster-pipeline", Nodes: clusterNodes,
		About: "Three nodes share the order pipeline at 1,000 orders a second while definitions change: no acknowledged " +
			"loss and no work done by two, whatever fails, the network between the nodes included.",
		Horizon: time.Minute, Steps: 200_000,
		Setup: func(r *campaign.Run) {
			newPipeline(r, workload.Standard(workload.FirstPipeline, ordersPerSecond)).start()
		},
	}
}

// clusterLifecycle is the varied order pipeline on three nodes.
func clusterLifecycle() campaign.Scenario {
	return campaign.Scenario{
		Name: "cluster-lifecycle", Nodes: clusterNodes,
		About: "The order pipeline with small buffers on three nodes, while an operator stops, starts and replaces parts " +
			"of it.",
		Horizon: time.Minute, Steps: 150_000,
		Setup: func(r *campaign.Run) {
			p := newPipeline(r, workload.Vary(workload.FirstPipeline, ordersPerSecond, r.Sim.Stream("workload/variant")))
			if p.start() {
				p.operate(workload.Operator{Replaceable: replaceable})
			}
		},
	}
}

// clusterRestart is the order pipeline on nodes that come and go.
func clusterRestart() campaign.Scenario {
	return campaign.Scenario{
		Name: "cluster-restart", Nodes: clusterNodes,
		About: "Three nodes with the order pipeline are killed, crash, freeze and restart, one at a time, in turn and all " +
			"at once, far more often than anything else fails.",
		Horizon: time.Minute, Steps: 200_000,
		Setup: func(r *campaign.Run) {
			p := newPipeline(r, workload.Standard(workload.FirstPipeline, ordersPerSecond))
			p.members.kinds = restarts()
			p.start()
		},
	}
}

// restarts are the faults of processes, three times as often as usual.
func restarts() []fault.Kind {
	var out []fault.Kind
	for _, k := range append(fault.Standard(), fault.Clustered()...) {
		switch k.Class {
		case fault.ProcessKill, fault.ProcessRestart, fault.HostCrash, fault.PowerLoss, fault.HostFreeze, fault.AllKilled, fault.RollingStop:
			k.Per /= 3
			out = append(out, k)
		case fault.DiskSlow, fault.TaskStall, fault.LinkSlow, fault.LinkReset:
			out = append(out, k)
		}
	}
	return out
}

// clusterMovers is the order pipeline on nodes between which work is moved.
func clusterMovers() campaign.Scenario {
	return campaign.Scenario{
		Name: "cluster-movers", Nodes: clusterNodes,
		About: "An operator drains, cordons, relocates and replaces nodes under the order pipeline: work moves whole or " +
			"not at all, and a node that lost its disk comes back only after it was dropped.",
		Horizon: time.Minute, Steps: 200_000,
		Setup: func(r *campaign.Run) {
			p := newPipeline(r, workload.Standard(workload.FirstPipeline, ordersPerSecond))
			if p.start() {
				p.move("INGESTOR orders_in", "JUNCTION pricing", "EMITTER prices_out", "EMITTER prices_live", "EMITTER notices_out",
					"RELAY orders", "RELAY prices", "RELAY notices")
			}
		},
	}
}

// clusterState is a pipeline on nodes between which its source moves, which keeps
// its place on its node and on replicas.
func clusterState() campaign.Scenario {
	return campaign.Scenario{
		Name: "cluster-state", Nodes: clusterNodes,
		About: "The source of a seeded generator, whose place its node and its replicas keep, moves between three nodes, " +
			"as planned and after losses: no row is left out, and rows are read again as they were.",
		Horizon: time.Minute, Steps: 100_000,
		Setup: func(r *campaign.Run) {
			x := newCursor(r)
			x.members.replicate(r.Sim.Stream("workload/replicas"))
			if x.start() {
				x.restart = true // a generator gives up after five batches that were rejected in a row
				x.move("INGESTOR ticks", "INGESTOR ticks", "EMITTER marks_out", "RELAY marks")
				x.due()
			}
		},
	}
}

// replicate draws how many nodes keep copies of a state.
func (m *members) replicate(draw *sim.Stream) {
	m.knobs["replica-count"] = strconv.FormatInt(draw.Between(0, clusterNodes-1), 10)
}

// move lets an operator move units until the run is over, and then has every node
// take part again.
func (x *rig) move(units ...string) {
	m := &workload.Movers{World: x.client.World(), Sim: x.sim, On: x.cluster, Units: units}
	for _, n := range x.cluster.Nodes() {
		m.Nodes = append(m.Nodes, n.Name())
	}
	p := &replacement{rig: x, movers: m}
	workload.Clients(x.sim, x.client, 1, moverThink, x.run.Over, func(client int, r *sim.Stream) {
		if x.run.Over() {
			return // finish has looked for the last time
		}
		if r.Below(replaceEvery) == 0 {
			p.replace(x.cluster.Nodes()[r.Below(uint64(len(m.Nodes)))])
			return
		}
		m.Step(client, r)
	})
	x.settle("movers", func(int, *sim.Stream) {
		p.finish()
		m.Settle()
		if x.restart {
			m.Restart()
		}
	})
}

const (
	moverThink = 2 * time.Second
	// replaceEvery is how many decisions share one replacement of a node.
	replaceEvery = 8
)

// replacement takes a node whose disk was lost out of the cluster and lets it join
// again, one at a time.
type replacement struct {
	*rig
	movers *workload.Movers
	lost   *cluster.Node // that was not dropped yet
}

// replace wipes a node, if the others are well, and vote: of a group of two no vote
// may be lost.
func (x *replacement) replace(n *cluster.Node) {
	if x.lost != nil || !x.cluster.Ready() || !x.cluster.AllVote() {
		x.drop()
		return
	}
	n.Wipe()
	x.lost = n
	x.drop()
}

// drop tries once to drop the lost node. It comes back as a new member, which it
// may be already, where an earlier answer was lost.
func (x *replacement) drop() {
	n := x.lost
	if n == nil {
		return
	}
	back := n.Host().Running() && n.Ready()
	if !back && !x.movers.Drop(n.Name()) || x.lost != n {
		return
	}
	x.lost = nil
	if !n.Host().Running() {
		n.Host().Restart()
	}
}

// finish drops what is still lost.
func (x *replacement) finish() {
	for x.lost != nil {
		x.drop()
		x.sim.Sleep(time.Second, "next attempt")
	}
}

// clusterTransactions is the control plane of three nodes with many users.
func clusterTransactions() campaign.Scenario {
	return campaign.Scenario{
		Name: "cluster-transactions", Nodes: clusterNodes,
		About: "Several users change definitions on three nodes in transactions, lose sessions, take over and repeat: what " +
			"was answered happened once, whole and everywhere, whatever fails.",
		Horizon: time.Minute, Quiet: time.Minute, Steps: 120_000,
		Setup: func(r *campaign.Run) {
			c := cluster.New()
			m := newMembers(r, c)
			for i := range r.Nodes {
				c.Add(r.Sim.Host(fmt.Sprintf("node-%d", i+1)), cluster.Program{
					Process: func(n *cluster.Node, w primitives.World) cluster.Process {
						return cluster.Process{Connectors: cluster.Connectors(w, nats.Driver{}), Tap: m.taps(n)}
					},
					Settings: m.settings,
				})
			}
			client := r.Sim.Host("client")
			batches := oracle.NewBatches(r.Sim.Fail, m.states)
			t := &workload.Transactions{
				World: client.World(), On: c, Batches: batches, Sim: r.Sim,
				Now:   m.states.Now,
				Wrong: func(what string) { r.Sim.Fail("right-answer", what) },
			}
			c.Start()
			script, statements := m.statements(client)
			if !declare(r, c, client, t.Script(), script) {
				return
			}
			suffer(r, c)
			r.Peer(client)
			m.hold()
			r.Hold(batches.Oracle())
			statements()
			workload.Clients(r.Sim, client, transactionClients, transactionThink, r.Over, t.Step)
			settle(r, client, "transactions", t.Settle)
		},
	}
}

const (
	transactionClients = 4
	transactionThink   = time.Second
)
