package handofftest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/engine/handoff"
	"plexus/engine/quiesce"
	"plexus/engine/quiesce/quiescetest"
	"plexus/engine/state"
	"plexus/engine/strict"
	"plexus/primitives"
)

// apply follows the committed schedule: what is not ours stops, what becomes ours
// is activated and started.
func (n *node) apply(ctx context.Context) error {
	for {
		if err := n.pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
		if n.applied != n.c.Catalog.Schedule {
			n.applied = n.c.Catalog.Schedule
			n.publishes()
		}
		if n.ready == n.applied.Index {
			continue
		}
		s := n.applied
		var targets []handoff.Target
		for _, e := range Entities {
			a := s.Assigned[e]
			if op := n.running[e]; op != nil && op.assigned.Index != a.Index {
				n.halt(e)
			}
			if a.Owner == n.name {
				targets = append(targets, handoff.Target{
					Entity: e, Transition: a.Transition, From: a.From, Forced: a.Forced, Outcomes: a.Outcomes, Completed: s.Completed[a.Transition],
				})
			}
		}
		done, err := n.part.Activate(ctx, Domain, targets)
		for _, id := range done {
			n.c.Catalog.complete(id)
		}
		if err != nil {
			if missing := (*handoff.MissingError)(nil); errors.As(err, &missing) {
				n.c.Fail("a-committed-owner-can-activate", err.Error())
			}
			continue
		}
		if _, err := n.store.Sweep(Domain, 1); err != nil {
			continue
		}
		failed := false
		for _, t := range targets {
			if n.running[t.Entity] == nil && n.start(t.Entity, s.Assigned[t.Entity]) != nil {
				failed = true
			}
		}
		if !failed {
			n.ready = s.Index
		}
	}
}

// complete records the completion of a forced recovery; how that is proposed is
// not what is tested.
func (c *Catalog) complete(id primitives.UUID) {
	if !c.Schedule.Completed[id] {
		next := *c.Schedule
		next.Index++
		next.Completed = map[primitives.UUID]bool{id: true}
		for old := range c.Schedule.Completed { //plexus:orderfree it copies
			next.Completed[old] = true
		}
		c.Schedule = &next
	}
}

// start begins to execute an operator.
func (n *node) start(e quiesce.Entity, a Assignment) error {
	v, err := n.load(e)
	if err != nil {
		return err
	}
	for _, name := range n.c.names {
		if other := n.c.alive[name]; other != nil && other != n && other.running[e] != nil && other.running[e].assigned.Index == a.Index {
			n.c.Fail("one-owner", fmt.Sprintf("%s and %s both execute %s under schedule %d", name, n.name, e.Name, a.Index))
		}
	}
	n.judge(e, a, v)
	op := &operator{entity: e, assigned: a, value: v, stop: primitives.NewEvent(n.w), gone: primitives.NewEvent(n.w)}
	n.running[e] = op
	n.w.Tasks().Go("operator", func() {
		n.execute(op)
		op.gone.Set()
	})
	return nil
}

// judge compares the value an operator starts with to what it has to know.
func (n *node) judge(e quiesce.Entity, a Assignment, v uint64) {
	wrong := func(oracle, format string, args ...any) {
		n.c.Fail(oracle, fmt.Sprintf("%s starts on %s by transition %s with value %d, ", e.Name, n.name, a.Transition, v)+fmt.Sprintf(format, args...))
	}
	if saved := n.c.durable[place{n.name, e, a.Generation}]; a.From == "" || n.c.began(n.name, e) {
		if v < saved {
			wrong("nothing-durable-is-lost", "and had %d durable", saved)
		}
		return
	}
	if want := n.c.captured[a.Transition][e]; !a.Forced && v != want {
		wrong("what-was-prepared-is-activated", "and %d was captured", want)
	}
	if a.Forced && v < a.Least {
		wrong("the-best-survivor-is-recovered", "and a survivor had %d", a.Least)
	}
	n.c.durable[place{n.name, e, a.Generation}] = v
}

// began reports whether an operator has run under its present owner before.
func (c *Cluster) began(name string, e quiesce.Entity) bool {
	a := c.Catalog.Schedule.Assigned[e]
	p := c.latest[e]
	return p.node == name && p.ref.Fence == a.Index
}

// halt ends an operator. What it had not published is gone.
func (n *node) halt(e quiesce.Entity) {
	op := n.running[e]
	if op == nil {
		return
	}
	op.stop.Set()
	_ = op.gone.Wait(context.Background())
	delete(n.running, e)
}

// execute counts, unless a hold stops it, and publishes.
func (n *node) execute(op *operator) {
	for {
		step := time.Duration(5+n.draw(100)) * time.Millisecond
		at := n.w.Clock().Now().Add(step)
		if fired, err := primitives.Select(context.Background(), n.w, op.stop.OnSet(), primitives.AtCase(n.w, at)); fired == 0 || err != nil {
			return
		}
		if n.engine.gated(op.entity) {
			continue
		}
		op.busy = true
		if n.draw(4) == 0 {
			_ = n.pause(context.Background(), 20*time.Millisecond)
		}
		op.value++
		if n.draw(6) == 0 {
			n.publish(op)
		}
		op.busy = false
	}
}

