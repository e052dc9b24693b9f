package sim

import (
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"plexus/primitives"
)

// packetSocket is a datagram socket.
type packetSocket struct {
	process *Process
	addr    netip.AddrPort
	place   int
	closed  bool
	queue   []datagram
	reader  *task
	readBy  primitives.Instant
}

type datagram struct {
	from netip.AddrPort
	data []byte
}

// flight is a datagram on its way.
type flight struct {
	timer
	path *wire
	to   netip.AddrPort
	datagram
}

func (p *packetSocket) fail(op string, err error) error {
	return &net.OpError{Op: op, Net: "udp", Addr: net.UDPAddrFromAddrPort(p.addr), Err: err}
}

// ListenPacket implements primitives.Net.
func (p *sockets) ListenPacket(addr netip.AddrPort) (primitives.PacketConn, error) {
	h := p.host
	u := &packetSocket{process: (*Process)(p), addr: addr, readBy: primitives.Never}
	if p.dead {
		return nil, u.fail("listen", net.ErrClosed)
	}
	bound, err := h.bindable(addr, func(a netip.AddrPort) bool { return h.receiving(a) != nil })
	if err != nil {
		return nil, u.fail("listen", err)
	}
	u.addr = bound
	h.packets = append(h.packets, u)
	u.process.keep(u)
	return u, nil
}

func (h *Host) receiving(to netip.AddrPort) *packetSocket {
	for _, u := range h.packets {
		if u.addr.Port() == to.Port() && (matches(u.addr.Addr(), to.Addr()) || to.Addr().IsUnspecified()) {
			return u
		}
	}
	return nil
}

// WriteTo implements primitives.PacketConn.
func (p *packetSocket) WriteTo(b []byte, to netip.AddrPort) (int, error) {
	if p.closed || p.process.dead {
		return 0, p.fail("write", net.ErrClosed)
	}
	s, h := p.process.sim, p.process.host
	s.preempt()
	target, source := s.network.route(h, to.Addr()), h.source(to.Addr())
	if target == nil || !source.IsValid() {
		return 0, p.fail("write", syscall.ENETUNREACH)
	}
	path := s.network.wire(h, target)
	l := &path.link
	copies := 1
	if l.DuplicatePPM > 0 && path.draw.Chance(l.DuplicatePPM) {
		copies = 2
	}
	data := append([]byte(nil), b...)
	for range copies {
		at := path.transmit(s.now, len(b))
		if l.LossPPM > 0 && path.draw.Chance(l.LossPPM) {
			s.note(KindNet, uint64(netDrop)<<32|uint64(target.index), uint64(len(b)))
			continue
		}
		if l.ReorderPPM > 0 && path.draw.Chance(l.ReorderPPM) {
			at += path.draw.Between(0, int64(4*l.Latency+time.Millisecond))
		}
		f := &flight{path: path, to: to, datagram: datagram{netip.AddrPortFrom(source, p.addr.Port()), data}}
		f.run = f
		s.timers.arm(&f.timer, at)
	}
	return len(b), nil
}

func (f *flight) fire() {
	s, host := f.path.to.sim, f.path.to
	var u *packetSocket
	if f.path.open() {
		u = host.receiving(f.to)
	}
	if u == nil || len(u.queue) >= datagramsMax {
		s.record(KindNet, 0, uint64(netDrop)<<32|uint64(host.index), uint64(len(f.data)))
		return
	}
	s.record(KindNet, 0, uint64(netDatagram)<<32|uint64(host.index), uint64(len(f.data)))
	u.queue = append(u.queue, f.datagram)
	if u.reader != nil {
		s.wake(u.reader)
	}
}

// ReadFrom implements primitives.PacketConn.
func (p *packetSocket) ReadFrom(b []byte) (int, netip.AddrPort, error) {
	s := p.process.sim
	if !p.process.dead {
		s.preempt()
	}
	for {
		switch {
		case p.closed, p.process.dead:
			return 0, netip.AddrPort{}, p.fail("read", net.ErrClosed)
		case s.expired(p.process, p.readBy):
			return 0, netip.AddrPort{}, p.fail("read", os.ErrDeadlineExceeded)
		case len(p.queue) > 0:
			d := p.queue[0]
			p.queue = append(p.queue[:0], p.queue[1:]...)
			return copy(b, d.data), d.from, nil
		}
		p.reader = s.running()
		s.wait(p.process, p.readBy, "datagram")
		p.reader = nil
	}
}

// ReadBy implements primitives.PacketConn.
func (p *packetSocket) ReadBy(at primitives.Instant) {
	p.readBy = at
	if p.reader != nil {
		p.process.sim.wake(p.reader)
	}
}

// Close implements primitives.PacketConn.
func (p *packetSocket) Close() error {
	if p.closed || p.process.dead {
		return p.fail("close", net.ErrClosed)
	}
	p.shut()
	p.process.drop(p)
	return nil
}

// Addr implements primitives.PacketConn.
func (p *packetSocket) Addr() netip.AddrPort { return p.addr }

func (p *packetSocket) shut() {
	p.closed = true
	h := p.process.host
	for i, o := range h.packets {
		if o == p {
			h.packets = append(h.packets[:i], h.packets[i+1:]...)
			break
		}
	}
	if p.reader != nil {
		p.process.sim.wake(p.reader)
	}
}

func (p *packetSocket) lose() { p.shut() }

func (p *packetSocket) describe() string { return "datagram socket " + p.addr.String() }

func (p *packetSocket) slot() *int { return &p.place }
