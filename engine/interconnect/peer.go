package interconnect

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

var (
	departureSeen = invariant.Sometimes("a process that said it ends was not available any more at once")
	reconnected   = invariant.Sometimes("a lost connection with a peer was established again")
	pokedEarly    = invariant.Sometimes("a connection from a peer ended the wait before dialling it")
)

// peer is a member this node keeps connections with. A change of its endpoint or
// raft id makes another peer.
type peer struct {
	m       *Mesh
	target  Peer
	counter atomic.Uint64 // least incarnation
	host    string        // of the endpoint, empty when it cannot be dialled
	port    uint16
	slots   [classCount][]*slot
	gone    *primitives.Event
	tasks   *primitives.Group

	process   atomic.Pointer[Process] // the newest that was met
	left      atomic.Pointer[Process] // the one that said it ends
	heard     atomic.Pointer[heard]   // its announcement
	probed    primitives.Instant      // the last probe began
	health    health                  // guarded by the mesh
	available atomic.Pointer[availableSince]
	inFlight  atomic.Bool        // a probe
	hasty     atomic.Bool        // the next probe does not wait for its time
	news      *primitives.Notice // the announcement changed
	told      atomic.Uint64      // version the peer has
}

// slot is one of the connections with a peer. It is dialled for as long as the
// peer is a member; of bulk only while somebody needs it.
type slot struct {
	p       *peer
	class   Class
	number  int
	conn    atomic.Pointer[connection]
	changed atomic.Pointer[primitives.Event] // replaced at every change of conn
	poked   *primitives.Notice
	wanted  atomic.Int32 // exchanges that wait, for bulk
	failure atomic.Pointer[error]
	logged  logLimit
}

func newPeer(m *Mesh, target Peer) *peer {
	w := m.world
	p := &peer{m: m, target: target, gone: primitives.NewEvent(w), news: primitives.NewNotice(w)}
	p.counter.Store(target.Counter)
	var undialled error
	if host, port, err := splitEndpoint(target.Endpoint); err == nil {
		p.host, p.port = host, port
	} else {
		undialled = &TransportError{Phase: PhaseResolve, Node: target.Node, Err: err}
	}
	for class, n := range connections {
		for number := range n {
			s := &slot{p: p, class: Class(class), number: number, poked: primitives.NewNotice(w)}
			s.changed.Store(primitives.NewEvent(w))
			if undialled != nil {
				s.failure.Store(&undialled)
			}
			p.slots[class] = append(p.slots[class], s)
		}
	}
	return p
}

func (p *peer) slot(class Class, n int) *slot { return p.slots[class][n] }

// start begins to dial.
func (p *peer) start() {
	p.tasks = primitives.NewGroup(p.m.tasks.Context(), p.m.world)
	p.m.tasks.Go("interconnect peer", func(ctx context.Context) error {
		if p.host != "" {
			for _, class := range p.slots {
				for _, s := range class {
					p.tasks.Go("interconnect slot", s.run)
				}
			}
			p.tasks.Go("interconnect announcements", p.announce)
		}
		_, _ = primitives.Select(ctx, p.m.world, p.gone.OnSet())
		p.tasks.Cancel(ErrUnknownNode)
		_ = p.tasks.Wait(context.Background()) // the tasks end with their scope
		return nil
	})
}

// retire ends every connection with a peer that is none any more.
func (p *peer) retire() {
	p.gone.Set()
	for _, class := range p.slots {
		for _, s := range class {
			if c := s.conn.Load(); c != nil {
				c.fail(ErrUnknownNode)
			}
		}
	}
}

// redial ends the connections that this node dialled.
func (p *peer) redial() {
	for _, class := range p.slots {
		for _, s := range class {
			if c := s.conn.Load(); c != nil {
				c.fail(errRenamed)
			}
		}
	}
}

var errRenamed = errors.New("this node has another identity now")

// poke lets slots that wait before their next attempt try at once.
func (p *peer) poke() {
	for _, class := range p.slots {
		for _, s := range class {
			if s.conn.Load() == nil {
				s.poked.Raise()
			}
		}
	}
}

// wake lets everybody who waits for a connection look again.
func (p *peer) wake() {
	for _, class := range p.slots {
		for _, s := range class {
			s.changed.Swap(primitives.NewEvent(p.m.world)).Set()
		}
	}
}

