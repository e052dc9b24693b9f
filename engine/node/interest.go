package node

import (
	"context"
	"slices"

	"plexus/engine/flow"
	"plexus/engine/interconnect"
	"plexus/engine/node/nodepb"
	"plexus/primitives"
)

// interest tells the other nodes which relays the sessions of this one read, and
// keeps what they tell. A relay's owner, and whoever becomes it, sends its batches
// to every node whose sessions read it.
type interest struct {
	node *Node

	lock    *primitives.Mutex // guards what follows; nothing waits under it
	changed *primitives.Cond
	counts  map[reader]int
	version uint64
	told    map[string]*told
	heard   map[string]readers
}

// reader is a relay that sessions read.
type reader struct{ domain, relay string }

func (r reader) before(o reader) bool {
	return r.domain < o.domain || r.domain == o.domain && r.relay < o.relay
}

// told is what one peer has confirmed.
type told struct {
	process interconnect.Process
	version uint64
	asking  bool
}

// readers is what one peer said last.
type readers struct {
	process interconnect.Process
	version uint64
	list    []reader
}

func newInterest(n *Node) *interest {
	i := &interest{node: n, lock: primitives.NewMutex(n.world), counts: map[reader]int{}, told: map[string]*told{}, heard: map[string]readers{}}
	i.changed = primitives.NewCond(n.world, i.lock)
	n.mesh.Handle(interconnect.InterestUpdate, i.update)
	return i
}

// Lease implements flow.Interest.
func (i *interest) Lease(ctx context.Context, domain, relay string) (release func(), err error) {
	r := reader{domain, relay}
	if err := i.lock.Lock(ctx); err != nil {
		return nil, err
	}
	i.count(r, 1)
	mine := i.version
	for !i.published(mine) {
		i.ask()
		if err := i.changed.Wait(ctx); err != nil {
			i.count(r, -1)
			i.lock.Unlock()
			return nil, err
		}
	}
	i.lock.Unlock()
	return func() {
		_ = i.lock.Lock(context.Background()) // must not be skipped
		i.count(r, -1)
		i.ask()
		i.lock.Unlock()
	}, nil
}

// count changes the number of sessions that read a relay, under the lock.
func (i *interest) count(r reader, n int) {
	before := i.counts[r]
	if i.counts[r] = before + n; before+n == 0 {
		delete(i.counts, r)
	}
	if before == 0 || before+n == 0 {
		i.version++
		i.node.mesh.Announce(func(a *interconnect.Announcement) { a.Interest = i.version })
	}
}

// published reports whether every live peer has a version, under the lock.
func (i *interest) published(version uint64) bool {
	for _, p := range i.node.mesh.Peers() {
		t := i.told[p.Node]
		if p.Availability != interconnect.Unreachable && (t == nil || t.process != p.Process || t.version < version) {
			return false
		}
	}
	return true
}

// run tells peers what they do not know yet.
func (i *interest) run(ctx context.Context) error {
	follower := i.node.mesh.Follow(interconnect.Reach)
	defer i.node.mesh.Unfollow(follower)
	for {
		if err := i.lock.Lock(ctx); err != nil {
			return err
		}
		i.ask()
		i.changed.Broadcast()
		i.lock.Unlock()
		i.publish()
		if err := follower.Wait(ctx); err != nil {
			return err
		}
	}
}

// ask starts to tell every peer that is behind, under the lock.
func (i *interest) ask() {
	for _, p := range i.node.mesh.Peers() {
		t := i.told[p.Node]
		if t == nil {
			t = &told{}
			i.told[p.Node] = t
		}
		if t.process != p.Process {
			*t = told{process: p.Process, asking: t.asking}
		}
		nothing := i.version == 0 && len(i.counts) == 0
		if p.Process.IsZero() || t.asking || t.version >= i.version && (t.version > 0 || nothing) {
			continue
		}
		t.asking = true
		i.node.tasks.Go("interest", func(ctx context.Context) error { return i.tell(ctx, p.Process, t) })
	}
}

// tell brings one process up to date.
func (i *interest) tell(ctx context.Context, to interconnect.Process, t *told) error {
	if err := i.lock.Lock(ctx); err != nil {
		return err
	}
	m := &nodepb.Interest{Version: i.version}
	for _, r := range sortedReaders(i.counts) {
		m.Readers = append(m.Readers, &nodepb.Reader{Domain: r.domain, Relay: r.relay})
	}
	i.lock.Unlock()
	encoded, err := interconnect.Encode(m)
	if err == nil {
		_, err = i.node.mesh.CallProcess(ctx, to, interconnect.InterestUpdate, encoded)
	}
	if err := i.lock.Lock(context.Background()); err != nil {
		return err
	}
	defer i.lock.Unlock()
	t.asking = false
	if err != nil {
		// The mesh tells when the peer is reached again, or is another process.
		i.node.world.Log().Debug("a peer was not told which relays are read here", "node", to.Node, "error", err)
		return ctx.Err()
	}
	if t.process == to {
		t.version = max(t.version, m.GetVersion())
	}
	i.ask() // it may have changed meanwhile
	i.changed.Broadcast()
	return nil
}

func sortedReaders(counts map[reader]int) []reader {
	list := make([]reader, 0, len(counts))
	for r := range counts { //plexus:orderfree sorted below
		list = append(list, r)
	}
	slices.SortFunc(list, func(a, b reader) int {
		if a.before(b) {
			return -1
		}
		return 1
	})
	return list
}

// update takes what a peer says.
func (i *interest) update(ctx context.Context, from interconnect.Process, request []byte) ([]byte, error) {
	m := new(nodepb.Interest)
	if err := interconnect.Decode(request, m); err != nil {
		return nil, err
	}
	if err := i.lock.Lock(ctx); err != nil {
		return nil, err
	}
	last := i.heard[from.Node]
	if last.process == from && last.version >= m.GetVersion() || last.process != from && last.process.Newer(from) {
		i.lock.Unlock()
		return nil, nil
	}
	next := readers{process: from, version: m.GetVersion()}
	for _, r := range m.GetReaders() {
		next.list = append(next.list, reader{r.GetDomain(), r.GetRelay()})
	}
	i.heard[from.Node] = next
	i.lock.Unlock()
	i.publish()
	return nil, nil
}

// publish gives every domain the readers of its relays. A node that is out of
// reach is left out: its copies would hold the relay's slots.
func (i *interest) publish() {
	view := i.node.runtime.view.Load()
	for _, name := range primitives.SortedKeys(view.domains) {
		i.apply(name, view.domains[name].flow)
	}
}

func (i *interest) apply(domain string, d *flow.Domain) {
	_ = i.lock.Lock(context.Background())
	relays := map[string][]string{}
	for _, p := range i.node.mesh.Peers() {
		h, ok := i.heard[p.Node]
		if !ok || h.process != p.Process || p.Availability == interconnect.Unreachable {
			continue
		}
		for _, r := range h.list {
			if r.domain == domain {
				relays[r.relay] = append(relays[r.relay], p.Node)
			}
		}
	}
	i.lock.Unlock()
	d.SetReaders(relays)
}

var _ flow.Interest = (*interest)(nil)
