package exchange_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/exchange"
	"plexus/engine/interconnect"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/oracle"
)

var schema = arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)

// plot is a simulated cluster of exchanges with a small graph each: every node
// sends batches to every other, and a ledger knows each row.
type plot struct {
	t       testing.TB
	sim     *sim.Simulation
	stream  *sim.Stream
	nodes   []*node
	oracle  *oracle.Exchange
	layout  *exchange.Layout
	limits  exchange.Limits
	wrap    func(n *node, p exchange.Port) exchange.Port
	over    bool // nothing new is produced
	calm    bool // everything healed
	deaths  int
	next    int64
	rows    []row
	refuses uint64 // parts per million of batches the graphs are not ready for
	fails   uint64 // of rows that the graphs fail
	work    time.Duration
}

// row is what the ledger knows of one row.
type row struct {
	acked     bool
	born      int // of the process that made it
	owner     *node
	done      bool // succeeded at its source
	abandoned bool // its process died
	lost      bool // without a share, and its delivery cannot be offered again
	seen      int
	good      int
}

type node struct {
	plot     *plot
	name     string
	raft     uint64
	host     *sim.Host
	counter  uint64
	exchange *exchange.Exchange
	metrics  *observe.Registry
}

func newPlot(t testing.TB, seed uint64, nodes int) *plot {
	t.Helper()
	layout, err := exchange.NewLayout(schema)
	if err != nil {
		t.Fatal(err)
	}
	p := &plot{t: t, sim: sim.New(sim.Options{Seed: seed}), layout: layout, work: 20 * time.Millisecond}
	t.Cleanup(p.sim.Close)
	p.stream = p.sim.Stream("plot")
	p.oracle = oracle.NewExchange(p.sim.Fail)
	for i := range nodes {
		n := &node{plot: p, name: fmt.Sprintf("n%d", i+1), raft: uint64(i + 1)}
		n.host = p.sim.Host(n.name)
		p.sim.DNS().Set(n.name+".test", time.Minute, n.host.Addr())
		p.nodes = append(p.nodes, n)
	}
	return p
}

const port = 47395

func (p *plot) start(produce func(n *node, ctx context.Context, w primitives.World)) {
	for _, n := range p.nodes {
		n.start(produce)
	}
}

func (n *node) start(produce func(n *node, ctx context.Context, w primitives.World)) {
	p := n.plot
	n.host.Start("node", func(ctx context.Context, w primitives.World) {
		n.counter++
		s := interconnect.Defaults()
		s.Insecure = true
		s.Listen = netip.AddrPortFrom(n.host.Addr(), port)
		s.Advertise = fmt.Sprintf("%s.test:%d", n.name, port)
		mesh, err := interconnect.New(w, s)
		if err != nil {
			p.sim.Fail("harness", err.Error())
			return
		}
		mesh.Identify(interconnect.Process{Node: n.name, RaftID: n.raft, Counter: n.counter, Epoch: interconnect.NewEpoch(w)}, primitives.UUID{1})
		port := exchange.OverMesh(mesh)
		if p.wrap != nil {
			port = p.wrap(n, port)
		}
		n.metrics = observe.NewRegistry()
		tap := oracle.Taps{p.oracle.Process(n.name), oracle.NewRoots(p.sim.Fail, false)}
		n.exchange = exchange.New(exchange.Settings{
			World: w, Port: port, Executor: primitives.NewExecutor(w, 4), Metrics: n.metrics, Tap: tap, Limits: p.limits,
		})
		g := &graph{node: n, w: w, room: primitives.NewSemaphore(w, 2)}
		n.exchange.Serve(g)
		background := context.Background()
		n.exchange.Start(background)
		if err := mesh.Start(background); err != nil {
			p.sim.Fail("harness", err.Error())
			return
		}
		mesh.SetPeers(p.peers())
		produce(n, ctx, w)
		if err := n.exchange.Close(background); err != nil {
			p.sim.Fail("harness", err.Error())
		}
		if err := mesh.Stop(background); err != nil {
			p.sim.Fail("harness", err.Error())
		}
	})
}

func (p *plot) peers() (list []interconnect.Peer) {
	for _, n := range p.nodes {
		list = append(list, interconnect.Peer{Node: n.name, RaftID: n.raft, Endpoint: fmt.Sprintf("%s.test:%d", n.name, port), Counter: 1})
	}
	return list
}

// graph is what deliveries arrive at: it takes batches after a while and ends
// their rows in pieces.
type graph struct {
	node *node
	w    primitives.World
	room *primitives.Semaphore
}