// publish writes a checkpoint.
func (n *node) publish(op *operator) {
	if op.entity == Entities[len(Entities)-1] && n.draw(30) > 0 {
		return // a large state is written less often
	}
	s := n.snapshot(op.entity, op.value, op.assigned.Index)
	ref, err := n.store.Publish(s)
	if err != nil {
		return
	}
	where := place{n.name, op.entity, s.Generation}
	n.c.durable[where], n.c.fences[where] = op.value, s.Fence
	n.c.latest[op.entity] = published{n.name, ref, op.value}
}

// replicate fetches the newest checkpoints of other owners.
func (n *node) replicate(ctx context.Context) error {
	for {
		if err := n.pause(ctx, 2*time.Second); err != nil {
			return err
		}
		e := Entities[n.draw(uint64(len(Entities)))]
		p := n.c.latest[e]
		if p.ref.Length == 0 || p.node == n.name || n.c.Over() {
			continue
		}
		bounded, cancel := primitives.WithDeadline(ctx, n.w, n.w.Clock().Now().Add(5*time.Second))
		st, err := n.staging.Fetch(bounded, n, p.node, p.ref)
		cancel()
		if err != nil {
			continue
		}
		current := n.applied.identity(e) == p.ref.Identity
		done, err := n.store.Install(st)
		if err != nil || !done {
			continue
		}
		if !current {
			n.c.Fail("superseded-state-is-never-installed", fmt.Sprintf("%s was installed under generation %d", p.ref.Placement, n.applied.Assigned[e].Generation))
		}
		where := place{n.name, e, p.ref.Generation}
		if got, same, err := n.check(p.ref); same && (err != nil || got != p.value) {
			n.c.Fail("state-is-what-was-sent", fmt.Sprintf("%s holds %d instead of %d: %v", p.ref.Placement, got, p.value, err))
		}
		n.c.durable[where], n.c.fences[where] = p.value, p.ref.Fence
	}
}

// check reads what was installed, if it is still there.
func (n *node) check(ref state.Ref) (v uint64, same bool, err error) {
	c, err := n.store.Open(ref.Placement)
	if err != nil {
		return 0, false, nil
	}
	defer c.Close()
	if c.Revision != ref.Revision || c.Fence != ref.Fence {
		return 0, false, nil
	}
	s, err := c.Snapshot()
	if err != nil {
		return 0, true, err
	}
	v, err = value(s)
	return v, true, err
}

// Inline implements state.Remote.
func (n *node) Inline(ctx context.Context, node string, ref state.Ref) ([]byte, error) {
	request, err := ref.Encode()
	if err != nil {
		return nil, err
	}
	b, err := n.rpc.Call(ctx, node, opInline, request)
	return n.disturb(b), err
}

// disturb damages a byte now and then, behind the header.
func (n *node) disturb(b []byte) []byte {
	if len(b) > 0 && n.draw(12) == 0 {
		b[len(b)-1-int(n.draw(uint64(min(len(b), 40))))] ^= 1 << n.draw(8)
	}
	return b
}

// Open implements state.Remote.
func (n *node) Open(ctx context.Context, node string, ref state.Ref, offset uint64) (state.Chunks, error) {
	request, err := ref.Encode()
	if err != nil {
		return nil, err
	}
	request = append([]byte{byte(offset >> 24), byte(offset >> 16), byte(offset >> 8), byte(offset)}, request...)
	s, err := n.rpc.Open(ctx, node, opStream, request)
	if err != nil {
		return nil, err
	}
	return &chunks{n, s}, nil
}

type chunks struct {
	n *node
	*quiescetest.Stream
}

// Next implements state.Chunks.
func (c *chunks) Next(ctx context.Context) ([]byte, error) {
	b, err := c.Stream.Next(ctx)
	if err == nil && c.n.draw(400) == 0 {
		b = c.n.disturb(b)
	}
	return b, err
}

func (n *node) inline(ctx context.Context, _ quiesce.Process, request []byte) ([]byte, error) {
	ref, err := state.DecodeRef(request)
	if err != nil {
		return nil, err
	}
	var b []byte
	err = n.part.Serve(ctx, ref, 0, func(chunk []byte) error {
		b = append(b, chunk...)
		return nil
	})
	return b, err
}

func (n *node) stream(ctx context.Context, request []byte, send func([]byte) error) error {
	if len(request) < 4 {
		return strict.ErrFormat
	}
	ref, err := state.DecodeRef(request[4:])
	if err != nil {
		return err
	}
	offset := uint64(request[0])<<24 | uint64(request[1])<<16 | uint64(request[2])<<8 | uint64(request[3])
	return n.part.Serve(ctx, ref, offset, send)
}
