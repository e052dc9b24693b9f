package harness

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
)

// clientSession is a session of the product's own client library.
type clientSession struct {
	w       primitives.World
	session *client.Session
}

// OpenSession opens a session on the first of several servers; the stages differ
// in nothing but how they are dialled.
func OpenSession(ctx context.Context, w primitives.World, dial client.Dialer, servers []string, domain string) (Session, error) {
	session, err := client.Open(ctx, w, client.Options{Servers: servers, Dial: dial, Client: "harness", Domain: domain})
	if err != nil {
		return nil, err
	}
	return &clientSession{w: w, session: session}, nil
}

func (s *clientSession) Domain() string { return s.session.Domain() }

func (s *clientSession) Execute(ctx context.Context, statements string) (Reply, error) {
	reply, err := s.session.Execute(ctx, statements)
	if err != nil {
		return Reply{}, err
	}
	return ReplyTo(statements, reply), nil
}

func (s *clientSession) ExecuteAs(ctx context.Context, reference, statements string) (Reply, error) {
	reply, err := s.session.ExecuteAs(ctx, reference, statements)
	if err != nil {
		return Reply{}, err
	}
	return ReplyTo(statements, reply), nil
}

func (s *clientSession) Subscribe(ctx context.Context, statement string) (Subscription, error) {
	life, cancel := primitives.WithCancel(context.Background(), s.w)
	stream, err := s.session.Subscribe(life, statement, sessionpb.RowFormat_JSON)
	if err != nil {
		cancel()
		return nil, err
	}
	// The first frame says that the subscription is open, or why it is not.
	if _, err := stream.Recv(); err != nil {
		cancel()
		return nil, errors.Join(err, stream.Close())
	}
	sub := &subscription{stream: stream, cancel: cancel, done: primitives.NewEvent(s.w)}
	s.w.Tasks().Go("subscription rows", sub.follow)
	return sub, nil
}

func (s *clientSession) Suggest(ctx context.Context, text string, cursor int) (string, error) {
	reply, err := s.session.Suggest(ctx, text, cursor)
	if err != nil {
		return "", err
	}
	if reply.GetStatus() != sessionpb.SuggestStatus_READY {
		return reply.GetStatus().String() + "\n", nil
	}
	var out strings.Builder
	for _, one := range reply.GetSuggestions() {
		out.WriteString(one.GetKind() + " " + one.GetDisplay() + "\n")
	}
	return out.String(), nil
}

func (s *clientSession) Close(ctx context.Context) error { return s.session.Close(ctx) }

func (s *clientSession) Drop() { s.session.Drop() }

// subscription collects what a stream of rows delivers.
type subscription struct {
	stream client.Stream[*sessionpb.SubscriptionFrame]
	cancel context.CancelFunc
	done   *primitives.Event

	mu    sync.Mutex // never held while a task parks
	rows  []string
	lost  uint64
	ended string
}

func (s *subscription) follow() {
	defer s.done.Set()
	defer s.stream.Close()
	for {
		frame, err := s.stream.Recv()
		s.mu.Lock()
		switch body := frame.GetBody().(type) {
		case *sessionpb.SubscriptionFrame_Rows:
			s.rows = append(s.rows, body.Rows.GetJson()...)
		case *sessionpb.SubscriptionFrame_Lost:
			s.lost += body.Lost.GetCount()
		case *sessionpb.SubscriptionFrame_Ended:
			s.ended = body.Ended.GetReason()
		}
		if err != nil && s.ended == "" {
			s.ended = err.Error()
			if errors.Is(err, io.EOF) {
				s.ended = "the stream closed"
			}
		}
		s.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (s *subscription) Rows() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.rows)
}

func (s *subscription) Lost() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lost
}

func (s *subscription) Ended() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.ended
}

// Close ends the stream and waits until its task is gone.
func (s *subscription) Close(ctx context.Context) error {
	s.cancel()
	return s.done.Wait(ctx)
}
