package flow

import (
	"context"
	"slices"

	"plexus/engine/ack"
	"plexus/engine/batch"
	"plexus/engine/expr"
	"plexus/engine/observe"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

var dispatchBlocked = invariant.Sometimes("a due flush waited behind a dispatch and stopped the input")

// processor is the task of an operator with routes: a junction, or the intake
// of an ingestor. It owns its input, its collectors and the buffers of its
// routes.
type processor struct {
	d    *Domain
	self observe.Endpoint

	// One of the two is set.
	lane   *Lane
	groups *primitives.Queue[*Group]

	commands *primitives.Queue[func()]
	wake     *primitives.Notice
	load     *Load
	drain    *Drain
	task     *Task

	// What follows belongs to the task.
	program    *program
	collectors []*collector
	routes     []*route
	scratch    *expr.Scratch
	closed     bool               // the lane gives nothing more
	touchAt    primitives.Instant // next keepalive; Never while nothing is held
}

// collector gathers the batches of one input (COLLECT FOR).
type collector struct {
	input  *inputProgram
	edge   *observe.Edge
	buffer buffer
}

func (p *processor) run(ctx context.Context) error {
	defer p.end()
	turns := 0 // since an input was taken
	for {
		now := p.d.now()
		p.keepAlive(now) // every turn: under load the task may never wait
		p.completeFlush()
		if command, ok := p.commands.TryRecv(); ok {
			command()
			continue
		}
		if turns < inputStarvationMax && p.flushDue(now) {
			turns++
			continue
		}
		ready := p.ready(now)
		if ready && p.take() {
			turns = 0
			continue
		}
		if p.flushDue(now) {
			continue
		}
		turns = 0
		if err := p.wait(ctx, ready); err != nil {
			return nil
		}
	}
}

// wait parks the task until there is something to do.
func (p *processor) wait(ctx context.Context, ready bool) error {
	var command func()
	var delivery Delivery
	var g *Group
	cases := [4]primitives.Case{
		p.commands.OnRecv(&command),
		p.wake.OnRaise(),
		primitives.AtCase(p.d.world, min(p.deadline(ready), p.touchAt)),
	}
	if ready && p.lane != nil && !p.closed {
		cases[3] = p.lane.OnTake(&delivery)
	} else if ready && p.lane == nil {
		cases[3] = p.groups.OnRecv(&g)
	}
	fired, err := primitives.Select(ctx, p.d.world, cases[:]...)
	switch {
	case err != nil:
		return err
	case fired == 0:
		command()
	case fired == 3 && p.lane != nil && delivery.Carrier == nil:
		p.closed = true
	case fired == 3 && p.lane != nil:
		p.lane.Took()
		p.accept(delivery)
	case fired == 3 && g != nil:
		p.execute(g)
	}
	return nil
}

// take executes one waiting input.
func (p *processor) take() bool {
	if p.lane != nil {
		d, ok := p.lane.TryTake()
		if ok {
			p.accept(d)
		}
		return ok
	}
	g, ok := p.groups.TryRecv()
	if ok {
		p.execute(g)
	}
	return ok
}

// accept takes one batch of a relay: it runs at once, or joins its collector.
// The batch stays counted until it is finished or counted elsewhere.
func (p *processor) accept(d Delivery) {
	now := p.d.now()
	i := slices.IndexFunc(p.collectors, func(c *collector) bool { return c.input.relay == d.Relay })
	if i < 0 {
		d.Carrier.Fail(now, reasonGone)
		p.load.Add(-1)
		return
	}
	c := p.collectors[i]
	p.d.received(p.self, c.edge, d, now)
	if p.program.collects {
		c.buffer.append(d.Carrier, now)
		return
	}
	p.junction(c.input, d.Carrier)
}

// junction runs one unit of work over a batch of an input.
func (p *processor) junction(input *inputProgram, c *Carrier) {
	u := p.d.Unit()
	in := &expr.Rows{Input: c.Batch, Select: batch.All(c.Rows())}
	var failed, more []expr.RowError
	in.Select, failed = input.where.Run(&u.Context, in, p.scratch)
	in.Select, more = p.program.filter.Run(&u.Context, in, p.scratch)
	p.distribute(u, c, in, MergeFaults(Evaluation(failed), Evaluation(more)), false)
	p.load.Add(-1)
}

// MergeFaults joins two ascending lists that have no row in common.
func MergeFaults(a, b []RowFault) []RowFault {
	switch {
	case len(a) == 0:
		return b
	case len(b) == 0:
		return a
	}
	all := append(slices.Clone(a), b...)
	slices.SortFunc(all, func(x, y RowFault) int { return int(x.Row - y.Row) })
	return all
}

// distribute runs every route over the selected rows and consumes the carrier.
// early are rows that failed before routing: the first route handles them, or
// every route does.
func (p *processor) distribute(u *Unit, c *Carrier, in *expr.Rows, early []RowFault, every bool) {
	selected := in.Select
	children := c.Acks.Fork(len(p.routes), u.At)
	for i, r := range p.routes {
		in.Select = selected
		out := r.program.construct.Run(&u.Context, in, p.scratch)
		late := Evaluation(out.Failed)
		var before []RowFault
		if every || i == 0 {
			before = slices.Clone(early) // each route gives its own references
		}
		kept, failed := Divide(children[i], out.Kept, FaultRows(MergeFaults(before, late)), u.At)
		if out.Kept.Len() > 0 {
			p.load.Add(1)
			out.Batch.Retain()
			r.buffer.append(NewCarrier(out.Batch, batch.Select(out.Kept, c.Low), batch.Select(out.Kept, c.High), kept), u.At)
		}
		r.errors.HandleSteps(u, FailedRows{Input: c.Batch, Metadata: in.Metadata, Low: c.Low, High: c.High, Acks: failed}, p.scratch,
			Step{Faults: before}, Step{Faults: late, Partial: out.Partial})
		out.Release()
	}
	c.Release()
}

// buffers calls f for every buffer that is dispatched, with its outlet, in route
// order.
func (p *processor) buffers(f func(b *buffer, o *outlet)) {
	for _, r := range p.routes {
		f(&r.buffer, r.outlet)
		if r.errors.outlet != nil {
			f(&r.errors.buffer, r.errors.outlet)
		}
	}
}

// dueAt is when the buffer flushes: at once while it is to drain.
func (p *processor) dueAt(b *buffer) primitives.Instant {
	if !b.empty() && p.drain.On() {
		return b.since
	}
	return b.due()
}

// ready reports whether the task may take input: no due flush waits behind a
// dispatch.
func (p *processor) ready(now primitives.Instant) bool {
	ready := true
	p.buffers(func(b *buffer, o *outlet) {
		if o.busy.Load() && p.dueAt(b) <= now {
			ready = false
		}
	})
	dispatchBlocked.HitIf(!ready)
	return ready
}

// flushDue flushes what is due and can be dispatched, and releases due
// collectors. It reports whether it did anything.
func (p *processor) flushDue(now primitives.Instant) bool {
	did := false
	p.buffers(func(b *buffer, o *outlet) {
		if p.dueAt(b) <= now && !o.busy.Load() {
			p.d.dispatch(p.self, b, o, p.load)
			did = true
		}
	})
	for _, c := range p.collectors {
		if p.dueAt(&c.buffer) <= now && p.ready(now) {
			p.release(c)
			did = true
		}
	}
	return did
}

// release executes what a collector holds as one unit of work.
func (p *processor) release(c *collector) {
	parts := c.buffer.take()
	joined, rest, err := join(p.d.deps.Memory, parts)
	if err != nil {
		p.d.failParts(p.self, parts, err, p.load)
		return
	}
	c.buffer.putBack(rest)
	p.load.Add(1 + len(rest) - len(parts))
	p.junction(c.input, joined)
}

// dispatch joins what the buffer holds and offers it to the relay (F4).
func (d *Domain) dispatch(operator observe.Endpoint, b *buffer, o *outlet, load *Load) {
	parts := b.take()
	joined, rest, err := join(d.deps.Memory, parts)
	if err != nil {
		d.failParts(operator, parts, err, load)
		return
	}
	b.putBack(rest)
	o.offer(joined)
	load.Add(len(rest) - len(parts))
}

// failParts ends batches that could not be joined: an internal failure.
func (d *Domain) failParts(operator observe.Endpoint, parts []*Carrier, err error, load *Load) {
	d.Report(operator, err)
	for _, c := range parts {
		c.Fail(d.now(), reasonInternal)
	}
	load.Add(-len(parts))
}

// completeFlush ends the task's part of a flush generation once everything that
// it held is gone, or waits at a closed gate.
func (p *processor) completeFlush() {
	asked, owes := p.drain.Owes()
	if !owes {
		return
	}
	empty, gated := true, false
	p.buffers(func(b *buffer, o *outlet) {
		stands := o.busy.Load() && o.gated()
		empty = empty && (b.empty() || stands)
		gated = gated || stands
	})
	for _, c := range p.collectors {
		empty = empty && (c.buffer.empty() || gated)
	}
	if empty {
		p.drain.Complete(asked)
	}
}

// deadline is when the next flush or release is due. Buffers behind a waiting
// dispatch, and collectors while one stops the input, are woken by its admission
// instead.
func (p *processor) deadline(ready bool) primitives.Instant {
	at := primitives.Never
	p.buffers(func(b *buffer, o *outlet) {
		if !o.busy.Load() {
			at = min(at, p.dueAt(b))
		}
	})
	for _, c := range p.collectors {
		if ready {
			at = min(at, p.dueAt(&c.buffer))
		}
	}
	return at
}

// keepAlive refreshes the roots of rows that wait for their flush interval.
// Rows that wait for capacity, in dispatch or behind one, are not refreshed.
func (p *processor) keepAlive(now primitives.Instant) {
	touch := p.touchAt <= now
	held := false
	visit := func(b *buffer, waits bool) {
		if waits || b.shared == 0 {
			return
		}
		held = true
		if touch {
			b.touch(now)
		}
	}
	p.buffers(func(b *buffer, o *outlet) { visit(b, o.busy.Load() && p.dueAt(b) <= now) })
	for _, c := range p.collectors {
		visit(&c.buffer, p.dueAt(&c.buffer) <= now)
	}
	switch {
	case !held:
		p.touchAt = primitives.Never
	case touch || p.touchAt == primitives.Never:
		p.touchAt = now.Add(KeepaliveEvery)
	}
}

// do runs f in the task between units of work.
func (p *processor) do(ctx context.Context, f func()) error {
	done := primitives.NewEvent(p.d.world)
	if err := p.commands.Send(ctx, func() { f(); done.Set() }); err != nil {
		return err
	}
	return done.Wait(ctx)
}

// end resolves whatever the task still holds (F5).
func (p *processor) end() {
	now := p.d.now()
	p.commands.Close()
	for command, ok := p.commands.TryRecv(); ok; command, ok = p.commands.TryRecv() {
		command() // whoever sent it waits
	}
	if p.lane != nil {
		p.lane.Close(reasonStopped)
	} else {
		p.groups.Close()
		for g, ok := p.groups.TryRecv(); ok; g, ok = p.groups.TryRecv() {
			g.fail(now, reasonStopped)
			p.load.Add(-1)
		}
	}
	drop := func(b *buffer) {
		for _, c := range b.take() {
			c.Fail(now, ack.Dropped)
			p.load.Add(-1)
		}
	}
	for _, c := range p.collectors {
		drop(&c.buffer)
	}
	p.buffers(func(b *buffer, o *outlet) {
		drop(b)
		o.withdraw()
	})
}
