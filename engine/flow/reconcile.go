package flow

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"plexus/engine/decide"
	"plexus/engine/expr"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// change is what one installation does, compared by name.
type change struct {
	next *decide.Revision

	relaysGone, relaysNew       []string
	junctionsGone, junctionsNew []string
	junctionsUpdated            []string
	ingestorsGone, ingestorsNew []string
	emittersGone, emittersNew   []string
	emittersUpdated             []string

	programs map[string]*program // of new and updated junctions
	intakes  map[string]*program // of new ingestors

	// moved are operators that go away because another node executes them now.
	moved map[string]bool
	// swapped are relays that go on with other consumers, or in another role.
	swapped []string
	readers map[string][]reader // of each relay, in the next revision
}

// Install makes the revision what the domain executes: it prepares and activates
// it.
func (d *Domain) Install(ctx context.Context, next *decide.Revision) error {
	if err := d.Prepare(ctx, next); err != nil {
		return err
	}
	return d.Activate(ctx)
}

// Prepare makes the revision what the domain executes, except that its new sources
// wait for Activate. Operators that did not change keep running; programs that
// changed are exchanged between units of work; whatever goes away or is replaced is
// drained first, and only that. A drain that does not finish changes nothing and is
// a *DrainError, except for a revision that stops the domain: that one drops what is
// left when its time is up.
func (d *Domain) Prepare(ctx context.Context, next *decide.Revision) error {
	if err := d.installing.Lock(ctx); err != nil {
		return err
	}
	defer d.installing.Unlock()
	c, err := d.compare(next)
	if err != nil {
		return err
	}
	deadline := d.now().Add(d.deps.DrainTimeout)
	if next.Running {
		release, err := d.settle(ctx, c, deadline)
		if err != nil {
			return err
		}
		defer release()
	} else {
		h, err := d.quiesce(ctx, deadline)
		defer h.Release()
		if err != nil && !errors.As(err, new(*DrainError)) {
			return err
		}
	}
	defer d.swap(c)()
	defer d.withHolds(func() {}) // what started or went meanwhile
	defer d.publishViews()       // also what an interrupted installation has changed
	d.prepared = nil
	d.retire(ctx, c, deadline)
	if err := d.begin(ctx, c); err != nil {
		return err
	}
	d.prepared = c
	d.goesOn(next)
	d.publish(next)
	observe.Emit(d.deps.Tap, observe.Event{Kind: observe.RevisionInstalled, Domain: d.name, ID: next.Number})
	return nil
}

// Activate starts the sources that the prepared revision is new with.
func (d *Domain) Activate(ctx context.Context) error {
	if err := d.installing.Lock(ctx); err != nil {
		return err
	}
	defer d.installing.Unlock()
	c := d.prepared
	if c == nil {
		return nil
	}
	defer d.withHolds(func() {})
	defer d.publishViews()
	ingestors := byName(all(c.next.Ingestors), ingestorName)
	d.prepared = nil // one that fails is prepared again
	for _, name := range c.ingestorsNew {
		d.began(vocab.EntityIngestor, name, ingestors[name].Everywhere, c.next)
		if err := d.startIngestor(ingestors[name], c.intakes[name]); err != nil {
			d.ended(vocab.EntityIngestor, name)
			return err
		}
	}
	return nil
}

// publish makes the revision the one that is installed: deliveries that waited for
// it look again.
func (d *Domain) publish(next *decide.Revision) {
	d.publishViews()
	_ = d.routing.Lock(context.Background()) // held for lookups only
	d.revision.Store(next)
	d.routing.Unlock()
	d.installed.Broadcast()
}

// swap closes the fan-out gates of the relays that go on with other consumers, and
// of all when the domain stops: a batch that met a half of the routes would finish
// without the other. It waits for no fan-out: one in progress goes on to the
// consumers it was read with, and those that leave refuse it.
func (d *Domain) swap(c *change) (open func()) {
	var paused []*Relay
	for _, name := range c.swapped {
		d.relays[name].pause()
		paused = append(paused, d.relays[name])
	}
	return func() {
		for _, r := range paused {
			r.resume()
		}
	}
}

