package flow

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/batch/batchtest"
	"plexus/engine/decide"
	"plexus/engine/exchange"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/sim"
)

// mesh is a cluster on one simulated machine: a domain for each node, joined by an
// exchange that has faults.
type mesh struct {
	t       *testing.T
	sim     *sim.Simulation
	host    *sim.Host
	world   primitives.World
	mem     *memory.CheckedAllocator
	tasks   *primitives.Group
	nodes   map[string]*peer
	entries []*entry
	readers map[string]map[string]int // relay, node: leases

	// behave is what an emitter does with a batch; it consumes shares and batch.
	behave func(ctx context.Context, p *peer, emitter string, c *Carrier)
	// tap, when set, hears every node.
	tap func(p *peer, e observe.Event)

	latency func() time.Duration
	rowsMax int             // of a body; 0 for no limit
	heavy   int64           // a value that no body can carry; 0 for none
	cut     map[string]bool // "a b": nothing passes between them
	errors  []string
	encoded int
}

// peer is a node of a mesh.
type peer struct {
	m       *mesh
	name    string
	epoch   uint64
	alive   bool
	d       *Domain
	sources map[string]*meshSource
	accepts map[*accepting]bool // walked by nobody, counted only
	list    []*accepting
	stale   int
}

type accepting struct{ cancel context.CancelFunc }

// entry is a delivery whose rows are being worked on.
type entry struct {
	from, to           *peer
	fromEpoch, toEpoch uint64
	forwarded          *ack.Forwarded
	pending            []func()
	heard              primitives.Instant
}

func newMesh(t *testing.T, seed uint64, nodes ...string) *mesh {
	s := sim.New(sim.Options{Seed: seed})
	t.Cleanup(s.Close)
	m := &mesh{
		t: t, sim: s, host: s.Host("cluster"), mem: memory.NewCheckedAllocator(batchtest.Soiled{}),
		nodes: map[string]*peer{}, readers: map[string]map[string]int{}, cut: map[string]bool{},
	}
	draw := s.Stream("latency")
	m.latency = func() time.Duration { return time.Duration(draw.Below(500)) * time.Microsecond }
	for _, n := range nodes {
		m.nodes[n] = &peer{m: m, name: n}
	}
	return m
}

// run boots every node and runs the scenario to its end.
func (m *mesh) run(scenario func(ctx context.Context)) {
	m.t.Helper()
	ended := false
	m.host.Start("cluster", func(ctx context.Context, w primitives.World) {
		m.world = w
		m.tasks = primitives.NewGroup(context.Background(), w)
		m.tasks.Go("sweep", m.sweep)
		for _, n := range primitives.SortedKeys(m.nodes) {
			m.nodes[n].boot()
		}
		scenario(ctx)
		m.tasks.Cancel(ErrStopped)
		_ = m.tasks.Wait(context.Background())
		ended = true
	})
	if err := m.sim.RunUntil(func() bool { return ended }, time.Hour); err != nil {
		var f *sim.Failure
		if errors.As(err, &f) {
			m.t.Log(f.Stack, f.Waiting)
		}
		m.t.Fatal(err)
	}
	m.mem.AssertSize(m.t, 0)
	m.sim.Close()
}

func (p *peer) boot() {
	p.epoch++
	p.alive = true
	p.sources = map[string]*meshSource{}
	deps := Deps{
		External: p, Metrics: observe.NewRegistry(), Memory: p.m.mem, Node: p.name, Exchange: &link{p, p.epoch}, Interest: p,
		Report: func(_ string, o observe.Endpoint, err error) {
			p.m.errors = append(p.m.errors, p.name+" "+o.Name+": "+observe.Explain(err))
		},
		Stale: func(string) { p.stale++ },
	}
	if p.m.tap != nil {
		deps.Tap = peerTap{p}
	}
	p.d = NewDomain(context.Background(), p.m.world, "d", deps)
}

type peerTap struct{ p *peer }

func (t peerTap) Observe(e observe.Event) { t.p.m.tap(t.p, e) }

// crash ends the process: nothing it does from now on is seen by anyone.
func (p *peer) crash() {
	p.alive = false
	p.epoch++
	for _, a := range p.list {
		a.cancel()
	}
	p.list = nil
	d := p.d
	p.m.tasks.Go("corpse", func(context.Context) error {
		d.group.Cancel(ErrStopped)
		return d.group.Wait(context.Background())
	})
	for _, relay := range primitives.SortedKeys(p.m.readers) {
		delete(p.m.readers[relay], p.name)
	}
	p.m.publishReaders()
}

