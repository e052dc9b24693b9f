package client

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"plexus/engine/session/sessionpb"
	"plexus/primitives"
)

// Options of a session.
type Options struct {
	// Servers are the nodes to begin with, the preferred one first. More are
	// learned on the way.
	Servers []string
	Dial    Dialer
	Client  string // how the node's log calls this client
	Domain  string // selected domain, may be empty
	// CallTimeout bounds one Execute with all its repetitions; 0 is 120 s.
	CallTimeout time.Duration
	// Notify takes what the node reports beside replies. It must not block.
	Notify func(*sessionpb.Event)
}

const (
	callTimeout = 120 * time.Second
	backoffMin  = 100 * time.Millisecond
	backoffMax  = time.Second
	// hopsMax bounds how many redirects in a row are followed without a pause.
	hopsMax = 4
)

// Session is one session of a client, whichever node serves it. One task at a
// time executes on it. When its node is gone, or says that another one leads, the
// session goes on there: with its selected domain, its subscriptions and its open
// transaction.
type Session struct {
	world   primitives.World
	options Options

	lock    *primitives.Mutex // one task at a time changes the link
	link    atomic.Pointer[link]
	servers servers             // under lock
	streams map[*RowStream]bool // under lock
	closed  atomic.Bool

	domain  string
	tx      transaction
	domains atomic.Pointer[sessionpb.Domains]
}

// transaction is what the client knows of its open transaction; zero is none.
type transaction struct {
	id       string
	position uint32
}

// link is one opening of the session on one server.
type link struct {
	server    string
	transport Transport
	welcome   *sessionpb.Welcome
	cancel    context.CancelFunc
	tasks     *primitives.Group
	ended     atomic.Pointer[error]
	leader    atomic.Pointer[sessionpb.Leadership]
}

// Open opens a session and waits until a node welcomes it.
func Open(ctx context.Context, w primitives.World, options Options) (*Session, error) {
	if options.CallTimeout == 0 {
		options.CallTimeout = callTimeout
	}
	s := &Session{
		world: w, options: options, domain: options.Domain,
		lock: primitives.NewMutex(w), servers: servers{seeds: options.Servers}, streams: map[*RowStream]bool{},
	}
	l, err := s.open(ctx, s.options.Servers)
	if err != nil {
		return nil, err
	}
	s.link.Store(l)
	return s, nil
}

// open opens a link on the first of several servers that welcomes it.
func (s *Session) open(ctx context.Context, servers []string) (*link, error) {
	failed := &serversError{}
	for _, server := range servers {
		l, err := s.openAt(ctx, server)
		if err == nil {
			return l, nil
		}
		failed.add(server, err)
		// What one node refuses for good, the others refuse too.
		if ctx.Err() != nil || refusedForGood(err) && !errors.Is(err, &Error{Code: ResourceExhausted}) {
			return nil, err
		}
	}
	return nil, failed.err()
}

func (s *Session) openAt(ctx context.Context, server string) (*link, error) {
	transport, err := s.options.Dial(server)
	if err != nil {
		return nil, err
	}
	// The session outlives ctx, which bounds the opening only.
	life, cancel := primitives.WithCancel(context.Background(), s.world)
	stop := primitives.OnCancel(ctx, cancel)
	defer stop()
	opening, opened := primitives.WithDeadline(ctx, s.world, s.world.Clock().Now().Add(openTimeout))
	defer opened()
	stopLate := primitives.OnCancel(opening, cancel)
	stream, err := transport.Open(life, &sessionpb.OpenRequest{Client: s.options.Client, Domain: s.domain})
	if err != nil {
		stopLate()
		cancel()
		return nil, err
	}
	event, err := stream.Recv()
	if err == nil && event.GetWelcome() == nil {
		err = errors.New("the node did not welcome the session")
	}
	if late := !stopLate(); late && err == nil {
		err = opening.Err()
	}
	if err != nil {
		cancel()
		return nil, errors.Join(err, stream.Close())
	}
	l := &link{server: server, transport: transport, welcome: event.GetWelcome(), cancel: cancel, tasks: primitives.NewGroup(life, s.world)}
	l.tasks.Go("session events", func(context.Context) error { return s.follow(l, stream) })
	return l, nil
}

// openTimeout bounds how long a server may take to welcome a session.
const openTimeout = 10 * time.Second

