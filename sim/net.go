package sim

import (
	"context"
	"net"
	"net/netip"
	"os"
	"syscall"

	"plexus/primitives"
	"plexus/primitives/invariant"
)

// Net implements primitives.World.
func (p *Process) Net() primitives.Net { return (*sockets)(p) }

// sockets is a process as primitives.Net.
type sockets Process

var _ primitives.Net = (*sockets)(nil)

// route finds the host behind an address as seen from another one.
func (n *Network) route(from *Host, a netip.Addr) *Host {
	a = a.Unmap()
	if a.IsLoopback() || a.IsUnspecified() {
		return from
	}
	return n.byAddr[a]
}

// source returns the address the host uses towards a destination.
func (h *Host) source(to netip.Addr) netip.Addr {
	if to = to.Unmap(); to.IsLoopback() {
		return to
	}
	for _, a := range h.addrs {
		if a.Is4() == to.Is4() {
			return a
		}
	}
	return netip.Addr{}
}

// ephemeral returns the next port the kernel gives out by itself.
func (h *Host) ephemeral() uint16 {
	if h.nextPort < ephemeralFirst {
		h.nextPort = ephemeralFirst
	}
	h.nextPort++
	return h.nextPort - 1
}

func dialError(addr netip.AddrPort, err error) error {
	return &net.OpError{Op: "dial", Net: "tcp", Addr: net.TCPAddrFromAddrPort(addr), Err: err}
}

// dialing is a connection attempt.
type dialing struct {
	timer
	task    *task // waits for it
	tries   int
	decided bool  // the answer is on its way back
	over    bool  // the answer has come
	err     error // of the answer
}

// Dial implements primitives.Net.
func (p *sockets) Dial(ctx context.Context, addr netip.AddrPort, deadline primitives.Instant) (primitives.Conn, error) {
	s := p.sim
	if p.dead {
		return nil, dialError(addr, net.ErrClosed)
	}
	if ctx.Err() != nil {
		return nil, dialError(addr, context.Cause(ctx))
	}
	s.preempt()
	target := s.network.route(p.host, addr.Addr())
	source := p.host.source(addr.Addr())
	if target == nil || !source.IsValid() {
		return nil, dialError(addr, syscall.ENETUNREACH)
	}
	k := s.network.connect((*Process)(p), target, netip.AddrPortFrom(source, p.host.ephemeral()), addr)
	d := &k.dialing
	d.task = s.current
	(*Process)(p).keep(&k.client)
	if ctx != context.Background() {
		stop := primitives.OnCancel(ctx, func() {
			if d.task != nil {
				s.wake(d.task)
			}
		})
		defer stop()
	}
	for !d.over && ctx.Err() == nil && !s.expired((*Process)(p), deadline) {
		s.wait((*Process)(p), deadline, "connection to be accepted")
	}
	d.task = nil
	if d.over && d.err == nil {
		return &k.client, nil
	}
	(*Process)(p).drop(&k.client)
	if !d.over {
		k.abandon()
	}
	switch {
	case d.over:
		return nil, dialError(addr, d.err)
	case ctx.Err() != nil:
		return nil, dialError(addr, context.Cause(ctx))
	}
	return nil, dialError(addr, os.ErrDeadlineExceeded)
}

// connect sends the first segment of a connection.
func (n *Network) connect(p *Process, target *Host, local, remote netip.AddrPort) *connection {
	n.connections++
	k := &connection{id: n.connections}
	up, down := n.wire(p.host, target), n.wire(target, p.host)
	k.client.init(n, p, &k.down, &k.up, local, remote, k.id)
	k.client.dialing = k
	k.server.init(n, nil, &k.up, &k.down, remote, local, k.id)
	k.up.init(&k.client, &k.server, up)
	k.down.init(&k.server, &k.client, down)
	k.dialing.run = (*dialer)(k)
	n.sim.note(KindNet, uint64(netConnect)<<32|k.id, uint64(target.index))
	n.sim.timers.arm(&k.dialing.timer, up.transmit(n.sim.now, 0))
	return k
}

// dialer is a connection as the callback of its handshake.
type dialer connection

func (k *dialer) fire() {
	d := &k.dialing
	if d.decided {
		d.over = true
		k.client.dialing = nil
		if d.err != nil {
			k.client.closed, k.server.closed = true, true
			k.client.finish()
		}
		if d.task != nil {
			k.client.network.sim.wake(d.task)
		}
		return
	}
	s, up, down := k.client.network.sim, k.up.path, k.down.path
	host := up.to
	lost := !up.open() || !down.open() || host.answer == AnswerBlackhole ||
		up.link.LossPPM > 0 && up.draw.Chance(up.link.LossPPM)
	var l *listener
	if !lost && host.answer != AnswerRefuse {
		l = host.listening(k.client.remote)
		lost = l != nil && len(l.queue)-l.first >= backlogMax
	}
	switch {
	case lost && d.tries == connectRetries:
		d.decided, d.err = true, errTimeout
		s.timers.arm(&d.timer, s.now)
		return
	case lost:
		s.timers.arm(&d.timer, s.now+int64(connectRetry)<<d.tries)
		d.tries++
		return
	case l == nil:
		d.err = syscall.ECONNREFUSED
		s.record(KindNet, 0, uint64(netRefuse)<<32|k.id, uint64(host.index))
	default:
		k.server.process = l.process
		l.offer(&k.server)
		if host.answer == AnswerReset {
			k.server.reset(errReset)
			k.client.resetLater()
		}
	}
	d.decided = true
	s.timers.arm(&d.timer, down.transmit(s.now, 0))
}

