package exchangetest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"plexus/engine/exchange"
	"plexus/engine/interconnect"
	"plexus/engine/observe"
	"plexus/primitives"
)

// Schema is that of every batch.
var Schema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)

// Cluster is a set of nodes with an exchange and a small graph each. It knows from
// outside what may not happen.
type Cluster struct {
	Limits     exchange.Limits
	Unreliable bool          // single messages get lost, doubled and delayed
	Refuses    uint64        // parts per million of batches that the graphs are not ready for
	Fails      uint64        // of rows that the graphs fail
	Work       time.Duration // of a graph on a batch
	Over       func() bool   // nothing new is produced
	Calm       func() bool   // graphs and messages behave
	Fail       func(oracle, message string)
	Taps       func(node string) observe.Tap // of the next process of a node
	Produce    func(n *Node, ctx context.Context, w primitives.World)

	Nodes  []*Node
	Layout *exchange.Layout
	Rows   []Row
	draw   func(uint64) uint64
}

// Row is what the ledger knows of one row.
type Row struct {
	Seen, Good int
	acked      bool
	born       int // of the process that made it
	owner      *Node
	done       bool // succeeded at its source
	lost       bool // without a share, and its delivery cannot be offered again
}

// Node is a machine of the cluster.
type Node struct {
	Name     string
	Exchange *exchange.Exchange // of the newest process
	c        *Cluster
	raft     uint64
	address  netip.Addr
	counter  uint64
	metrics  *observe.Registry
}

// NewCluster returns a cluster over the given nodes. draw returns a number below its
// argument.
func NewCluster(addresses map[string]netip.Addr, draw func(uint64) uint64, fail func(oracle, message string)) *Cluster {
	never := func() bool { return false }
	c := &Cluster{Work: 20 * time.Millisecond, Over: never, Calm: never, Fail: fail, Produce: (*Node).produce, draw: draw}
	var err error
	if c.Layout, err = exchange.NewLayout(Schema); err != nil {
		fail("harness", err.Error())
	}
	for i, name := range primitives.SortedKeys(addresses) {
		c.Nodes = append(c.Nodes, &Node{c: c, Name: name, raft: uint64(i + 1), address: addresses[name]})
	}
	return c
}

func (c *Cluster) chance(ppm uint64) bool { return !c.Calm() && c.draw(1_000_000) < ppm }

const port = 47395

func (n *Node) endpoint() netip.AddrPort { return netip.AddrPortFrom(n.address, port) }

func (c *Cluster) peers() (list []interconnect.Peer) {
	for _, n := range c.Nodes {
		list = append(list, interconnect.Peer{Node: n.Name, RaftID: n.raft, Endpoint: n.endpoint().String(), Counter: max(n.counter, 1)})
	}
	return list
}

// Run is the program of a node.
func (c *Cluster) Run(name string) func(ctx context.Context, w primitives.World) {
	n := c.Nodes[slices.IndexFunc(c.Nodes, func(n *Node) bool { return n.Name == name })]
	return func(ctx context.Context, w primitives.World) {
		if err := n.run(ctx, w); err != nil {
			c.Fail("harness", fmt.Sprintf("%s: %v", name, err))
		}
	}
}

func (n *Node) run(ctx context.Context, w primitives.World) error {
	c := n.c
	n.counter++
	s := interconnect.Defaults()
	s.Insecure = true
	s.Listen, s.Advertise = n.endpoint(), n.endpoint().String()
	mesh, err := interconnect.New(w, s)
	if err != nil {
		return err
	}
	mesh.Identify(interconnect.Process{Node: n.Name, RaftID: n.raft, Counter: n.counter, Epoch: interconnect.NewEpoch(w)}, primitives.UUID{1})
	background := context.Background()
	tasks := primitives.NewGroup(background, w)
	port := exchange.OverMesh(mesh)
	if c.Unreliable {
		port = &unreliable{Port: port, node: n, w: w, tasks: tasks}
	}
	n.metrics = observe.NewRegistry()
	x := exchange.New(exchange.Settings{
		World: w, Port: port, Executor: primitives.NewExecutor(w, 4), Metrics: n.metrics, Tap: c.Taps(n.Name), Limits: c.Limits,
	})
	n.Exchange = x
	x.Serve(&graph{c: c, w: w, tasks: tasks, room: primitives.NewSemaphore(w, 2)})
	x.Start(background)
	if err := mesh.Start(background); err != nil {
		return err
	}
	mesh.SetPeers(c.peers())
	c.Produce(n, ctx, w)
	err = errors.Join(x.Close(background), mesh.Stop(background))
	tasks.Cancel(context.Canceled)
	return errors.Join(err, tasks.Wait(background))
}

// Tested reports whether rows with and without shares of living processes went
// anywhere.
func (c *Cluster) Tested() bool {
	acked, bare := 0, 0
	for at := range c.Rows {
		switch r := &c.Rows[at]; {
		case r.acked && r.done:
			acked++
		case !r.acked && r.Seen > 0:
			bare++
		}
	}
	return acked > 0 && bare > 0
}

// Settled checks the ledger once everything has healed.
func (c *Cluster) Settled() error {
	for at := range c.Rows {
		r := &c.Rows[at]
		switch {
		case int(r.owner.counter) != r.born: // its process died
		case r.acked && !r.done:
			return fmt.Errorf("row %d has a share and was never acknowledged: seen %d, good %d", at, r.Seen, r.Good)
		case !r.acked && !r.lost && r.Seen == 0:
			return fmt.Errorf("row %d without a share was lost", at)
		}
	}
	for _, n := range c.Nodes {
		for _, s := range n.metrics.Snapshot() {
			if s.Family == observe.RemoteDeliveries && s.Value != 0 {
				return fmt.Errorf("%s has %v deliveries in a quiet run", n.Name, s.Value)
			}
		}
	}
	return nil
}

// Birth makes rows of the node's process.
func (n *Node) Birth(acked bool, count int) (numbers []int64) {
	for range count {
		numbers = append(numbers, int64(len(n.c.Rows)))
		n.c.Rows = append(n.c.Rows, Row{acked: acked, owner: n, born: int(n.counter)})
	}
	return numbers
}