// ready reports whether every permanent connection is up.
func (p *peer) ready() bool {
	for class, slots := range p.slots {
		for _, s := range slots {
			if Class(class) != Bulk && s.conn.Load() == nil {
				return false
			}
		}
	}
	return true
}

// set installs a connection or takes it away, and wakes who waits for a change.
func (s *slot) set(c *connection) {
	before := s.p.ready()
	s.conn.Store(c)
	s.changed.Swap(primitives.NewEvent(s.p.m.world)).Set()
	if s.p.ready() != before {
		s.p.m.followers.raise(Reach)
	}
}

// run keeps the slot connected.
func (s *slot) run(ctx context.Context) error {
	w := s.p.m.world
	draw := w.Entropy().Stream(fmt.Sprintf("interconnect/backoff/%s/%s/%d", s.p.target.Node, s.class, s.number))
	wait := time.Duration(0)
	before := false
	for ctx.Err() == nil {
		if s.p.m.stopping.Load() {
			_, _ = primitives.Select(ctx, w, s.p.gone.OnSet()) // nothing is established any more
			return nil
		}
		if s.class == Bulk && s.wanted.Load() == 0 {
			if err := s.poked.Wait(ctx); err != nil {
				return nil
			}
			continue
		}
		c, err := s.p.m.dial(ctx, s)
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			s.fail(err)
			wait = min(max(2*wait, backoffMin), backoffMax)
			// Full jitter: peers that lost the same node do not come back together.
			pause := time.Duration(draw.Uint64() % uint64(wait))
			i, err := primitives.Select(ctx, w, s.poked.OnRaise(), primitives.AtCase(w, w.Clock().Now().Add(pause)))
			pokedEarly.HitIf(err == nil && i == 0)
			continue
		}
		reconnected.HitIf(before)
		before, wait = true, 0
		s.failure.Store(nil)
		s.set(c)
		if s.class == Management {
			s.p.hasty.Store(true)
			s.p.m.rounds.Raise()
		}
		s.hold(ctx, c)
		s.set(nil)
	}
	return nil
}

// hold waits until the connection takes no further streams.
func (s *slot) hold(ctx context.Context, c *connection) {
	w := s.p.m.world
	for {
		idle := primitives.Case{}
		if s.class == Bulk {
			idle = primitives.AtCase(w, w.Clock().Now().Add(bulkIdle))
		}
		switch i, err := primitives.Select(ctx, w, c.retiring.OnSet(), idle); {
		case err != nil && s.p.gone.IsSet():
			c.fail(ErrUnknownNode)
			return
		case err != nil:
			c.fail(ErrStopped)
			return
		case i == 0:
			return
		}
		c.lock()
		quiet := c.live == 0
		c.unlock()
		if quiet {
			c.retire(ctx, w.Clock().Now().Add(drainWithin))
			return
		}
	}
}

// fail notes why an attempt failed. An unreachable peer is tried for ever, but not
// logged every time.
func (s *slot) fail(err error) {
	s.p.m.metrics.failed(s.class, attemptReason(err))
	s.failure.Store(&err)
	if !s.logged.allow(failureKey(err), s.p.m.world.Clock().Now()) {
		return
	}
	level := s.p.m.world.Log().Debug
	if s.class == Management {
		level = s.p.m.world.Log().Warn
	}
	level("no connection with peer", "node", s.p.target.Node, "endpoint", s.p.target.Endpoint, "class", s.class.String(), "error", err)
}

// logLimit keeps what repeats out of the log: one line for a change, a second apart,
// and one a minute for what stays.
type logLimit struct {
	key string
	at  primitives.Instant
}

func (l *logLimit) allow(key string, now primitives.Instant) bool {
	wait := time.Minute
	if key != l.key {
		wait = time.Second
	}
	if l.key != "" && now.Sub(l.at) < wait {
		return false
	}
	l.key, l.at = key, now
	return true
}

// failureKey tells failures apart that are worth another line.
func failureKey(err error) string {
	var (
		refused *SetupError
		failed  *TransportError
	)
	switch {
	case errors.As(err, &refused):
		return refused.Code.String()
	case errors.As(err, &failed):
		return failed.Phase.String()
	}
	return "other"
}