func (g *graph) Layout(_ exchange.Role, _, relay string, note []byte) (*exchange.Layout, error) {
	if relay == "nowhere" {
		return nil, &exchange.Refusal{Class: exchange.Rejected, Subject: "relay", Detail: "not here"}
	}
	if string(note) != "note of "+relay {
		return nil, &exchange.Refusal{Class: exchange.Failed, Subject: "note", Detail: "it is another one"}
	}
	return g.node.plot.layout, nil
}

func (g *graph) Accept(ctx context.Context, _ exchange.Process, ch exchange.Channel, b *exchange.Batch, acks *ack.Set) error {
	p := g.node.plot
	if err := g.room.Acquire(ctx, 1); err != nil {
		return err
	}
	defer g.room.Release(1)
	if string(b.Note) != "note of "+ch.Relay {
		return &exchange.Refusal{Class: exchange.Failed, Subject: "note", Detail: "it is another one"}
	}
	if err := primitives.Sleep(ctx, g.w, time.Duration(p.stream.Below(uint64(p.work)))); err != nil {
		return err
	}
	if !p.calm && p.stream.Chance(p.refuses) {
		return &exchange.Refusal{Class: exchange.NotReady, Subject: "gate", Detail: "closed"}
	}
	numbers := slices.Clone(b.Record.Column(0).(*array.Int64).Int64Values())
	b.Record.Release()
	for i, at := range numbers {
		if b.Low[i] != at*10 || b.High[i] != at*10+1 {
			p.sim.Fail("watermarks", fmt.Sprintf("row %d has %d and %d", at, b.Low[i], b.High[i]))
		}
		r := &p.rows[at]
		r.seen++
		if !r.acked && r.seen > 1 {
			p.sim.Fail("no-duplicates", fmt.Sprintf("row %d without a share was seen %d times", at, r.seen))
		}
	}
	consumers := 1 + int(p.stream.Below(2))
	left := map[int64]int{}
	for _, at := range numbers {
		left[at] = consumers
	}
	for _, child := range acks.Fork(consumers, g.w.Clock().Now()) {
		g.w.Tasks().Go("graph", func() { g.finish(numbers, left, child) })
	}
	return nil
}

// finish ends the rows of one consumer in pieces.
func (g *graph) finish(numbers []int64, left map[int64]int, acks *ack.Set) {
	p := g.node.plot
	background := context.Background()
	for len(numbers) > 0 {
		for wait := time.Duration(p.stream.Below(uint64(3 * p.work))); wait > 0; wait -= 100 * time.Millisecond {
			_ = primitives.Sleep(background, g.w, min(wait, 100*time.Millisecond))
			acks.Touch(g.w.Clock().Now())
		}
		var listed []int32
		var now, later []int64
		for i, at := range numbers {
			if p.stream.Below(3) > 0 {
				listed, now = append(listed, int32(i)), append(now, at)
			} else {
				later = append(later, at)
			}
		}
		var rest *ack.Set
		ends := acks
		if len(later) > 0 {
			ends, rest = acks.Partition(listed)
		}
		if !p.calm && p.stream.Chance(p.fails) {
			ends.Fail(g.w.Clock().Now(), ack.Reason{Class: ack.ClassMessage, Text: "the graph failed it"})
		} else {
			for _, at := range now {
				if left[at]--; left[at] == 0 {
					p.rows[at].good++
				}
			}
			ends.OK(g.w.Clock().Now())
		}
		numbers, acks = later, rest
	}
}

// batch makes rows and the batch that holds them.
func (p *plot) record(numbers []int64) (rec arrow.RecordBatch, low, high []int64) {
	b := array.NewRecordBuilder(memory.DefaultAllocator, schema)
	defer b.Release()
	for _, at := range numbers {
		b.Field(0).(*array.Int64Builder).Append(at)
		low, high = append(low, at*10), append(high, at*10+1)
	}
	return b.NewRecordBatch(), low, high
}

func (p *plot) birth(n *node, acked bool, count int) (numbers []int64) {
	for range count {
		numbers = append(numbers, p.next)
		p.rows = append(p.rows, row{acked: acked, owner: n, born: int(n.counter)})
		p.next++
	}
	return numbers
}

