package exchange_test

import (
	"context"
	"flag"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plexus/engine/exchange"
	"plexus/engine/exchange/exchangetest"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/oracle"
)

// plot is a simulated cluster of exchanges with a story.
type plot struct {
	*exchangetest.Cluster
	t      testing.TB
	sim    *sim.Simulation
	stream *sim.Stream
	hosts  []*sim.Host
	oracle *oracle.Exchange
	over   bool // nothing new is produced
	calm   bool // everything healed
}

func newPlot(t testing.TB, seed uint64, nodes int) *plot {
	t.Helper()
	p := &plot{t: t, sim: sim.New(sim.Options{Seed: seed})}
	t.Cleanup(p.sim.Close)
	p.stream = p.sim.Stream("plot")
	p.oracle = oracle.NewExchange(p.sim.Fail)
	addresses := map[string]netip.Addr{}
	for i := range nodes {
		h := p.sim.Host(fmt.Sprintf("n%d", i+1))
		addresses[h.Name()] = h.Addr()
		p.hosts = append(p.hosts, h)
	}
	p.Cluster = exchangetest.NewCluster(addresses, p.stream.Below, p.sim.Fail)
	p.Over = func() bool { return p.over }
	p.Calm = func() bool { return p.calm }
	p.Taps = func(node string) observe.Tap {
		return oracle.Taps{p.oracle.Process(node), oracle.NewRoots(p.sim.Fail, false)}
	}
	return p
}

func (p *plot) start() {
	for _, h := range p.hosts {
		h.Start("node", p.Run(h.Name()))
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
	for _, h := range p.hosts {
		if h.Frozen() {
			h.Thaw()
		}
		if !h.Running() {
			h.Restart()
		}
	}
	p.calm = true
	p.run(20 * time.Second)
	p.over = true
	p.run(40 * time.Second)
	if err := p.Settled(); err != nil {
		p.t.Error(err)
	}
	if !p.Tested() {
		p.t.Error("no rows with and without a share were delivered: nothing was tested")
	}
	if err := p.oracle.Settled().Quiet(); err != nil {
		p.t.Error(err)
	}
	for _, h := range p.hosts {
		h.Stop()
	}
	p.run(30 * time.Second)
	for _, h := range p.hosts {
		if h.Running() {
			p.t.Errorf("%s does not stop", h.Name())
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
	p.start()
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
	p.Work = time.Millisecond
	done := 0
	var over int64
	p.Produce = func(n *exchangetest.Node, ctx context.Context, w primitives.World) {
		if n.Name != "n1" {
			idle := primitives.NewEvent(w)
			primitives.OnCancel(ctx, idle.Set)
			_ = idle.Wait(context.Background())
			return
		}
		ch := exchange.Channel{Node: "n2", Role: exchange.ToOwner, Domain: "d", Relay: "r0"}
		for _, rows := range []int{1, 5_000, 300_000} {
			rec, low, high := exchangetest.Record(n.Birth(false, rows))
			body, err := n.Exchange.Encode(ctx, ch.Domain, ch.Relay, p.Layout, rec, low, high)
			rec.Release()
			if err != nil {
				p.sim.Fail("encodes", err.Error())
				return
			}
			over += int64(body.Size())
			p.sim.Network().ResetAfter(p.hosts[0], p.hosts[1], int64(body.Size()/2))
			if err := n.Exchange.Deliver(ctx, ch, body, []byte(exchangetest.Note("r0")), nil); err != nil {
				p.sim.Fail("delivers", err.Error())
			}
			body.Release()
			done++
		}
	}
	p.start()
	for range 120 {
		p.run(time.Second)
		if done == 3 {
			break
		}
	}
	if done != 3 {
		t.Fatalf("%d of 3 bodies were admitted", done)
	}
	for at := range p.Rows {
		if p.Rows[at].Seen != 1 {
			t.Fatalf("row %d was seen %d times", at, p.Rows[at].Seen)
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
	p.Refuses, p.Fails = 20_000, 50_000
	p.Unreliable = seed%3 == 1
	if seed%5 == 2 { // room for one body and a few watches
		p.Limits.ReceiveMemory, p.Limits.WatchMemory, p.Limits.SendMemory = 9<<10, 4<<10, 1<<10
	}
	if seed%4 == 3 {
		p.Limits.Deliveries, p.Limits.Admissions = 4, 3
	}
	p.start()
	p.run(time.Second)
	for range 25 {
		p.trouble()
		p.run(time.Duration(p.stream.Below(uint64(3 * time.Second))))
	}
	p.end()
}

// trouble makes one thing go wrong for a while.
func (p *plot) trouble() {
	a := p.hosts[p.stream.Below(uint64(len(p.hosts)))]
	b := p.hosts[p.stream.Below(uint64(len(p.hosts)))]
	for b == a {
		b = p.hosts[p.stream.Below(uint64(len(p.hosts)))]
	}
	span := time.Duration(p.stream.Below(uint64(8 * time.Second)))
	if p.stream.Below(5) == 0 {
		span += 15 * time.Second
	}
	network := p.sim.Network()
	switch p.stream.Below(7) {
	case 0:
		network.Cut(a, b)
		p.sim.After(span, func() { network.Heal(a, b) })
	case 1:
		network.Partition([]*sim.Host{a}, []*sim.Host{b})
		p.sim.After(span, func() {
			network.Heal(a, b)
			network.Heal(b, a)
		})
	case 2:
		network.Reset(a, b)
	case 3:
		network.ResetAfter(a, b, int64(1+p.stream.Below(3000)))
	case 4:
		a.Freeze()
		p.sim.After(span, a.Thaw)
	case 5:
		a.Kill()
		p.sim.After(span/4, func() {
			if !a.Running() {
				a.Restart()
			}
		})
	default:
		network.SetLink(a, b, sim.Link{Latency: 30 * time.Millisecond, Jitter: 200 * time.Millisecond, LossPPM: 50_000})
		p.sim.After(span, func() { network.ResetLink(a, b) })
	}
}
