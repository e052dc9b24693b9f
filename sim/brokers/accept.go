package brokers

import (
	"context"
	"net/netip"

	"plexus/primitives"
	"plexus/sim"
)

// Accept is the life of a model's process: it listens on a port of the host and
// hands every connection to take until ctx ends.
func Accept(ctx context.Context, w primitives.World, s *sim.Simulation, host *sim.Host, port uint16, take func(primitives.Conn)) {
	listener, err := w.Net().Listen(netip.AddrPortFrom(host.Addr(), port))
	if err != nil {
		s.Fail("model of "+host.Name(), "cannot listen: "+err.Error())
		return
	}
	stop := primitives.OnCancel(ctx, func() { listener.Close() })
	defer stop()
	for {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		take(conn)
	}
}