// produce sends batches to every other node until the plot is over, and again
// what failed, as a source does.
func produce(n *node, ctx context.Context, w primitives.World) {
	p := n.plot
	group := primitives.NewGroup(ctx, w)
	for _, to := range p.nodes {
		if to == n {
			continue
		}
		for relay := range 3 {
			for _, acked := range []bool{true, false} {
				ch := exchange.Channel{
					Node: to.name, Role: exchange.Role(1 + relay%2), Domain: "d", Relay: fmt.Sprintf("r%d", relay), Branch: fmt.Sprint(acked),
				}
				group.Go("producer", func(ctx context.Context) error {
					(&producer{node: n, w: w, ch: ch, acked: acked, ledger: ack.NewLedger("d", nil, nil), failed: primitives.NewNotice(w)}).run(ctx)
					return nil
				})
			}
		}
	}
	_ = group.Wait(context.Background())
}

type producer struct {
	node   *node
	w      primitives.World
	ch     exchange.Channel
	acked  bool
	ledger *ack.Ledger
	again  [][]int64
	failed *primitives.Notice
	open   int
}

func (r *producer) run(ctx context.Context) {
	p := r.node.plot
	for primitives.Canceled(ctx) == nil {
		var numbers []int64
		switch {
		case len(r.again) > 0:
			numbers, r.again = r.again[0], r.again[1:]
		case p.over:
			_ = primitives.Sleep(ctx, r.w, 50*time.Millisecond)
			continue
		default:
			numbers = p.birth(r.node, r.acked, 1+int(p.stream.Below(6)))
		}
		r.deliver(ctx, numbers)
		_ = primitives.Sleep(ctx, r.w, time.Duration(p.stream.Below(uint64(400*time.Millisecond))))
	}
}

// deliver offers rows until they are admitted or their shares have failed.
func (r *producer) deliver(ctx context.Context, numbers []int64) {
	p := r.node.plot
	rec, low, high := p.record(numbers)
	defer rec.Release()
	body, err := r.node.exchange.Encode(ctx, r.ch.Domain, r.ch.Relay, p.layout, rec, low, high)
	if err != nil {
		r.again = append(r.again, numbers)
		return
	}
	defer body.Release()
	var acks *ack.Set
	if r.acked {
		_, acks = r.ledger.Open(len(numbers), r.w.Clock().Now(), func(out ack.Outcome) { r.outcome(numbers, out) })
	}
	inner, stop := primitives.WithCancel(ctx, r.w)
	defer stop()
	if !p.calm && p.stream.Below(20) == 0 {
		at := r.w.Clock().Now().Add(time.Duration(p.stream.Below(uint64(2 * p.work))))
		timer := r.w.Clock().At(at, stop)
		defer timer.Stop()
	}
	err = r.node.exchange.Deliver(inner, r.ch, body, []byte("note of "+r.ch.Relay), acks)
	if err == nil {
		return
	}
	var refused *exchange.NotAdmitted
	if !errors.As(err, &refused) {
		p.sim.Fail("typed-errors", fmt.Sprintf("Deliver failed with %v", err))
		return
	}
	if refused.Cause == exchange.Refused {
		p.sim.Fail("no-refusal", fmt.Sprintf("nobody refuses for good here: %v", err))
	}
	switch {
	case refused.Cause == exchange.Cancelled && acks != nil:
		acks.Fail(r.w.Clock().Now(), ack.Dropped)
	case acks != nil:
	case refused.Again:
		for _, at := range numbers {
			if p.rows[at].seen > 0 {
				p.sim.Fail("again", fmt.Sprintf("row %d was seen and may be offered again: %v", at, err))
			}
		}
		r.again = append(r.again, numbers)
	default:
		for _, at := range numbers {
			p.rows[at].lost = true
		}
	}
}

// outcome is the end of the roots of one batch: what failed comes again.
func (r *producer) outcome(numbers []int64, out ack.Outcome) {
	p := r.node.plot
	if out.Failed {
		r.again = append(r.again, numbers)
		return
	}
	for _, at := range numbers {
		p.rows[at].done = true
		if p.rows[at].good == 0 {
			p.sim.Fail("no-acknowledged-loss", fmt.Sprintf("row %d was acknowledged and no graph ended it well", at))
		}
	}
}

// settle checks the ledger once everything has healed.
func (p *plot) settle() {
	p.t.Helper()
	acked, bare, lost := 0, 0, 0
	for at := range p.rows {
		r := &p.rows[at]
		gone := int(r.owner.counter) != r.born // its process died
		switch {
		case gone:
		case r.acked:
			acked++
			if !r.done {
				p.t.Errorf("row %d has a share and was never acknowledged: seen %d, good %d", at, r.seen, r.good)
			}
		case r.lost:
			lost++
		default:
			bare++
			if r.seen == 0 {
				p.t.Errorf("row %d without a share was lost", at)
			}
		}
	}
	if acked == 0 || bare == 0 {
		p.t.Errorf("%d rows with and %d without a share: nothing was tested", acked, bare)
	}
	if p.deaths == 0 && lost > 0 && p.limits.Request == 0 {
		p.t.Logf("%d of %d rows without a share have an unknown outcome", lost, bare+lost)
	}
	if err := p.oracle.Settled().Quiet(); err != nil {
		p.t.Error(err)
	}
	for _, n := range p.nodes {
		for _, s := range n.metrics.Snapshot() {
			if s.Family == observe.RemoteDeliveries && s.Value != 0 {
				p.t.Errorf("%s has %v deliveries in a quiet run", n.name, s.Value)
			}
		}
	}
}

