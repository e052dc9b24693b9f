package scenario

import (
	"fmt"
	"strconv"
	"strings"

	"plexus/engine/node"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/campaign"
	"plexus/sim/cluster"
	"plexus/sim/fault"
	"plexus/sim/oracle"
	"plexus/sim/workload"
)

// members is what holds for the nodes of a cluster together, whatever they carry.
type members struct {
	run      *campaign.Run
	cluster  *cluster.Cluster
	intake   *oracle.Intake
	states   *oracle.States
	owners   *oracle.Owners
	exchange *oracle.Exchange
	kinds    []fault.Kind      // what may go wrong
	random   bool              // the scheduler places at random
	knobs    map[string]string // other settings
}

// newMembers draws the settings that the nodes share.
func newMembers(r *campaign.Run, c *cluster.Cluster) *members {
	m := &members{
		run: r, cluster: c, intake: oracle.NewIntake(), knobs: map[string]string{},
		kinds: append(fault.Standard(), fault.Clustered()...),
	}
	draw := r.Sim.Stream("workload/members")
	m.random = draw.Below(4) != 0
	if draw.Below(2) == 0 {
		entries := draw.LogBetween(10, 1000)
		m.knobs["raft-snapshot-entries"] = strconv.FormatInt(entries, 10)
		m.knobs["raft-retain-entries"] = strconv.FormatInt(max(1, entries/draw.Between(1, 10)), 10)
	}
	m.states = oracle.NewStates(r.Sim.Fail, func() []oracle.Replica {
		var replicas []oracle.Replica
		for _, n := range c.Nodes() {
			replicas = append(replicas, n)
		}
		return replicas
	})
	m.owners = oracle.NewOwners(r.Sim.Fail, m.states)
	m.exchange = oracle.NewExchange(r.Sim.Fail)
	m.exchange.Now = r.Sim.Elapsed
	return m
}

// settings are those of every node.
func (m *members) settings(_ *cluster.Node, s *node.Settings) error {
	if m.random {
		if err := s.Set("scheduler", "random"); err != nil {
			return err
		}
	}
	for _, name := range primitives.SortedKeys(m.knobs) {
		if err := s.Set(name, m.knobs[name]); err != nil {
			return err
		}
	}
	return nil
}

// taps watch one process.
func (m *members) taps(n *cluster.Node) oracle.Taps {
	return oracle.Taps{turns{m.intake}, m.owners.Process(n, n.Host().Process()), m.exchange.Process(n.Name())}
}

// turns tells the intake when records may begin to take another way.
type turns struct{ intake *oracle.Intake }

// Observe implements observe.Tap.
func (t turns) Observe(e observe.Event) {
	if e.Kind == observe.RevisionInstalled {
		t.intake.Turn()
	}
}

// suffer makes the nodes what faults are about. Where there are several their
// names can be wrong, too.
func suffer(r *campaign.Run, c *cluster.Cluster) {
	for _, n := range c.Nodes() {
		r.Target(n.Host())
		r.Supervise(n.Host())
		if len(c.Nodes()) > 1 {
			r.Name(n.Name())
		}
	}
}

// hold says what may go wrong in a cluster beside what may on one node, and what
// must hold.
func (m *members) hold() {
	m.run.Allow(m.kinds...)
	m.run.Hold(m.states.Oracle())
	m.run.Hold(m.exchange.Settled())
	m.run.Hold(oracle.Oracle{Name: "every-node-serves", Quiet: func() error {
		if why := m.cluster.NotReady(); len(why) > 0 {
			return fmt.Errorf("not every node serves: %s", strings.Join(why, ", "))
		}
		return nil
	}})
	m.run.Hold(oracle.Oracle{Name: "one-leader", Quiet: func() error {
		if m.cluster.Leader() == nil {
			return fmt.Errorf("no node leads after everything had healed")
		}
		return nil
	}})
}

// statements returns the clients that change definitions.
func (m *members) statements(on *sim.Host) (script string, start func()) {
	n := &workload.Names{World: on.World(), On: m.cluster, Sim: m.run.Sim, History: oracle.NewCommands(searchTime)}
	return n.Script(), func() {
		m.run.Hold(n.History.Linearizable())
		workload.Clients(m.run.Sim, on, nameClients, nameThink, m.run.Over, n.Step)
		settle(m.run, on, "names", n.Settle)
		settle(m.run, on, "barrier", func(int, *sim.Stream) { m.barrier(on) })
	}
}
