package client

import (
	"context"
	"errors"
	"fmt"
	"io"
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

// Session is one session on a node. One task at a time executes on it.
type Session struct {
	world   primitives.World
	options Options
	cancel  context.CancelFunc
	tasks   *primitives.Group

	welcome *sessionpb.Welcome
	domain  string
	domains atomic.Pointer[sessionpb.Domains]
	ended   atomic.Pointer[error]
}

// Open opens a session and waits until the node welcomes it.
func Open(ctx context.Context, w primitives.World, options Options) (*Session, error) {
	if options.CallTimeout == 0 {
		options.CallTimeout = callTimeout
	}
	// The session outlives ctx, which bounds the opening only.
	life, cancel := primitives.WithCancel(context.Background(), w)
	stop := primitives.OnCancel(ctx, cancel)
	defer stop()
	s := &Session{world: w, options: options, cancel: cancel, domain: options.Domain}
	stream, err := options.Transport.Open(life, &sessionpb.OpenRequest{Client: options.Client, Domain: options.Domain})
	if err != nil {
		cancel()
		return nil, err
	}
	event, err := stream.Recv()
	if err == nil && event.GetWelcome() == nil {
		err = errors.New("the node did not welcome the session")
	}
	if err != nil {
		cancel()
		return nil, errors.Join(err, stream.Close())
	}
	s.welcome = event.GetWelcome()
	s.tasks = primitives.NewGroup(life, w)
	s.tasks.Go("session events", func(context.Context) error { return s.follow(stream) })
	return s, nil
}

// follow keeps what the node tells about itself.
func (s *Session) follow(stream Stream[*sessionpb.Event]) error {
	for {
		event, err := stream.Recv()
		if err != nil {
			s.ended.Store(&err)
			return errors.Join(stream.Close())
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
func (s *Session) ID() string { return s.welcome.GetSessionId() }

// Node returns the name of the node.
func (s *Session) Node() string { return s.welcome.GetNode() }

// Version returns the version of the node.
func (s *Session) Version() string { return s.welcome.GetVersion() }

// Domain returns the selected domain, "" for none.
func (s *Session) Domain() string { return s.domain }

// Domains returns the domains as the node last told.
func (s *Session) Domains() []*sessionpb.DomainSummary { return s.domains.Load().GetDomains() }

// Ended returns why the session ended, nil while it lives.
func (s *Session) Ended() error {
	if err := s.ended.Load(); err != nil {
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
	request := &sessionpb.ExecuteRequest{
		SessionId: s.ID(), Statements: text, ExecutionReference: reference, Domain: s.domain,
	}
	sent := false
	for pause := backoffMin; ; pause = min(2*pause, backoffMax) {
		reply, err := s.options.Transport.Execute(call, request)
		switch {
		case err == nil && reply.GetDisposition() != sessionpb.Disposition_UNKNOWN:
			return reply, nil
		case err == nil:
			sent = true
			err = fmt.Errorf("%w: %s", ErrOutcomeUnknown, reply.GetDetail())
		case !repeatable(err):
			return nil, err
		default:
			sent = sent || !errors.Is(err, ErrNotConnected)
		}
		if waitErr := primitives.Sleep(call, s.world, pause); waitErr != nil {
			if sent {
				return nil, &UnknownError{Reference: reference, Err: err}
			}
			return nil, err
		}
	}
}

// repeatable says whether an error leaves room for another try of the same
// reference.
func repeatable(err error) bool {
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
	s.cancel()
	if waitErr := s.tasks.Wait(ctx); waitErr != nil && !errors.Is(waitErr, io.EOF) && err == nil {
		err = waitErr
	}
	var answered *Error
	if errors.As(err, &answered) && answered.Code == NotFound {
		return nil
	}
	return err
}
