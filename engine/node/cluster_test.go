package node_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/control"
	"plexus/engine/node"
	"plexus/engine/session"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/vocab"
	"plexus/primitives"
	"plexus/sim"
)

// crowd is a simulated cluster.
type crowd struct {
	t     *testing.T
	sim   *sim.Simulation
	hosts []*sim.Host
	nodes []*node.Node
	// adjust changes the settings of every node.
	adjust []func(*node.Settings)
	ended  error // of the last node that ended by itself
}

func newCrowd(t *testing.T, seed uint64, size int, adjust ...func(*node.Settings)) *crowd {
	c := &crowd{t: t, sim: sim.New(sim.Options{Seed: seed}), nodes: make([]*node.Node, size), adjust: adjust}
	t.Cleanup(func() { c.sim.Close() })
	for i := range size {
		c.hosts = append(c.hosts, c.sim.Host(fmt.Sprintf("node-%d", i+1)))
	}
	for i := range size {
		c.start(i)
		c.until(func() bool { return c.ready(i) })
	}
	return c
}

const peerPort = 47395

func (c *crowd) start(i int) {
	h := c.hosts[i]
	h.Start("plexusd", func(ctx context.Context, w primitives.World) {
		s := node.Defaults()
		s.InitialPassword, s.PasswordCost = "correct horse", session.LeastCost
		s.Control.NodeID = h.Name()
		s.Interconnect.Listen = netip.AddrPortFrom(h.Addr(), peerPort)
		s.Interconnect.Insecure = true
		s.Scheduler = node.SchedulerRandom
		if i > 0 {
			s.Control.Join = []string{netip.AddrPortFrom(c.hosts[0].Addr(), peerPort).String()}
		}
		for _, adjust := range c.adjust {
			adjust(&s)
		}
		addr := netip.AddrPortFrom(h.Addr(), clientPort)
		n := node.New(w, s, connectors(), node.Listeners{
			Sessions:  func(s *session.Service) node.Server { return session.NewFrameServer(w, addr, s) },
			ClientURL: "http://" + addr.String(),
		}, node.Options{Version: "test"})
		if err := n.Start(ctx); err != nil {
			c.t.Errorf("start: %v", err)
			return
		}
		c.nodes[i] = n
		defer func() { c.nodes[i] = nil }()
		if err := n.Wait(ctx); ctx.Err() == nil {
			c.ended = err
		}
		if _, err := n.Stop(context.Background()); err != nil {
			c.t.Errorf("stop: %v", err)
		}
	})
}

func (c *crowd) ready(i int) bool { return c.nodes[i] != nil && len(c.nodes[i].NotReady()) == 0 }

func (c *crowd) until(done func() bool) {
	c.t.Helper()
	if err := c.sim.RunUntil(done, 2*time.Minute); err != nil {
		for i, n := range c.nodes {
			if n != nil {
				c.t.Logf("node-%d: %v %+v", i+1, n.NotReady(), n.Group().Status())
			}
		}
		c.t.Fatal(err)
	}
}

// leader returns the node that leads.
func (c *crowd) leader() int {
	for i, n := range c.nodes {
		if n != nil && n.Group().Leads() {
			return i
		}
	}
	return -1
}

func (c *crowd) client(w primitives.World, i int) client.Options {
	return client.Options{
		Servers: []string{"http://" + netip.AddrPortFrom(c.hosts[i].Addr(), clientPort).String()},
		Dial:    client.Frames(w, "default", "correct horse"), Client: "test", Domain: "default",
	}
}

// run runs statements on a node.
func (c *crowd) run(i int, statements ...string) {
	c.t.Helper()
	err := c.sim.Do("client", func() {
		w, ctx := c.sim.Driver().World(), context.Background()
		s, err := client.Open(ctx, w, c.client(w, i))
		if err != nil {
			c.t.Errorf("open: %v", err)
			return
		}
		for _, text := range statements {
			reply, err := s.Execute(ctx, text)
			if err != nil || reply.GetDisposition() != sessionpb.Disposition_COMPLETED {
				c.t.Errorf("%s: %v %v", text, reply, err)
			}
		}
		_ = s.Close(ctx)
	}, time.Minute)
	if err != nil {
		c.t.Fatal(err)
	}
}

func TestThreeNodesFormACluster(t *testing.T) {
	c := newCrowd(t, 1, 3)
	c.until(func() bool { return c.leader() >= 0 })
	c.run(c.leader(), "CREATE SCHEMA tick (value U64)", "CREATE RELAY ticks SCHEMA tick UNBRANCHED")
	for i, n := range c.nodes {
		count := 0
		for range n.Group().State().Models("default") {
			count++
		}
		if count != 2 {
			t.Errorf("node-%d holds %d definitions", i+1, count)
		}
	}
	first := c.leader()
	c.hosts[first].Crash()
	c.until(func() bool { return c.leader() >= 0 && c.leader() != first })
	c.run(c.leader(), "DROP RELAY ticks")
	c.hosts[first].Restart()
	c.until(func() bool { return c.ready(first) })
}

