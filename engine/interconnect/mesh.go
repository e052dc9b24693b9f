package interconnect

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"sync/atomic"
	"time"

	"plexus/engine/observe"
	"plexus/primitives"
)

// Settings configure the interconnect of a node.
type Settings struct {
	ClusterID string
	// Listen is the address to bind; port 0 takes a free one.
	Listen netip.AddrPort
	// Advertise is the host:port that peers dial; empty is what was bound.
	Advertise string
	// TLS names the credentials; nil carries plain bytes.
	TLS *CredentialFiles
	// Insecure allows plain bytes outside loopback.
	Insecure bool
	// UnavailableAfter is how long probes of a peer must fail.
	UnavailableAfter time.Duration
	// Removed reports whether a raft id was dropped from the cluster; nil knows
	// nothing.
	Removed func(raftID uint64) bool
	// Registry takes the metrics; nil keeps none.
	Registry *observe.Registry
}

// Defaults returns the settings of the specification.
func Defaults() Settings {
	return Settings{
		ClusterID: "default", Listen: netip.MustParseAddrPort("127.0.0.1:47395"), UnavailableAfter: 10 * time.Second,
	}
}

// Check refuses contradictory settings.
func (s *Settings) Check() error {
	if s.UnavailableAfter < probeEvery {
		return fmt.Errorf("node-unavailability-timeout %s is shorter than the interval between probes, %s", s.UnavailableAfter, probeEvery)
	}
	if !s.Listen.IsValid() {
		return errors.New("interconnect-listen is no address")
	}
	if s.Advertise != "" {
		if _, _, err := splitEndpoint(s.Advertise); err != nil {
			return fmt.Errorf("interconnect-advertise: %w", err)
		}
	}
	if s.TLS != nil {
		return s.TLS.check()
	}
	if s.Insecure {
		return nil
	}
	if !s.Listen.Addr().IsLoopback() {
		return fmt.Errorf("interconnect-listen %s: %w", s.Listen, ErrInsecure)
	}
	if host, _, _ := net.SplitHostPort(s.Advertise); s.Advertise != "" && !isLoopbackHost(host) {
		return fmt.Errorf("interconnect-advertise %s: %w", s.Advertise, ErrInsecure)
	}
	return nil
}

