package state

import (
	"context"
	"slices"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	announcementLost = invariant.Sometimes("a replica learned of a checkpoint by asking, not by its announcement")
	acknowledgedLate = invariant.Sometimes("an acknowledgement came for a revision that is not the newest any more")
)

// ReplicaPeers carries what owners and replicas tell each other.
type ReplicaPeers interface {
	Remote
	// Announce tells a replica of the newest checkpoints (state.announce).
	Announce(ctx context.Context, node string, refs []Ref) error
	// Acknowledge tells the owner what is durable at this replica (state.ack).
	Acknowledge(ctx context.Context, node string, refs []Ref) error
	// Published asks an owner for the newest checkpoints of one identity
	// (state.catalog).
	Published(ctx context.Context, node string, id Identity) ([]Ref, error)
}

const (
	// replicaRound is how often a replica asks by itself: a lost announcement costs
	// latency only.
	replicaRound = time.Second
	// replicaBatch bounds what is announced, fetched and acknowledged at a time.
	replicaBatch = 16
	// replicaRequest bounds one request.
	replicaRequest = 10 * time.Second
)

// Replication copies the checkpoints of this node's operators to their replicas,
// and those of others that this node is a replica of to its own store.
type Replication struct {
	world   primitives.World
	node    string
	store   *Store
	staging *Staging
	peers   ReplicaPeers
	group   *primitives.Group

	lock    *primitives.Mutex // guards what follows; nothing waits under it
	owned   published
	copied  wanted
	senders map[string]*primitives.Notice // one task per replica node
	changed *primitives.Notice            // there is something to fetch
	acked   *primitives.Cond
}

// NewReplication returns the replication of one node.
func NewReplication(w primitives.World, node string, store *Store, staging *Staging, peers ReplicaPeers) *Replication {
	lock := primitives.NewMutex(w)
	return &Replication{
		world: w, node: node, store: store, staging: staging, peers: peers, lock: lock, owned: newPublished(), copied: newWanted(),
		senders: map[string]*primitives.Notice{}, changed: primitives.NewNotice(w), acked: primitives.NewCond(w, lock),
	}
}

// Start begins to copy. The tasks end with ctx or Stop.
func (r *Replication) Start(ctx context.Context) {
	r.group = primitives.NewGroup(ctx, r.world)
	r.group.Go("state replica", r.follow)
}

// Stop ends the tasks.
func (r *Replication) Stop(ctx context.Context) error {
	r.group.Cancel(primitives.ErrClosed)
	if err := r.group.Wait(ctx); err != nil && ctx.Err() != nil {
		return err
	}
	return nil
}

func (r *Replication) locked(f func()) {
	if r.lock.Lock(context.Background()) == nil { // never held across a wait
		f()
		r.lock.Unlock()
	}
}

// Own names the replicas of state that this node owns by the applied schedule.
// None ends the replication of the identity.
func (r *Replication) Own(id Identity, replicas []string) {
	r.locked(func() {
		r.owned.assign(id, replicas)
		for _, node := range replicas {
			if r.senders[node] == nil {
				notice := primitives.NewNotice(r.world)
				r.senders[node] = notice
				r.group.Go("state announcer", func(ctx context.Context) error { return r.announce(ctx, node, notice) })
			}
			r.senders[node].Raise()
		}
		r.acked.Broadcast()
	})
}

// Copy names the owner of state that this node is a replica of; "" ends that.
func (r *Replication) Copy(id Identity, owner string) {
	r.locked(func() { r.copied.assign(id, owner) })
	r.changed.Raise()
}

// Published announces a checkpoint of this node to its replicas.
func (r *Replication) Published(ref Ref) {
	r.locked(func() {
		r.owned.publish(ref)
		for _, node := range r.owned.replicas[ref.Identity] {
			r.senders[node].Raise()
		}
	})
}

