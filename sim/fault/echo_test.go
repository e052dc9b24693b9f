package fault

import (
	"context"
	"net/netip"

	"plexus/primitives"
)

const echoPort = 7

func netAddr(a netip.Addr) netip.AddrPort { return netip.AddrPortFrom(a, echoPort) }

func echo(_ context.Context, w primitives.World) {
	l, err := w.Net().Listen(netAddr(netip.IPv4Unspecified()))
	if err != nil {
		panic(err)
	}
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		w.Tasks().Go("client", func() {
			defer c.Close()
			for buf := make([]byte, 5); ; {
				n, err := c.Read(buf)
				if err != nil {
					return
				}
				c.Write(buf[:n])
			}
		})
	}
}