func (p *plot) run(d time.Duration) {
	p.t.Helper()
	if err := p.sim.Run(d); err != nil {
		for _, l := range p.sim.Logs() {
			p.t.Log(l)
		}
		p.t.Fatal(err)
	}
}

// end heals everything, lets it settle and stops the nodes.
func (p *plot) end() {
	p.t.Helper()
	p.sim.Network().HealAll()
	for _, n := range p.nodes {
		if n.host.Frozen() {
			n.host.Thaw()
		}
		if !n.host.Running() {
			n.host.Restart()
		}
	}
	p.calm = true
	p.run(20 * time.Second)
	p.over = true
	p.run(40 * time.Second)
	p.settle()
	for _, n := range p.nodes {
		n.host.Stop()
	}
	p.run(30 * time.Second)
	for _, n := range p.nodes {
		if n.host.Running() {
			p.t.Errorf("%s does not stop", n.name)
		}
	}
	for _, leak := range p.sim.Leaks() {
		if !strings.Contains(leak, "dns/") && !strings.Contains(leak, "10.255.255.53") {
			p.t.Error(leak)
		}
	}
}

func TestDeliveriesInPeace(t *testing.T) {
	p := newPlot(t, 1, 2)
	p.start(produce)
	p.run(5 * time.Second)
	p.end()
}

var (
	firstSeed = flag.Uint64("first-seed", 0, "first seed of the runs under faults")
	seeds     = flag.Uint64("seeds", 6, "number of runs under faults")
)

// Bodies of every size cross, also those of several windows of the transport, and
// a transfer that breaks is taken up again.
func TestLargeBodies(t *testing.T) {
	p := newPlot(t, 3, 2)
	p.work = time.Millisecond
	done := 0
	var over int64
	p.start(func(n *node, ctx context.Context, w primitives.World) {
		if n != p.nodes[0] {
			idle := primitives.NewEvent(w)
			primitives.OnCancel(ctx, idle.Set)
			_ = idle.Wait(context.Background())
			return
		}
		ch := exchange.Channel{Node: "n2", Role: exchange.ToOwner, Domain: "d", Relay: "r0"}
		for _, rows := range []int{1, 5_000, 300_000} {
			numbers := p.birth(n, false, rows)
			rec, low, high := p.record(numbers)
			body, err := n.exchange.Encode(ctx, ch.Domain, ch.Relay, p.layout, rec, low, high)
			rec.Release()
			if err != nil {
				p.sim.Fail("encodes", err.Error())
				return
			}
			over += int64(body.Size())
			p.sim.Network().ResetAfter(n.host, p.nodes[1].host, int64(body.Size()/2))
			if err := n.exchange.Deliver(ctx, ch, body, []byte("note of r0"), nil); err != nil {
				p.sim.Fail("delivers", err.Error())
			}
			body.Release()
			done++
		}
	})
	for range 120 {
		p.run(time.Second)
		if done == 3 {
			break
		}
	}
	if done != 3 {
		t.Fatalf("%d of 3 bodies were admitted", done)
	}
	for at := range p.rows {
		if p.rows[at].seen != 1 {
			t.Fatalf("row %d was seen %d times", at, p.rows[at].seen)
		}
	}
	t.Logf("%d bytes", over)
}

// Whatever the network and the machines do, no acknowledged row is lost, none
// without a share is doubled, and both ends agree.
func TestDeliveriesUnderFaults(t *testing.T) {
	for seed := *firstSeed; seed < *firstSeed+*seeds; seed++ {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { underFaults(t, seed) })
	}
}

func underFaults(t testing.TB, seed uint64) {
	p := newPlot(t, 100+seed, 2+int(seed%2))
	p.refuses, p.fails = 20_000, 50_000
	if seed%3 == 1 {
		p.wrap = unreliable
	}
	if seed%5 == 2 { // room for one body and a few watches
		p.limits.ReceiveMemory, p.limits.WatchMemory, p.limits.SendMemory = 9<<10, 4<<10, 1<<10
	}
	if seed%4 == 3 {
		p.limits.Deliveries, p.limits.Admissions = 4, 3
	}
	p.start(produce)
	p.run(time.Second)
	for range 25 {
		p.trouble()
		p.run(time.Duration(p.stream.Below(uint64(3 * time.Second))))
	}
	p.end()
}