func isLoopbackHost(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// splitEndpoint checks a host:port.
func splitEndpoint(endpoint string) (host string, port uint16, err error) {
	host, text, err := net.SplitHostPort(endpoint)
	if err != nil {
		return "", 0, fmt.Errorf("endpoint '%s': expected host:port: %w", endpoint, err)
	}
	n, err := strconv.ParseUint(text, 10, 16)
	if err != nil || n == 0 || host == "" {
		return "", 0, fmt.Errorf("endpoint '%s': expected host:port", endpoint)
	}
	return host, uint16(n), nil
}

// Peer is whom this node is to be connected with, from replicated state.
type Peer struct {
	Node     string
	RaftID   uint64
	Endpoint string
	// Counter is the incarnation that was admitted; an older one is refused.
	Counter uint64
	// Token is that of the admission: a newer incarnation shows that it knows of it.
	// Without one every newer incarnation counts.
	Token string
}

// Mesh is the interconnect of one node: connections with every peer, what is
// served over them and what is known of the peers.
type Mesh struct {
	world    primitives.World
	settings Settings
	memory   memories
	buffers  pool
	outbound admissions
	inbound  admissions
	handlers []atomic.Pointer[handler]
	metrics  *metrics

	mu       *primitives.Mutex
	identity atomic.Pointer[identity]
	peers    atomic.Pointer[map[string]*peer]
	members  members
	links    []*connection // established, oldest first
	listener primitives.Listener
	endpoint atomic.Pointer[string]
	stopping atomic.Bool

	credentials *credentials
	handshakes  *primitives.Semaphore
	dials       *primitives.Semaphore
	refusals    logLimit // of connections that were not accepted
	probes      *primitives.Semaphore
	announcing  announcing
	followers   followers
	tasks       *primitives.Group // connections, handlers
	rounds      *primitives.Notice
}

// identity is who this node is.
type identity struct {
	process Process
	cluster primitives.UUID
	tokens  [][]byte
	proof   [][]byte // of the tokens, for this process
}

func (i *identity) same(o *identity) bool { return i.process == o.process && i.cluster == o.cluster }

// New returns an interconnect that does nothing yet.
func New(w primitives.World, s Settings) (*Mesh, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	m := &Mesh{
		world: w, settings: s, memory: newMemories(w), outbound: newAdmissions(w), inbound: newAdmissions(w),
		handlers: make([]atomic.Pointer[handler], len(catalogue)),
		mu:       primitives.NewMutex(w), handshakes: primitives.NewSemaphore(w, handshakesMax), probes: primitives.NewSemaphore(w, probesMax),
		dials:  primitives.NewSemaphore(w, handshakesMax),
		rounds: primitives.NewNotice(w), metrics: newMetrics(s.Registry),
	}
	m.observe(s.Registry)
	m.followers.world = w
	m.peers.Store(&map[string]*peer{})
	m.Handle(HealthProbe, m.answerProbe)
	m.Handle(NodeAnnounce, m.hearAnnouncement)
	return m, nil
}

func (m *Mesh) lock()   { _ = m.mu.Lock(context.Background()) }
func (m *Mesh) unlock() { m.mu.Unlock() }

// Memory is the budget for messages of a class.
func (m *Mesh) Memory(c Class) *Memory { return m.memory[c] }

// Handle serves an operation of one message. The request is the handler's; ctx
// ends when the caller gives up. An error that is a *Refusal reaches the caller as
// it is, any other as a failed one.
func (m *Mesh) Handle(op Operation, h func(ctx context.Context, from Process, request []byte) ([]byte, error)) {
	m.handlers[op.number].Store(&handler{message: h})
}

// HandleStream serves an operation of several messages. The stream ends with the
// handler's return.
func (m *Mesh) HandleStream(op Operation, h func(ctx context.Context, from Process, s *Stream) error) {
	m.handlers[op.number].Store(&handler{stream: h})
}

// Identify says who this node is. It comes before Start, and again once a joining
// node knows its raft id and its cluster: what it had dialled before, when it was
// nobody, is dialled anew. The tokens are those of the admissions it knows of; without
// any, those named before stay.
func (m *Mesh) Identify(p Process, cluster primitives.UUID, tokens ...[]byte) {
	m.lock()
	old := m.identity.Load()
	if len(tokens) == 0 && old != nil {
		tokens = old.tokens
	}
	next := &identity{process: p, cluster: cluster, tokens: tokens}
	for _, token := range tokens {
		next.proof = append(next.proof, proofOf(string(token), p))
	}
	m.identity.Store(next)
	peers := m.orderedPeers()
	m.unlock()
	for _, other := range peers {
		if old != nil && !old.same(next) {
			other.redial()
		}
		other.poke()
	}
}

// Process returns who this node is.
func (m *Mesh) Process() Process {
	if id := m.identity.Load(); id != nil {
		return id.process
	}
	return Process{}
}

// Endpoint returns the advertised host:port, once the listener is bound.
func (m *Mesh) Endpoint() string {
	if e := m.endpoint.Load(); e != nil {
		return *e
	}
	return ""
}

// Start binds the listener and serves. Whoever is to be reached follows with
// SetPeers.
func (m *Mesh) Start(ctx context.Context) error {
	if m.identity.Load() == nil {
		return errors.New("the interconnect starts before it knows who this node is")
	}
	if m.settings.Insecure && m.settings.TLS == nil {
		m.world.Log().Warn("the interconnect carries plaintext", "listen", m.settings.Listen.String())
	}
	l, err := m.world.Net().Listen(m.settings.Listen)
	if err != nil {
		return fmt.Errorf("interconnect-listen %s: %w", m.settings.Listen, err)
	}
	endpoint := m.settings.Advertise
	if endpoint == "" {
		endpoint = l.Addr().String()
	}
	host, _, err := splitEndpoint(endpoint)
	if err == nil {
		err = m.loadCredentials(host)
	}
	if err != nil {
		return errors.Join(err, l.Close())
	}
	m.lock()
	m.listener = l
	m.endpoint.Store(&endpoint)
	m.tasks = primitives.NewGroup(ctx, m.world)
	peers := m.orderedPeers()
	m.unlock()
	m.announcing.change(func(a *Announcement) {
		if a.Interconnect == "" {
			a.Interconnect = endpoint
		}
	})
	m.tasks.Go("interconnect listener", m.listen)
	m.tasks.Go("interconnect liveness", m.watch)
	m.tasks.Go("interconnect health", m.probe)
	if m.credentials != nil {
		m.tasks.Go("interconnect credentials", m.renew)
	}
	for _, p := range peers {
		p.start()
	}
	return nil
}

// Stop takes no further exchange, lets those that run return for up to ten
// seconds, and closes every connection. It returns once no task is left.
func (m *Mesh) Stop(ctx context.Context) error {
	if m.tasks == nil {
		return nil
	}
	m.stopping.Store(true)
	if err := m.listener.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		m.world.Log().Debug("interconnect listener", "error", err)
	}
	links := m.snapshot()
	for _, p := range m.orderedPeers() {
		p.wake() // who waits for a connection gets none
	}
	until := m.world.Clock().Now().Add(drainWithin)
	drains := primitives.NewGroup(ctx, m.world)
	for _, c := range links {
		drains.Go("interconnect drain", func(ctx context.Context) error {
			c.retire(ctx, until)
			return nil
		})
	}
	err := drains.Wait(context.Background())
	m.tasks.Cancel(ErrStopped)
	for _, c := range m.snapshot() {
		c.fail(ErrStopped)
	}
	if ended := m.tasks.Wait(context.Background()); ended != nil && !errors.Is(ended, context.Canceled) {
		err = errors.Join(err, ended)
	}
	return err
}