// compare decides what the installation does and compiles what it needs, before
// anything changes.
func (d *Domain) compare(next *decide.Revision) (*change, error) {
	if err := d.checkAlone(next); err != nil {
		return nil, err
	}
	c := &change{next: next, programs: map[string]*program{}, intakes: map[string]*program{}, moved: map[string]bool{}, readers: d.readersOf(next)}
	replaced := map[string]bool{} // relays whose operators start anew
	relays := byName(all(next.Relays), relayName)
	for _, name := range primitives.SortedKeys(d.relays) {
		if plan := relays[name]; plan == nil || !reflect.DeepEqual(plan.Schema, d.relays[name].plan.Schema) {
			c.relaysGone = append(c.relaysGone, name)
			replaced[name] = true
		}
	}
	for _, name := range primitives.SortedKeys(relays) {
		if d.relays[name] == nil || replaced[name] {
			c.relaysNew = append(c.relaysNew, name)
		}
	}
	if err := c.compareReaders(d, relays, replaced); err != nil {
		return nil, err
	}
	if err := c.compareJunctions(d, replaced); err != nil {
		return nil, err
	}
	if err := c.compareIngestors(d, replaced); err != nil {
		return nil, err
	}
	c.compareEmitters(d, replaced)
	return c, nil
}

// compareReaders finds the relays that go on with other consumers, or in another
// role: a mirror that becomes the relay has yet to connect the other nodes.
func (c *change) compareReaders(d *Domain, relays map[string]*decide.RelayPlan, replaced map[string]bool) error {
	before := d.readersOf(d.revision.Load())
	for _, name := range primitives.SortedKeys(d.relays) {
		switch {
		case replaced[name]:
		case !c.next.Running, !slices.Equal(before[name], c.readers[name]), d.relays[name].plan.Placement != relays[name].Placement:
			c.swapped = append(c.swapped, name)
		}
	}
	for _, name := range primitives.SortedKeys(c.readers) {
		nodes := nodesOf(c.readers[name])
		for _, node := range primitives.SortedKeys(nodes) {
			if n := len(nodes[node]); n > meantMax {
				return &CrowdError{Relay: name, Node: node, Attached: n}
			}
		}
	}
	return nil
}

// leaves notes that an operator goes away because another node executes it now.
func (c *change) leaves(kind, name string, elsewhere bool) {
	if elsewhere {
		c.moved[kind+" "+name] = true
	}
}

func (c *change) compareJunctions(d *Domain, replaced map[string]bool) error {
	plans, known := map[string]*decide.JunctionPlan{}, map[string]*decide.JunctionPlan{}
	if c.next.Running {
		known = byName(all(c.next.Junctions), junctionName)
		plans = byName(local(d, c.next.Junctions, junctionPlace), junctionName)
	}
	for _, name := range primitives.SortedKeys(d.junctions) {
		old, plan := d.junctions[name].plan, plans[name]
		c.leaves("junction", name, plan == nil && known[name] != nil)
		switch {
		case plan == nil, !sameShape(old, plan), reads(plan.Inputs, replaced), writes(plan.Routes, replaced):
			c.junctionsGone = append(c.junctionsGone, name)
		case !samePlan(old, plan, junctionPlace):
			c.junctionsUpdated = append(c.junctionsUpdated, name)
		default:
			delete(plans, name)
		}
	}
	for _, name := range primitives.SortedKeys(plans) {
		prog, err := compileJunction(plans[name])
		if err != nil {
			return err
		}
		c.programs[name] = prog
		if d.junctions[name] == nil || slices.Contains(c.junctionsGone, name) {
			c.junctionsNew = append(c.junctionsNew, name)
		}
	}
	return nil
}

func (c *change) compareIngestors(d *Domain, replaced map[string]bool) error {
	plans, known := map[string]*decide.IngestorPlan{}, map[string]*decide.IngestorPlan{}
	if c.next.Running {
		known = byName(all(c.next.Ingestors), ingestorName)
		plans = byName(local(d, c.next.Ingestors, ingestorPlace), ingestorName)
	}
	for _, name := range primitives.SortedKeys(d.ingestors) {
		plan := plans[name]
		c.leaves("ingestor", name, plan == nil && known[name] != nil)
		if plan != nil && !writes(plan.Routes, replaced) && samePlan(d.ingestors[name].plan, plan, ingestorPlace) {
			delete(plans, name)
			continue
		}
		c.ingestorsGone = append(c.ingestorsGone, name)
	}
	for _, name := range primitives.SortedKeys(plans) {
		prog, err := compileIngest(plans[name])
		if err != nil {
			return err
		}
		c.intakes[name] = prog
		c.ingestorsNew = append(c.ingestorsNew, name)
	}
	return nil
}

func (c *change) compareEmitters(d *Domain, replaced map[string]bool) {
	plans, known := map[string]*decide.EmitterPlan{}, map[string]*decide.EmitterPlan{}
	if c.next.Running {
		known = byName(all(c.next.Emitters), emitterName)
		plans = byName(local(d, c.next.Emitters, emitterPlace), emitterName)
	}
	for _, name := range primitives.SortedKeys(d.emitters) {
		old, plan := d.emitters[name].plan, plans[name]
		c.leaves("emitter", name, plan == nil && known[name] != nil)
		switch {
		case plan == nil, reads(plan.Inputs, replaced), !sameEmitter(old, plan):
			c.emittersGone = append(c.emittersGone, name)
		case !samePlan(old, plan, emitterPlace):
			c.emittersUpdated = append(c.emittersUpdated, name)
			delete(plans, name)
		default:
			delete(plans, name)
		}
	}
	c.emittersNew = primitives.SortedKeys(plans)
}

