package cluster

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/node"
	"plexus/primitives"
	"plexus/sim"
)

// Cluster is nodes that know each other's addresses.
type Cluster struct {
	nodes []*Node
	turn  int // of the node that is tried first
}

// New returns a cluster without nodes.
func New() *Cluster { return &Cluster{} }

// Add puts a node on a machine. The first one founds the cluster; every other one
// joins it, and so does the first one once it was founded. Later processes of a
// node are started by Host().Restart().
func (c *Cluster) Add(h *sim.Host, p Program) *Node {
	n := &Node{host: h, program: p, cluster: c}
	c.nodes = append(c.nodes, n)
	return n
}

// Start boots every node: those that join wait for the one that founds.
func (c *Cluster) Start() {
	for _, n := range c.nodes {
		n.Start()
	}
}

// Nodes returns every node, in the order they were added.
func (c *Cluster) Nodes() []*Node { return c.nodes }

// Find returns the node on a machine, nil when there is none.
func (c *Cluster) Find(name string) *Node {
	for _, n := range c.nodes {
		if n.host.Name() == name {
			return n
		}
	}
	return nil
}

// configure sets what a node has to know of the others. A cluster is founded
// once: a founder that comes back with an empty disk must not found a second one.
func (c *Cluster) configure(n *Node, s *node.Settings) error {
	var seeds []string
	for _, other := range c.nodes {
		if other != n {
			seeds = append(seeds, other.interconnect())
		}
	}
	values := [][2]string{
		{"interconnect-listen", fmt.Sprintf("%s:%d", n.host.Addr(), InterconnectPort)},
		{"interconnect-advertise", n.interconnect()},
		{"interconnect-insecure", "true"},
	}
	if n != c.nodes[0] || n.founded {
		values = append(values, [2]string{"bootstrap", "never"})
		if len(seeds) > 0 {
			values = append(values, [2]string{"join", strings.Join(seeds, ",")})
		}
	}
	for _, v := range values {
		if err := s.Set(v[0], v[1]); err != nil && !(errors.Is(err, node.ErrUnknownFlag) && len(c.nodes) == 1) {
			return err
		}
	}
	return nil
}

// interconnect is where other nodes reach it, by the name of its machine.
func (n *Node) interconnect() string { return fmt.Sprintf("%s:%d", n.host.Name(), InterconnectPort) }

// Ready reports whether every node serves.
func (c *Cluster) Ready() bool { return len(c.NotReady()) == 0 }

// AllVote reports whether every node is a voter, by the account of the leader.
func (c *Cluster) AllVote() bool {
	leader := c.Leader()
	if leader == nil {
		return false
	}
	votes := 0
	for n := range leader.State().Nodes() {
		if n.Role == catalog.Voter {
			votes++
		}
	}
	return votes == len(c.nodes)
}

// NotReady says which nodes do not serve, and why.
func (c *Cluster) NotReady() []string {
	var reasons []string
	for _, n := range c.nodes {
		if why := n.NotReady(); len(why) > 0 {
			reasons = append(reasons, n.host.Name()+": "+strings.Join(why, "; "))
		}
	}
	return reasons
}

// Leader returns the node that leads in the highest term, by its own account; nil
// while none says so.
func (c *Cluster) Leader() *Node {
	var leader *Node
	term := uint64(0)
	for _, n := range c.nodes {
		if n.current == nil || !n.current.Group().Leads() {
			continue
		}
		if at := n.current.Group().Status().Term; at > term {
			leader, term = n, at
		}
	}
	return leader
}

// Open opens a session as the first user, from the world of a client.
func (c *Cluster) Open(ctx context.Context, w primitives.World, o client.Options) (*client.Session, error) {
	return c.OpenAs(ctx, w, User, Password, o)
}

// OpenAs opens a session of a user. Nodes take turns at being tried first.
func (c *Cluster) OpenAs(ctx context.Context, w primitives.World, user, password string, o client.Options) (*client.Session, error) {
	c.turn++
	for i := range c.nodes {
		o.Servers = append(o.Servers, c.nodes[(c.turn+i)%len(c.nodes)].ClientURL())
	}
	o.Dial = client.Frames(w, user, password)
	return client.Open(ctx, w, o)
}
