package flow

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"plexus/engine/ack"
	"plexus/engine/clock"
	"plexus/engine/decide"
	"plexus/engine/observe"
	"plexus/primitives"
)

// Deps is what a domain needs of its node.
type Deps struct {
	External External
	Metrics  *observe.Registry
	Tap      observe.Tap // nil in production
	Memory   memory.Allocator
	Node     string // of this process: what plans name as owner, and a label
	// Exchange carries batches to and from other nodes; nil on a node that is
	// alone.
	Exchange Exchange
	// Interest tells the other nodes which relays sessions of this one read; nil on
	// a node that is alone.
	Interest Interest
	// Stale, when set, hears that another node refused a delivery because it does
	// not own the relay: the committed schedule is worth another look. It must not
	// block.
	Stale func(domain string)
	// Report publishes a runtime error to sessions and the log, once. It must not
	// block.
	Report func(domain string, operator observe.Endpoint, err error)
	// DrainTimeout bounds the drain of a change; 0 is the default of 60 s.
	DrainTimeout time.Duration
}

// External hosts what touches external systems. A host that cannot reach its
// system stays present and retries; only a mistake of this build is an error.
type External interface {
	StartIngestor(d *Domain, in *Intake) (IngestorHost, error)
	StartEmitter(d *Domain, feed *Feed) (EmitterHost, error)
}

// Interest advertises to every node which relays sessions of this node read.
type Interest interface {
	// Lease advertises one reader more and returns once every live node has
	// published it: the owner, and whoever becomes it, sends copies from then on.
	// After an error nothing is advertised. release does not wait.
	Lease(ctx context.Context, domain, relay string) (release func(), err error)
}

// IngestorHost drives the instances of one source. It begins as its intake says.
type IngestorHost interface {
	// Suspend changes how far intake is suspended. Work already admitted goes on.
	Suspend(Suspension)
	// Stop ends intake, finishes admitted work with its confirmation until the
	// deadline, and closes the source. It returns when no task is left.
	Stop(ctx context.Context, deadline primitives.Instant)
	Describe() IngestorStatus
}

// EmitterHost publishes to one sink.
type EmitterHost interface {
	// Nudge says that the domain began to drain: everything buffered is due.
	Nudge()
	// Update exchanges what can change while rows are buffered: the flush policy
	// and the error policies with the same target.
	Update(plan *decide.EmitterPlan) error
	// Stop publishes what is buffered until the deadline, then drops the rest
	// negatively and closes the sink. It returns when no task is left.
	Stop(ctx context.Context, deadline primitives.Instant)
	// Publishing counts the payloads that the sink was offered and has not answered.
	Publishing() int
	Describe() EmitterStatus
}

// Feed is where an emitter takes its batches.
type Feed struct {
	Plan  *decide.EmitterPlan
	Lane  *Lane
	Load  *Load // batches in the lane and rows in the buffer, counted by the host
	Wake  *primitives.Notice
	Drain *Drain
}

// Domain executes one domain on one node.
type Domain struct {
	name  string
	world primitives.World
	deps  Deps
	clock *clock.Unpaced

	ledger  *ack.Ledger
	settled *primitives.Notice
	group   *primitives.Group

	// installing serialises changes of what runs. Of the locks below it, holding
	// and routing are taken for moments only, and a relay's own lock last.
	installing *primitives.Mutex
	revision   atomic.Pointer[decide.Revision]
	flushes    atomic.Uint64 // generation of the newest force flush
	sequence   atomic.Uint64

	holding *primitives.Mutex
	holds   []*hold

	routing   *primitives.Mutex
	installed *primitives.Cond    // on routing: another revision is installed
	readers   map[string][]string // other nodes with sessions that read a relay

	// These change under installing; tasks hold pointers, never the maps.
	relays    map[string]*Relay
	junctions map[string]*junction
	ingestors map[string]*ingestor
	emitters  map[string]*emitter
	executing map[string]execution
	prepared  *change // whose sources have yet to start
	views     atomic.Pointer[views]
}

// views are the maps of the running operators, replaced as a whole, for readers
// that describe them.
type views struct {
	relays    map[string]*Relay
	junctions map[string]*junction
	ingestors map[string]*ingestor
	emitters  map[string]*emitter
}

// junction is a running junction.
type junction struct {
	plan      *decide.JunctionPlan
	processor *processor
	consumer  *consumer
}

// ingestor is a running ingestor: its source host and the task that routes.
type ingestor struct {
	plan      *decide.IngestorPlan
	host      IngestorHost
	intake    *Intake
	processor *processor

	// Under d.holding.
	suspended Suspension
	leaving   bool // it is drained to go away
}

// emitter is a running emitter.
type emitter struct {
	plan     *decide.EmitterPlan
	host     EmitterHost
	feed     *Feed
	consumer *consumer
}

// drainTimeout is how long a change waits for the work in its way.
const drainTimeout = time.Minute