// Work goes to other nodes when its owner is lost, and stays where it is when
// everybody comes back.
func TestWorkFailsOver(t *testing.T) {
	c := newCrowd(t, 2, 3)
	c.until(func() bool { return c.leader() >= 0 })
	c.run(c.leader(), pipeline)
	c.until(func() bool { return c.owner("pick") != "" })
	owner := c.owner("pick")
	for i := range c.hosts {
		c.reads(i, "even", 25)
	}
	for i, h := range c.hosts {
		if h.Name() == owner {
			h.Crash()
			c.nodes[i] = nil
		}
	}
	c.until(func() bool { return c.owner("pick") != owner && c.owner("pick") != "" })
	for i, h := range c.hosts {
		if h.Running() {
			c.until(func() bool { return c.ready(i) })
			c.reads(i, "even", 25)
		}
	}
}

// reads waits until a session on a node has seen so many rows of a relay.
func (c *crowd) reads(i int, relay string, rows int) {
	c.t.Helper()
	err := c.sim.Do("reader", func() {
		w, ctx := c.sim.Driver().World(), context.Background()
		s, err := client.Open(ctx, w, c.client(w, i))
		if err != nil {
			c.t.Errorf("open on node-%d: %v", i+1, err)
			return
		}
		stream, err := s.Subscribe(ctx, "CREATE SUBSCRIPTION watch TO "+relay, sessionpb.RowFormat_JSON)
		if err != nil {
			c.t.Errorf("subscribe on node-%d: %v", i+1, err)
			return
		}
		for rows > 0 {
			frame, err := stream.Recv()
			if err != nil {
				c.t.Errorf("frame on node-%d: %v", i+1, err)
				return
			}
			rows -= len(frame.GetRows().GetJson())
		}
		_ = stream.Close()
		_ = s.Close(ctx)
	}, time.Minute)
	if err != nil {
		c.t.Fatalf("node-%d, %d rows to go: %v", i+1, rows, err)
	}
}

// owner returns the node that executes a junction, as the leader knows.
func (c *crowd) owner(junction string) string {
	at := c.leader()
	if at < 0 {
		return ""
	}
	s, ok := c.nodes[at].Group().State().Schedule("default")
	if !ok {
		return ""
	}
	a, _ := s.Assignment(catalog.Key{Kind: vocab.EntityJunction, Name: junction})
	return a.Primary
}

// TestMembersMeasure asks every node of a cluster for what it measures as a member.
func TestMembersMeasure(t *testing.T) {
	c := newCrowd(t, 5, 3)
	c.until(func() bool { return c.leader() >= 0 })
	c.run(c.leader(), pipeline)
	for _, n := range c.nodes {
		got := map[string]float64{}
		for _, s := range n.Samples() {
			got[s.Family.Name+fmt.Sprint(s.Values)] = s.Value
		}
		for _, name := range []string{
			"plexus_interconnect_connections[management outbound]", "plexus_runtime_revision[committed]", "plexus_runtime_revision[prepared]",
			"plexus_runtime_revision[ready]", "plexus_staging_bytes[limit]",
		} {
			if got[name] <= 0 {
				t.Errorf("%s is %v", name, got[name])
			}
		}
		if got["plexus_runtime_revision[ready]"] < got["plexus_runtime_revision[committed]"] {
			t.Errorf("ready is %v of %v", got["plexus_runtime_revision[ready]"], got["plexus_runtime_revision[committed]"])
		}
	}
}

// TestAnIdleClusterWritesNothing lets a cluster rest, also after a member came back:
// nothing is appended to the log that nobody asked for.
func TestAnIdleClusterWritesNothing(t *testing.T) {
	c := newCrowd(t, 3, 3)
	c.until(func() bool { return c.leader() >= 0 })
	rests := func() {
		t.Helper()
		_ = c.sim.Run(5 * time.Minute) // the first duties of a tenure
		before := c.nodes[c.leader()].Group().State().Applied
		_ = c.sim.Run(10 * time.Minute)
		if after := c.nodes[c.leader()].Group().State().Applied; after != before {
			t.Errorf("the log went from %d to %d", before, after)
		}
	}
	rests()
	follower := (c.leader() + 1) % len(c.nodes)
	c.hosts[follower].Kill()
	c.until(func() bool { return !c.hosts[follower].Running() })
	c.start(follower)
	c.until(func() bool { return c.ready(follower) })
	rests()
}