// sameEmitter reports whether only the flush policy differs.
func sameEmitter(a, b *decide.EmitterPlan) bool {
	left, right := *a, *b
	left.Flush, right.Flush = b.Flush, b.Flush
	return samePlan(&left, &right, emitterPlace)
}

// retire ends what goes away, sources first and relays last. When the domain
// stops, no relay starts a fan-out meanwhile, because one whose consumers went
// away would finish its rows, and what it still gets is failed. What another node
// executes now was drained before or is lost here: it gets a moment to end.
func (d *Domain) retire(ctx context.Context, c *change, deadline primitives.Instant) {
	if !c.next.Running {
		for _, name := range primitives.SortedKeys(d.relays) {
			r := d.relays[name]
			r.pause()
			defer func() {
				r.purge()
				r.resume()
				d.ended(vocab.EntityRelay, name)
			}()
		}
	}
	by := func(kind, name string) primitives.Instant {
		if c.moved[kind+" "+name] {
			return min(deadline, d.now().Add(moveGrace))
		}
		return deadline
	}
	for _, name := range c.ingestorsGone {
		in := d.ingestors[name]
		in.host.Stop(ctx, by("ingestor", name))
		in.processor.task.Stop()
		delete(d.ingestors, name)
		d.ended(vocab.EntityIngestor, name)
	}
	for _, name := range c.junctionsGone {
		j := d.junctions[name]
		j.consumer.lane.Close(reasonGone)
		d.disconnect(j.consumer, j.plan.Inputs)
		j.processor.task.Stop()
		delete(d.junctions, name)
		d.ended(vocab.EntityJunction, name)
	}
	for _, name := range c.emittersGone {
		e := d.emitters[name]
		e.consumer.lane.Close(reasonGone)
		d.disconnect(e.consumer, e.plan.Inputs)
		e.host.Stop(ctx, by("emitter", name))
		delete(d.emitters, name)
		d.ended(vocab.EntityEmitter, name)
	}
	relays := byName(all(c.next.Relays), relayName)
	for _, name := range c.relaysGone {
		r := d.relays[name]
		why := RelayRemoved
		if relays[name] != nil {
			why = RelayChanged
		}
		r.endSubscriptions(why)
		r.stop()
		delete(d.relays, name)
		d.ended(vocab.EntityRelay, name)
	}
}

// begin starts what is new but its sources, relays first, so that nothing is
// produced before its consumers listen.
func (d *Domain) begin(ctx context.Context, c *change) error {
	if err := d.beginRelays(c); err != nil {
		return err
	}
	emitters := byName(all(c.next.Emitters), emitterName)
	for _, name := range c.emittersUpdated {
		e := d.emitters[name]
		if err := e.host.Update(emitters[name]); err != nil {
			return err
		}
		e.plan = emitters[name]
	}
	for _, name := range c.emittersNew {
		d.began(vocab.EntityEmitter, name, emitters[name].Everywhere, c.next)
		if err := d.startEmitter(emitters[name]); err != nil {
			d.ended(vocab.EntityEmitter, name)
			return err
		}
	}
	junctions := byName(all(c.next.Junctions), junctionName)
	for _, name := range c.junctionsUpdated {
		j := d.junctions[name]
		var failed error
		if err := j.processor.do(ctx, func() { failed = j.processor.install(c.programs[name]) }); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
		j.plan = junctions[name]
	}
	for _, name := range c.junctionsNew {
		d.began(vocab.EntityJunction, name, junctions[name].Everywhere, c.next)
		if err := d.startJunction(junctions[name], c.programs[name]); err != nil {
			d.ended(vocab.EntityJunction, name)
			return err
		}
	}
	return nil
}

// beginRelays starts this node's ends of new relays, and gives every relay its
// place.
func (d *Domain) beginRelays(c *change) error {
	for i := range c.next.Relays {
		plan := &c.next.Relays[i]
		r := d.relays[plan.Name]
		if r == nil {
			var err error
			if r, err = newRelay(d, plan); err != nil {
				return err
			}
			d.relays[plan.Name] = r
		}
		if d.here(&plan.Placement) && c.next.Running {
			d.began(vocab.EntityRelay, plan.Name, plan.Everywhere, c.next)
		}
		r.configure(plan, c.next, nodesOf(c.readers[plan.Name]))
	}
	_ = d.routing.Lock(context.Background()) // held for lookups only
	defer d.routing.Unlock()
	for _, name := range primitives.SortedKeys(d.relays) {
		d.relays[name].route()
	}
	return nil
}

