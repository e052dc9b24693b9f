package primitives

import (
	"context"
	"net/netip"
)

// Resolver is the node's own name resolution. In both builds it is package
// primitives/dns over the World's sockets and files; the operating system's
// resolver is never asked.
type Resolver interface {
	// Lookup returns at least one address, IPv4 before IPv6 in server order, or a
	// *dns.LookupError. The deadline covers waiting for a slot, every search
	// completion, both families and every try.
	Lookup(ctx context.Context, host string, deadline Instant) ([]netip.Addr, error)
}
