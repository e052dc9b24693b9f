package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/decide"
	"plexus/engine/flow"
	"plexus/engine/host"
	"plexus/engine/interconnect"
	"plexus/engine/quiesce"
	"plexus/engine/session"
	"plexus/primitives"
	"plexus/primitives/invariant"
)

// Rare ways of a domain.
var (
	recreated         = invariant.Sometimes("a domain was created again while the dropped one still ended")
	supersededWaiting = invariant.Sometimes("a newer revision came while the nodes waited for each other to prepare")
)

// runtime makes the node execute what is committed (D2). Each domain has a task
// that installs its revisions, so that one domain's drain holds up no other.
type runtime struct {
	node      *Node
	external  *host.Host
	endpoints *host.Endpoints
	positions *positions
	memory    memory.Allocator

	// What follows changes under lock; changed tells whoever waits for it.
	lock     *primitives.Mutex
	changed  *primitives.Cond
	admitted bool
	domains  map[string]*domain
	prepared uint64 // as announced
	ready    uint64 // as announced
	// view is what readers see, replaced by every update.
	view atomic.Pointer[view]

	tasks *primitives.Group // ends before the domains are stopped
}

// domain is one domain as it executes here.
type domain struct {
	name string
	wake *primitives.Notice
	progress
}

// progress is how far a domain's revisions are installed.
type progress struct {
	flow   *flow.Domain
	latest uint64 // runtime revision that was tried last
	voter  bool   // whether this node was one then
	// prepared is the revision that executes except for what only begins once every
	// live node has prepared it, installed the one that executes wholly; failure says
	// why latest does not.
	prepared  uint64
	installed uint64
	failure   error
}

// view is the runtime at one moment.
type view struct {
	admitted bool
	domains  map[string]progress
}

// Retries of an installation that failed.
const (
	installRetryMin = time.Second
	installRetryMax = 30 * time.Second
)

// run admits the node and then follows the committed state.
func (r *runtime) run(ctx context.Context) error {
	follower := r.node.group.FollowChanges()
	defer r.node.group.Unfollow(follower)
	if err := r.node.joined.Wait(ctx); err != nil {
		return err
	}
	if err := r.node.group.Admit(ctx); err != nil {
		return err
	}
	if err := r.update(ctx, func() { r.admitted = true }); err != nil {
		return err
	}
	r.node.world.Log().Info("node admitted", "applied", r.node.group.State().Applied)
	r.node.handoffs.forgetDropped(ctx)
	follower.Changed() // what recovery applied again was told when it happened
	if err := r.follow(ctx); err != nil {
		return err
	}
	for {
		if err := follower.Wait(ctx); err != nil {
			return err
		}
		changed := follower.Changed()
		r.tell(changed.Models)
		if len(changed.Domains) == 0 && !slices.Contains(changed.Nodes, r.node.members.self()) {
			r.applied()
			continue
		}
		if err := r.follow(ctx); err != nil {
			return err
		}
	}
}

// applied tells the other nodes how far this one is after commands that changed no
// domain: nothing waits for that.
func (r *runtime) applied() {
	index := r.node.group.State().Applied
	r.node.mesh.Announce(func(a *interconnect.Announcement) { a.Applied = index })
}

// follow gives every committed domain its task and wakes those with news.
func (r *runtime) follow(ctx context.Context) error {
	if err := r.lock.Lock(ctx); err != nil {
		return err
	}
	defer r.lock.Unlock()
	state := r.node.group.State()
	for d := range state.Domains() {
		if r.domains[d.Name] == nil {
			r.start(d.Name)
		}
	}
	r.publish()
	for _, name := range primitives.SortedKeys(r.domains) {
		r.domains[name].wake.Raise()
	}
	return nil
}

