package real

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"plexus/primitives"
)

// network opens sockets of the operating system and keeps track of them.
type network struct {
	clock *clock

	mu      sync.Mutex
	sockets map[socket]struct{}
}

// socket is anything of this package that must be closed.
type socket interface{ Close() error }

func newNetwork(c *clock) *network {
	return &network{clock: c, sockets: map[socket]struct{}{}}
}

func (n *network) track(s socket) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.sockets[s] = struct{}{}
}

func (n *network) forget(s socket) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.sockets, s)
}

func (n *network) open() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.sockets)
}

func (n *network) closeAll() {
	n.mu.Lock()
	left := make([]socket, 0, len(n.sockets))
	for s := range n.sockets {
		left = append(left, s)
	}
	n.mu.Unlock()
	for _, s := range left {
		s.Close()
	}
}

// Dial implements primitives.Net.
func (n *network) Dial(ctx context.Context, addr netip.AddrPort, deadline primitives.Instant) (primitives.Conn, error) {
	dialer := net.Dialer{Deadline: n.clock.time(deadline)}
	c, err := dialer.DialContext(ctx, family("tcp", addr.Addr()), addr.String())
	if err != nil {
		return nil, dialError(ctx, err)
	}
	return n.adopt(c.(*net.TCPConn)), nil
}

// dialError turns package net's own words for cancellation and time-out into
// those of the boundary.
func dialError(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return primitives.Canceled(ctx)
	}
	var op *net.OpError
	if errors.As(err, &op) && errors.Is(op.Err, context.DeadlineExceeded) {
		op.Err = primitives.ErrDeadline
	}
	return err
}

// family makes an IPv4 wildcard mean IPv4 only.
func family(network string, addr netip.Addr) string {
	if addr.Is4() {
		return network + "4"
	}
	return network
}

func (n *network) adopt(c *net.TCPConn) *conn {
	adopted := &conn{TCPConn: c, network: n}
	n.track(adopted)
	return adopted
}

// conn is a TCP connection.
type conn struct {
	*net.TCPConn
	network *network
}

// ReadBy implements primitives.Conn. A closed connection has no deadline to set;
// the next Read says so.
func (c *conn) ReadBy(at primitives.Instant) { c.SetReadDeadline(c.network.clock.time(at)) }

// WriteBy implements primitives.Conn.
func (c *conn) WriteBy(at primitives.Instant) { c.SetWriteDeadline(c.network.clock.time(at)) }

// Close implements primitives.Conn.
func (c *conn) Close() error {
	c.network.forget(c)
	return c.TCPConn.Close()
}

// Listen implements primitives.Net.
func (n *network) Listen(addr netip.AddrPort) (primitives.Listener, error) {
	l, err := net.ListenTCP(family("tcp", addr.Addr()), net.TCPAddrFromAddrPort(addr))
	if err != nil {
		return nil, err
	}
	opened := &listener{TCPListener: l, network: n}
	n.track(opened)
	return opened, nil
}

// listener is a listening TCP socket.
type listener struct {
	*net.TCPListener
	network *network
}

// Accept implements primitives.Listener.
func (l *listener) Accept() (primitives.Conn, error) {
	c, err := l.AcceptTCP()
	if err != nil {
		return nil, err
	}
	return l.network.adopt(c), nil
}

// Addr implements primitives.Listener.
func (l *listener) Addr() netip.AddrPort {
	return unmapped(l.TCPListener.Addr().(*net.TCPAddr).AddrPort())
}

// Close implements primitives.Listener.
func (l *listener) Close() error {
	l.network.forget(l)
	return l.TCPListener.Close()
}

// ListenPacket implements primitives.Net.
func (n *network) ListenPacket(addr netip.AddrPort) (primitives.PacketConn, error) {
	c, err := net.ListenUDP(family("udp", addr.Addr()), net.UDPAddrFromAddrPort(addr))
	if err != nil {
		return nil, err
	}
	opened := &packetConn{udp: c, network: n}
	n.track(opened)
	return opened, nil
}

// packetConn is a UDP socket.
type packetConn struct {
	udp     *net.UDPConn
	network *network
}

// ReadFrom implements primitives.PacketConn.
func (c *packetConn) ReadFrom(p []byte) (int, netip.AddrPort, error) {
	n, from, err := c.udp.ReadFromUDPAddrPort(p)
	return n, unmapped(from), err
}

// WriteTo implements primitives.PacketConn.
func (c *packetConn) WriteTo(p []byte, to netip.AddrPort) (int, error) {
	return c.udp.WriteToUDPAddrPort(p, to)
}

// ReadBy implements primitives.PacketConn.
func (c *packetConn) ReadBy(at primitives.Instant) { c.udp.SetReadDeadline(c.network.clock.time(at)) }

// Addr implements primitives.PacketConn.
func (c *packetConn) Addr() netip.AddrPort {
	return unmapped(c.udp.LocalAddr().(*net.UDPAddr).AddrPort())
}

// Close implements primitives.PacketConn.
func (c *packetConn) Close() error {
	c.network.forget(c)
	return c.udp.Close()
}

// unmapped gives an IPv4 address seen through a dual-stack socket its own form.
func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap(), a.Port())
}

// time converts an instant for the deadlines of package net, which go by the
// monotonic reading that time.Now carries. Never becomes no deadline.
func (c *clock) time(at primitives.Instant) time.Time {
	if at == primitives.Never {
		return time.Time{}
	}
	return time.Now().Add(at.Sub(c.Now()))
}
