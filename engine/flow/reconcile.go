package flow

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"plexus/engine/decide"
	"plexus/engine/expr"
	"plexus/engine/observe"
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
}

// Install makes the revision what the domain executes. Operators that did not
// change keep running; programs that changed are exchanged between units of
// work; whatever goes away or is replaced is drained first, and only that. A
// drain that does not finish changes nothing and is a *DrainError, except for a
// revision that stops the domain: that one drops what is left when its time is
// up.
func (d *Domain) Install(ctx context.Context, next *decide.Revision) error {
	if err := d.installing.Lock(ctx); err != nil {
		return err
	}
	defer d.installing.Unlock()
	c, err := d.compare(next)
	if err != nil {
		return err
	}
	deadline := d.now().Add(d.deps.DrainTimeout)
	abandon := false
	if next.Running {
		release, err := d.settle(ctx, c, deadline)
		if err != nil {
			return err
		}
		defer release()
	} else {
		release, err := d.quiesce(ctx, deadline)
		if err == nil {
			defer release()
		} else if abandon = errors.As(err, new(*DrainError)); !abandon {
			return err
		}
	}
	defer d.publishViews() // also what an interrupted installation has changed
	d.retire(ctx, c, deadline, abandon)
	if err := d.activate(ctx, c); err != nil {
		return err
	}
	d.revision.Store(next)
	observe.Emit(d.deps.Tap, observe.Event{Kind: observe.RevisionInstalled, Domain: d.name, ID: next.Number})
	return nil
}

// compare decides what the installation does and compiles what it needs, before
// anything changes.
func (d *Domain) compare(next *decide.Revision) (*change, error) {
	c := &change{next: next, programs: map[string]*program{}, intakes: map[string]*program{}}
	replaced := map[string]bool{} // relays whose operators start anew
	relays := byName(next.Relays, func(p *decide.RelayPlan) string { return p.Name })
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
	if err := c.compareJunctions(d, replaced); err != nil {
		return nil, err
	}
	if err := c.compareIngestors(d, replaced); err != nil {
		return nil, err
	}
	c.compareEmitters(d, replaced)
	return c, nil
}

