package client

import (
	"context"
	"errors"
	"io"
	"time"

	"plexus/engine/session/sessionpb"
	"plexus/primitives"
)

// Pauses between attempts to restore a subscription.
const (
	restoreMin = time.Second
	restoreMax = 30 * time.Second
)

// RowStream is a subscription for as long as its session lives, whichever node
// serves it. Each time it was restored it delivers another Opened: the rows in
// between are lost. One task reads it.
type RowStream struct {
	session *Session
	ctx     context.Context
	cancel  context.CancelFunc
	request *sessionpb.SubscribeRequest
	moved   *primitives.Notice // the session got another link

	link   *link
	stream Stream[*sessionpb.SubscriptionFrame]
	opened bool // a node acknowledged it once
	over   bool // Ended was delivered
}

// Subscribe opens a subscription from its CREATE SUBSCRIPTION statement. The
// first frame is Opened.
func (s *Session) Subscribe(ctx context.Context, statement string, format sessionpb.RowFormat) (Stream[*sessionpb.SubscriptionFrame], error) {
	life, cancel := primitives.WithCancel(ctx, s.world)
	r := &RowStream{
		session: s, ctx: life, cancel: cancel, moved: primitives.NewNotice(s.world),
		request: &sessionpb.SubscribeRequest{Domain: s.domain, Statement: statement, Format: format},
	}
	if err := s.lock.Lock(ctx); err != nil {
		cancel()
		return nil, err
	}
	s.streams[r] = true
	s.lock.Unlock()
	if err := r.subscribe(); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// subscribe asks the node that serves the session now.
func (r *RowStream) subscribe() error {
	r.link = r.session.link.Load()
	r.request.SessionId = r.link.welcome.GetSessionId()
	stream, err := r.link.transport.Subscribe(r.ctx, r.request)
	if err != nil {
		return err
	}
	r.stream = stream
	return nil
}

// Recv implements Stream.
func (r *RowStream) Recv() (*sessionpb.SubscriptionFrame, error) {
	frame, err := r.stream.Recv()
	for err != nil && r.lost(err) {
		frame, err = r.restore(err)
	}
	switch {
	case frame.GetOpened() != nil:
		r.opened = true
	case frame.GetEnded() != nil:
		r.over = true
	}
	return frame, err
}

// lost says whether an error is the end of a link, and not of the subscription.
func (r *RowStream) lost(err error) bool {
	switch {
	case !r.opened, r.over, errors.Is(err, io.EOF), r.ctx.Err() != nil, r.session.closed.Load():
		return false
	}
	return gone(err)
}

// gone says whether the node behind a link serves the session no longer.
func gone(err error) bool {
	var answered *Error
	return !errors.As(err, &answered) || answered.Code == Unavailable || answered.Code == NotFound
}

// restore subscribes again, on the session's newer link or on one it makes, until
// a node takes it.
func (r *RowStream) restore(cause error) (*sessionpb.SubscriptionFrame, error) {
	r.report(cause)
	s := r.session
	for pause := restoreMin; ; pause = min(2*pause, restoreMax) {
		err := r.stream.Close()
		if l := s.link.Load(); l == r.link && gone(cause) {
			err = s.relink(r.ctx, l)
		}
		var frame *sessionpb.SubscriptionFrame
		if err == nil {
			err = r.subscribe()
		}
		if err == nil {
			frame, err = r.stream.Recv()
		}
		if err == nil || r.ctx.Err() != nil || s.closed.Load() {
			return frame, err
		}
		var was, is *Error
		if errors.As(err, &is) && (!errors.As(cause, &was) || *was != *is) {
			r.report(err) // a refusal is news, one more attempt in vain is not
		}
		cause = err
		retry := primitives.AtCase(s.world, s.world.Clock().Now().Add(pause))
		if _, err := primitives.Select(r.ctx, s.world, r.moved.OnRaise(), retry); err != nil {
			return nil, err
		}
	}
}

// report tells the user of the session that rows are missing.
func (r *RowStream) report(cause error) {
	if r.session.options.Notify == nil {
		return
	}
	notice := &sessionpb.Notice{Level: "warning", Source: "subscription", Text: "rows may be missing until the subscription is restored: " + cause.Error()}
	r.session.options.Notify(&sessionpb.Event{Body: &sessionpb.Event_Notice{Notice: notice}})
}

// Close implements Stream: it ends the subscription.
func (r *RowStream) Close() error {
	r.cancel()
	// The wait is short and must not be skipped.
	_ = r.session.lock.Lock(context.Background())
	delete(r.session.streams, r)
	r.session.lock.Unlock()
	if r.stream == nil {
		return nil
	}
	return r.stream.Close()
}

// Unsubscribe ends a subscription by its DELETE SUBSCRIPTION statement.
func (s *Session) Unsubscribe(ctx context.Context, statement string) (string, error) {
	l := s.link.Load()
	reply, err := l.transport.Unsubscribe(ctx, &sessionpb.UnsubscribeRequest{SessionId: l.welcome.GetSessionId(), Statement: statement})
	return reply.GetText(), err
}
