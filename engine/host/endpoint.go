package host

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"plexus/connectors/contract"
	"plexus/engine/decide"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/nspl/vocab"
	"plexus/primitives"
)

// Endpoints routes the requests of a node's endpoint listener to the ingestors
// bound to them, of whatever domain.
type Endpoints struct {
	world primitives.World
	mu    *primitives.Mutex // changes of the table
	table atomic.Pointer[endpointTable]
}

// endpointTable is what is configured and what is bound, replaced as a whole.
type endpointTable struct {
	configured []configuredEndpoints
	bound      []*endpointIntake
	// complete says that every domain has been configured once. Before, an endpoint
	// that is not known may well exist, and a caller must not be told otherwise.
	complete bool
}

type configuredEndpoints struct {
	domain string
	plans  []decide.EndpointPlan
}

// NewEndpoints returns an empty table. Its Handle is what the listener calls.
func NewEndpoints(w primitives.World) *Endpoints {
	e := &Endpoints{world: w, mu: primitives.NewMutex(w)}
	e.table.Store(&endpointTable{})
	return e
}

// Configure replaces the endpoints a domain declares. A request for one that
// nothing is bound to is 503, for an unknown one 404.
func (e *Endpoints) Configure(domain string, plans []decide.EndpointPlan) {
	e.change(func(t *endpointTable) {
		t.configured = slices.DeleteFunc(t.configured, func(c configuredEndpoints) bool { return c.domain == domain })
		if len(plans) > 0 {
			t.configured = append(t.configured, configuredEndpoints{domain, plans})
		}
	})
}

// Complete says that every domain has been configured: from now on a request for
// an unknown endpoint is 404.
func (e *Endpoints) Complete() {
	if !e.table.Load().complete {
		e.change(func(t *endpointTable) { t.complete = true })
	}
}

func (e *Endpoints) change(f func(*endpointTable)) {
	_ = e.mu.Lock(context.Background()) // nothing waits under it
	defer e.mu.Unlock()
	old := e.table.Load()
	next := &endpointTable{slices.Clone(old.configured), slices.Clone(old.bound), old.complete}
	f(next)
	e.table.Store(next)
}

func matches(plan *decide.EndpointPlan, host, path string) bool {
	return plan.Path == path && slices.Contains(plan.Hostnames, host)
}

// Handle answers one request (contract.EndpointHandler).
func (e *Endpoints) Handle(_ context.Context, req *contract.EndpointRequest) contract.EndpointAnswer {
	table := e.table.Load()
	var bound []*endpointIntake
	for _, in := range table.bound {
		if matches(in.g.plan.Source.Endpoint, req.Host, req.Path) {
			bound = append(bound, in)
		}
	}
	known := len(bound) > 0 || slices.ContainsFunc(table.configured, func(c configuredEndpoints) bool {
		return slices.ContainsFunc(c.plans, func(p decide.EndpointPlan) bool { return matches(&p, req.Host, req.Path) })
	})
	switch {
	case !known && !table.complete:
		return contract.EndpointAnswer{Status: 503, Body: "the node is starting"}
	case !known:
		return contract.EndpointAnswer{Status: 404, Body: "no endpoint at this host and path"}
	case req.Method != "POST":
		return contract.EndpointAnswer{Status: 405, Body: "use POST"}
	}
	body, err := req.ReadBody()
	switch {
	case errors.Is(err, contract.ErrBodyTooLarge):
		return contract.EndpointAnswer{Status: 413, Body: err.Error()}
	case err != nil:
		return contract.EndpointAnswer{Status: 400, Body: contract.ErrBodyUnreadable.Error()}
	}
	p := payload{bytes: body, headers: req.Headers, metadata: contract.Metadata{Scope: vocab.ScopeHeaders}}
	offers := make([]offer, len(bound))
	for i, in := range bound {
		offers[i] = in.offer(p)
	}
	return answer(offers)
}

// offer is what one ingestor said to one request.
type offer struct {
	outcome    offerOutcome
	retryAfter time.Duration
}

type offerOutcome uint8

const (
	offerAccepted    offerOutcome = iota // executed, or buffered
	offerUndecodable                     // the codec refused the body
	offerRejecting                       // held, ON QUIESCE REJECT
	offerRefused                         // stopped, full, or not dispatched
)

// answer combines what the bound ingestors said. It is never a silent 202.
func answer(offers []offer) contract.EndpointAnswer {
	count := [offerRefused + 1]int{}
	var retryAfter time.Duration
	for _, o := range offers {
		count[o.outcome]++
		retryAfter = max(retryAfter, o.retryAfter)
	}
	switch {
	case count[offerAccepted] > 0:
		return contract.EndpointAnswer{Status: 202}
	case len(offers) > 0 && count[offerUndecodable] == len(offers):
		return contract.EndpointAnswer{Status: 400, Body: "the body does not decode"}
	case len(offers) > 0 && count[offerRejecting] == len(offers):
		return contract.EndpointAnswer{Status: 503, RetryAfter: retryAfter, Body: "intake is paused"}
	}
	return contract.EndpointAnswer{Status: 503, Body: "no live intake"}
}

