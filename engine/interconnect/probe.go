package interconnect

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"plexus/engine/interconnect/interconnectpb"
	"plexus/primitives"
)

// Announcement is what a node says of itself to every peer. A newer one of the
// same process, or one of a newer process, replaces it. An endpoint that is empty
// is unavailable.
type Announcement struct {
	Interconnect string // host:port
	Client       string // URL
	Console      string // URL
	Terminating  bool
	Applied      uint64 // control index; when nothing else changes, it travels with the next probe
	Prepared     uint64 // runtime revision
	Ready        uint64 // runtime revision
	Failures     []DomainFailure
	Pressure     bool   // of memory
	Interest     uint64 // version of the subscription interest
}

// DomainFailure says that a domain could not be brought to a revision.
type DomainFailure struct {
	Domain   string
	Revision uint64
	Reason   string
}

func (a *Announcement) equal(b *Announcement) bool {
	return slices.Equal(a.Failures, b.Failures) && a.Interconnect == b.Interconnect && a.Client == b.Client && a.Console == b.Console &&
		a.Terminating == b.Terminating && a.Applied == b.Applied && a.Prepared == b.Prepared && a.Ready == b.Ready &&
		a.Pressure == b.Pressure && a.Interest == b.Interest
}

func (a *Announcement) proto(version uint64) *interconnectpb.Announcement {
	m := &interconnectpb.Announcement{
		Version: version, Interconnect: a.Interconnect, Client: a.Client, Console: a.Console, Terminating: a.Terminating,
		Applied: a.Applied, Prepared: a.Prepared, Ready: a.Ready, Pressure: a.Pressure, Interest: a.Interest,
	}
	for _, f := range a.Failures {
		m.Failures = append(m.Failures, &interconnectpb.DomainFailure{Domain: f.Domain, Revision: f.Revision, Reason: clip(f.Reason)})
	}
	return m
}

func announcementOf(m *interconnectpb.Announcement) Announcement {
	a := Announcement{
		Interconnect: m.GetInterconnect(), Client: m.GetClient(), Console: m.GetConsole(), Terminating: m.GetTerminating(),
		Applied: m.GetApplied(), Prepared: m.GetPrepared(), Ready: m.GetReady(), Pressure: m.GetPressure(), Interest: m.GetInterest(),
	}
	if _, _, err := splitEndpoint(a.Interconnect); err != nil {
		a.Interconnect = ""
	}
	for _, f := range m.GetFailures() {
		a.Failures = append(a.Failures, DomainFailure{Domain: f.GetDomain(), Revision: f.GetRevision(), Reason: f.GetReason()})
	}
	return a
}

// announcing is what this node announces.
type announcing struct{ current atomic.Pointer[announced] }

type announced struct {
	what    Announcement
	version uint64
}

// change edits the announcement and reports whether peers should learn of it at
// once. The edit may run more than once.
func (n *announcing) change(edit func(*Announcement)) bool {
	for {
		old := n.current.Load()
		next := &announced{version: 1}
		if old != nil {
			next.what, next.version = old.what, old.version+1
			next.what.Failures = slices.Clone(old.what.Failures)
		}
		edit(&next.what)
		if old != nil && next.what.equal(&old.what) {
			return false
		}
		if n.current.CompareAndSwap(old, next) {
			if old == nil {
				return true
			}
			next := next.what
			next.Applied = old.what.Applied
			return !next.equal(&old.what)
		}
	}
}

func (n *announcing) read() (Announcement, uint64) {
	if a := n.current.Load(); a != nil {
		return a.what, a.version
	}
	return Announcement{}, 0
}

// heard is the newest announcement of a peer.
type heard struct {
	process Process
	version uint64
	what    Announcement
}

// Announce changes what this node announces. Every connected peer learns it at
// once, except that a change of Applied alone waits for the next probe; changes that
// come while one is on its way travel together.
func (m *Mesh) Announce(edit func(*Announcement)) {
	if !m.announcing.change(edit) {
		return
	}
	for _, p := range m.orderedPeers() {
		p.news.Raise()
	}
}

// Announced returns what this node announces.
func (m *Mesh) Announced() Announcement {
	a, _ := m.announcing.read()
	return a
}

// announce tells a peer what changed, one announcement at a time.
func (p *peer) announce(ctx context.Context) error {
	s := p.slot(Management, 0)
	for {
		if err := p.news.Wait(ctx); err != nil {
			return nil
		}
		a, version := p.m.announcing.read()
		c := s.conn.Load()
		if c == nil || p.told.Load() >= version {
			continue // the next probe tells it
		}
		request, err := Encode(&interconnectpb.Probe{Target: c.remote.proto(), Announcement: a.proto(version)})
		if err != nil {
			return err
		}
		if _, err := p.call(ctx, NodeAnnounce, &c.remote, request); err == nil {
			p.toldVersion(version)
		}
	}
}

func (p *peer) toldVersion(version uint64) {
	for {
		old := p.told.Load()
		if version <= old || p.told.CompareAndSwap(old, version) {
			return
		}
	}
}

// met notes the process at the other end of a connection.
func (p *peer) met(now Process) {
	m := p.m
	m.lock()
	old := p.process.Load()
	changed := old == nil || now.Newer(*old)
	if changed {
		p.process.Store(&now)
		p.told.Store(0)
	}
	m.unlock()
	if changed {
		m.followers.raise(Reach)
	}
}