// trouble makes one thing go wrong for a while.
func (p *plot) trouble() {
	a := p.nodes[p.stream.Below(uint64(len(p.nodes)))]
	b := p.nodes[p.stream.Below(uint64(len(p.nodes)))]
	for b == a {
		b = p.nodes[p.stream.Below(uint64(len(p.nodes)))]
	}
	span := time.Duration(p.stream.Below(uint64(8 * time.Second)))
	if p.stream.Below(5) == 0 {
		span += 15 * time.Second
	}
	network := p.sim.Network()
	switch p.stream.Below(7) {
	case 0:
		network.Cut(a.host, b.host)
		p.sim.After(span, func() { network.Heal(a.host, b.host) })
	case 1:
		network.Partition([]*sim.Host{a.host}, []*sim.Host{b.host})
		p.sim.After(span, func() {
			network.Heal(a.host, b.host)
			network.Heal(b.host, a.host)
		})
	case 2:
		network.Reset(a.host, b.host)
	case 3:
		network.ResetAfter(a.host, b.host, int64(1+p.stream.Below(3000)))
	case 4:
		a.host.Freeze()
		p.sim.After(span, a.host.Thaw)
	case 5:
		p.deaths++
		a.host.Kill()
		p.sim.After(span/4, func() {
			if !a.host.Running() {
				a.host.Restart()
			}
		})
	default:
		network.SetLink(a.host, b.host, sim.Link{Latency: 30 * time.Millisecond, Jitter: 200 * time.Millisecond, LossPPM: 50_000})
		p.sim.After(span, func() { network.ResetLink(a.host, b.host) })
	}
}

// unreliable loses, doubles and delays single messages of the exchange.
func unreliable(n *node, inner exchange.Port) exchange.Port {
	return &unreliablePort{Port: inner, node: n}
}

type unreliablePort struct {
	exchange.Port
	node *node
}

var errSwallowed = errors.New("swallowed")

func (u *unreliablePort) chance(ppm uint64) bool {
	return !u.node.plot.calm && u.node.plot.stream.Chance(ppm)
}

// stray lets a copy of a message arrive later, whatever its sender does.
func (u *unreliablePort) stray(send func(ctx context.Context)) {
	w := u.node.host.World()
	wait := time.Duration(u.node.plot.stream.Below(uint64(8 * time.Second)))
	w.Tasks().Go("stray message", func() {
		ctx, end := primitives.WithDeadline(context.Background(), w, w.Clock().Now().Add(wait+5*time.Second))
		defer end()
		_ = primitives.Sleep(ctx, w, wait)
		send(ctx)
	})
}

func (u *unreliablePort) Ask(ctx context.Context, to exchange.Process, op interconnect.Operation, message []byte) ([]byte, error) {
	w := u.node.host.World()
	if u.chance(50_000) {
		return nil, errSwallowed
	}
	if u.chance(50_000) {
		if err := primitives.Sleep(ctx, w, time.Duration(u.node.plot.stream.Below(uint64(3*time.Second)))); err != nil {
			return nil, err
		}
	}
	if u.chance(50_000) {
		u.stray(func(ctx context.Context) { _, _ = u.Port.Ask(ctx, to, op, message) })
	}
	reply, err := u.Port.Ask(ctx, to, op, message)
	if u.chance(50_000) {
		return nil, errSwallowed
	}
	return reply, err
}

func (u *unreliablePort) Transfer(ctx context.Context, to exchange.Process, channel uint64, head, body []byte) ([]byte, error) {
	if u.chance(50_000) {
		return nil, errSwallowed
	}
	if u.chance(50_000) {
		u.stray(func(ctx context.Context) { _, _ = u.Port.Transfer(ctx, to, channel, head, body) })
	}
	if u.chance(50_000) {
		if err := primitives.Sleep(ctx, u.node.host.World(), time.Duration(u.node.plot.stream.Below(uint64(7*time.Second)))); err != nil {
			return nil, err
		}
	}
	reply, err := u.Port.Transfer(ctx, to, channel, head, body)
	if u.chance(50_000) {
		return nil, errSwallowed
	}
	return reply, err
}

func (u *unreliablePort) Post(to exchange.Process, message []byte) {
	if !u.chance(200_000) {
		u.Port.Post(to, message)
	}
}
