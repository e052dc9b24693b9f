package primitivestest

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"syscall"

	"plexus/primitives"
)

func (t *test) packetConn() primitives.PacketConn {
	t.Helper()
	c, err := t.w.Net().ListenPacket(netip.AddrPortFrom(t.Addr, 0))
	t.ok(err)
	c.ReadBy(t.far())
	return c
}

var datagramCases = []testCase{
	{"datagrams keep their bounds and name their sender", func(t *test) {
		a, b := t.packetConn(), t.packetConn()
		defer a.Close()
		defer b.Close()
		for _, text := range []string{"one", "", "three"} {
			n, err := a.WriteTo([]byte(text), b.Addr())
			t.that(n == len(text) && err == nil, "wrote %d, %v", n, err)
			buffer := make([]byte, 100)
			n, from, err := b.ReadFrom(buffer)
			t.ok(err)
			t.that(string(buffer[:n]) == text && from == a.Addr(), "read %q from %s", buffer[:n], from)
		}
	}},
	{"a small buffer cuts a datagram", func(t *test) {
		a, b := t.packetConn(), t.packetConn()
		defer a.Close()
		defer b.Close()
		a.WriteTo([]byte("long one"), b.Addr())
		a.WriteTo([]byte("next"), b.Addr())
		buffer := make([]byte, 4)
		n, _, err := b.ReadFrom(buffer)
		t.that(string(buffer[:n]) == "long" && err == nil, "read %q, %v", buffer[:n], err)
		n, _, err = b.ReadFrom(buffer)
		t.that(string(buffer[:n]) == "next" && err == nil, "read %q, %v", buffer[:n], err)
	}},
	{"a deadline ends a read, a close does", func(t *test) {
		c := t.packetConn()
		at := t.soon()
		c.ReadBy(at)
		_, _, err := c.ReadFrom(make([]byte, 1))
		t.that(errors.Is(err, os.ErrDeadlineExceeded), "read ended with %v", err)
		t.that(!t.w.Clock().Now().Before(at), "ended early")
		c.ReadBy(primitives.Never)
		reader := t.spawn(func(context.Context) error {
			_, _, err := c.ReadFrom(make([]byte, 1))
			return err
		})
		t.let()
		t.ok(c.Close())
		err = reader.Wait(bg)
		t.that(errors.Is(err, net.ErrClosed), "read ended with %v", err)
		_, err = c.WriteTo([]byte("x"), c.Addr())
		t.that(errors.Is(err, net.ErrClosed), "write gave %v", err)
	}},
	{"a port in use", func(t *test) {
		c := t.packetConn()
		defer c.Close()
		t.that(c.Addr().Addr() == t.Addr && c.Addr().Port() != 0, "bound to %s", c.Addr())
		_, err := t.w.Net().ListenPacket(c.Addr())
		t.that(errors.Is(err, syscall.EADDRINUSE), "second bind gave %v", err)
	}},
	{"sending to nobody is no error", func(t *test) {
		c := t.packetConn()
		defer c.Close()
		gone := t.packetConn()
		t.ok(gone.Close())
		for range 3 {
			_, err := c.WriteTo([]byte("hello"), gone.Addr())
			t.ok(err)
		}
	}},
}
