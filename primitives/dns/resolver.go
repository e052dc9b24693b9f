package dns

import (
	"cmp"
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/miekg/dns"

	"plexus/primitives"
)

// Resolver answers lookups by one configuration. Its users share its cache and
// its bound.
type Resolver struct {
	world   primitives.World
	config  Config
	entropy primitives.Entropy
	slots   *primitives.Semaphore

	lock  *primitives.Mutex
	cache *cache
	// speed is the smoothed response time of each server in nanoseconds; a server
	// that was not asked yet comes first.
	speed []atomic.Int64
}

// New returns a resolver.
func New(w primitives.World, config Config) *Resolver {
	return &Resolver{
		world:   w,
		config:  config,
		entropy: w.Entropy().Stream("dns"),
		slots:   primitives.NewSemaphore(w, lookupsMax),
		lock:    primitives.NewMutex(w),
		cache:   newCache(),
		speed:   make([]atomic.Int64, len(config.Servers)),
	}
}

// Lookup implements primitives.Resolver.
func (r *Resolver) Lookup(ctx context.Context, host string, deadline primitives.Instant) ([]netip.Addr, error) {
	if addr, ok := literal(host); ok {
		return []netip.Addr{addr}, nil
	}
	if addrs, ok := r.config.Hosts[strings.ToLower(host)]; ok {
		return slices.Clone(addrs), nil
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if !validName(name) {
		return nil, &LookupError{Host: host, Failure: InvalidName}
	}
	if isLocal(name) {
		return []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}, nil
	}
	addrs, err := r.search(ctx, strings.ToLower(host), deadline)
	if err != nil {
		var f *failure
		if !errors.As(err, &f) {
			f = &failure{Timeout, err} // cancelled or out of time
		}
		return nil, &LookupError{Host: host, Failure: f.kind, Err: f.err}
	}
	return addrs, nil
}

// search asks for the completions of a host until one has addresses. Only an
// answer that denies a name leads to the next: behind a server that does not
// answer, another name could be another machine.
func (r *Resolver) search(ctx context.Context, host string, deadline primitives.Instant) ([]netip.Addr, error) {
	ctx, stop := primitives.WithDeadline(ctx, r.world, deadline)
	defer stop()
	if err := r.slots.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer r.slots.Release(1)
	var last error
	for _, name := range r.config.completions(host) {
		addrs, err := r.bothFamilies(ctx, name)
		if err == nil {
			return addrs, nil
		}
		last = err
		var f *failure
		if !errors.As(err, &f) || f.kind != NameNotFound && f.kind != NoAddresses {
			break
		}
	}
	return nil, last
}

// bothFamilies asks for A and AAAA side by side. One family is enough; when both
// fail, the outcome is that of IPv4.
func (r *Resolver) bothFamilies(ctx context.Context, name string) ([]netip.Addr, error) {
	var addrs [2][]netip.Addr
	var errs [2]error
	g := primitives.NewGroup(ctx, r.world)
	for i, kind := range []uint16{dns.TypeA, dns.TypeAAAA} {
		g.Go("dns question", func(ctx context.Context) error {
			addrs[i], errs[i] = r.ask(ctx, question{name, kind})
			return nil
		})
	}
	// The tasks obey ctx, so the wait needs no end of its own (D4).
	if err := g.Wait(context.Background()); err != nil {
		return nil, err
	}
	if both := ordered(slices.Concat(addrs[0], addrs[1])); len(both) > 0 {
		return both, nil
	}
	return nil, errs[0]
}

// ask answers a question from the cache or by the servers.
func (r *Resolver) ask(ctx context.Context, q question) ([]netip.Addr, error) {
	if err := r.lock.Lock(ctx); err != nil {
		return nil, err
	}
	a, ok := r.cache.get(q, r.world.Clock().Now())
	r.lock.Unlock()
	if !ok {
		var err error
		if a, err = r.askServers(ctx, q); err != nil {
			return nil, err
		}
		if err := r.lock.Lock(ctx); err != nil {
			return nil, err
		}
		r.cache.put(q, a, r.world.Clock().Now())
		r.lock.Unlock()
	}
	if a.negative != nil {
		return nil, a.negative
	}
	return a.addrs, nil
}

// askServers goes through the servers in pairs, the fastest first, as many rounds
// as configured, until one answers.
func (r *Resolver) askServers(ctx context.Context, q question) (answer, error) {
	var failures []*failure
	for range r.config.Attempts {
		for pair := range slices.Chunk(r.preferred(), serversAtOnce) {
			a, failed, err := r.askPair(ctx, q, pair)
			if err != nil {
				return answer{}, err
			}
			if len(failed) < len(pair) {
				return a, nil
			}
			failures = append(failures, failed...)
		}
	}
	return answer{}, worst(failures)
}

// worst sums failed tries up: a refusal says most, a time-out counts when every
// try ended so.
func worst(failures []*failure) *failure {
	rank := func(f *failure) int {
		return slices.Index([]LookupFailure{Timeout, Unreachable, Refused}, f.kind)
	}
	if len(failures) == 0 {
		return &failure{kind: Unreachable}
	}
	return slices.MaxFunc(failures, func(a, b *failure) int { return cmp.Compare(rank(a), rank(b)) })
}

// preferred returns the server indexes, the fastest first.
func (r *Resolver) preferred() []int {
	order := make([]int, len(r.speed))
	speed := make([]int64, len(r.speed))
	for i := range order {
		order[i], speed[i] = i, r.speed[i].Load()
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(speed[a], speed[b]) })
	return order
}

// rate mixes the time of one try into the speed of its server. A try that timed
// out took long, which is what counts against the server.
func (r *Resolver) rate(server int, took time.Duration) {
	old := r.speed[server].Load()
	if old == 0 {
		old = int64(took)
	}
	r.speed[server].Store((3*old + int64(took)) / 4)
}

// tried is the outcome of one try at one server.
type tried struct {
	answer answer
	err    error
}

// askPair asks some servers together and returns the first usable answer, or the
// failure of each. An error is that of ctx.
func (r *Resolver) askPair(ctx context.Context, q question, servers []int) (answer, []*failure, error) {
	g := primitives.NewGroup(ctx, r.world)
	defer func() {
		g.Cancel(nil)
		_ = g.Wait(context.Background()) // the tasks return nil, and promptly
	}()
	outcomes := primitives.NewQueue[tried](r.world, len(servers))
	for _, server := range servers {
		g.Go("dns try", func(ctx context.Context) error {
			start := r.world.Clock().Now()
			a, err := r.exchange(ctx, q, r.config.Servers[server])
			if ctx.Err() == nil {
				r.rate(server, r.world.Clock().Now().Sub(start))
			}
			outcomes.TrySend(tried{a, err})
			return nil
		})
	}
	var failures []*failure
	for range servers {
		o, err := outcomes.Recv(ctx)
		if err != nil {
			return answer{}, nil, err
		}
		var f *failure
		switch {
		case o.err == nil:
			return o.answer, failures, nil
		case errors.As(o.err, &f):
			failures = append(failures, f)
		default:
			return answer{}, nil, o.err
		}
	}
	return answer{}, failures, nil
}