// orderedPeers returns the peers by node id, under the lock or from the snapshot.
func (m *Mesh) orderedPeers() []*peer {
	peers := *m.peers.Load()
	list := make([]*peer, 0, len(peers))
	for _, node := range primitives.SortedKeys(peers) {
		list = append(list, peers[node])
	}
	return list
}

// SetPeers says whom this node is to be connected with, this node itself left out
// or not. A peer whose endpoint or raft id changed is a new one: the old
// connections end.
func (m *Mesh) SetPeers(list []Peer) {
	self := m.Process().Node
	m.lock()
	old := *m.peers.Load()
	next := make(map[string]*peer, len(list))
	var started, retired []*peer
	for _, want := range list {
		if want.Node == self {
			continue
		}
		if p := old[want.Node]; p != nil && p.target.Endpoint == want.Endpoint && p.target.RaftID == want.RaftID {
			p.counter.Store(max(p.counter.Load(), want.Counter))
			next[want.Node] = p
			continue
		}
		p := newPeer(m, want)
		next[want.Node] = p
		started = append(started, p)
	}
	for _, node := range primitives.SortedKeys(old) {
		if next[node] != old[node] {
			retired = append(retired, old[node])
		}
	}
	m.members.set(list)
	m.peers.Store(&next)
	running := m.tasks != nil
	foreign, older := m.foreignLinks()
	m.unlock()
	for _, p := range retired {
		p.retire()
	}
	for _, c := range foreign {
		c.fail(ErrUnknownNode)
	}
	for _, c := range older {
		c.fail(ErrSuperseded)
	}
	if running {
		for _, p := range started {
			p.start()
		}
	}
	if len(started)+len(retired) > 0 {
		m.followers.raise(Reach)
	}
}

