package host

import (
	"context"
	"sync/atomic"

	"plexus/connectors/contract"
	"plexus/engine/decide"
	"plexus/engine/flow"
	"plexus/engine/observe"
	"plexus/engine/state"
	"plexus/primitives"
)

// Cursors keeps the states of cursor sources. A nil error of Save means that
// the state survives a crash.
type Cursors interface {
	Load(ctx context.Context, key state.Key) (contract.State, bool, error)
	Save(ctx context.Context, key state.Key, s contract.State) error
}

// Host starts the operators of a node that touch external systems.
type Host struct {
	world      primitives.World
	connectors contract.Connectors
	cursors    Cursors
	endpoints  *Endpoints // nil without a listener
	node       string
}

// New returns the host of a node.
func New(w primitives.World, connectors contract.Connectors, cursors Cursors, endpoints *Endpoints, node string) *Host {
	return &Host{w, connectors, cursors, endpoints, node}
}

var _ flow.External = (*Host)(nil)

// client returns what a connector is opened with.
func client(plan *decide.ClientPlan) contract.Client {
	if plan == nil {
		return contract.Client{}
	}
	return contract.Client{Name: plan.Name, Type: plan.Type, Config: plan.Config, Pool: plan.Pool}
}

// status is the immutable error and retry publication of one instance or
// emitter.
type status struct {
	transient atomic.Pointer[flow.Transient]
	waiting   atomic.Pointer[string]
}

func (s *status) read() flow.Transient {
	if t := s.transient.Load(); t != nil {
		return *t
	}
	return flow.Transient{}
}

func (s *status) clear() { s.transient.Store(nil) }

// events is what a connector reports beside its answers.
type events struct {
	d            *flow.Domain
	self         observe.Endpoint
	status       *status
	lastDelivery *observe.Counter
}

var _ contract.Events = (*events)(nil)

// Report implements contract.Events.
func (e *events) Report(err error) { e.d.Report(e.self, err) }

// LastDelivery implements contract.Events.
func (e *events) LastDelivery(messages int) { e.lastDelivery.Add(messages) }

// Waiting implements contract.Events.
func (e *events) Waiting(reason string) (end func()) {
	e.status.waiting.Store(&reason)
	return func() { e.status.waiting.Store(nil) }
}

// closing returns a context for a connector's Close: its own task may be
// cancelled already.
func closing(w primitives.World) (context.Context, context.CancelFunc) {
	return primitives.WithDeadline(context.Background(), w, w.Clock().Now().Add(stopGrace))
}