// NewDomain returns a domain that executes nothing until a revision is
// installed. Its tasks end with ctx, dropping their work negatively.
func NewDomain(ctx context.Context, w primitives.World, name string, deps Deps) *Domain {
	if deps.DrainTimeout == 0 {
		deps.DrainTimeout = drainTimeout
	}
	if deps.Memory == nil {
		deps.Memory = memory.DefaultAllocator
	}
	d := &Domain{
		name: name, world: w, deps: deps,
		clock:      clock.NewUnpaced(w.Clock()),
		ledger:     ack.NewLedger(name, deps.Metrics, deps.Tap),
		settled:    primitives.NewNotice(w),
		group:      primitives.NewGroup(ctx, w),
		installing: primitives.NewMutex(w),
		holding:    primitives.NewMutex(w),
		routing:    primitives.NewMutex(w),
		relays:     map[string]*Relay{},
		junctions:  map[string]*junction{},
		ingestors:  map[string]*ingestor{},
		emitters:   map[string]*emitter{},
		executing:  map[string]execution{},
	}
	d.installed = primitives.NewCond(w, d.routing)
	d.publishViews()
	return d
}

// Name returns the domain's name.
func (d *Domain) Name() string { return d.name }

// World returns the node's world, for hosts.
func (d *Domain) World() primitives.World { return d.world }

// Deps returns what the node gave, for hosts.
func (d *Domain) Deps() *Deps { return &d.deps }

// Snapshot reads the domain clock for one unit of work.
func (d *Domain) Snapshot() int64 { return d.clock.Snapshot() }

// Sequence returns the next number of what the tap must tell apart: batches of
// sources, payloads of emitters.
func (d *Domain) Sequence() uint64 { return d.sequence.Add(1) }

// Context is the scope of everything the domain runs.
func (d *Domain) Context() context.Context { return d.group.Context() }

// Revision returns the installed revision, nil before the first.
func (d *Domain) Revision() *decide.Revision { return d.revision.Load() }

// Report publishes a runtime error.
func (d *Domain) Report(operator observe.Endpoint, err error) {
	if d.deps.Report != nil {
		d.deps.Report(d.name, operator, err)
	}
}

func (d *Domain) now() primitives.Instant { return d.world.Clock().Now() }

func (d *Domain) newLoad() *Load { return &Load{settled: d.settled} }

// Edge resolves the series of one edge of an operator.
func (d *Domain) Edge(operator observe.Endpoint, direction, stream string, peer observe.Endpoint) *observe.Edge {
	return observe.NewEdge(d.deps.Metrics, d.name, d.deps.Node, operator, direction, stream, peer)
}

// Received records that an operator accepted a batch.
func (d *Domain) Received(operator observe.Endpoint, e *observe.Edge, v Delivery) {
	d.received(operator, e, v, d.now())
}

func (d *Domain) received(operator observe.Endpoint, e *observe.Edge, v Delivery, now primitives.Instant) {
	e.Batch(now, v.Carrier.Rows(), v.Carrier.Bytes)
	e.Latency(d.clock.Snapshot(), v.Carrier.High)
	observe.Emit(d.deps.Tap, observe.Event{Kind: observe.ConsumerTook, Domain: d.name, Name: operator.Name, Peer: v.Relay, Count: v.Carrier.Rows()})
}

// Task is one task of a domain that can be ended by itself.
type Task struct {
	cancel context.CancelFunc
	done   *primitives.Event
}

// Start runs f as a task of the domain. The name is a constant role.
func (d *Domain) Start(name string, f func(ctx context.Context) error) *Task {
	ctx, cancel := primitives.WithCancel(d.group.Context(), d.world)
	t := &Task{cancel, primitives.NewEvent(d.world)}
	d.group.Go(name, func(context.Context) error {
		defer t.done.Set()
		defer cancel()
		return f(ctx)
	})
	return t
}

// Cancel asks the task to end.
func (t *Task) Cancel() { t.cancel() }

// Stop cancels the task and waits for its end.
func (t *Task) Stop() {
	t.cancel()
	_ = t.done.Wait(context.Background()) //plexus:allow PX017 a cancelled task ends promptly, and its end must not be missed
}

// Done happens when the task has ended.
func (t *Task) Done() *primitives.Event { return t.done }

func (d *Domain) publishViews() {
	v := &views{map[string]*Relay{}, map[string]*junction{}, map[string]*ingestor{}, map[string]*emitter{}}
	for _, name := range primitives.SortedKeys(d.relays) {
		v.relays[name] = d.relays[name]
	}
	for _, name := range primitives.SortedKeys(d.junctions) {
		v.junctions[name] = d.junctions[name]
	}
	for _, name := range primitives.SortedKeys(d.ingestors) {
		v.ingestors[name] = d.ingestors[name]
	}
	for _, name := range primitives.SortedKeys(d.emitters) {
		v.emitters[name] = d.emitters[name]
	}
	d.views.Store(v)
}