func (r *runtime) start(name string) {
	n := r.node
	d := &domain{name: name, wake: primitives.NewNotice(n.world)}
	d.flow = flow.NewDomain(context.Background(), n.world, name, flow.Deps{
		External: r.external, Metrics: n.metrics.registry, Tap: n.options.Tap, Memory: r.memory,
		Node: n.group.Identity().NodeID, Exchange: n.exchange, Interest: n.interest,
		Report: n.reports.report, DrainTimeout: n.settings.QuiesceTimeout,
	})
	r.domains[name] = d
	n.interest.apply(name, d.flow)
	r.tasks.Go("domain", func(ctx context.Context) error { return r.serve(ctx, d) })
}

// update changes the runtime's own state.
func (r *runtime) update(ctx context.Context, change func()) error {
	if err := r.lock.Lock(ctx); err != nil {
		return err
	}
	change()
	r.publish()
	r.lock.Unlock()
	return nil
}

// publish shows the runtime's state to readers and wakes who waits for it.
func (r *runtime) publish() {
	v := &view{admitted: r.admitted, domains: map[string]progress{}}
	for _, name := range primitives.SortedKeys(r.domains) {
		v.domains[name] = r.domains[name].progress
	}
	r.view.Store(v)
	r.announce()
	r.changed.Broadcast()
}

// announce tells the other nodes up to which runtime revision this one has prepared
// and executes everything, and what it failed at. It says so again only when that
// changed: what else is applied meanwhile changes nothing that executes.
func (r *runtime) announce() {
	state := r.node.group.State()
	prepared, ready := state.Applied, state.Applied
	var failures []interconnect.DomainFailure
	for d := range state.Domains() {
		var x progress
		if known := r.domains[d.Name]; known != nil {
			x = known.progress
		}
		if x.prepared < d.Runtime {
			prepared = min(prepared, d.Runtime-1)
		}
		if x.installed < d.Runtime {
			ready = min(ready, d.Runtime-1)
			if x.failure != nil {
				failures = append(failures, interconnect.DomainFailure{Domain: d.Name, Revision: x.latest, Reason: x.failure.Error()})
			}
		}
	}
	for _, name := range primitives.SortedKeys(r.domains) {
		if _, ok := state.Domain(name); !ok { // a dropped domain still ends
			prepared, ready = min(prepared, r.prepared), min(ready, r.ready)
		}
	}
	if !r.admitted {
		prepared, ready = 0, 0
	}
	r.prepared, r.ready = prepared, ready
	r.node.mesh.Announce(func(a *interconnect.Announcement) {
		a.Applied, a.Prepared, a.Ready, a.Failures = state.Applied, prepared, ready, failures
	})
}

// serve installs the revisions of one domain until it is dropped.
func (r *runtime) serve(ctx context.Context, d *domain) error {
	retry := primitives.Never
	pause := installRetryMin
	for {
		state := r.node.group.State()
		committed, ok := state.Domain(d.name)
		if !ok {
			return r.remove(ctx, d)
		}
		due := !r.node.world.Clock().Now().Before(retry)
		if committed.Runtime > d.latest || due || d.voter != r.node.members.voter() {
			err := r.install(ctx, d, committed.Runtime)
			if ctx.Err() != nil {
				return ctx.Err()
			}
			retry, pause = primitives.Never, installRetryMin
			if err != nil {
				retry, pause = r.node.world.Clock().Now().Add(pause), min(2*pause, installRetryMax)
			}
			continue
		}
		if _, err := primitives.Select(ctx, r.node.world, d.wake.OnRaise(), primitives.AtCase(r.node.world, retry)); err != nil {
			return err
		}
	}
}