// connection returns the one to use, waiting for it. A channel's hash picks among
// several.
func (s *slot) connection(ctx context.Context, op Operation, exactly *Process) (*connection, error) {
	if s.class == Bulk {
		s.wanted.Add(1)
		defer s.wanted.Add(-1)
		s.poked.Raise()
	}
	for {
		changed := s.changed.Load()
		if s.p.m.stopping.Load() {
			return nil, &TransportError{Phase: PhaseAdmission, Node: s.p.target.Node, Operation: op.String(), Err: ErrStopped}
		}
		if exactly != nil {
			if now := s.p.process.Load(); now != nil && *now != *exactly && !exactly.Newer(*now) {
				return nil, s.p.departed(op)
			}
		}
		if c := s.conn.Load(); c != nil {
			if exactly != nil && c.remote != *exactly {
				return nil, s.p.departed(op)
			}
			return c, nil
		}
		if s.p.gone.IsSet() {
			return nil, &TransportError{Phase: PhaseDeparted, Node: s.p.target.Node, Operation: op.String(), Err: ErrUnknownNode}
		}
		_, err := primitives.Select(ctx, s.p.m.world, changed.OnSet(), s.p.gone.OnSet())
		if err != nil {
			if !errors.Is(err, primitives.ErrDeadline) {
				return nil, err
			}
			return nil, s.unreached(op, err)
		}
	}
}

// unreached is the failure of an exchange that found no connection: why the last
// attempt failed says more than the time.
func (s *slot) unreached(op Operation, err error) error {
	failed := &TransportError{Phase: PhaseTimeout, Node: s.p.target.Node, Operation: op.String(), Err: err}
	if last := s.failure.Load(); last != nil {
		failed.Err = *last
		var inner *TransportError
		if errors.As(*last, &inner) {
			failed.Phase, failed.Err = inner.Phase, inner.Err
		}
	}
	return failed
}

func (p *peer) departed(op Operation) error {
	return &TransportError{Phase: PhaseDeparted, Node: p.target.Node, Operation: op.String(), Err: ErrSuperseded}
}

// call runs one exchange within the time of its operation.
func (p *peer) call(ctx context.Context, op Operation, exactly *Process, request []byte) ([]byte, error) {
	return p.callWithin(ctx, op, exactly, request, p.slot(op.Class(), 0))
}

func (p *peer) callWithin(ctx context.Context, op Operation, exactly *Process, request []byte, s *slot) ([]byte, error) {
	clock := p.m.world.Clock()
	start := clock.Now()
	ctx, cancel := primitives.WithDeadline(ctx, p.m.world, start.Add(op.Within()))
	defer cancel()
	for {
		c, err := s.connection(ctx, op, exactly)
		if err != nil {
			return nil, err
		}
		answer, err := c.exchange(ctx, op, request)
		if !errors.Is(err, errRetired) {
			p.m.metrics.request(op, clock.Now().Sub(start))
			return answer, err
		}
		if err := s.next(ctx, c, op); err != nil {
			return nil, err
		}
	}
}

// next waits until a retired connection is not the slot's any more.
func (s *slot) next(ctx context.Context, c *connection, op Operation) error {
	changed := s.changed.Load()
	if s.conn.Load() != c {
		return nil
	}
	_, err := primitives.Select(ctx, s.p.m.world, changed.OnSet())
	if err != nil && errors.Is(err, primitives.ErrDeadline) {
		return c.transportError(PhaseTimeout, op, err)
	}
	return err
}

// open begins a stream.
func (p *peer) open(ctx context.Context, op Operation, exactly *Process, hash uint64) (*Stream, error) {
	w := p.m.world
	slots := p.slots[op.Class()]
	s := slots[hash%uint64(len(slots))]
	finding, cancel := primitives.WithDeadline(ctx, w, w.Clock().Now().Add(op.Within()))
	defer cancel()
	for {
		c, err := s.connection(finding, op, exactly)
		if err != nil {
			return nil, err
		}
		stream, err := c.open(finding, ctx, op)
		if !errors.Is(err, errRetired) {
			return stream, err
		}
		if err := s.next(finding, c, op); err != nil {
			return nil, err
		}
	}
}
