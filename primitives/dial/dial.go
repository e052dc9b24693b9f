package dial

import (
	"context"
	"net/netip"
	"time"

	"plexus/primitives"
)

// Dial looks the host up and tries its addresses one at a time in answer order.
// Each attempt may take an equal share of what is left, so a refusal at once
// leaves its share to the rest and a silent address cannot take theirs. The first
// connection wins. The error is a *dns.LookupError, an *Error, or that of ctx.
func Dial(ctx context.Context, w primitives.World, host string, port uint16, deadline primitives.Instant) (primitives.Conn, error) {
	return sequential(ctx, w, host, port, deadline, share)
}

// Undivided is Dial for a caller whose budget covers the whole exchange: every
// attempt may use all that is left.
func Undivided(ctx context.Context, w primitives.World, host string, port uint16, deadline primitives.Instant) (primitives.Conn, error) {
	all := func(_, deadline primitives.Instant, _ int) primitives.Instant { return deadline }
	return sequential(ctx, w, host, port, deadline, all)
}

// share is the deadline of an attempt with the given number of addresses left,
// itself included.
func share(now, deadline primitives.Instant, left int) primitives.Instant {
	if deadline == primitives.Never {
		return deadline
	}
	return now.Add(deadline.Sub(now) / time.Duration(left))
}

// budget gives the deadline of an attempt with some addresses left.
type budget func(now, deadline primitives.Instant, left int) primitives.Instant

// sequential looks a host up and tries its addresses in order.
func sequential(ctx context.Context, w primitives.World, host string, port uint16, deadline primitives.Instant, until budget) (primitives.Conn, error) {
	addrs, err := w.Resolver().Lookup(ctx, host, deadline)
	if err != nil {
		return nil, err
	}
	return attempts(ctx, w, host, port, deadline, addrs, until)
}

// attempts tries addresses in order.
func attempts(ctx context.Context, w primitives.World, host string, port uint16, deadline primitives.Instant, addrs []netip.Addr, until budget) (primitives.Conn, error) {
	failed := &Error{Host: host, Port: port}
	for i, addr := range addrs {
		target := netip.AddrPortFrom(addr, port)
		conn, err := w.Net().Dial(ctx, target, until(w.Clock().Now(), deadline, len(addrs)-i))
		if err == nil {
			return conn, nil
		}
		if ctx.Err() != nil {
			return nil, primitives.Canceled(ctx)
		}
		failed.Attempts = append(failed.Attempts, Attempt{Addr: target, Err: err})
	}
	return nil, failed
}