// Replicated waits until every assigned replica has made the checkpoint, or a newer
// one of its placement, durable.
func (r *Replication) Replicated(ctx context.Context, ref Ref) error {
	if err := r.lock.Lock(ctx); err != nil {
		return err
	}
	defer r.lock.Unlock()
	for !r.owned.covered(ref) {
		if err := r.acked.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Announced is an announcement that arrived.
func (r *Replication) Announced(owner string, refs []Ref) {
	r.locked(func() {
		for _, ref := range refs {
			r.copied.offer(owner, ref)
		}
	})
	r.changed.Raise()
}

// Acknowledged is an acknowledgement that arrived.
func (r *Replication) Acknowledged(replica string, refs []Ref) {
	r.locked(func() {
		for _, ref := range refs {
			r.owned.acknowledge(replica, ref)
		}
		r.acked.Broadcast()
	})
}

// announce tells one replica of what it has not acknowledged: one announcement is
// in flight, and the newest of each placement wins.
func (r *Replication) announce(ctx context.Context, node string, notice *primitives.Notice) error {
	for {
		var refs []Ref
		r.locked(func() { refs = r.owned.next(node) })
		if len(refs) > 0 {
			bounded, cancel := primitives.WithDeadline(ctx, r.world, r.world.Clock().Now().Add(replicaRequest))
			err := r.peers.Announce(bounded, node, refs)
			cancel()
			if err == nil {
				r.locked(func() { r.owned.told(node, refs) })
				continue
			}
			if ctx.Err() != nil {
				return primitives.Canceled(ctx)
			}
			// The replica asks by itself; the next publication announces again.
			r.world.Log().Debug("a checkpoint was not announced", "node", node, "error", err)
		}
		if err := notice.Wait(ctx); err != nil {
			return err
		}
	}
}

// follow is the task of a replica: it fetches what was announced, and asks for what
// was not.
func (r *Replication) follow(ctx context.Context) error {
	ticker := primitives.NewTicker(r.world, replicaRound)
	defer ticker.Stop()
	for {
		fired, err := primitives.Select(ctx, r.world, r.changed.OnRaise(), ticker.OnTick())
		if err != nil {
			return err
		}
		if fired == 1 {
			r.ask(ctx)
		}
		for {
			var offers []offer
			r.locked(func() { offers = r.copied.next() })
			if len(offers) == 0 {
				break
			}
			r.fetch(ctx, offers)
			if ctx.Err() != nil {
				return primitives.Canceled(ctx)
			}
		}
	}
}

// ask reads the catalog of every owner.
func (r *Replication) ask(ctx context.Context) {
	var owners []followed
	r.locked(func() { owners = r.copied.owners() })
	for _, f := range owners {
		bounded, cancel := primitives.WithDeadline(ctx, r.world, r.world.Clock().Now().Add(replicaRequest))
		refs, err := r.peers.Published(bounded, f.owner, f.id)
		cancel()
		if err != nil {
			continue // the next round asks again
		}
		r.locked(func() {
			for _, ref := range refs {
				if ref.Identity == f.id {
					announcementLost.HitIf(r.copied.offer(f.owner, ref))
				}
			}
		})
	}
}

// fetch makes offered checkpoints durable and acknowledges them: what is installed
// now, and what this node holds already. One that fails is offered again.
func (r *Replication) fetch(ctx context.Context, offers []offer) {
	g := primitives.NewGroup(ctx, r.world)
	held := make([]bool, len(offers))
	for i, o := range offers {
		g.Go("state fetch", func(ctx context.Context) error {
			held[i] = r.install(ctx, o)
			return nil
		})
	}
	_ = g.Wait(context.Background()) // the tasks return nothing, and end with ctx
	durable := map[string][]Ref{}
	r.locked(func() {
		for i, o := range offers {
			if held[i] {
				r.copied.have(o.ref)
				durable[o.owner] = append(durable[o.owner], o.ref)
			}
		}
	})
	for _, owner := range primitives.SortedKeys(durable) {
		bounded, cancel := primitives.WithDeadline(ctx, r.world, r.world.Clock().Now().Add(replicaRequest))
		if err := r.peers.Acknowledge(bounded, owner, durable[owner]); err != nil {
			r.locked(func() {
				for _, ref := range durable[owner] {
					r.copied.forget(ref.Placement) // the next round acknowledges again
				}
			})
		}
		cancel()
	}
}

// install makes one offered checkpoint durable.
func (r *Replication) install(ctx context.Context, o offer) bool {
	if known, found, err := r.store.Ref(o.ref.Placement); err == nil && found && !o.ref.Newer(known) {
		return true
	}
	bounded, cancel := primitives.WithDeadline(ctx, r.world, r.world.Clock().Now().Add(time.Minute))
	defer cancel()
	st, err := r.staging.Fetch(bounded, r.peers, o.owner, o.ref)
	if err == nil {
		_, err = r.store.Install(st)
	}
	if err != nil {
		r.world.Log().Debug("a checkpoint was not copied", "node", o.owner, "error", err)
	}
	return err == nil
}

// published is the core of an owner: what it published, and who has it.
type published struct {
	replicas map[Identity][]string
	newest   map[Placement]Ref
	acked    map[string]map[Placement]Ref // by replica
	sent     map[string]map[Placement]Ref
}

func newPublished() published {
	return published{
		replicas: map[Identity][]string{}, newest: map[Placement]Ref{},
		acked: map[string]map[Placement]Ref{}, sent: map[string]map[Placement]Ref{},
	}
}

// assign replaces the replicas. What another schedule's replicas acknowledged counts
// for them alone.
func (c *published) assign(id Identity, replicas []string) {
	if len(replicas) > 0 {
		c.replicas[id] = slices.Clone(replicas)
		return
	}
	delete(c.replicas, id)
	for p := range c.newest { //plexus:orderfree it only deletes
		if p.Identity == id {
			delete(c.newest, p)
		}
	}
}

func (c *published) publish(ref Ref) {
	if known, ok := c.newest[ref.Placement]; !ok || ref.Newer(known) {
		c.newest[ref.Placement] = ref
	}
}

// next is what a replica is to be told.
func (c *published) next(node string) (refs []Ref) {
	for p, ref := range c.newest { //plexus:orderfree sorted below
		if slices.Contains(c.replicas[p.Identity], node) && older(c.acked[node], ref) && older(c.sent[node], ref) {
			refs = append(refs, ref)
		}
	}
	slices.SortFunc(refs, func(a, b Ref) int { return a.Placement.Compare(b.Placement) })
	return refs[:min(len(refs), replicaBatch)]
}

// older reports whether what is recorded is not as new as the reference.
func older(known map[Placement]Ref, ref Ref) bool {
	k, ok := known[ref.Placement]
	return !ok || ref.Newer(k)
}

func (c *published) told(node string, refs []Ref) { record(c.sent, node, refs...) }

func record(in map[string]map[Placement]Ref, node string, refs ...Ref) {
	if in[node] == nil {
		in[node] = map[Placement]Ref{}
	}
	for _, ref := range refs {
		if older(in[node], ref) {
			in[node][ref.Placement] = ref
		}
	}
}

// acknowledge records what a replica has. Its progress only rises.
func (c *published) acknowledge(node string, ref Ref) {
	known, ok := c.newest[ref.Placement]
	acknowledgedLate.HitIf(ok && known.Newer(ref))
	record(c.acked, node, ref)
}

// covered reports whether every assigned replica has the checkpoint or a newer one.
func (c *published) covered(ref Ref) bool {
	return !slices.ContainsFunc(c.replicas[ref.Identity], func(node string) bool { return older(c.acked[node], ref) })
}

// wanted is the core of a replica: what it was offered and does not have.
type wanted struct {
	from    map[Identity]string // owner
	offered map[Placement]Ref
	holds   map[Placement]Ref // and has acknowledged
}

// offer is a checkpoint and the owner that has it.
type offer struct {
	owner string
	ref   Ref
}

type followed struct {
	id    Identity
	owner string
}

func newWanted() wanted {
	return wanted{from: map[Identity]string{}, offered: map[Placement]Ref{}, holds: map[Placement]Ref{}}
}

func (c *wanted) assign(id Identity, owner string) {
	if owner != "" && c.from[id] == owner {
		return
	}
	// Another owner has to be told, even of what the last one knew.
	for p := range c.offered { //plexus:orderfree it only deletes
		if p.Identity == id {
			delete(c.offered, p)
		}
	}
	for p := range c.holds { //plexus:orderfree it only deletes
		if p.Identity == id {
			delete(c.holds, p)
		}
	}
	delete(c.from, id)
	if owner != "" {
		c.from[id] = owner
	}
}

// offer notes a checkpoint of the scheduled owner; it reports whether it is news.
func (c *wanted) offer(owner string, ref Ref) bool {
	if c.from[ref.Identity] != owner || !older(c.offered, ref) || !older(c.holds, ref) {
		return false
	}
	c.offered[ref.Placement] = ref
	return true
}

// next takes the offers to fetch now.
func (c *wanted) next() (offers []offer) {
	for p, ref := range c.offered { //plexus:orderfree sorted below
		offers = append(offers, offer{c.from[p.Identity], ref})
	}
	slices.SortFunc(offers, func(a, b offer) int { return a.ref.Placement.Compare(b.ref.Placement) })
	offers = offers[:min(len(offers), replicaBatch)]
	for _, o := range offers {
		delete(c.offered, o.ref.Placement)
	}
	return offers
}

func (c *wanted) have(ref Ref) {
	if older(c.holds, ref) {
		c.holds[ref.Placement] = ref
	}
}

func (c *wanted) forget(p Placement) { delete(c.holds, p) }

func (c *wanted) owners() (list []followed) {
	for id, owner := range c.from { //plexus:orderfree sorted below
		list = append(list, followed{id, owner})
	}
	slices.SortFunc(list, func(a, b followed) int { return Placement{Identity: a.id}.Compare(Placement{Identity: b.id}) })
	return list
}