// reach reports whether messages pass between two nodes.
func (m *mesh) reach(a, b *peer) bool {
	return a.alive && b.alive && !m.cut[a.name+" "+b.name] && !m.cut[b.name+" "+a.name]
}

// install gives every live node of the list the revision, all at once.
func (m *mesh) install(rev decide.Revision, nodes ...string) {
	m.t.Helper()
	g := primitives.NewGroup(context.Background(), m.world)
	for _, n := range nodes {
		g.Go("install "+n, func(ctx context.Context) error {
			m.nodes[n].install(rev)
			return nil
		})
	}
	_ = g.Wait(context.Background())
}

func (p *peer) install(rev decide.Revision) {
	p.m.t.Helper()
	rev.Domain, rev.Running = "d", true
	if err := p.d.Install(context.Background(), &rev); err != nil {
		p.m.t.Errorf("install %d on %s: %v", rev.Number, p.name, err)
	}
}

// stop ends every live node after its work is done.
func (m *mesh) stop(within time.Duration) {
	m.t.Helper()
	deadline := m.world.Clock().Now().Add(within)
	g := primitives.NewGroup(context.Background(), m.world)
	for _, n := range primitives.SortedKeys(m.nodes) {
		if p := m.nodes[n]; p.alive {
			g.Go("stop "+n, func(ctx context.Context) error {
				if err := p.d.Stop(ctx, deadline); err != nil {
					m.t.Errorf("stop %s: %v", p.name, err)
				}
				return nil
			})
		}
	}
	_ = g.Wait(context.Background())
}

// StartIngestor implements External.
func (p *peer) StartIngestor(_ *Domain, in *Intake) (IngestorHost, error) {
	s := &meshSource{in: in, suspended: in.Suspended}
	p.sources[in.Plan.Name] = s
	return s, nil
}

type meshSource struct {
	in        *Intake
	suspended Suspension
	stopped   bool
}

func (s *meshSource) Suspend(to Suspension)                    { s.suspended = to }
func (s *meshSource) Stop(context.Context, primitives.Instant) { s.stopped = true }
func (s *meshSource) Describe() IngestorStatus                 { return IngestorStatus{Status: "running"} }

// StartEmitter implements External.
func (p *peer) StartEmitter(d *Domain, feed *Feed) (EmitterHost, error) {
	return startFake(d, feed, func(ctx context.Context, c *Carrier) { p.m.behave(ctx, p, feed.Plan.Name, c) }), nil
}

// Lease implements Interest.
func (p *peer) Lease(ctx context.Context, _, relay string) (func(), error) {
	if err := primitives.Sleep(ctx, p.m.world, p.m.latency()); err != nil {
		return nil, err
	}
	epoch := p.epoch
	change := func(n int) {
		if p.epoch != epoch {
			return
		}
		if p.m.readers[relay] == nil {
			p.m.readers[relay] = map[string]int{}
		}
		p.m.readers[relay][p.name] += n
		p.m.publishReaders()
	}
	change(1)
	return func() { change(-1) }, nil
}

func (m *mesh) publishReaders() {
	for _, n := range primitives.SortedKeys(m.nodes) {
		p := m.nodes[n]
		if !p.alive {
			continue
		}
		all := map[string][]string{}
		for _, relay := range primitives.SortedKeys(m.readers) {
			for _, reader := range primitives.SortedKeys(m.readers[relay]) {
				if m.readers[relay][reader] > 0 && reader != n {
					all[relay] = append(all[relay], reader)
				}
			}
		}
		p.d.SetReaders(all)
	}
}

// push sends values through an ingestor as one group and returns the outcome log
// of its tally; nil for an unacknowledged group.
func (p *peer) push(ctx context.Context, ingestor string, acked bool, values ...int64) *tallyLog {
	b := array.NewRecordBuilder(p.m.mem, batch.ArrowSchema(reading))
	defer b.Release()
	b.Field(0).(*array.Int64Builder).AppendValues(values, nil)
	g := &Group{Batch: b.NewRecordBatch()}
	in := p.sources[ingestor].in
	var log *tallyLog
	if acked {
		log = &tallyLog{values: values, done: primitives.NewEvent(p.m.world)}
		epoch := p.epoch
		log.tally = ack.NewTally(in.Ledger, func(o ack.Outcome) {
			if p.epoch == epoch {
				log.outcomes = append(log.outcomes, o)
			} else { // the source's process is gone: nobody is told
				log.outcomes = append(log.outcomes, ack.Outcome{Failed: true})
			}
			log.done.Set()
			in.Load.Add(-1)
		})
		in.Load.Add(1)
		g.Acks = log.tally.Open(len(values), p.m.world.Clock().Now())
		log.tally.Seal()
	}
	_ = in.Execute(ctx, g)
	return log
}

