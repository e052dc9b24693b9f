package primitives

import (
	"context"
	"net"
	"net/netip"
)

// Net opens sockets. It takes addresses, never names: names go through
// [Resolver], and package primitives/dial joins the two.
type Net interface {
	// Dial opens a TCP connection. It ends with the context, at the deadline, or
	// with the peer's answer; refused, unreachable and timed-out attempts are a
	// *net.OpError whose cause errors.Is can tell (syscall.ECONNREFUSED,
	// syscall.ENETUNREACH, os.ErrDeadlineExceeded).
	Dial(ctx context.Context, addr netip.AddrPort, deadline Instant) (Conn, error)
	// Listen accepts TCP connections. Port 0 picks a free port; an address in use
	// is syscall.EADDRINUSE.
	Listen(addr netip.AddrPort) (Listener, error)
	// ListenPacket opens a UDP socket.
	ListenPacket(addr netip.AddrPort) (PacketConn, error)
}

// Conn is a stream. Read and Write block the calling task; one task may read
// while another writes. Close wakes both.
type Conn interface {
	net.Conn
	// ReadBy and WriteBy bound the pending and every later Read or Write by a
	// monotonic instant; Never removes the bound. An expired one returns an error
	// that is os.ErrDeadlineExceeded. SetDeadline and its kin take the wall clock
	// of this World and exist for libraries.
	ReadBy(Instant)
	WriteBy(Instant)
	// CloseWrite ends the outgoing half; the peer reads io.EOF.
	CloseWrite() error
}

// Listener accepts connections until it is closed; Accept then returns
// net.ErrClosed.
type Listener interface {
	Accept() (Conn, error)
	Close() error
	Addr() netip.AddrPort
}

// PacketConn is a datagram socket.
type PacketConn interface {
	ReadFrom(p []byte) (n int, from netip.AddrPort, err error)
	WriteTo(p []byte, to netip.AddrPort) (int, error)
	ReadBy(Instant)
	Close() error
	Addr() netip.AddrPort
}