// relink replaces a link, unless another task did so meanwhile, with one on the
// first of several servers that can be had.
func (s *Session) relink(ctx context.Context, old *link, prefer ...string) error {
	if err := s.replace(ctx, old, prefer); err != nil {
		return err
	}
	old.cancel()
	return old.tasks.Wait(ctx)
}

func (s *Session) replace(ctx context.Context, old *link, prefer []string) error {
	if err := s.lock.Lock(ctx); err != nil {
		return err
	}
	defer s.lock.Unlock()
	if s.link.Load() != old {
		return nil
	}
	s.servers.learn(old.leader.Load().GetClientUrl())
	next, err := s.open(ctx, append(prefer, s.servers.order(old.server)...))
	if err != nil {
		return err
	}
	s.link.Store(next)
	for stream := range s.streams { //plexus:orderfree each is told the same
		stream.moved.Raise()
	}
	return nil
}

// follow keeps what the node tells about itself.
func (s *Session) follow(l *link, stream Stream[*sessionpb.Event]) error {
	for {
		event, err := stream.Recv()
		if err != nil {
			l.ended.Store(&err)
			return stream.Close()
		}
		if domains := event.GetDomains(); domains != nil {
			s.domains.Store(domains)
		}
		if leader := event.GetLeadership(); leader != nil {
			l.leader.Store(leader)
		}
		if s.options.Notify != nil {
			s.options.Notify(event)
		}
	}
}

// ID returns the session's name on its node.
func (s *Session) ID() string { return s.link.Load().welcome.GetSessionId() }

// Node returns the name of the node.
func (s *Session) Node() string { return s.link.Load().welcome.GetNode() }

// Server returns the address of the node.
func (s *Session) Server() string { return s.link.Load().server }

// Version returns the version of the node.
func (s *Session) Version() string { return s.link.Load().welcome.GetVersion() }

// Domain returns the selected domain, "" for none.
func (s *Session) Domain() string { return s.domain }

// Transaction returns the open transaction, "" for none.
func (s *Session) Transaction() string { return s.tx.id }

// Domains returns the domains as the node last told.
func (s *Session) Domains() []*sessionpb.DomainSummary { return s.domains.Load().GetDomains() }

// Ended returns why the session ended on its node, nil while it lives. The next
// call opens it again.
func (s *Session) Ended() error {
	if err := s.link.Load().ended.Load(); err != nil {
		return *err
	}
	return nil
}

// revertTimeout bounds how long Close looks for a leader that takes a
// transaction back. Without one it expires.
const revertTimeout = 10 * time.Second

// Close ends the session, which reverts an open transaction.
func (s *Session) Close(ctx context.Context) error {
	var failed error
	if s.tx.id != "" {
		// The node that serves the session by now need not hold its transaction.
		revert, end := primitives.WithDeadline(ctx, s.world, s.world.Clock().Now().Add(revertTimeout))
		_, failed = s.Execute(revert, "REVERT")
		end()
	}
	s.closed.Store(true)
	l := s.link.Load()
	_, err := l.transport.Close(ctx, &sessionpb.CloseRequest{SessionId: l.welcome.GetSessionId()})
	if errors.Is(err, &Error{Code: NotFound}) {
		err = nil
	}
	l.cancel()
	if waitErr := l.tasks.Wait(ctx); waitErr != nil && ctx.Err() != nil {
		err = errors.Join(err, waitErr)
	}
	return errors.Join(failed, err)
}

// suggestPage is how many suggestions one page holds, and suggestMax how many are
// asked for at all: nobody reads more.
const (
	suggestPage = 100
	suggestMax  = 1000
)

// Suggest returns what can be written at a byte offset of a text. It may run while
// another task executes.
func (s *Session) Suggest(ctx context.Context, input string, cursor int) (*sessionpb.SuggestReply, error) {
	l := s.link.Load()
	r := &sessionpb.SuggestRequest{
		SessionId: l.welcome.GetSessionId(), Input: input, Cursor: uint64(cursor), Domain: s.domain, PageSize: suggestPage,
	}
	all, err := l.transport.Suggest(ctx, r)
	for err == nil && all.GetContinuation() != "" && len(all.GetSuggestions()) < suggestMax {
		r.Continuation = all.GetContinuation()
		var next *sessionpb.SuggestReply
		if next, err = l.transport.Suggest(ctx, r); err == nil {
			next.Suggestions = append(all.GetSuggestions(), next.GetSuggestions()...)
			all = next
		}
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}