// link is the exchange of one process.
type link struct {
	p     *peer
	epoch uint64
}

func (l *link) Encode(ctx context.Context, _, _ string, layout *exchange.Layout, rec arrow.RecordBatch, low, high []int64) (*exchange.Body, error) {
	m := l.p.m
	if m.rowsMax > 0 && int(rec.NumRows()) > m.rowsMax || m.heavy != 0 && slices.Contains(values(&Carrier{Batch: rec}), m.heavy) {
		return nil, exchange.ErrTooLarge
	}
	m.encoded++
	return exchange.Encode(layout, rec, low, high)
}

// Deliver is the exchange as seen from above: a verdict, and reports.
func (l *link) Deliver(ctx context.Context, ch exchange.Channel, b *exchange.Body, about []byte, acks *ack.Set) error {
	m, w := l.p.m, l.p.m.world
	giveUp := w.Clock().Now().Add(5 * time.Minute)
	no := func(e exchange.NotAdmitted) error {
		e.Channel = ch
		if e.Cause == exchange.Cancelled {
			e.Again = true
			return &e
		}
		if acks != nil {
			e.Bare = acks.Bare()
			acks.Fail(w.Clock().Now(), ack.Reason{Class: ack.ClassDispatch, Text: e.Cause.String()})
		}
		return &e
	}
	to := m.nodes[ch.Node]
	for {
		_ = primitives.Sleep(ctx, w, m.latency())
		switch {
		case ctx.Err() != nil:
			return no(exchange.NotAdmitted{Cause: exchange.Cancelled})
		case w.Clock().Now() >= giveUp:
			return no(exchange.NotAdmitted{Cause: exchange.GaveUp, Again: true})
		case !m.reach(l.p, to):
			_ = primitives.Sleep(ctx, w, 20*time.Millisecond)
			continue
		}
		err := l.ask(ctx, giveUp, to, ch, b, about, acks)
		var refused *exchange.Refusal
		var end *exchange.NotAdmitted
		switch {
		case err == nil:
			return nil
		case errors.As(err, &refused) && refused.Class == exchange.NotReady:
			_ = primitives.Sleep(ctx, w, 50*time.Millisecond)
		case errors.As(err, &refused):
			return no(exchange.NotAdmitted{Cause: exchange.Refused, Refusal: refused, Again: true})
		case errors.As(err, &end):
			return no(*end)
		}
	}
}

// ask offers the batch to the process that runs now.
func (l *link) ask(ctx context.Context, giveUp primitives.Instant, to *peer, ch exchange.Channel, b *exchange.Body, about []byte, acks *ack.Set) error {
	m, w := l.p.m, l.p.m.world
	d := to.d
	layout, err := d.Layout(ch.Role, ch.Relay, about)
	if err != nil {
		return err
	}
	if layout.Fingerprint != b.Layout().Fingerprint {
		return &exchange.Refusal{Class: exchange.Failed, Subject: "schema", Detail: "it differs"}
	}
	in, err := exchange.Decode(layout, bytes.Clone(b.Bytes()))
	if err != nil {
		m.t.Error(err)
		return &exchange.Refusal{Class: exchange.Failed}
	}
	in.Note = bytes.Clone(about)
	e := &entry{from: l.p, to: to, fromEpoch: l.p.epoch, toEpoch: to.epoch, heard: w.Clock().Now()}
	var there *ack.Set
	if acks != nil {
		_, there = d.ledger.Watch(b.Rows(), w.Clock().Now(), func(rows []int32, out ack.Outcome) { e.report(slices.Clone(rows), rows == nil, out) })
	}
	scope, cancel := primitives.WithCancel(context.Background(), w)
	a := &accepting{cancel}
	to.list = append(to.list, a)
	done := primitives.NewEvent(w)
	var verdict error
	m.tasks.Go("accept", func(context.Context) error {
		verdict = d.Accept(scope, exchange.Process{Node: l.p.name}, ch, in, there)
		done.Set()
		return nil
	})
	for !done.IsSet() {
		if _, err := primitives.Select(ctx, w, done.OnSet(), primitives.AtCase(w, w.Clock().Now().Add(5*time.Millisecond))); err != nil {
			cancel()
			_ = done.Wait(context.Background())
		}
		if to.epoch != e.toEpoch || w.Clock().Now() >= giveUp {
			cancel()
			_ = done.Wait(context.Background())
		}
	}
	cancel()
	to.list = slices.DeleteFunc(to.list, func(o *accepting) bool { return o == a })
	if verdict != nil {
		in.Record.Release()
	}
	switch {
	case to.epoch != e.toEpoch:
		return &exchange.NotAdmitted{Cause: exchange.Departed}
	case verdict != nil && ctx.Err() != nil:
		return &exchange.NotAdmitted{Cause: exchange.Cancelled}
	case verdict != nil && w.Clock().Now() >= giveUp:
		return &exchange.NotAdmitted{Cause: exchange.GaveUp, Again: true}
	case verdict != nil:
		return verdict
	}
	if acks != nil {
		e.forwarded = acks.Forward()
		m.entries = append(m.entries, e)
		for _, f := range e.pending {
			f()
		}
	}
	return nil
}