// install plans and installs the committed definitions. A newer state than the
// one that woke the task is taken as it is. One that comes while this node waits for
// the others is installed instead, by the next call.
func (r *runtime) install(ctx context.Context, d *domain, revision uint64) error {
	voter := r.node.members.voter()
	next, err := decide.Plan(r.node.group.State(), d.name)
	if err == nil {
		if !voter {
			next.LeaveListeners()
		}
		revision = next.Number
		err = r.prepare(ctx, d, next)
	}
	if err == nil && next.Running {
		var newer bool
		if newer, err = r.together(ctx, d, revision); newer {
			return nil
		}
	}
	if err == nil {
		r.endpoints.Configure(d.name, next.Endpoints)
		err = d.flow.Activate(ctx)
	}
	if err != nil && ctx.Err() == nil {
		r.node.world.Log().Error("domain not activated", "domain", d.name, "revision", revision, "error", err)
	}
	updateErr := r.update(ctx, func() {
		d.latest, d.failure, d.voter = revision, err, voter
		if err == nil {
			d.installed = revision
		}
		if voter && r.triedAll() {
			r.endpoints.Complete()
		}
	})
	if err == nil {
		r.sweep(ctx, d.name)
	}
	return errors.Join(err, updateErr)
}

// prepare installs everything of a revision but its sources and listeners, and says
// so.
func (r *runtime) prepare(ctx context.Context, d *domain, next *decide.Revision) error {
	if err := r.node.handoffs.activate(ctx, d.name); err != nil {
		return err
	}
	if err := d.flow.Prepare(ctx, next); err != nil {
		return err
	}
	return r.update(ctx, func() { d.prepared = next.Number })
}

// together waits until every live node has prepared a revision or failed at it, or a
// newer one is there.
func (r *runtime) together(ctx context.Context, d *domain, revision uint64) (newer bool, err error) {
	changed := r.node.mesh.Follow(interconnect.Reach | interconnect.News)
	defer r.node.mesh.Unfollow(changed)
	for {
		committed, ok := r.node.group.State().Domain(d.name)
		if !ok || committed.Runtime > revision {
			supersededWaiting.Hit()
			return true, nil
		}
		if r.node.members.prepared(d.name, revision) {
			return false, nil
		}
		if _, err := primitives.Select(ctx, r.node.world, changed.OnChange(), d.wake.OnRaise()); err != nil {
			return false, err
		}
	}
}

// triedAll reports whether a revision of every domain was tried.
func (r *runtime) triedAll() bool {
	for d := range r.node.group.State().Domains() {
		if x := r.domains[d.Name]; x == nil || x.latest == 0 {
			return false
		}
	}
	return true
}

// sweep forgets what replaced sources had consumed. What it leaves costs room
// only, so its failure changes nothing.
func (r *runtime) sweep(ctx context.Context, domain string) {
	if err := r.positions.sweep(ctx, domain); err != nil && ctx.Err() == nil {
		r.node.world.Log().Warn("states of dropped sources remain", "domain", domain, "error", err)
	}
}

// remove ends a dropped domain.
func (r *runtime) remove(ctx context.Context, d *domain) error {
	r.endpoints.Configure(d.name, nil)
	deadline := r.node.world.Clock().Now().Add(r.node.settings.QuiesceTimeout)
	if err := d.flow.Stop(ctx, deadline); err != nil {
		r.node.world.Log().Warn("dropped domain did not drain", "domain", d.name, "error", err)
	}
	r.sweep(ctx, d.name)
	r.node.handoffs.forget(ctx, d.name)
	return r.update(ctx, func() {
		delete(r.domains, d.name)
		if _, ok := r.node.group.State().Domain(d.name); recreated.HitIf(ok) {
			r.start(d.name) // nobody else looks at it again
		}
	})
}

// Settle implements session.Runtime: the completion barrier, at which a command
// waits until its effect is usable on every live node.
func (r *runtime) Settle(ctx context.Context, name string, revision uint64) error {
	if err := r.settle(ctx, name, revision); err != nil {
		return err
	}
	return r.node.members.settled(ctx, name, revision)
}

