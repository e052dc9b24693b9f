package quiescetest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"plexus/engine/quiesce"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Cluster is a set of nodes that hold one domain still, all of them and all the
// time, while its work moves. It knows from outside what may not happen.
type Cluster struct {
	Flow     *Flow
	Settings quiesce.Settings
	Nodes    map[string]netip.Addr
	Fail     func(oracle, message string) // ends the run
	Elapsed  func() time.Duration

	processes map[string]quiesce.Process // the newest of every node
	counters  map[string]uint64
	grants    map[grant]time.Duration // until when a gate certainly stays closed
	closed    map[grant]time.Duration // gates that are closed, and when that was last asked for
	holds     uint64
	LastHold  time.Duration // when a hold last came to rest
	Over      func() bool   // only one node holds any more
}

// The graph of the test: two lines that share their end.
const (
	feedA = iota
	feedB
	relayA
	relayB
	split
	merge
	shared
	out
)

// Scopes of the test, by what a change would name.
func scopes() []quiesce.Plan {
	e := func(kind vocab.EntityKind, name string) quiesce.Entity { return quiesce.Entity{Kind: kind, Name: name} }
	feed, junction, relay, emitter := vocab.EntityIngestor, vocab.EntityJunction, vocab.EntityRelay, vocab.EntityEmitter
	return []quiesce.Plan{
		{Scope: quiesce.Scope{Whole: true}},
		{Scope: quiesce.Scope{Whole: true}, Freeze: true},
		{Scope: quiesce.Scope{Gates: []string{"relay_a", "relay_b"}, Drain: []quiesce.Entity{e(relay, "relay_a"), e(relay, "relay_b"), e(junction, "split")}}, Freeze: true},
		{Scope: quiesce.Scope{Gates: []string{"shared"}, Drain: []quiesce.Entity{e(relay, "shared"), e(emitter, "out")}}},
		{Scope: quiesce.Scope{
			Sources: []quiesce.Entity{e(feed, "feed_a")}, Gates: []string{"relay_a"}, Force: true,
			Drain: []quiesce.Entity{e(feed, "feed_a"), e(relay, "relay_a")},
		}, Intake: true, Freeze: true},
		{Scope: quiesce.Scope{Sources: []quiesce.Entity{e(feed, "feed_b")}, Drain: []quiesce.Entity{e(feed, "feed_b")}}},
	}
}

// NewCluster returns a cluster over nodes whose names are a, b and c.
func NewCluster(nodes map[string]netip.Addr, draw func(uint64) uint64, elapsed func() time.Duration, fail func(oracle, message string)) *Cluster {
	e := func(kind vocab.EntityKind, name string) quiesce.Entity { return quiesce.Entity{Kind: kind, Name: name} }
	return &Cluster{
		Flow: NewFlow("orders", []Place{
			feedA:  {e(vocab.EntityIngestor, "feed_a"), "a", []int{relayA}},
			feedB:  {e(vocab.EntityIngestor, "feed_b"), "b", []int{relayB}},
			relayA: {e(vocab.EntityRelay, "relay_a"), "b", []int{split}},
			relayB: {e(vocab.EntityRelay, "relay_b"), "a", []int{merge, split}},
			split:  {e(vocab.EntityJunction, "split"), "c", []int{shared}},
			merge:  {e(vocab.EntityJunction, "merge"), "a", []int{shared}},
			shared: {e(vocab.EntityRelay, "shared"), "b", []int{out}},
			out:    {e(vocab.EntityEmitter, "out"), "c", nil},
		}, draw),
		Settings: quiesce.Settings{Timeout: 6 * time.Second, Lease: 8 * time.Second, Request: 2 * time.Second, Poll: 50 * time.Millisecond},
		Nodes:    nodes, Fail: fail, Elapsed: elapsed, Over: func() bool { return false },
		processes: map[string]quiesce.Process{}, counters: map[string]uint64{}, grants: map[grant]time.Duration{}, closed: map[grant]time.Duration{},
	}
}

// Run is the program of every node.
func (c *Cluster) Run(name string) func(ctx context.Context, w primitives.World) {
	return func(ctx context.Context, w primitives.World) {
		if err := c.run(ctx, w, name); err != nil && ctx.Err() == nil {
			w.Log().Error("node ended", "error", err)
		}
	}
}

// node is one process.
type node struct {
	c     *Cluster
	w     primitives.World
	self  quiesce.Process
	rpc   *RPC
	part  *quiesce.Participant
	coord *quiesce.Coordinator
	think primitives.Entropy
	nodes []string

	stopping bool
}

func (c *Cluster) run(ctx context.Context, w primitives.World, name string) error {
	c.counters[name]++
	n := &node{c: c, w: w, self: quiesce.Process{Node: name, RaftID: uint64(name[0]), Counter: c.counters[name]}, nodes: primitives.SortedKeys(c.Nodes)}
	if _, err := w.Entropy().Read(n.self.Epoch[:]); err != nil {
		return err
	}
	n.think = w.Entropy().Stream("think")
	c.processes[name] = n.self
	n.rpc = NewRPC(w, n.self, c.Nodes)
	l := newLedger(n, c.Flow.Start(name))
	n.part = quiesce.NewParticipant(w, c.Settings, n.self, l)
	n.coord = quiesce.NewCoordinator(w, c.Settings, n.self, n)
	n.part.Start(context.Background()) // holds end after what they hold still
	n.coord.Start(context.Background())
	for _, op := range []quiesce.Operation{quiesce.HoldEngage, quiesce.HoldRelease, quiesce.FlushRequest, quiesce.DrainStatus} {
		n.rpc.Handle(byte(op), func(ctx context.Context, from quiesce.Process, b []byte) ([]byte, error) {
			return l.handle(ctx, from, op, b)
		})
	}
	g := primitives.NewGroup(ctx, w)
	g.Go("serve", n.rpc.Serve)
	for i := range 2 {
		// In the end one holder is left, as the lease of a domain leaves: two that close
		// gates behind each other's rows come to no rest.
		last := i == 0 && name == n.nodes[0]
		g.Go("hold", func(ctx context.Context) error { return n.hold(ctx, last) })
	}
	g.Go("departures", n.departures)
	err := g.Wait(context.Background())
	n.stopping = true
	if c.processes[name] == n.self { // the domain ends before what holds it
		c.Flow.Stop(name)
		c.processes[name] = quiesce.Process{}
	}
	late := context.Background()
	return errors.Join(err, n.coord.Stop(late), n.part.Stop(late))
}