// abandon gives a connection attempt up. A server that already has it reads a
// reset.
func (k *connection) abandon() {
	d := &k.dialing
	if d.armed() {
		k.client.network.sim.timers.disarm(&d.timer)
	}
	accepted := k.server.process != nil
	k.client.dialing = nil
	k.client.closed = true
	if accepted {
		k.up.push(nil, endReset)
	} else {
		k.server.closed = true
	}
	k.client.finish()
}

// listener is a listening socket.
type listener struct {
	process *Process
	addr    netip.AddrPort
	place   int
	closed  bool
	queue   []*conn // not accepted yet
	first   int
	waiting []*task // in Accept
}

// listening finds the socket that takes connections to an address.
func (h *Host) listening(to netip.AddrPort) *listener {
	for _, l := range h.listeners {
		if l.addr.Port() == to.Port() && matches(l.addr.Addr(), to.Addr()) {
			return l
		}
	}
	return nil
}

func matches(bound, to netip.Addr) bool {
	return bound.IsUnspecified() || bound.Unmap() == to.Unmap()
}

// bindable checks an address to listen on and completes its port.
func (h *Host) bindable(addr netip.AddrPort, taken func(netip.AddrPort) bool) (netip.AddrPort, error) {
	a := addr.Addr().Unmap()
	own := a.IsUnspecified() || a.IsLoopback()
	for _, mine := range h.addrs {
		own = own || mine == a
	}
	if !own {
		return addr, syscall.EADDRNOTAVAIL
	}
	port := addr.Port()
	for port == 0 {
		if p := h.ephemeral(); !taken(netip.AddrPortFrom(a, p)) {
			port = p
		}
	}
	addr = netip.AddrPortFrom(a, port)
	if taken(addr) {
		return addr, syscall.EADDRINUSE
	}
	return addr, nil
}

// Listen implements primitives.Net.
func (p *sockets) Listen(addr netip.AddrPort) (primitives.Listener, error) {
	h := p.host
	refuse := func(err error) (primitives.Listener, error) {
		return nil, &net.OpError{Op: "listen", Net: "tcp", Addr: net.TCPAddrFromAddrPort(addr), Err: err}
	}
	if p.dead {
		return refuse(net.ErrClosed)
	}
	bound, err := h.bindable(addr, func(a netip.AddrPort) bool {
		for _, l := range h.listeners {
			if l.addr.Port() == a.Port() && (matches(l.addr.Addr(), a.Addr()) || a.Addr().IsUnspecified()) {
				return true
			}
		}
		return false
	})
	if err != nil {
		return refuse(err)
	}
	l := &listener{process: (*Process)(p), addr: bound}
	h.listeners = append(h.listeners, l)
	l.process.keep(l)
	return l, nil
}

// offer puts a connection into the accept queue.
func (l *listener) offer(c *conn) {
	if l.first == len(l.queue) {
		l.queue, l.first = l.queue[:0], 0
	}
	l.queue = append(l.queue, c)
	for len(l.waiting) > 0 {
		t := l.waiting[0]
		l.waiting = append(l.waiting[:0], l.waiting[1:]...)
		if !t.killed {
			l.process.sim.wake(t)
			return
		}
	}
}

// Accept implements primitives.Listener.
func (l *listener) Accept() (primitives.Conn, error) {
	s := l.process.sim
	if !l.process.dead {
		s.preempt()
	}
	for {
		if l.closed || l.process.dead {
			return nil, &net.OpError{Op: "accept", Net: "tcp", Addr: net.TCPAddrFromAddrPort(l.addr), Err: net.ErrClosed}
		}
		if l.first < len(l.queue) {
			c := l.queue[l.first]
			l.queue[l.first] = nil
			l.first++
			l.process.keep(c)
			return c, nil
		}
		l.waiting = append(l.waiting, s.running())
		s.park("connection to accept")
	}
}

// Close implements primitives.Listener.
func (l *listener) Close() error {
	if l.closed || l.process.dead {
		return &net.OpError{Op: "close", Net: "tcp", Addr: net.TCPAddrFromAddrPort(l.addr), Err: net.ErrClosed}
	}
	l.shut()
	l.process.drop(l)
	return nil
}

// Addr implements primitives.Listener.
func (l *listener) Addr() netip.AddrPort { return l.addr }

func (l *listener) shut() {
	l.unbind()
	for _, c := range l.queue[l.first:] {
		if !c.done() {
			c.closed = true
			c.out.push(nil, endReset)
			c.finish()
		}
	}
	for _, t := range l.waiting {
		l.process.sim.wake(t)
	}
	l.waiting = nil
}

func (l *listener) lose() {
	l.unbind()
	for _, c := range l.queue[l.first:] {
		c.lose()
	}
}

func (l *listener) unbind() {
	l.closed = true
	h := l.process.host
	for i, o := range h.listeners {
		if o == l {
			h.listeners = append(h.listeners[:i], h.listeners[i+1:]...)
			return
		}
	}
	invariant.That(false, "a listener that its host does not know")
}

func (l *listener) describe() string { return "listener " + l.addr.String() }

func (l *listener) slot() *int { return &l.place }
