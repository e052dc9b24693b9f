package handofftest

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"plexus/engine/handoff"
	"plexus/engine/quiesce"
	"plexus/engine/quiesce/quiescetest"
	"plexus/engine/state"
	"plexus/primitives"
)

// Cluster is a set of nodes that give their operators to each other all the time.
// It knows from outside what may not happen.
type Cluster struct {
	Catalog  *Catalog
	Settings quiesce.Settings
	Fail     func(oracle, message string) // ends the run
	Elapsed  func() time.Duration
	Over     func() bool // nobody moves anything any more

	names     []string
	addresses map[string]netip.Addr
	draw      func(uint64) uint64
	alive     map[string]*node // whose process runs
	counters  map[string]uint64
	seen      time.Duration // a leader ran
	captures  map[capture]captured
	captured  map[primitives.UUID]map[quiesce.Entity]uint64 // by what was committed
	durable   map[place]uint64                              // the value that a node's store certainly holds
	fences    map[place]uint64                              // and the schedule of the owner it is of
	latest    map[quiesce.Entity]published

	Moved, Recovered int
	Errors           map[string]int
}

// capture is an operator at the node it was captured from.
type capture struct {
	node   string
	entity quiesce.Entity
}

// captured is what was captured last.
type captured struct {
	process quiesce.Process
	value   uint64
}

// place is an operator's state at a node, of one generation.
type place struct {
	node       string
	entity     quiesce.Entity
	generation uint64
}

// published is the newest checkpoint of an owner.
type published struct {
	node  string
	ref   state.Ref
	value uint64
}

// NewCluster returns a cluster over the given nodes.
func NewCluster(addresses map[string]netip.Addr, draw func(uint64) uint64, elapsed func() time.Duration, fail func(oracle, message string)) *Cluster {
	names := primitives.SortedKeys(addresses)
	return &Cluster{
		Catalog:  newCatalog(names),
		Settings: quiesce.Settings{Timeout: 6 * time.Second, Lease: 8 * time.Second, Request: 2 * time.Second, Poll: 50 * time.Millisecond},
		Fail:     fail, Elapsed: elapsed, Over: func() bool { return false },
		names: names, addresses: addresses, draw: draw, alive: map[string]*node{}, counters: map[string]uint64{},
		captures: map[capture]captured{}, captured: map[primitives.UUID]map[quiesce.Entity]uint64{}, durable: map[place]uint64{}, fences: map[place]uint64{}, latest: map[quiesce.Entity]published{},
		Errors: map[string]int{},
	}
}

// Tick is what consensus does by itself. dead says whose process ended.
func (c *Cluster) Tick(dead func(node string) bool) {
	for _, name := range c.names {
		if c.alive[name] != nil && dead(name) {
			c.alive[name] = nil
		}
	}
	if c.alive[c.Catalog.leader] != nil {
		c.seen = c.Elapsed()
	}
	c.elect()
}

// node is one process.
type node struct {
	c       *Cluster
	w       primitives.World
	name    string
	self    quiesce.Process
	think   primitives.Entropy
	rpc     *quiescetest.RPC
	engine  *engine
	applied *Schedule
	ready   uint64 // the newest index whose operators all run
	running map[quiesce.Entity]*operator
	staged  uint64 // bytes charged, a moment ago
	staging *state.Staging
	store   *state.Store
	part    *handoff.Participant
	holds   *quiesce.Coordinator
	moves   *handoff.Coordinator
	changed *primitives.Notice
}

// operator is one that executes.
type operator struct {
	entity   quiesce.Entity
	assigned Assignment
	value    uint64
	busy     bool
	stop     *primitives.Event
	gone     *primitives.Event
}

func (n *node) draw(m uint64) uint64 { return n.think.Uint64() % m }

// pause waits for a random time.
func (n *node) pause(ctx context.Context, most time.Duration) error {
	return primitives.Sleep(ctx, n.w, time.Duration(n.draw(uint64(most))))
}

// Run is the program of every node.
func (c *Cluster) Run(name string) func(ctx context.Context, w primitives.World) {
	return func(ctx context.Context, w primitives.World) {
		c.counters[name]++
		c.alive[name] = nil
		n := &node{
			c: c, w: w, name: name, self: quiesce.Process{Node: name, RaftID: uint64(name[0]), Counter: c.counters[name]},
			think: w.Entropy().Stream("think"), applied: c.Catalog.Schedule, running: map[quiesce.Entity]*operator{},
			changed: primitives.NewNotice(w),
		}
		if _, err := w.Entropy().Read(n.self.Epoch[:]); err != nil {
			return
		}
		if err := n.run(ctx); err != nil && ctx.Err() == nil {
			w.Log().Error("node ended", "error", err)
		}
		if c.alive[name] == n {
			c.alive[name] = nil
		}
	}
}

// open reads what the node keeps.
func (n *node) open(holds *quiesce.Participant) (err error) {
	if err := errors.Join(n.w.Files().MkdirAll("data"), n.w.Files().SyncDir(".")); err != nil {
		return err
	}
	if n.staging, err = state.OpenStaging(n.w, "data", 6*largeBytes); err != nil {
		return err
	}
	if n.store, err = state.OpenStore(n.w, "data"); err != nil {
		return err
	}
	n.publishes()
	n.part, err = handoff.OpenParticipant(n.w, "data", handoff.SettingsOf(n.c.Settings), n.self, handoff.Deps{
		Holds: holds, Applied: view{n}, Staging: n.staging, Remote: n, Components: []handoff.Component{n.component()},
	})
	return err
}