func (d *Domain) newProcessor(kind vocab.EntityKind, name string) *processor {
	return &processor{
		d: d, self: observe.Endpoint{Kind: kind.Words(), Name: name}, load: d.newLoad(), wake: primitives.NewNotice(d.world),
		drain: d.newDrain(kind, name), commands: primitives.NewQueue[func()](d.world, 1), scratch: expr.NewScratch(), touchAt: primitives.Never,
	}
}

func (d *Domain) startJunction(plan *decide.JunctionPlan, prog *program) error {
	p := d.newProcessor(vocab.EntityJunction, plan.Name)
	p.lane = newLane(d.world, p.load)
	if err := p.attach(prog); err != nil {
		return err
	}
	j := &junction{plan: plan, processor: p, consumer: newConsumer("junction", plan.Name, plan.Attached, p.lane)}
	p.task = d.Start("junction", p.run)
	d.junctions[plan.Name] = j
	return d.connect(j.consumer, plan.Inputs)
}

func (d *Domain) startIngestor(plan *decide.IngestorPlan, prog *program) error {
	p := d.newProcessor(vocab.EntityIngestor, plan.Name)
	p.groups = primitives.NewQueue[*Group](d.world, 1)
	if err := p.attach(prog); err != nil {
		return err
	}
	p.task = d.Start("ingest", p.run)
	in := &ingestor{plan: plan, processor: p, suspended: d.suspensionNow(plan.Name)}
	in.intake = &Intake{Plan: plan, Suspended: in.suspended, Ledger: d.ledger, Load: d.newLoad(), p: p}
	host, err := d.deps.External.StartIngestor(d, in.intake)
	if err != nil {
		p.task.Stop()
		return err
	}
	in.host = host
	d.ingestors[plan.Name] = in
	return nil
}

func (d *Domain) startEmitter(plan *decide.EmitterPlan) error {
	load := d.newLoad()
	feed := &Feed{Plan: plan, Load: load, Lane: newLane(d.world, load), Wake: primitives.NewNotice(d.world), Drain: d.newDrain(vocab.EntityEmitter, plan.Name)}
	host, err := d.deps.External.StartEmitter(d, feed)
	if err != nil {
		return err
	}
	e := &emitter{plan: plan, host: host, feed: feed, consumer: newConsumer("emitter", plan.Name, plan.Attached, feed.Lane)}
	d.emitters[plan.Name] = e
	return d.connect(e.consumer, plan.Inputs)
}

// The order of consumers in a fan-out.
const (
	orderAttached = iota
	orderRemote
	orderDetached
	orderSubscription
)

func newConsumer(kind, name string, attached bool, lane *Lane) *consumer {
	c := &consumer{name: name, id: idOf(kind, name), attached: attached, order: orderDetached, lane: lane}
	if attached {
		c.order = orderAttached
	}
	return c
}

func (d *Domain) connect(t *consumer, inputs []decide.InputPlan) error {
	feeders := make([]*Relay, 0, len(inputs))
	for _, in := range inputs {
		r := d.relays[in.Relay]
		if r == nil {
			return &ProgramError{t.name, ErrNoRelay}
		}
		feeders = append(feeders, r)
	}
	t.lane.feeders.Store(&feeders)
	for _, r := range feeders {
		r.connect(t)
	}
	return nil
}

// disconnect takes a consumer whose lane is closed off its relays.
func (d *Domain) disconnect(t *consumer, inputs []decide.InputPlan) {
	for _, in := range inputs {
		d.relays[in.Relay].disconnect(t)
	}
}

// all points at every plan of a list.
func all[T any](plans []T) []*T {
	out := make([]*T, len(plans))
	for i := range plans {
		out[i] = &plans[i]
	}
	return out
}

func byName[T any](plans []*T, name func(*T) string) map[string]*T {
	m := make(map[string]*T, len(plans))
	for _, p := range plans {
		m[name(p)] = p
	}
	return m
}

func relayName(p *decide.RelayPlan) string       { return p.Name }
func ingestorName(p *decide.IngestorPlan) string { return p.Name }
func junctionName(p *decide.JunctionPlan) string { return p.Name }
func emitterName(p *decide.EmitterPlan) string   { return p.Name }

func reads(inputs []decide.InputPlan, relays map[string]bool) bool {
	for i := range inputs {
		if relays[inputs[i].Relay] {
			return true
		}
	}
	return false
}

func writes(routes []decide.RoutePlan, relays map[string]bool) bool {
	for i := range routes {
		if relays[routes[i].To] || relays[routes[i].OnError.To] {
			return true
		}
	}
	return false
}
