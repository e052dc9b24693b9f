package interconnect

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"google.golang.org/protobuf/proto"

	"plexus/engine/interconnect/interconnectpb"
	"plexus/primitives"
	"plexus/primitives/dial"
	"plexus/primitives/dns"
	"plexus/primitives/invariant"
)

var (
	supersededSeen = invariant.Sometimes("a newer process of a node ended the connections of the older one")
	duplicateSeen  = invariant.Sometimes("a second process of one incarnation was refused")
	staleSeen      = invariant.Sometimes("an older incarnation of a node was refused")
)

// readBuffer is how much of a connection is read ahead, by class.
var readBuffer = [classCount]int{
	Management: 16 << 10, Commands: 16 << 10, Replication: 32 << 10, Relay: 64 << 10, Bulk: 32 << 10,
}

// receptionist returns what setup is checked against now.
func (m *Mesh) receptionist() *receptionist {
	id := m.identity.Load()
	return &receptionist{
		self: id.process, clusterID: m.settings.ClusterID, cluster: id.cluster, endpoint: m.Endpoint(),
		proof: id.proof, removed: m.settings.Removed, stopping: m.stopping.Load(),
	}
}

// writeFrame sends one frame of the setup exchange.
func writeFrame(ch channel, k kind, msg proto.Message) error {
	b, err := appendMessage(make([]byte, headerBytes, 256), msg)
	if err != nil {
		return err
	}
	appendHeader(b[:0], header{kind: k, payload: len(b) - headerBytes})
	return ch.writeAll([][]byte{b})
}

// dial establishes the connection of a slot.
func (m *Mesh) dial(ctx context.Context, s *slot) (*connection, error) {
	p := s.p
	expected := p.target
	expected.Counter = p.counter.Load()
	if err := m.dials.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	c, err := m.connect(ctx, p.host, p.port, expected, s.class, s.number)
	m.dials.Release(1)
	if err != nil {
		return nil, err
	}
	if err := m.meet(c.remote); err != nil {
		c.fail(err)
		return nil, &TransportError{Phase: PhaseAuthentication, Node: expected.Node, Err: err}
	}
	p.met(c.remote)
	m.carry(c)
	return c, nil
}

// carry runs an established connection in a task of its own.
func (m *Mesh) carry(c *connection) {
	m.register(c)
	m.tasks.Go("interconnect reader", func(ctx context.Context) error {
		defer m.unregister(c)
		defer primitives.OnCancel(ctx, func() { c.conn.Close() })()
		c.run()
		return nil
	})
}

// connect dials, secures and introduces itself, all within one time.
func (m *Mesh) connect(ctx context.Context, host string, port uint16, expected Peer, class Class, number int) (*connection, error) {
	endpoint, node := expected.Endpoint, expected.Node
	if node == "" {
		node = endpoint
	}
	failed := func(p Phase, err error) error {
		return &TransportError{Phase: p, Node: node, Err: err}
	}
	if m.identity.Load() == nil {
		return nil, failed(PhaseSetup, ErrStopped)
	}
	deadline := m.world.Clock().Now().Add(setupWithin)
	conn, err := dial.Dial(ctx, m.world, host, port, deadline)
	if err != nil {
		var lookup *dns.LookupError
		if errors.As(err, &lookup) {
			return nil, failed(PhaseResolve, err)
		}
		return nil, failed(PhaseSetup, err)
	}
	defer primitives.OnCancel(ctx, func() { conn.Close() })()
	conn.ReadBy(deadline)
	conn.WriteBy(deadline)
	ch, cert, err := m.secureDialled(conn, host)
	if err != nil {
		conn.Close()
		return nil, failed(setupPhase(err), err)
	}
	frames := newFrameReader(ch, readBuffer[class])
	remote, err := m.introduce(ch, frames, cert, expected, class, number)
	if err != nil {
		conn.Close()
		return nil, failed(setupPhase(err), err)
	}
	if err := primitives.Canceled(ctx); err != nil {
		conn.Close()
		return nil, err
	}
	conn.ReadBy(primitives.Never)
	conn.WriteBy(primitives.Never)
	c := newConnection(m, class, number, true, ch, frames, remote)
	c.expires = m.expiry(cert)
	return c, nil
}