// hear takes an announcement of a process in order.
func (p *peer) hear(from Process, a *interconnectpb.Announcement) {
	if a == nil || a.GetVersion() == 0 {
		return
	}
	p.met(from)
	m := p.m
	m.lock()
	old := p.heard.Load()
	fresh := old == nil || from.Newer(old.process) || from == old.process && a.GetVersion() > old.version
	var changed Change
	if fresh {
		next := &heard{process: from, version: a.GetVersion(), what: announcementOf(a)}
		same := old != nil && old.process == from
		if !same || !old.what.equal(&next.what) {
			changed |= News
		}
		if same && old.what.Terminating != next.what.Terminating || !same && next.what.Terminating {
			changed |= Reach
		}
		p.heard.Store(next)
	}
	m.unlock()
	if changed != 0 {
		m.followers.raise(changed)
	}
}

// probe asks every peer about once a second whether it is there.
func (m *Mesh) probe(ctx context.Context) error {
	next := m.world.Clock().Now()
	for {
		now := m.world.Clock().Now()
		if !now.Before(next) {
			next = now.Add(probeEvery)
		}
		changed := false
		for _, p := range m.orderedPeers() {
			changed = m.round(ctx, p) || changed
		}
		if changed {
			m.followers.raise(Reach)
		}
		_, err := primitives.Select(ctx, m.world, m.rounds.OnRaise(), primitives.AtCase(m.world, next))
		if err != nil {
			return nil
		}
	}
}

// round starts the probe of one peer, unless one is in flight, and judges it.
func (m *Mesh) round(ctx context.Context, p *peer) (changed bool) {
	now := m.world.Clock().Now()
	m.lock()
	changed = p.judge(now)
	m.unlock()
	due := now.Sub(p.probed) >= probeEvery || p.probed == 0
	if !p.hasty.Swap(false) && !due || p.inFlight.Swap(true) {
		return changed
	}
	if !m.probes.TryAcquire(1) {
		p.inFlight.Store(false)
		m.observed(p, observedCapacity)
		return changed
	}
	p.probed = now
	m.tasks.Go("interconnect probe", func(ctx context.Context) error {
		o := p.check(ctx)
		m.probes.Release(1)
		p.inFlight.Store(false)
		if o != 0 {
			m.observed(p, o)
		}
		return nil
	})
	return changed
}

// judge brings the availability up to date, under the mesh's lock, and reports
// whether it changed.
func (p *peer) judge(now primitives.Instant) bool {
	met, left := p.process.Load(), p.left.Load()
	if !p.health.update(now, p.m.settings.UnavailableAfter, left != nil && met != nil && *met == *left) {
		return false
	}
	p.available.Store(&availableSince{p.health.effective, p.health.since})
	return true
}

// departs notes that a process said it is at its end. It is not available from here
// on, until a newer one of its node is met.
func (m *Mesh) departs(process Process) {
	p := (*m.peers.Load())[process.Node]
	if p == nil {
		return
	}
	now := m.world.Clock().Now()
	m.lock()
	p.left.Store(&process)
	changed := p.judge(now)
	m.unlock()
	if departureSeen.HitIf(changed) {
		m.followers.raise(Reach)
	}
}

func (m *Mesh) observed(p *peer, o observation) {
	now := m.world.Clock().Now()
	m.lock()
	p.health.observe(o, now)
	changed := p.judge(now)
	m.unlock()
	if changed {
		m.followers.raise(Reach)
	}
}

// check probes a peer.
func (p *peer) check(ctx context.Context) observation {
	m := p.m
	a, version := m.announcing.read()
	target := Process{Node: p.target.Node, RaftID: p.target.RaftID}
	var exactly *Process
	if c := p.slot(Management, 0).conn.Load(); c != nil {
		exactly = &c.remote
		target = c.remote
	}
	request, err := Encode(&interconnectpb.Probe{Target: target.proto(), Announcement: a.proto(version)})
	if err != nil {
		return observedFailure
	}
	b, err := p.call(ctx, HealthProbe, exactly, request)
	switch {
	case ctx.Err() != nil:
		return 0
	case InPhase(err, PhaseAdmission) && !errors.Is(err, ErrStopped):
		return observedCapacity
	case err != nil:
		return observedFailure
	}
	reply := new(interconnectpb.Probe)
	if err := Decode(b, reply); err != nil {
		return observedFailure
	}
	from, err := processOf(reply.GetTarget())
	if err != nil || from.Node != target.Node || exactly != nil && from != *exactly {
		return observedFailure
	}
	p.toldVersion(version)
	p.hear(from, reply.GetAnnouncement())
	return observedHealthy
}

// readProbe checks that a probe is meant for this process.
func (m *Mesh) readProbe(request []byte) (*interconnectpb.Probe, error) {
	probe := new(interconnectpb.Probe)
	if err := Decode(request, probe); err != nil {
		return nil, err
	}
	target, err := processOf(probe.GetTarget())
	if err != nil {
		return nil, err
	}
	if self := m.Process(); target != self && (target.Epoch != Epoch{} || target.Node != self.Node) {
		return nil, &Refusal{Class: Rejected, Subject: "process", Detail: fmt.Sprintf("this is %s", self)}
	}
	return probe, nil
}

func (m *Mesh) answerProbe(_ context.Context, from Process, request []byte) ([]byte, error) {
	probe, err := m.readProbe(request)
	if err != nil {
		return nil, err
	}
	if p := (*m.peers.Load())[from.Node]; p != nil {
		p.hear(from, probe.GetAnnouncement())
	}
	a, version := m.announcing.read()
	return Encode(&interconnectpb.Probe{Target: m.Process().proto(), Announcement: a.proto(version)})
}

func (m *Mesh) hearAnnouncement(_ context.Context, from Process, request []byte) ([]byte, error) {
	probe, err := m.readProbe(request)
	if err != nil {
		return nil, err
	}
	if p := (*m.peers.Load())[from.Node]; p != nil {
		p.hear(from, probe.GetAnnouncement())
	}
	return nil, nil
}