// endpointIntake is an ingestor that reads an HTTP endpoint: request tasks bring
// the payloads, one at a time.
type endpointIntake struct {
	g         *ingestor
	endpoints *Endpoints // nil: the node has no listener

	mu       *primitives.Mutex // one request at a time uses the group
	group    *group
	quiesce  quiesceBuffer
	status   status
	rejected *observe.Counter
	ended    bool
	changes  atomic.Uint64 // of the suspension
	// life ends the waits of requests when the intake ends.
	life   context.Context
	cancel context.CancelFunc
}

func (h *Host) startEndpoint(g *ingestor) flow.IngestorHost {
	e := &endpointIntake{
		g: g, endpoints: h.endpoints, mu: primitives.NewMutex(g.d.World()),
		group: g.newGroup(), quiesce: newQuiesceBuffer(g.plan.Source.Quiesce),
		rejected: g.d.Deps().Metrics.Counter(observe.QuiesceRejected, g.d.Name(), g.plan.Name),
	}
	e.life, e.cancel = primitives.WithCancel(g.d.Context(), g.d.World())
	if h.endpoints == nil {
		e.status.transient.Store(&flow.Transient{Err: errNoListener})
		return e
	}
	h.endpoints.change(func(t *endpointTable) { t.bound = append(t.bound, e) })
	return e
}

// offer takes one request: it is executed before the caller is answered, or
// follows the ON QUIESCE body.
func (e *endpointIntake) offer(p payload) offer {
	if e.mu.Lock(e.life) != nil {
		return offer{outcome: offerRefused}
	}
	defer e.mu.Unlock()
	switch q := &e.g.plan.Source.Quiesce; {
	case e.ended:
		return offer{outcome: offerRefused}
	case e.g.shut():
		e.rejected.Add(1)
		return offer{outcome: offerRefused}
	case e.g.held() && q.Body == vocab.QuiesceReject:
		e.rejected.Add(1)
		return offer{offerRejecting, q.RetryAfter}
	case e.g.held():
		stayed := false
		e.g.holding(&e.quiesce, func() { stayed = e.quiesce.put(p) })
		if !stayed {
			e.rejected.Add(1)
			return offer{outcome: offerRefused}
		}
		return offer{outcome: offerAccepted}
	}
	return e.execute(p)
}

// execute runs one payload as a group of its own and waits for it.
func (e *endpointIntake) execute(p payload) offer {
	e.g.edge.Batch(e.g.d.World().Clock().Now(), 1, int64(len(p.bytes)))
	err := e.group.add(e.life, p, nil)
	if err == nil {
		executed := primitives.NewEvent(e.g.d.World())
		var out *flow.Group
		if out, err = e.group.close(e.life, closedRequest, nil, executed); err == nil {
			err = executed.Wait(e.life)
		}
		if err == nil && out.Refused {
			err = flow.ErrStopped
		}
	}
	switch decode := (*DecodeError)(nil); {
	case err == nil:
		return offer{outcome: offerAccepted}
	case errors.As(err, &decode):
		e.g.undecodable(decode)
		return offer{outcome: offerUndecodable}
	default:
		e.g.d.Report(e.g.self, err)
		return offer{outcome: offerRefused}
	}
}

// Suspend implements flow.IngestorHost. When intake flows again, what was buffered
// is executed before live requests: they wait for the lock.
func (e *endpointIntake) Suspend(s flow.Suspension) {
	of := e.changes.Add(1)
	if s != flow.Flowing {
		e.g.suspended.Store(int32(s))
		return
	}
	e.g.d.Start("endpoint resume", func(ctx context.Context) error {
		if e.mu.Lock(e.life) != nil {
			return nil
		}
		defer e.mu.Unlock()
		for p, ok := e.quiesce.front(); ok && e.life.Err() == nil && e.changes.Load() == of; p, ok = e.quiesce.front() {
			e.execute(p)
			e.g.holding(&e.quiesce, e.quiesce.pop)
		}
		if e.changes.Load() == of { // no other hold began meanwhile
			e.g.suspended.Store(int32(flow.Flowing))
		}
		return nil
	})
}

// Stop implements flow.IngestorHost: admission ends before the routes go away.
func (e *endpointIntake) Stop(ctx context.Context, deadline primitives.Instant) {
	if e.endpoints != nil {
		e.endpoints.change(func(t *endpointTable) {
			t.bound = slices.DeleteFunc(t.bound, func(o *endpointIntake) bool { return o == e })
		})
	}
	bounded, cancel := primitives.WithDeadline(ctx, e.g.d.World(), deadline)
	defer cancel()
	if e.mu.Lock(bounded) != nil { // a request still holds the intake: its waits end now
		e.cancel()
		_ = e.mu.Lock(context.Background())
	}
	defer e.mu.Unlock()
	e.cancel()
	e.ended = true
	e.g.holding(&e.quiesce, e.quiesce.discard)
	e.group.release()
}

// Describe implements flow.IngestorHost.
func (e *endpointIntake) Describe() flow.IngestorStatus {
	s := e.g.Describe()
	s.Ready, s.Rejected = e.endpoints != nil, e.rejected.Value()
	s.Instances = []flow.InstanceStatus{{Ready: s.Ready, Transient: e.status.read()}}
	return s
}