// publishes tells the store what the applied schedule says.
func (n *node) publishes() {
	var list []state.Identity
	for _, e := range Entities {
		list = append(list, n.applied.identity(e))
	}
	n.store.Publishes(Domain, list)
}

// The numbers of the operations of the transport.
const (
	opHold   = 0
	opMove   = 32
	opInline = 64
	opStream = 65
)

func (n *node) run(ctx context.Context) error {
	n.engine = &engine{n: n}
	holds := quiesce.NewParticipant(n.w, n.c.Settings, n.self, n.engine)
	if err := n.open(holds); err != nil {
		return err
	}
	n.rpc = quiescetest.NewRPC(n.w, n.self, n.c.addresses)
	for op := quiesce.HoldEngage; op <= quiesce.DrainStatus; op++ {
		n.rpc.Handle(opHold+byte(op), func(ctx context.Context, from quiesce.Process, b []byte) ([]byte, error) {
			return holds.Handle(ctx, from, op, b)
		})
	}
	for op := handoff.Capture; op <= handoff.StateCatalog; op++ {
		n.rpc.Handle(opMove+byte(op), func(ctx context.Context, from quiesce.Process, b []byte) ([]byte, error) {
			return n.part.Handle(ctx, from, op, b)
		})
	}
	n.rpc.Handle(opInline, n.inline)
	n.rpc.HandleStream(opStream, n.stream)
	n.holds = quiesce.NewCoordinator(n.w, n.c.Settings, n.self, quiescePeers{n})
	n.moves = handoff.NewCoordinator(n.w, handoff.SettingsOf(n.c.Settings), n.self, handoffPeers{n}, n.holds)
	late := context.Background() // what they have to open and take back outlives the request to stop
	holds.Start(late)
	n.part.Start(late)
	n.holds.Start(late)
	n.moves.Start(late)
	n.c.alive[n.name] = n
	g := primitives.NewGroup(ctx, n.w)
	g.Go("serve", n.rpc.Serve)
	g.Go("apply", n.apply)
	g.Go("lead", n.lead)
	g.Go("replicate", n.replicate)
	g.Go("watch", func(ctx context.Context) error { return n.watch(ctx, holds) })
	err := g.Wait(late)
	for _, e := range Entities {
		n.halt(e)
	}
	return errors.Join(err, n.moves.Stop(late), n.holds.Stop(late), n.part.Stop(late), holds.Stop(late))
}

type quiescePeers struct{ n *node }

func (p quiescePeers) Call(ctx context.Context, node string, op quiesce.Operation, b []byte) ([]byte, error) {
	return p.n.rpc.Call(ctx, node, opHold+byte(op), b)
}

func (p quiescePeers) Live() []string {
	var live []string
	for _, name := range p.n.c.names {
		if p.n.c.alive[name] != nil || p.n.draw(4) == 0 {
			live = append(live, name)
		}
	}
	return live
}

type handoffPeers struct{ n *node }

func (p handoffPeers) Call(ctx context.Context, node string, op handoff.Operation, b []byte) ([]byte, error) {
	return p.n.rpc.Call(ctx, node, opMove+byte(op), b)
}

func (p handoffPeers) Process(node string) (quiesce.Process, bool) {
	if other := p.n.c.alive[node]; other != nil {
		return other.self, true
	}
	return quiesce.Process{}, false
}

// watch tells of processes that ended.
func (n *node) watch(ctx context.Context, holds *quiesce.Participant) error {
	seen := map[string]quiesce.Process{}
	for {
		if err := n.pause(ctx, time.Second); err != nil {
			return err
		}
		n.staged = n.staging.Used()
		for _, name := range n.c.names {
			now, _ := handoffPeers{n}.Process(name)
			if before := seen[name]; before != now {
				if before != (quiesce.Process{}) {
					holds.Departed(before)
				}
				n.changed.Raise()
			}
			seen[name] = now
		}
	}
}

// Settled says what is left over that should not be.
func (c *Cluster) Settled() error {
	if c.alive[c.Catalog.leader] == nil {
		return errors.New("nobody leads")
	}
	for _, name := range c.names {
		n := c.alive[name]
		if n == nil {
			return fmt.Errorf("node %s does not run", name)
		}
		if n.applied != c.Catalog.Schedule || n.ready != n.applied.Index {
			return fmt.Errorf("node %s has applied %d and is ready for %d of %d", name, n.applied.Index, n.ready, c.Catalog.Schedule.Index)
		}
		if len(n.engine.held) > 0 {
			return fmt.Errorf("node %s still holds %d scopes", name, len(n.engine.held))
		}
		if n.staged > 0 {
			return fmt.Errorf("node %s has %d bytes in staging", name, n.staged)
		}
	}
	for _, e := range Entities {
		var owners []string
		for _, name := range c.names {
			if c.alive[name].running[e] != nil {
				owners = append(owners, name)
			}
		}
		if len(owners) != 1 || owners[0] != c.Catalog.Schedule.Assigned[e].Owner {
			return fmt.Errorf("%s runs on '%s' and belongs to %s", e.Name, strings.Join(owners, ","), c.Catalog.Schedule.Assigned[e].Owner)
		}
	}
	return nil
}