// setupPhase tells an identity that does not fit from an exchange that did not
// end. Under TLS 1.3 a refused client hears of it with its first read.
func setupPhase(err error) Phase {
	var (
		refused *SetupError
		alert   tls.AlertError
		invalid *tls.CertificateVerificationError
	)
	if errors.As(err, &refused) || errors.As(err, &alert) || errors.As(err, &invalid) {
		return PhaseAuthentication
	}
	return PhaseSetup
}

// introduce is the dialler's half of the setup exchange.
func (m *Mesh) introduce(ch channel, frames *frameReader, cert *certified, expected Peer, class Class, number int) (Process, error) {
	r := m.receptionist()
	hello := &interconnectpb.Hello{
		Format: Format, ClusterId: r.clusterID, Process: r.self.proto(), Class: uint32(class), Slot: uint32(number),
		Endpoint: expected.Endpoint, Node: expected.Node, Proof: r.proof,
	}
	if r.cluster != (primitives.UUID{}) {
		hello.Cluster = r.cluster[:]
	}
	if err := writeFrame(ch, kindHello, hello); err != nil {
		return Process{}, err
	}
	h, err := frames.next()
	if err != nil {
		return Process{}, frames.mixed(err)
	}
	payload, err := frames.take(h.payload)
	if err != nil {
		return Process{}, err
	}
	switch h.kind {
	case kindWelcome:
		w := new(interconnectpb.Welcome)
		if err := Decode(payload, w); err != nil {
			return Process{}, err
		}
		m.lock()
		p, refused := r.accept(w, cert, expected, &m.members)
		m.unlock()
		if refused != nil {
			return Process{}, refused
		}
		return p, nil
	case kindRefused:
		w := new(interconnectpb.Refused)
		if err := Decode(payload, w); err != nil {
			return Process{}, err
		}
		return Process{}, &SetupError{Code: SetupCode(min(w.GetCode(), 255)), Detail: w.GetDetail(), Remote: true}
	}
	return Process{}, fmt.Errorf("%w: %s in answer to HELLO", ErrMalformed, h.kind)
}

// linked reports whether there is a connection with another member of the name that
// a process gives, under the lock.
func (m *Mesh) linked(p *interconnectpb.Process) bool {
	return slices.ContainsFunc(m.links, func(c *connection) bool {
		return c.remote.Node == p.GetNode() && c.remote.RaftID != p.GetRaftId() && !c.guest
	})
}

// meet notes a process and ends the connections of the one it replaces.
func (m *Mesh) meet(p Process) error {
	m.lock()
	older, refused := m.members.meet(p)
	var ended []*connection
	if refused == nil && !older.IsZero() {
		for _, c := range m.links {
			if c.remote == older {
				ended = append(ended, c)
			}
		}
	}
	m.unlock()
	if refused != nil {
		duplicateSeen.HitIf(refused.Code == SetupDuplicate)
		staleSeen.HitIf(refused.Code == SetupStale)
		return refused
	}
	for _, c := range ended {
		supersededSeen.Hit()
		c.fail(ErrSuperseded)
	}
	return nil
}

// listen accepts connections until the listener is closed.
func (m *Mesh) listen(ctx context.Context) error {
	defer primitives.OnCancel(ctx, func() { m.listener.Close() })()
	for {
		conn, err := m.listener.Accept()
		if err != nil {
			if errors.Is(err, net.ErrClosed) || ctx.Err() != nil {
				return nil
			}
			m.world.Log().Warn("interconnect listener", "error", err)
			if err := primitives.Sleep(ctx, m.world, backoffMin); err != nil {
				return nil
			}
			continue
		}
		if !m.handshakes.TryAcquire(1) {
			m.metrics.failed(Management, failedCapacity)
			conn.Close()
			continue
		}
		m.tasks.Go("interconnect reader", func(ctx context.Context) error {
			defer primitives.OnCancel(ctx, func() { conn.Close() })()
			c := m.welcome(conn)
			m.handshakes.Release(1)
			if c == nil {
				conn.Close()
				return nil
			}
			defer m.unregister(c)
			c.run()
			return nil
		})
	}
}