// report carries an outcome back, after a while.
func (e *entry) report(rows []int32, every bool, out ack.Outcome) {
	m := e.from.m
	m.tasks.Go("report", func(ctx context.Context) error {
		for {
			if primitives.Sleep(ctx, m.world, m.latency()) != nil {
				return nil
			}
			if e.to.epoch != e.toEpoch || e.from.epoch != e.fromEpoch {
				return nil
			}
			if m.reach(e.from, e.to) {
				break
			}
		}
		apply := func() {
			e.heard = m.world.Clock().Now()
			if every {
				rows = nil
			}
			e.forwarded.Resolve(rows, m.world.Clock().Now(), out)
		}
		if e.forwarded == nil {
			e.pending = append(e.pending, apply)
		} else {
			apply()
		}
		return nil
	})
}

// sweep fails what nothing was heard of for fifteen seconds, or whose receiver is
// another process now.
func (m *mesh) sweep(ctx context.Context) error {
	for primitives.Sleep(ctx, m.world, time.Second) == nil {
		now := m.world.Clock().Now()
		var open []*entry
		for _, e := range m.entries {
			switch {
			case e.forwarded.Open() == 0, e.from.epoch != e.fromEpoch:
				continue
			case m.reach(e.from, e.to) && e.to.epoch == e.toEpoch:
				e.heard = now
			case e.to.epoch != e.toEpoch && m.reach(e.from, e.to), now.Sub(e.heard) >= 15*time.Second:
				e.forwarded.Resolve(nil, now, ack.Outcome{Failed: true, Reason: ack.Reason{Class: ack.ClassTimeout, Text: "acknowledgement lost"}})
				continue
			}
			open = append(open, e)
		}
		m.entries = open
	}
	return nil
}

// The graphs of these tests.

func on(node string) decide.Placement { return decide.Placement{Owner: node} }

func relayOn(node, name string, capacity int) decide.RelayPlan {
	r := relay(name, capacity)
	r.Placement = on(node)
	return r
}

func ingestorOn(node, name string, routes ...decide.RoutePlan) decide.IngestorPlan {
	p := ingestorPlan(routes...)
	p.Name, p.Placement = name, on(node)
	return p
}

func emitterOn(node, name string, attached bool, relays ...string) decide.EmitterPlan {
	p := emitterPlan(name, attached, relays...)
	p.Placement = on(node)
	return p
}

func junctionOn(node, name string, attached bool, from string, routes ...decide.RoutePlan) decide.JunctionPlan {
	return decide.JunctionPlan{Placement: on(node), Name: name, Attached: attached, Inputs: []decide.InputPlan{{Relay: from}}, Routes: routes}
}

// finished records what emitters on live nodes have finished, by name.
type finished map[string][]int64

func (f finished) of(name string) map[int64]bool {
	m := map[int64]bool{}
	for _, v := range f[name] {
		m[v] = true
	}
	return m
}

// collect makes every emitter finish its rows at once.
func (m *mesh) collect() finished {
	got := finished{}
	m.behave = func(_ context.Context, p *peer, name string, c *Carrier) {
		if p.alive {
			got[name] = append(got[name], values(c)...)
		}
		c.Acks.OK(m.world.Clock().Now())
		c.Release()
	}
	return got
}

func (m *mesh) sleep(ctx context.Context, d time.Duration) { _ = primitives.Sleep(ctx, m.world, d) }

func seq(from, to int64) (vs []int64) {
	for v := from; v < to; v++ {
		vs = append(vs, v)
	}
	return vs
}

// within runs f and reports whether it ended in time; it is cancelled then.
func (m *mesh) within(ctx context.Context, d time.Duration, f func(ctx context.Context)) bool {
	bounded, cancel := primitives.WithDeadline(ctx, m.world, m.world.Clock().Now().Add(d))
	defer cancel()
	f(bounded)
	return bounded.Err() == nil
}
