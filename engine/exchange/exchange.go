package exchange

import (
	"context"
	"sync/atomic"

	"plexus/engine/observe"
	"plexus/primitives"
)

// Settings are what an exchange is built with.
type Settings struct {
	World    primitives.World
	Port     Port
	Executor *primitives.Executor
	Metrics  *observe.Registry
	Tap      observe.Tap // nil in production
	Limits   Limits
}

// Exchange delivers batches to other nodes and takes theirs in.
type Exchange struct {
	world    primitives.World
	port     Port
	executor *primitives.Executor
	limits   Limits
	graph    Receiver

	mu       *primitives.Mutex // guards both halves; nothing waits under it
	send     *sender
	recv     *receiver
	memory   claims
	askers   map[string]*asker
	peers    []Peer // as last looked at
	sweeping bool   // the sweeper has something to count
	ticking  bool

	tasks   *primitives.Group
	sweeps  *primitives.Notice
	ticks   *primitives.Notice
	arrived *primitives.Notice // outcomes of rows
	rows    atomic.Pointer[arrivedRows]
}

// New returns an exchange that neither asks nor answers yet.
func New(s Settings) *Exchange {
	l := s.Limits.withDefaults()
	series := newSeries(s.Metrics)
	x := &Exchange{
		world: s.World, port: s.Port, executor: s.Executor, limits: l,
		mu:     primitives.NewMutex(s.World),
		send:   newSender(l, s.Tap, series),
		recv:   newReceiver(l, s.Port.Self().Node, s.Tap, series),
		memory: claims{budget: newBudget(l.SendMemory, 0)},
		askers: map[string]*asker{},
		sweeps: primitives.NewNotice(s.World), ticks: primitives.NewNotice(s.World), arrived: primitives.NewNotice(s.World),
	}
	return x
}

// Serve says where arriving batches go. It comes before Start.
func (x *Exchange) Serve(r Receiver) { x.graph = r }

// Start begins to follow the peers, to answer and to report, until Close or the
// end of ctx.
func (x *Exchange) Start(ctx context.Context) {
	x.tasks = primitives.NewGroup(ctx, x.world)
	x.port.Serve(x)
	observe.Emit(x.send.tap, observe.Event{Kind: observe.ExchangeStarted, Run: number(x.port.Self().Epoch)})
	x.look()
	x.tasks.Go("relay peers", x.follow)
	x.tasks.Go("relay sweep", x.sweep)
	x.tasks.Go("relay progress", x.report)
	x.tasks.Go("relay rows", x.collect)
}

// Close fails every entry, ends every Deliver and every decision of the graph,
// and waits for the tasks.
func (x *Exchange) Close(ctx context.Context) error {
	x.step(func(now primitives.Instant) {
		x.send.close(now)
		x.recv.close(now)
		x.memory.close()
	})
	if x.tasks == nil {
		return nil
	}
	x.tasks.Cancel(primitives.ErrClosed)
	if err := x.tasks.Wait(ctx); primitives.Canceled(ctx) != nil {
		return err
	}
	return nil
}

// step runs f on the cores and then wakes whom it left something for.
func (x *Exchange) step(f func(now primitives.Instant)) {
	_ = x.mu.Lock(context.Background()) // never held across a wait
	f(x.world.Clock().Now())
	woken, asking, reporting := x.send.woken, x.send.asking, x.recv.reporting
	x.send.woken, x.send.asking, x.recv.reporting = nil, nil, nil
	askers := make([]*asker, len(asking))
	for i, p := range asking {
		p.noticed = false
		askers[i] = x.asker(p)
	}
	for _, p := range reporting {
		p.noticed = false
		x.reporter(p)
	}
	sweep := !x.sweeping && x.send.sweeping()
	tick := x.recv.hinted || !x.ticking && x.recv.busy()
	x.sweeping, x.ticking = x.sweeping || sweep, x.ticking || tick
	x.mu.Unlock()
	for _, d := range woken {
		d.wake()
	}
	for _, a := range askers {
		a.raise()
	}
	for _, p := range reporting {
		p.wake()
	}
	if sweep {
		x.sweeps.Raise()
	}
	if tick {
		x.ticks.Raise()
	}
}

// follow keeps up with who is a member and which process of it counts.
func (x *Exchange) follow(ctx context.Context) error {
	for {
		if err := x.port.Changed(ctx); err != nil {
			return nil
		}
		x.look()
	}
}

// look hands what the port knows to both halves.
func (x *Exchange) look() {
	x.step(func(now primitives.Instant) {
		peers := x.port.Peers()
		connected := map[string]bool{}
		left := map[string]bool{}
		for _, p := range x.peers {
			connected[p.Node], left[p.Node] = p.Connected, true
		}
		for _, p := range peers {
			delete(left, p.Node)
			x.recv.follow(now, p.Node, p.Process, true)
			x.send.unreachable(now, p.Node, p.Unreachable)
			x.send.follow(now, p.Node, p.Process, true, p.Connected && !connected[p.Node])
		}
		for _, node := range primitives.SortedKeys(left) {
			x.recv.follow(now, node, Process{}, false)
			x.send.follow(now, node, Process{}, false, false)
		}
		x.peers = peers
	})
}

// sweep counts silence once a second while there is anything to count.
func (x *Exchange) sweep(ctx context.Context) error {
	for {
		idle := false
		x.step(func(primitives.Instant) {
			idle = !x.send.sweeping()
			x.sweeping = !idle
		})
		var err error
		if idle {
			err = x.sweeps.Wait(ctx)
		} else if err = primitives.Sleep(ctx, x.world, x.limits.Sweep); err == nil {
			x.step(x.send.sweep)
		}
		if err != nil {
			return nil
		}
	}
}