// welcome is the acceptor's half of the setup exchange; nil is a connection that
// was not accepted.
func (m *Mesh) welcome(conn primitives.Conn) *connection {
	deadline := m.world.Clock().Now().Add(setupWithin)
	conn.ReadBy(deadline)
	conn.WriteBy(deadline)
	c, err := m.greet(conn)
	if err != nil {
		m.metrics.failed(Management, attemptReason(err))
		// A port scan is no news.
		if key, now := failureKey(err), m.world.Clock().Now(); !errors.Is(err, io.EOF) && m.refusals.allow(key, now) {
			m.world.Log().Warn("interconnect connection not accepted", "from", conn.RemoteAddr().String(), "error", err)
		}
		return nil
	}
	conn.ReadBy(primitives.Never)
	conn.WriteBy(primitives.Never)
	return c
}

func (m *Mesh) greet(conn primitives.Conn) (*connection, error) {
	ch, cert, err := m.secureAccepted(conn)
	if mixed(err) {
		_, _ = conn.Write(unexpectedMessage) // so that the peer learns what this node speaks
	}
	if err != nil {
		return nil, err
	}
	frames := newFrameReader(ch, readBuffer[Relay])
	h, err := frames.next()
	if err != nil {
		err = frames.mixed(err)
		if mixed(err) {
			_ = writeFrame(ch, kindRefused, &interconnectpb.Refused{Code: uint32(SetupTransport), Detail: "plaintext is spoken here"})
		}
		return nil, err
	}
	if h.kind != kindHello {
		return nil, fmt.Errorf("%w: %s instead of HELLO", ErrMalformed, h.kind)
	}
	payload, err := frames.take(h.payload)
	if err != nil {
		return nil, err
	}
	hello := new(interconnectpb.Hello)
	if err := Decode(payload, hello); err != nil {
		return nil, err
	}
	m.lock()
	r := m.receptionist()
	from, refused := r.receive(hello, cert, &m.members, m.linked(hello.GetProcess()))
	if refused == nil && !m.roomFor(from) {
		refused = &SetupError{Code: SetupBusy, Detail: "too many connections"}
	}
	m.unlock()
	if refused == nil && !from.guest {
		var e *SetupError
		if errors.As(m.meet(from.process), &e) {
			refused = e
		}
	}
	if refused != nil {
		if err := writeFrame(ch, kindRefused, &interconnectpb.Refused{Code: uint32(refused.Code), Detail: clip(refused.Detail)}); err != nil {
			return nil, errors.Join(refused, err)
		}
		return nil, refused
	}
	welcome := &interconnectpb.Welcome{Process: r.self.proto()}
	if !from.guest {
		welcome.Proof = r.proof
	}
	if r.cluster != (primitives.UUID{}) {
		welcome.Cluster = r.cluster[:]
	}
	if err := writeFrame(ch, kindWelcome, welcome); err != nil {
		return nil, err
	}
	c := newConnection(m, from.class, from.slot, false, ch, frames, from.process)
	c.guest = from.guest
	c.expires = m.expiry(cert)
	if c.guest {
		c.expires = min(c.expires, m.world.Clock().Now().Add(guestWithin))
	}
	m.register(c)
	if p := (*m.peers.Load())[from.process.Node]; p != nil && !from.guest {
		p.met(from.process)
		p.poke()
	}
	return c, nil
}

// sameSlotMax bounds the connections of one process for one slot: the one in use,
// those that drain, and those whose loss only the other side knows.
const sameSlotMax = 4

// roomFor reports whether another connection may be accepted, under the lock.
func (m *Mesh) roomFor(from caller) bool {
	same, guests := 0, 0
	for _, c := range m.links {
		if c.guest {
			guests++
		}
		if !c.dialled && c.remote == from.process && c.class == from.class && c.slot == from.slot {
			same++
		}
	}
	return len(m.links) < connectionsMax && same < sameSlotMax && (!from.guest || guests < guestsMax)
}

// CallTo asks whoever answers at an endpoint, before membership: a connection of
// its own carries the one exchange.
func (m *Mesh) CallTo(ctx context.Context, endpoint string, op Operation, request []byte) ([]byte, error) {
	host, port, err := splitEndpoint(endpoint)
	if err != nil {
		return nil, &TransportError{Phase: PhaseResolve, Node: endpoint, Operation: op.String(), Err: err}
	}
	ctx, cancel := primitives.WithDeadline(ctx, m.world, m.world.Clock().Now().Add(op.Within()))
	defer cancel()
	c, err := m.connect(ctx, host, port, Peer{Endpoint: endpoint}, op.Class(), 0)
	if err != nil {
		return nil, err
	}
	m.carry(c)
	defer c.fail(io.EOF)
	return c.exchange(ctx, op, request)
}
