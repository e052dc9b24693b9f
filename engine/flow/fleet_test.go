package flow

import (
	"context"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/engine/decide"
	"plexus/engine/exchange"
	"plexus/engine/interconnect"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/oracle"
)

// fleet is a cluster of simulated machines: a domain each, joined by the exchange
// over the interconnect. What is committed is one variable that every node reads
// when it gets to it.
type fleet struct {
	t        *testing.T
	sim      *sim.Simulation
	draw     *sim.Stream
	machines []*machine
	oracle   *oracle.Exchange

	committed decide.Revision
	pushing   bool
	calm      bool
	next      int64
	logs      []*fleetLog
	done      finished
}

type fleetLog struct {
	values  []int64
	run     *process
	late    bool // pushed in the quiet suffix
	outcome []ack.Outcome
}

// machine is a node of a fleet.
type machine struct {
	f       *fleet
	name    string
	raft    uint64
	host    *sim.Host
	counter uint64
	run     *process // the newest
}

// process is one run of a machine.
type process struct {
	machine  *machine
	world    primitives.World
	domain   *Domain
	exchange *exchange.Exchange
	source   *meshSource
}

const fleetPort = 47395

func newFleet(t *testing.T, seed uint64, nodes int) *fleet {
	f := &fleet{t: t, sim: sim.New(sim.Options{Seed: seed}), done: finished{}, pushing: true}
	t.Cleanup(f.sim.Close)
	f.draw = f.sim.Stream("fleet")
	f.oracle = oracle.NewExchange(f.sim.Fail)
	for i := range nodes {
		m := &machine{f: f, name: fmt.Sprintf("n%d", i+1), raft: uint64(i + 1)}
		m.host = f.sim.Host(m.name)
		f.sim.DNS().Set(m.name+".test", time.Minute, m.host.Addr())
		f.machines = append(f.machines, m)
	}
	return f
}

func (f *fleet) below(n uint64) int { return int(f.draw.Below(n)) }

func (f *fleet) peers() (list []interconnect.Peer) {
	for _, m := range f.machines {
		list = append(list, interconnect.Peer{Node: m.name, RaftID: m.raft, Endpoint: fmt.Sprintf("%s.test:%d", m.name, fleetPort), Counter: 1})
	}
	return list
}

func (m *machine) start() { m.host.Start("node", m.main) }

// main is a node: it keeps its domain at what is committed until it is asked to
// end.
func (m *machine) main(ctx context.Context, w primitives.World) {
	f := m.f
	m.counter++
	s := interconnect.Defaults()
	s.Insecure = true
	s.Listen = netip.AddrPortFrom(m.host.Addr(), fleetPort)
	s.Advertise = fmt.Sprintf("%s.test:%d", m.name, fleetPort)
	mesh, err := interconnect.New(w, s)
	if err != nil {
		f.sim.Fail("harness", err.Error())
		return
	}
	mesh.Identify(interconnect.Process{Node: m.name, RaftID: m.raft, Counter: m.counter, Epoch: interconnect.NewEpoch(w)}, primitives.UUID{1})
	p := &process{machine: m, world: w}
	m.run = p
	tap := oracle.Taps{f.oracle.Process(m.name), oracle.NewRoots(f.sim.Fail, false)}
	p.exchange = exchange.New(exchange.Settings{
		World: w, Port: exchange.OverMesh(mesh), Executor: primitives.NewExecutor(w, 4), Metrics: observe.NewRegistry(), Tap: tap,
	})
	mem := memory.NewCheckedAllocator(batchtest.Soiled{})
	background := context.Background()
	p.domain = NewDomain(background, w, "d", Deps{
		External: p, Metrics: observe.NewRegistry(), Tap: tap, Memory: mem, Node: m.name, Exchange: p.exchange, DrainTimeout: 5 * time.Second,
	})
	p.exchange.Serve(receiver{p.domain})
	p.exchange.Start(background)
	if err := mesh.Start(background); err != nil {
		f.sim.Fail("harness", err.Error())
		return
	}
	mesh.SetPeers(f.peers())
	p.follow(ctx)
	if err := p.domain.Stop(background, w.Clock().Now().Add(20*time.Second)); err != nil && f.calm {
		f.sim.Fail("drain", fmt.Sprintf("%s: %v", m.name, err))
	}
	if err := p.exchange.Close(background); err != nil {
		f.sim.Fail("harness", err.Error())
	}
	if err := mesh.Stop(background); err != nil {
		f.sim.Fail("harness", err.Error())
	}
	mem.AssertSize(f.t, 0)
}