// settle is the barrier of this node.
func (r *runtime) settle(ctx context.Context, name string, revision uint64) error {
	if err := r.lock.Lock(ctx); err != nil {
		return err
	}
	defer r.lock.Unlock()
	for {
		d := r.domains[name]
		_, exists := r.node.group.State().Domain(name)
		switch {
		case d == nil && !exists:
			return nil
		case d != nil && d.installed >= revision:
			return nil
		case d != nil && d.latest >= revision && d.failure != nil:
			return &session.ActivationError{Domain: name, Node: r.node.group.Identity().NodeID, Err: d.failure}
		case d != nil && exists && r.current(name) <= d.installed:
			return nil
		}
		if err := r.changed.Wait(ctx); err != nil {
			return err
		}
	}
}

// Quiesce implements session.Runtime: it holds a domain on every live node.
func (r *runtime) Quiesce(ctx context.Context, name string) (session.Hold, error) {
	state := r.node.group.State()
	if d, ok := state.Domain(name); !ok || !d.Running {
		return stillness{node: r.node}, nil
	}
	hold, err := r.node.holds.coordinator.Hold(ctx, quiesce.Plan{
		Scope: quiesce.Scope{Domain: name, Purpose: quiesce.ForChange, Index: state.Applied, Whole: true},
	})
	if err != nil {
		return nil, err
	}
	return stillness{r.node, hold}, nil
}

// stillness is a hold of every live node; one of nothing has none.
type stillness struct {
	node *Node
	hold *quiesce.Hold
}

// Confirm implements session.Hold.
func (s stillness) Confirm(ctx context.Context) error {
	if s.hold == nil {
		return nil
	}
	return s.hold.Confirm(ctx)
}

// releaseWait is how long whoever releases waits for the nodes to open. A node that
// does not answer is asked further, and opens by itself when its lease is over.
const releaseWait = time.Second

// Release implements session.Hold.
func (s stillness) Release() {
	if s.hold == nil {
		return
	}
	within, cancel := primitives.WithDeadline(context.Background(), s.node.world, s.node.world.Clock().Now().Add(releaseWait))
	defer cancel()
	_ = s.hold.Release(within)
}

// current is the committed runtime revision. A command that left it as it was,
// such as one that changed nothing, has nothing to wait for.
func (r *runtime) current(name string) uint64 {
	if d, ok := r.node.group.State().Domain(name); ok {
		return d.Runtime
	}
	return 0
}

// Domain implements session.Runtime.
func (r *runtime) Domain(name string) *flow.Domain { return r.view.Load().domains[name].flow }

// ActivationFailure implements session.Runtime.
func (r *runtime) ActivationFailure(name string) error { return r.view.Load().domains[name].failure }

// Admitted implements session.Runtime.
func (r *runtime) Admitted() bool { return r.view.Load().admitted }

// notReady lists what keeps the runtime from being ready.
func (r *runtime) notReady() (reasons []string) {
	v := r.view.Load()
	if !v.admitted {
		return []string{"runtime admission is pending"}
	}
	for d := range r.node.group.State().Domains() {
		switch x := v.domains[d.Name]; {
		case x.failure != nil:
			reasons = append(reasons, fmt.Sprintf("domain '%s' is not activated", d.Name))
		case x.installed < d.Runtime:
			reasons = append(reasons, fmt.Sprintf("domain '%s' is being activated", d.Name))
		}
	}
	return reasons
}

// drain ends every domain: intake first, then what was admitted.
func (r *runtime) drain(ctx context.Context, deadline primitives.Instant) error {
	r.tasks.Cancel(errStopped)
	if err := r.tasks.Wait(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	var all []*domain
	if err := r.update(ctx, func() {
		for _, name := range primitives.SortedKeys(r.domains) {
			all = append(all, r.domains[name])
		}
	}); err != nil {
		return err
	}
	failures := make([]error, len(all))
	stops := primitives.NewGroup(ctx, r.node.world)
	for i, d := range all {
		// One domain's failure must not end the drain of another.
		stops.Go("domain stop", func(ctx context.Context) error {
			if err := d.flow.Stop(ctx, deadline); err != nil {
				failures[i] = fmt.Errorf("domain '%s': %w", d.name, err)
			}
			return nil
		})
	}
	return errors.Join(append(failures, stops.Wait(ctx))...)
}
