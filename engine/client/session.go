package client

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/primitives"
)

// Options of a session.
type Options struct {
	Transport Transport
	Client    string // how the node's log calls this client
	Domain    string // selected domain, may be empty
	// CallTimeout bounds one Execute with all its repetitions; 0 is 120 s.
	CallTimeout time.Duration
	// Notify takes what the node reports beside replies. It must not block.
	Notify func(*sessionpb.Event)
}

const (
	callTimeout = 120 * time.Second
	backoffMin  = 100 * time.Millisecond
	backoffMax  = time.Second
)

// Session is one session on a node. One task at a time executes on it. When the
// node forgets the session, for example because it restarted, the next Execute
// opens another in its place; only an open transaction is lost with it.
type Session struct {
	world   primitives.World
	options Options
	link    atomic.Pointer[link]

	domain  string
	inTx    bool
	domains atomic.Pointer[sessionpb.Domains]
}

// link is one opening of the session.
type link struct {
	welcome *sessionpb.Welcome
	cancel  context.CancelFunc
	tasks   *primitives.Group
	ended   atomic.Pointer[error]
}

// Open opens a session and waits until the node welcomes it.
func Open(ctx context.Context, w primitives.World, options Options) (*Session, error) {
	if options.CallTimeout == 0 {
		options.CallTimeout = callTimeout
	}
	s := &Session{world: w, options: options, domain: options.Domain}
	if err := s.open(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

func (s *Session) open(ctx context.Context) error {
	// The session outlives ctx, which bounds the opening only.
	life, cancel := primitives.WithCancel(context.Background(), s.world)
	stop := primitives.OnCancel(ctx, cancel)
	defer stop()
	stream, err := s.options.Transport.Open(life, &sessionpb.OpenRequest{Client: s.options.Client, Domain: s.domain})
	if err != nil {
		cancel()
		return err
	}
	event, err := stream.Recv()
	if err == nil && event.GetWelcome() == nil {
		err = errors.New("the node did not welcome the session")
	}
	if err != nil {
		cancel()
		return errors.Join(err, stream.Close())
	}
	l := &link{welcome: event.GetWelcome(), cancel: cancel, tasks: primitives.NewGroup(life, s.world)}
	s.link.Store(l)
	l.tasks.Go("session events", func(context.Context) error { return s.follow(l, stream) })
	return nil
}

// reopen replaces a link that the node knows no longer.
func (s *Session) reopen(ctx context.Context) error {
	if err := s.link.Load().close(ctx); err != nil {
		return err
	}
	return s.open(ctx)
}

func (l *link) close(ctx context.Context) error {
	l.cancel()
	if err := l.tasks.Wait(ctx); err != nil && ctx.Err() != nil {
		return err
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
		if s.options.Notify != nil {
			s.options.Notify(event)
		}
	}
}

// ID returns the session's name on its node.
func (s *Session) ID() string { return s.link.Load().welcome.GetSessionId() }

// Node returns the name of the node.
func (s *Session) Node() string { return s.link.Load().welcome.GetNode() }

// Version returns the version of the node.
func (s *Session) Version() string { return s.link.Load().welcome.GetVersion() }

// Domain returns the selected domain, "" for none.
func (s *Session) Domain() string { return s.domain }

// Domains returns the domains as the node last told.
func (s *Session) Domains() []*sessionpb.DomainSummary { return s.domains.Load().GetDomains() }

// Ended returns why the session ended, nil while it lives.
func (s *Session) Ended() error {
	if err := s.link.Load().ended.Load(); err != nil {
		return *err
	}
	return nil
}

// Execute runs one statement, or a transaction from BEGIN to COMMIT or REVERT. A
// reply that says FAILED is no error of Execute.
func (s *Session) Execute(ctx context.Context, text string) (*sessionpb.ExecuteReply, error) {
	reference := primitives.NewUUIDv7(s.world.Entropy(), s.world.Clock().Wall()).String()
	reply, err := s.ExecuteAs(ctx, reference, text)
	if err == nil && reply.GetDisposition() == sessionpb.Disposition_COMPLETED {
		s.selectDomain(text)
	}
	return reply, err
}

// selectDomain follows a USE that the node accepted.
func (s *Session) selectDomain(text string) {
	statement, err := parse.Statement(text)
	if err != nil {
		return
	}
	if use, ok := statement.(*ast.Use); ok {
		s.domain = use.Domain.Text
	}
}

// ExecuteAs is Execute under a given reference. While the outcome is unknown it
// asks again, with growing pauses, until the call's time is over.
func (s *Session) ExecuteAs(ctx context.Context, reference, text string) (*sessionpb.ExecuteReply, error) {
	call, cancel := primitives.WithDeadline(ctx, s.world, s.world.Clock().Now().Add(s.options.CallTimeout))
	defer cancel()
	sent := false
	for pause := backoffMin; ; pause = min(2*pause, backoffMax) {
		reply, err := s.options.Transport.Execute(call, &sessionpb.ExecuteRequest{
			SessionId: s.ID(), Statements: text, ExecutionReference: reference, Domain: s.domain,
		})
		switch {
		case err == nil && reply.GetDisposition() != sessionpb.Disposition_UNKNOWN:
			s.inTx = reply.GetTransaction().GetState() == sessionpb.TransactionStatus_OPEN
			return reply, nil
		case err == nil:
			sent = true
			err = fmt.Errorf("%w: %s", ErrOutcomeUnknown, reply.GetDetail())
		case errors.Is(err, &Error{Code: NotFound}):
			err = s.recover(call, text)
		}
		if err != nil && !repeatable(err) {
			return nil, err
		}
		sent = sent || !errors.Is(err, ErrNotConnected)
		if waitErr := primitives.Sleep(call, s.world, pause); waitErr != nil {
			if sent {
				return nil, &UnknownError{Reference: reference, Err: errors.Join(err, waitErr)}
			}
			return nil, errors.Join(err, waitErr)
		}
	}
}

// ErrTransactionLost says that the node forgot the session with its open
// transaction. Nothing of the transaction was applied.
var ErrTransactionLost = errors.New("the session was lost with its open transaction; nothing of it was applied")

// recover opens the session again. What was queued in the old one is gone, so
// only a request that ends in COMMIT may go on: its reference tells whether it had been applied.
func (s *Session) recover(ctx context.Context, text string) error {
	lost := s.inTx
	if err := s.reopen(ctx); err != nil {
		return err
	}
	s.inTx = false
	if !lost {
		return nil
	}
	statements, err := parse.Statements(text)
	if err != nil || len(statements) == 0 {
		return ErrTransactionLost
	}
	if _, commit := statements[len(statements)-1].(*ast.Commit); !commit {
		return ErrTransactionLost
	}
	return nil
}

// repeatable says whether an error leaves room for another try of the same
// reference.
func repeatable(err error) bool {
	if errors.Is(err, ErrTransactionLost) {
		return false
	}
	var answered *Error
	if errors.As(err, &answered) {
		return answered.Code == Unavailable
	}
	return true
}

// Subscribe opens a subscription from its CREATE SUBSCRIPTION statement. The
// first frame is Opened.
func (s *Session) Subscribe(ctx context.Context, statement string, format sessionpb.RowFormat) (Stream[*sessionpb.SubscriptionFrame], error) {
	return s.options.Transport.Subscribe(ctx, &sessionpb.SubscribeRequest{
		SessionId: s.ID(), Domain: s.domain, Statement: statement, Format: format,
	})
}

// Unsubscribe ends a subscription by its DELETE SUBSCRIPTION statement.
func (s *Session) Unsubscribe(ctx context.Context, statement string) (string, error) {
	reply, err := s.options.Transport.Unsubscribe(ctx, &sessionpb.UnsubscribeRequest{SessionId: s.ID(), Statement: statement})
	return reply.GetText(), err
}

// Close ends the session, which reverts an open transaction.
func (s *Session) Close(ctx context.Context) error {
	_, err := s.options.Transport.Close(ctx, &sessionpb.CloseRequest{SessionId: s.ID()})
	if errors.Is(err, &Error{Code: NotFound}) {
		err = nil
	}
	return errors.Join(err, s.link.Load().close(ctx))
}