// receiver is the graph as an exchange sees it.
type receiver struct{ d *Domain }

func (r receiver) Layout(role exchange.Role, _, relay string, note []byte) (*exchange.Layout, error) {
	return r.d.Layout(role, relay, note)
}

func (r receiver) Accept(ctx context.Context, from exchange.Process, ch exchange.Channel, b *exchange.Batch, acks *ack.Set) error {
	return r.d.Accept(ctx, from, ch, b, acks)
}

// follow installs what is committed, some while later, and pushes where the
// source is.
func (p *process) follow(ctx context.Context) {
	f := p.machine.f
	group := primitives.NewGroup(ctx, p.world)
	group.Go("install", func(ctx context.Context) error {
		for ctx.Err() == nil {
			rev := f.committed
			if rev.Number > p.domain.number() {
				_ = primitives.Sleep(ctx, p.world, time.Duration(f.below(300))*time.Millisecond)
				if err := p.domain.Install(ctx, &rev); err != nil && ctx.Err() == nil && f.calm {
					f.sim.Fail("install", err.Error())
				}
			}
			_ = primitives.Sleep(ctx, p.world, 20*time.Millisecond)
		}
		return nil
	})
	group.Go("source", func(ctx context.Context) error {
		for ctx.Err() == nil {
			if p.source != nil && !p.source.stopped && f.pushing {
				p.push(ctx)
			}
			_ = primitives.Sleep(ctx, p.world, time.Duration(f.below(30))*time.Millisecond)
		}
		return nil
	})
	_ = group.Wait(context.Background())
}

// push sends the next values through the source, most of them acknowledged.
func (p *process) push(ctx context.Context) {
	f := p.machine.f
	log := &fleetLog{run: p, values: seq(f.next, f.next+int64(1+f.below(5))), late: f.calm}
	f.next += int64(len(log.values))
	b := array.NewRecordBuilder(p.domain.deps.Memory, batch.ArrowSchema(reading))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(log.values, nil)
	g := &Group{Batch: b.NewRecordBatch()}
	in := p.source.in
	if f.below(4) > 0 {
		tally := ack.NewTally(in.Ledger, func(o ack.Outcome) {
			log.outcome = append(log.outcome, o)
			in.Load.Add(-1)
		})
		in.Load.Add(1)
		g.Acks = tally.Open(len(log.values), p.world.Clock().Now())
		tally.Seal()
		f.logs = append(f.logs, log)
	}
	_ = in.Execute(ctx, g)
}

// StartIngestor implements External.
func (p *process) StartIngestor(_ *Domain, in *Intake) (IngestorHost, error) {
	p.source = &meshSource{in: in, suspended: in.Suspended}
	return p.source, nil
}

// StartEmitter implements External.
func (p *process) StartEmitter(d *Domain, feed *Feed) (EmitterHost, error) {
	f := p.machine.f
	return startFake(d, feed, func(ctx context.Context, c *Carrier) {
		if !f.calm {
			_ = primitives.Sleep(ctx, p.world, time.Duration(f.below(20))*time.Millisecond)
		}
		now := p.world.Clock().Now()
		if !f.calm && f.below(50) == 0 {
			c.Fail(now, ack.Reason{Class: ack.ClassMessage, Text: "refused"})
			return
		}
		f.done[feed.Plan.Name] = append(f.done[feed.Plan.Name], values(c)...)
		c.Acks.OK(now)
		c.Release()
	}), nil
}

func (f *fleet) run(d time.Duration) {
	f.t.Helper()
	if err := f.sim.Run(d); err != nil {
		for _, l := range f.sim.Logs() {
			f.t.Log(l)
		}
		f.t.Fatal(err)
	}
}