// TestSourcesWaitForEveryNodeToPrepare has a node stand still while a pipeline
// starts: no source of it starts before that node counts as lost.
func TestSourcesWaitForEveryNodeToPrepare(t *testing.T) {
	c := newCrowd(t, 4, 3)
	c.until(func() bool { return c.leader() >= 0 })
	leader := c.leader()
	c.run(leader, strings.Replace(pipeline, "START;", "", 1))
	c.hosts[(leader+1)%3].Freeze()
	began := c.sim.Elapsed()
	var waited bool
	c.sim.After(3*time.Second, func() { waited = len(c.nodes[leader].NotReady()) > 0 })
	c.run(leader, "START")
	if took := c.sim.Elapsed() - began; !waited || took < 5*time.Second {
		t.Errorf("the pipeline was activated without the third node, after %v", took)
	}
	c.hosts[(leader+1)%3].Thaw()
	for i := range c.hosts {
		c.until(func() bool { return c.ready(i) })
	}
	c.reads((leader+1)%3, "even", 25)
}

// TestALostLogEndsItsNode cuts the end off the log of a member between two records,
// as no crash can: the node ends when it is told what it had acknowledged, with what
// to do about it.
func TestALostLogEndsItsNode(t *testing.T) {
	c := newCrowd(t, 6, 3)
	c.until(func() bool { return c.leader() >= 0 })
	victim := (c.leader() + 1) % 3
	disk := c.hosts[victim].Disk()
	var name string
	for _, file := range disk.Names() {
		if strings.Contains(file, "consensus/wal/") {
			name = file
		}
	}
	before := disk.Get(name)
	c.run(c.leader(), "CREATE SCHEMA one (x U8)", "CREATE SCHEMA two (x U8)")
	c.until(func() bool { return len(c.nodes[victim].NotReady()) == 0 && len(disk.Get(name)) > len(before) })
	c.hosts[victim].Kill()
	c.until(func() bool { return !c.hosts[victim].Running() })
	disk.Put(name, before)
	c.start(victim)
	c.until(func() bool { return c.ended != nil })
	var lost *control.LostLogError
	if !errors.As(c.ended, &lost) || !strings.Contains(c.ended.Error(), "DROP NODE "+c.hosts[victim].Name()) {
		t.Errorf("it ended with %v", c.ended)
	}
}

// TestACommittedEntryOutlivesItsQuorum: a member whose disk lost confirmed entries
// and one that never had them elect a leader without them. The member that still
// has them ends and says so, instead of refusing what the leader sends for ever.
func TestACommittedEntryOutlivesItsQuorum(t *testing.T) {
	c := newCrowd(t, 8, 3)
	c.until(func() bool { return c.leader() >= 0 })
	keeper := c.leader()
	loser, absent := (keeper+1)%3, (keeper+2)%3
	disk := c.hosts[loser].Disk()
	var name string
	for _, file := range disk.Names() {
		if strings.Contains(file, "consensus/wal/") {
			name = file
		}
	}
	c.hosts[absent].Kill()
	c.until(func() bool { return !c.hosts[absent].Running() })
	before := disk.Get(name)
	c.run(keeper, "CREATE SCHEMA answered (x U8)")
	c.until(func() bool { return len(disk.Get(name)) > len(before) })
	for _, i := range []int{keeper, loser} {
		c.hosts[i].Kill()
		c.until(func() bool { return !c.hosts[i].Running() })
	}
	disk.Put(name, before)
	c.start(loser)
	c.start(absent)
	c.until(func() bool { return c.leader() >= 0 })
	c.run(c.leader(), "CREATE SCHEMA other (x U8)")
	c.start(keeper)
	c.until(func() bool { return c.ended != nil })
	var diverged *control.DivergedError
	if !errors.As(c.ended, &diverged) || !strings.Contains(c.ended.Error(), "DROP NODE "+c.hosts[keeper].Name()) {
		t.Errorf("it ended with %v", c.ended)
	}
}

// TestAMoveWaitsForALostNode: a move that begins while a killed node still counts
// as live waits until it does not, and goes on without it.
func TestAMoveWaitsForALostNode(t *testing.T) {
	c := newCrowd(t, 9, 3)
	c.until(func() bool { return c.leader() >= 0 })
	leader := c.leader()
	c.run(leader, pipeline)
	c.until(func() bool { return c.owner("pick") != "" })
	from, to := c.hosts[leader].Name(), c.hosts[(leader+1)%3].Name()
	c.run(leader, "RELOCATE JUNCTION pick ONTO NODE "+from+" IGNORE PREFERENCES")
	c.hosts[(leader+2)%3].Kill()
	c.run(leader, "RELOCATE JUNCTION pick ONTO NODE "+to+" IGNORE PREFERENCES")
}