// Call implements quiesce.Peers.
func (n *node) Call(ctx context.Context, node string, op quiesce.Operation, b []byte) ([]byte, error) {
	return n.rpc.Call(ctx, node, byte(op), b)
}

// Live implements quiesce.Peers.
func (n *node) Live() []string { return n.nodes }

// pause waits for a random time.
func (n *node) pause(ctx context.Context, most time.Duration) error {
	return primitives.Sleep(ctx, n.w, time.Duration(n.think.Uint64()%uint64(most)))
}

// departures tells the participant of processes that are gone.
func (n *node) departures(ctx context.Context) error {
	seen := map[string]quiesce.Process{}
	for {
		if err := n.pause(ctx, time.Second); err != nil {
			return err
		}
		for _, name := range n.nodes {
			now := n.c.processes[name]
			if before, known := seen[name]; known && before != now {
				n.part.Departed(before)
			}
			seen[name] = now
		}
	}
}

// hold holds the domain still from time to time and looks whether it is.
func (n *node) hold(ctx context.Context, last bool) error {
	for {
		if err := n.pause(ctx, 8*time.Second); err != nil {
			return err
		}
		if n.c.Over() && !last {
			continue
		}
		plans := scopes()
		p := plans[n.think.Uint64()%uint64(len(plans))]
		n.c.holds++
		p.Scope.Domain, p.Scope.Purpose, p.Scope.Index = n.c.Flow.Domain, quiesce.ForChange, n.c.holds
		h, err := n.coord.Hold(ctx, p)
		if err != nil {
			var failure *quiesce.HoldError
			if !errors.As(err, &failure) && ctx.Err() == nil {
				n.c.Fail("hold-errors-are-typed", fmt.Sprintf("%T: %v", err, err))
			}
			continue
		}
		n.c.LastHold = n.c.Elapsed()
		n.still(h, "at rest")
		if n.pause(ctx, 6*time.Second) == nil && n.think.Uint64()%2 == 0 && h.Err() == nil {
			n.still(h, "later")
			if h.Confirm(ctx) == nil {
				n.still(h, "confirmed")
				_ = n.pause(ctx, n.c.Settings.Lease/3)
				n.still(h, "under the last lease")
			}
		}
		// Now and then nobody releases it: then its last lease ends it.
		if n.think.Uint64()%8 > 0 || h.Confirm(ctx) != nil {
			bounded, cancel := primitives.WithDeadline(ctx, n.w, n.w.Clock().Now().Add(n.c.Settings.Request))
			_ = h.Release(bounded)
			cancel()
		}
	}
}

// still checks that a hold which the coordinator is certain of is one.
func (n *node) still(h *quiesce.Hold, when string) {
	// Asking the hold is a scheduling point; what follows must see one moment.
	epochs := map[string][16]byte{}
	for _, name := range n.nodes {
		_, epochs[name], _ = h.Freeze(name)
	}
	if h.Err() != nil {
		return
	}
	for _, name := range n.nodes {
		if epochs[name] != n.c.processes[name].Epoch {
			return // that node restarted and holds nothing; the coordinator will see it
		}
		if g := (grant{n.c.processes[name], h.Scope.Index}); n.c.grants[g] < n.c.Elapsed() {
			return // this coordinator was frozen for a lease
		}
	}
	if inside := n.c.Flow.Inside(&h.Scope); inside > 0 {
		n.c.Fail("at-rest-means-empty", fmt.Sprintf("%s: %d rows inside the scope of hold %d", when, inside, h.Scope.Index))
	}
	for i, p := range n.c.Flow.Places {
		if p.Entity.Kind == vocab.EntityRelay && slices.Contains(h.Scope.Gates, p.Entity.Name) && !n.c.Flow.Closed(i) {
			n.c.Fail("held-means-closed", fmt.Sprintf("%s: the gate of %s is open", when, p.Entity.Name))
		}
		if p.Entity.Kind == vocab.EntityIngestor && (h.Scope.Whole || slices.Contains(h.Scope.Sources, p.Entity)) && !n.c.Flow.Paused(i) {
			n.c.Fail("held-means-closed", fmt.Sprintf("%s: %s runs", when, p.Entity.Name))
		}
	}
}

// Leased is wrong while a gate is closed long after its lease has ended on every
// clock (CP-6). It is asked while clocks run evenly and nobody is frozen.
func (c *Cluster) Leased() error {
	var longest time.Duration
	for g, asked := range c.closed { //plexus:orderfree it takes the largest
		if c.processes[g.process.Node] == g.process {
			longest = max(longest, c.Elapsed()-asked)
		}
	}
	if longest > 2*c.Settings.Lease {
		return fmt.Errorf("a gate is closed since %v, its lease was %v", longest, c.Settings.Lease)
	}
	return nil
}