func (c *change) compareJunctions(d *Domain, replaced map[string]bool) error {
	plans := map[string]*decide.JunctionPlan{}
	if c.next.Running {
		plans = byName(c.next.Junctions, func(p *decide.JunctionPlan) string { return p.Name })
	}
	for _, name := range primitives.SortedKeys(d.junctions) {
		old, plan := d.junctions[name].plan, plans[name]
		switch {
		case plan == nil, !sameShape(old, plan), reads(plan.Inputs, replaced), writes(plan.Routes, replaced):
			c.junctionsGone = append(c.junctionsGone, name)
		case !reflect.DeepEqual(old, plan):
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
	plans := map[string]*decide.IngestorPlan{}
	if c.next.Running {
		plans = byName(c.next.Ingestors, func(p *decide.IngestorPlan) string { return p.Name })
	}
	for _, name := range primitives.SortedKeys(d.ingestors) {
		plan := plans[name]
		if plan != nil && !writes(plan.Routes, replaced) && reflect.DeepEqual(d.ingestors[name].plan, plan) {
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
	plans := map[string]*decide.EmitterPlan{}
	if c.next.Running {
		plans = byName(c.next.Emitters, func(p *decide.EmitterPlan) string { return p.Name })
	}
	for _, name := range primitives.SortedKeys(d.emitters) {
		old, plan := d.emitters[name].plan, plans[name]
		switch {
		case plan == nil, reads(plan.Inputs, replaced), !sameEmitter(old, plan):
			c.emittersGone = append(c.emittersGone, name)
		case !reflect.DeepEqual(old, plan):
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
	return reflect.DeepEqual(&left, &right)
}

// retire ends what goes away, sources first and relays last. With abandon, work
// is still on its way: no relay starts a fan-out meanwhile, because one whose
// consumers went away would finish its rows, and what it holds is failed.
func (d *Domain) retire(ctx context.Context, c *change, deadline primitives.Instant, abandon bool) {
	if abandon {
		for _, name := range primitives.SortedKeys(d.relays) {
			r := d.relays[name]
			r.pause()
			defer func() {
				r.purge()
				r.resume()
			}()
		}
	}
	for _, name := range c.ingestorsGone {
		in := d.ingestors[name]
		in.host.Stop(ctx, deadline)
		in.processor.task.Stop()
		delete(d.ingestors, name)
	}
	for _, name := range c.junctionsGone {
		j := d.junctions[name]
		j.consumer.lane.Close(reasonGone)
		d.disconnect(j.consumer, j.plan.Inputs)
		j.processor.task.Stop()
		delete(d.junctions, name)
	}
	for _, name := range c.emittersGone {
		e := d.emitters[name]
		e.consumer.lane.Close(reasonGone)
		d.disconnect(e.consumer, e.plan.Inputs)
		e.host.Stop(ctx, deadline)
		delete(d.emitters, name)
	}
	relays := byName(c.next.Relays, func(p *decide.RelayPlan) string { return p.Name })
	for _, name := range c.relaysGone {
		r := d.relays[name]
		why := RelayRemoved
		if relays[name] != nil {
			why = RelayChanged
		}
		r.endSubscriptions(why)
		r.task.Stop()
		delete(d.relays, name)
	}
}

// activate starts what is new, relays first and sources last, so that nothing
// is produced before its consumers listen.
func (d *Domain) activate(ctx context.Context, c *change) error {
	for i := range c.next.Relays {
		plan := &c.next.Relays[i]
		if r := d.relays[plan.Name]; r == nil {
			d.relays[plan.Name] = newRelay(d, plan)
		} else if r.capacity != plan.CapacityBatches {
			r.setCapacity(plan)
		}
	}
	emitters := byName(c.next.Emitters, func(p *decide.EmitterPlan) string { return p.Name })
	for _, name := range c.emittersUpdated {
		e := d.emitters[name]
		if err := e.host.Update(emitters[name]); err != nil {
			return err
		}
		e.plan = emitters[name]
	}
	for _, name := range c.emittersNew {
		if err := d.startEmitter(emitters[name]); err != nil {
			return err
		}
	}
	junctions := byName(c.next.Junctions, func(p *decide.JunctionPlan) string { return p.Name })
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
		if err := d.startJunction(junctions[name], c.programs[name]); err != nil {
			return err
		}
	}
	ingestors := byName(c.next.Ingestors, func(p *decide.IngestorPlan) string { return p.Name })
	for _, name := range c.ingestorsNew {
		if err := d.startIngestor(ingestors[name], c.intakes[name]); err != nil {
			return err
		}
	}
	return nil
}

func (d *Domain) newProcessor(kind, name string) *processor {
	return &processor{
		d: d, self: observe.Endpoint{Kind: kind, Name: name}, load: d.newLoad(), wake: primitives.NewNotice(d.world),
		drain: &Drain{d: d}, commands: primitives.NewQueue[func()](d.world, 1), scratch: expr.NewScratch(), touchAt: primitives.Never,
	}
}

func (d *Domain) startJunction(plan *decide.JunctionPlan, prog *program) error {
	p := d.newProcessor("junction", plan.Name)
	p.lane = newLane(d.world, p.load)
	if err := p.attach(prog); err != nil {
		return err
	}
	j := &junction{plan: plan, processor: p, consumer: newConsumer(plan.Name, plan.Attached, p.lane)}
	p.task = d.Start("junction", p.run)
	d.junctions[plan.Name] = j
	return d.connect(j.consumer, plan.Inputs)
}

func (d *Domain) startIngestor(plan *decide.IngestorPlan, prog *program) error {
	p := d.newProcessor("ingestor", plan.Name)
	p.groups = primitives.NewQueue[*Group](d.world, 1)
	if err := p.attach(prog); err != nil {
		return err
	}
	p.task = d.Start("ingest", p.run)
	in := &ingestor{plan: plan, processor: p, intake: &Intake{Plan: plan, Ledger: d.ledger, Load: d.newLoad(), p: p}}
	host, err := d.deps.External.StartIngestor(d, in.intake)
	if err != nil {
		p.task.Stop()
		return err
	}
	in.host = host
	d.ingestors[plan.Name] = in
	if d.holds > 0 {
		host.Hold()
	}
	return nil
}

func (d *Domain) startEmitter(plan *decide.EmitterPlan) error {
	load := d.newLoad()
	feed := &Feed{Plan: plan, Load: load, Lane: newLane(d.world, load), Wake: primitives.NewNotice(d.world), Drain: &Drain{d: d}}
	host, err := d.deps.External.StartEmitter(d, feed)
	if err != nil {
		return err
	}
	e := &emitter{plan: plan, host: host, feed: feed, consumer: newConsumer(plan.Name, plan.Attached, feed.Lane)}
	d.emitters[plan.Name] = e
	return d.connect(e.consumer, plan.Inputs)
}

// The order of consumers in a fan-out.
const (
	orderAttached = iota
	orderDetached
	orderSubscription
)

func newConsumer(name string, attached bool, lane *Lane) *consumer {
	c := &consumer{name: name, attached: attached, order: orderDetached, lane: lane}
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

func byName[T any](plans []T, name func(*T) string) map[string]*T {
	m := make(map[string]*T, len(plans))
	for i := range plans {
		m[name(&plans[i])] = &plans[i]
	}
	return m
}

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