// foreignLinks are the connections with processes that are no members any more, and
// those with processes older than the admitted ones.
func (m *Mesh) foreignLinks() (foreign, older []*connection) {
	for _, c := range m.links {
		if c.guest || c.remote.RaftID == 0 {
			continue
		}
		switch e := m.members.judge(c.remote, m.settings.Removed); {
		case e == nil:
		case e.Code == SetupStale:
			older = append(older, c)
		case !c.dialled:
			foreign = append(foreign, c)
		}
	}
	return foreign, older
}

// register takes an established connection into the list.
func (m *Mesh) register(c *connection) {
	m.lock()
	m.links = append(m.links, c)
	m.unlock()
	m.metrics.established[c.class].Add(1)
	m.metrics.connections[c.class][directionOf(c.dialled)].Add(1)
}

// snapshot returns the established connections, oldest first.
func (m *Mesh) snapshot() []*connection {
	m.lock()
	defer m.unlock()
	return slices.Clone(m.links)
}

func (m *Mesh) unregister(c *connection) {
	m.lock()
	if i := slices.Index(m.links, c); i >= 0 {
		m.links = slices.Delete(m.links, i, i+1)
	}
	m.unlock()
	m.metrics.connections[c.class][directionOf(c.dialled)].Add(-1)
	if !c.guest && !c.wished() {
		m.metrics.failed(c.class, failedClosed)
	}
}

// member returns a peer by its node id.
func (m *Mesh) member(node string, op Operation) (*peer, error) {
	if p := (*m.peers.Load())[node]; p != nil {
		return p, nil
	}
	return nil, &TransportError{Phase: PhaseResolve, Node: node, Operation: op.String(), Err: ErrUnknownNode}
}

// Call asks a member and returns its answer, within the time of the operation.
func (m *Mesh) Call(ctx context.Context, node string, op Operation, request []byte) ([]byte, error) {
	p, err := m.member(node, op)
	if err != nil {
		return nil, err
	}
	return p.call(ctx, op, nil, request)
}

// CallProcess is Call to exactly one process: it fails with PhaseDeparted when
// that process is gone, whoever took its place.
func (m *Mesh) CallProcess(ctx context.Context, to Process, op Operation, request []byte) ([]byte, error) {
	p, err := m.member(to.Node, op)
	if err != nil {
		return nil, &TransportError{Phase: PhaseDeparted, Node: to.Node, Operation: op.String(), Err: ErrUnknownNode}
	}
	return p.call(ctx, op, &to, request)
}

// Open begins a stream to a member. ctx bounds the stream; finding a connection is
// bounded by the time of the operation. The stream must be closed.
func (m *Mesh) Open(ctx context.Context, node string, op Operation) (*Stream, error) {
	p, err := m.member(node, op)
	if err != nil {
		return nil, err
	}
	return p.open(ctx, op, nil, 0)
}

// OpenProcess is Open to exactly one process. Streams of one channel take the same
// connection where the class has several.
func (m *Mesh) OpenProcess(ctx context.Context, to Process, op Operation, channel uint64) (*Stream, error) {
	p, err := m.member(to.Node, op)
	if err != nil {
		return nil, &TransportError{Phase: PhaseDeparted, Node: to.Node, Operation: op.String(), Err: ErrUnknownNode}
	}
	return p.open(ctx, op, &to, channel)
}

// Send hands an event to the outbox of a member. It never waits; false says that
// the event is dropped, because there is no connection or no room.
func (m *Mesh) Send(node string, op Operation, message []byte) bool {
	p := (*m.peers.Load())[node]
	if p == nil {
		return false
	}
	c := p.slot(op.Class(), 0).conn.Load()
	if c == nil || !c.post(op, message) {
		eventDropped.Hit()
		return false
	}
	return true
}