// commit moves everything but the source to whatever the seed likes, among the
// machines that run.
func (f *fleet) commit() {
	var live []string
	for _, m := range f.machines {
		if m.host.Running() && !m.host.Frozen() {
			live = append(live, m.name)
		}
	}
	if len(live) == 0 {
		return
	}
	pick := func() string { return live[f.below(uint64(len(live)))] }
	source := "n1"
	if !slices.Contains(live, source) {
		source = pick()
	}
	number := f.committed.Number + 1
	f.committed = moved(number, layoutOf{in: source, all: pick(), out: pick(), j: pick(), e: pick(), f: pick(), aside: pick()})
	f.committed.Domain, f.committed.Running, f.committed.Schedule = "d", true, number
}

// trouble makes one thing go wrong.
func (f *fleet) trouble() {
	a := f.machines[f.below(uint64(len(f.machines)))]
	b := f.machines[f.below(uint64(len(f.machines)))]
	network := f.sim.Network()
	switch f.below(7) {
	case 0:
		if a != b {
			network.Cut(a.host, b.host)
		}
	case 1:
		if a != b {
			network.Reset(a.host, b.host)
		}
	case 2:
		network.HealAll()
	case 3:
		if a.host.Running() {
			a.host.AfterTurns(f.below(2000), a.host.Kill)
		} else {
			a.host.Restart()
		}
	case 4:
		if a.host.Running() && !a.host.Frozen() {
			a.host.Freeze()
		} else if a.host.Frozen() {
			a.host.Thaw()
		}
	default:
		f.commit()
	}
	if f.below(3) > 0 {
		f.commit() // as a leader does that sees a node go
	}
}

// settle heals everything, lets it come to rest and reads the ledger.
func (f *fleet) settle() {
	f.t.Helper()
	f.sim.Network().HealAll()
	for _, m := range f.machines {
		m.host.Thaw()
		m.host.AfterTurns(1<<30, func() {})
		if !m.host.Running() {
			m.host.Restart()
		}
	}
	f.run(time.Second)
	f.commit()
	f.run(40 * time.Second) // every silence bound, and the senders that were late
	f.calm = true
	f.run(5 * time.Second)
	f.pushing = false
	f.run(30 * time.Second)
	e, g := f.done.of("e"), f.done.of("f")
	acked, late := 0, 0
	for _, log := range f.logs {
		gone := log.run != log.run.machine.run // its process died
		switch {
		case gone && len(log.outcome) == 0:
			continue
		case len(log.outcome) != 1:
			f.t.Errorf("%d outcomes of %v", len(log.outcome), log.values)
			continue
		case log.outcome[0].Failed:
			if log.late {
				f.t.Errorf("failed in a quiet cluster: %v, %v", log.values, log.outcome)
			}
			continue
		}
		acked++
		if log.late {
			late++
		}
		for _, v := range log.values {
			if !e[v] || !g[v] {
				f.t.Errorf("%d was acknowledged and not finished everywhere: e %v, f %v", v, e[v], g[v])
			}
		}
	}
	if acked == 0 || late == 0 {
		f.t.Errorf("%d groups were acknowledged, %d of the quiet time", acked, late)
	}
	if err := f.oracle.Settled().Quiet(); err != nil {
		f.t.Error(err)
	}
	for _, m := range f.machines {
		m.host.Stop()
	}
	f.run(time.Minute)
	for _, m := range f.machines {
		if m.host.Running() {
			f.t.Errorf("%s does not stop", m.name)
		}
	}
}

var (
	firstSeed = flag.Uint64("first-seed", 0, "first seed of the fleets under faults")
	seeds     = flag.Uint64("seeds", 2, "number of fleets under faults")
)

// Machines die at any scheduling point, freeze, are cut off, and everything moves
// without a hold: no acknowledged record is lost, and a quiet cluster acknowledges
// everything.
func TestFleetUnderFaults(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			f := newFleet(t, 500+seed, 3)
			for _, m := range f.machines {
				m.start()
			}
			f.run(time.Millisecond)
			f.commit()
			f.run(time.Second)
			for range 15 {
				f.trouble()
				f.run(time.Duration(f.below(uint64(4 * time.Second))))
			}
			f.settle()
		})
	}
}

// The same machines left alone.
func TestFleetInPeace(t *testing.T) {
	f := newFleet(t, 1, 3)
	f.calm = true
	for _, m := range f.machines {
		m.start()
	}
	f.run(time.Millisecond)
	f.commit()
	f.run(3 * time.Second)
	f.settle()
}
