package dial

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"time"

	"plexus/primitives"
)

// fallbackDelay is the head start of the first family (RFC 6555).
const fallbackDelay = 300 * time.Millisecond

// DualStack looks the host up and tries the addresses of the first answer's
// family in order. When that has brought no connection after 300 ms, or has
// failed before, the other family starts beside it. Within a family attempts
// have equal shares of what is left. The error is as Dial's.
func DualStack(ctx context.Context, w primitives.World, host string, port uint16, deadline primitives.Instant) (primitives.Conn, error) {
	addrs, err := w.Resolver().Lookup(ctx, host, deadline)
	if err != nil {
		return nil, err
	}
	first, second := byFamily(addrs)
	if len(second) == 0 {
		return attempts(ctx, w, host, port, deadline, first, share)
	}
	r := &race{world: w, results: primitives.NewQueue[result](w, 2), tasks: primitives.NewGroup(ctx, w)}
	start := func(family []netip.Addr) {
		r.tasks.Go("dial family", func(ctx context.Context) error {
			conn, err := attempts(ctx, w, host, port, deadline, family, share)
			r.results.TrySend(result{conn, err})
			return nil
		})
	}
	start(first)
	return r.run(ctx, func() { start(second) })
}

// byFamily splits answers into the family of the first one and the other.
func byFamily(addrs []netip.Addr) (first, second []netip.Addr) {
	isFirst := func(a netip.Addr) bool { return a.Is4() == addrs[0].Is4() }
	first = slices.DeleteFunc(slices.Clone(addrs), func(a netip.Addr) bool { return !isFirst(a) })
	second = slices.DeleteFunc(slices.Clone(addrs), isFirst)
	return first, second
}

// race is a dual-stack dial. Its queue has room for the result of each family.
type race struct {
	world   primitives.World
	tasks   *primitives.Group
	results *primitives.Queue[result]
}

// result is what one family brought.
type result struct {
	conn primitives.Conn
	err  error
}

// run waits for the first connection and starts the other family when it is its
// turn. It leaves no task and no second connection behind (L3).
func (r *race) run(ctx context.Context, startOther func()) (primitives.Conn, error) {
	defer func() {
		r.tasks.Cancel(nil)
		_ = r.tasks.Wait(context.Background()) // the tasks return nil
		for late, ok := r.results.TryRecv(); ok; late, ok = r.results.TryRecv() {
			if late.conn != nil {
				late.conn.Close()
			}
		}
	}()
	var failures []error
	headStart := primitives.AtCase(r.world, r.world.Clock().Now().Add(fallbackDelay))
	for started := 1; len(failures) < 2; {
		var got result
		ready, err := primitives.Select(ctx, r.world, r.results.OnRecv(&got), headStart)
		switch {
		case err != nil:
			return nil, err
		case ready == 0 && got.err == nil:
			return got.conn, nil
		case ready == 0:
			failures = append(failures, got.err)
		}
		if started == 1 {
			started, headStart = 2, primitives.Case{}
			startOther()
		}
	}
	return nil, joined(failures)
}

// joined is the error of both families: one list of attempts.
func joined(failures []error) error {
	all := &Error{}
	for _, err := range failures {
		var f *Error
		if !errors.As(err, &f) {
			return err // cancelled
		}
		all.Host, all.Port = f.Host, f.Port
		all.Attempts = append(all.Attempts, f.Attempts...)
	}
	return all
}
