package quiesce

import (
	"cmp"
	"math"
	"slices"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
	"plexus/primitives/planted"
)

var (
	leaseExpired = invariant.Sometimes("a gate opened because its lease ended")
	lateEngage   = invariant.Sometimes("a request to engage came after the end of its hold")
	leaseRenewed = invariant.Sometimes("a lease was renewed")
	elderRefused = invariant.Sometimes("a request of an earlier run of a coordinator was refused")
)

// phase is where a lease stands.
type phase uint8

const (
	engaging phase = iota
	held
	ended // released, expired or refused; its gates open
)

// lease is one engaged scope: one instance, however often it is renewed.
type lease struct {
	id    ID
	scope Scope
	until primitives.Instant
	phase phase
}

// owner is what is remembered of a coordinating node: its newest process, and
// which of that process's holds are over.
type owner struct {
	process Process
	floor   uint64
	over    map[uint64]bool // sequences from floor on
}

// leases is the core of a participant: which holds live here. It computes; the
// participant closes and opens gates accordingly.
type leases struct {
	live   map[ID]*lease
	owners map[string]*owner
}

func newLeases() *leases { return &leases{live: map[ID]*lease{}, owners: map[string]*owner{}} }

// engage begins a lease, or renews it if it lives. fresh says that the caller has
// to close its gates.
func (c *leases) engage(now primitives.Instant, from Process, r *request) (l *lease, fresh bool, refusal *Refusal) {
	o, refusal := c.owner(from, r)
	if refusal != nil {
		return nil, false, refusal
	}
	if r.Scope.Domain == "" || r.Lease <= 0 {
		return nil, false, &Refusal{Malformed, "no scope or lease"}
	}
	l = c.live[r.ID]
	if l != nil {
		c.expire(now, l)
	}
	switch {
	case lateEngage.HitIf(r.ID.Sequence < o.floor || o.over[r.ID.Sequence]):
		return nil, false, &Refusal{Reason: Ended}
	case l == nil:
		l = &lease{id: r.ID, scope: r.Scope, until: now.Add(r.Lease)}
		c.live[r.ID] = l
		return l, true, nil
	case !l.scope.equal(r.Scope):
		return nil, false, &Refusal{Reason: OtherScope}
	}
	leaseRenewed.Hit()
	l.until = max(l.until, now.Add(r.Lease))
	if planted.Active(planted.HoldForever) {
		l.until = primitives.Never
	}
	return l, false, nil
}

// owner returns the record of the asking coordinator and learns its floor.
func (c *leases) owner(from Process, r *request) (*owner, *Refusal) {
	if r.ID.Coordinator != from.Node || r.ID.Epoch != from.Epoch {
		return nil, &Refusal{Reason: NotOwner}
	}
	o := c.owners[from.Node]
	switch {
	case o == nil || o.process != from && o.before(from):
		// Holds of an earlier process live on until their leases end (Q2).
		o = &owner{process: from, over: map[uint64]bool{}}
		c.owners[from.Node] = o
	case elderRefused.HitIf(o.process != from):
		return nil, &Refusal{NotOwner, "a later run of the node was seen"}
	}
	if r.Floor > o.floor {
		o.floor = r.Floor
		for sequence := range o.over { //plexus:orderfree it only deletes
			if sequence < o.floor {
				delete(o.over, sequence)
			}
		}
	}
	return o, nil
}

// before reports whether the remembered process is an earlier run than p.
func (o *owner) before(p Process) bool {
	if o.process.RaftID != p.RaftID {
		return o.process.RaftID < p.RaftID
	}
	return o.process.Counter < p.Counter
}

// find returns the live lease that a request means.
func (c *leases) find(now primitives.Instant, from Process, r *request) (*lease, *Refusal) {
	o, refusal := c.owner(from, r)
	if refusal != nil {
		return nil, refusal
	}
	l := c.live[r.ID]
	if l != nil {
		c.expire(now, l)
	}
	switch {
	case r.ID.Sequence < o.floor || o.over[r.ID.Sequence]:
		return nil, &Refusal{Reason: Ended}
	case l == nil:
		return nil, &Refusal{Reason: Unknown}
	case l.phase == engaging:
		return nil, &Refusal{NotReady, "engaging"}
	}
	return l, nil
}

// release ends a hold for good, engaged or not: a late request to engage must
// find that it is over (Q4). It returns the lease whose gates have to open.
func (c *leases) release(from Process, r *request) (*lease, *Refusal) {
	o, refusal := c.owner(from, r)
	if refusal != nil {
		return nil, refusal
	}
	if r.ID.Sequence >= o.floor {
		o.over[r.ID.Sequence] = true
	}
	l := c.live[r.ID]
	if l != nil {
		l.phase = ended
	}
	return l, nil
}

// expire ends a lease whose time is over.
func (c *leases) expire(now primitives.Instant, l *lease) {
	if l.phase == ended || now.Before(l.until) {
		return
	}
	leaseExpired.Hit()
	c.end(l)
}

// end marks a lease as over.
func (c *leases) end(l *lease) {
	l.phase = ended
	if o := c.owners[l.id.Coordinator]; o != nil && o.process.Epoch == l.id.Epoch && l.id.Sequence >= o.floor {
		o.over[l.id.Sequence] = true
	}
}

// closed records that the gates of a new lease are closed.
func (l *lease) closed() {
	if l.phase == engaging {
		l.phase = held
	}
}

// forget drops a lease whose gates are open.
func (c *leases) forget(l *lease) {
	if c.live[l.id] == l {
		delete(c.live, l.id)
	}
}

// departed says that no message of the process arrives any more: nothing has to
// be remembered of its holds that are over. The living ones keep their leases,
// because the change they are for may have been committed (Q2).
func (c *leases) departed(p Process) {
	o := c.owners[p.Node]
	if o == nil || o.process != p {
		return
	}
	clear(o.over)
	o.floor = math.MaxUint64
	if planted.Active(planted.OpenOnCoordinatorLoss) {
		for _, l := range c.live { //plexus:orderfree it only marks
			if l.id.Coordinator == p.Node && l.id.Epoch == p.Epoch {
				l.phase = ended
			}
		}
	}
}

func (id ID) compare(o ID) int {
	return cmp.Or(cmp.Compare(id.Coordinator, o.Coordinator), slices.Compare(id.Epoch[:], o.Epoch[:]), cmp.Compare(id.Sequence, o.Sequence))
}

// sorted returns the live leases in the order of their identities.
func (c *leases) sorted() []*lease {
	list := make([]*lease, 0, len(c.live))
	for _, l := range c.live { //plexus:orderfree sorted below
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b *lease) int { return a.id.compare(b.id) })
	return list
}

// left is what remains of a lease.
func (l *lease) left(now primitives.Instant) time.Duration { return max(l.until.Sub(now), 0) }

// refused drops a lease that closed nothing; the same request may come again.
func (c *leases) refused(l *lease) {
	l.phase = ended
	c.forget(l)
}
