package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/nspl/parse"
	"plexus/primitives"
)

// Request is one request under its execution reference.
type Request struct {
	Reference  string
	Statements string
	// Preview makes a COMMIT conditional: it is refused when the transaction would
	// do something else by now.
	Preview *sessionpb.PreviewId
}

// Execute runs one statement, or a transaction from BEGIN to COMMIT or REVERT. A
// reply that says FAILED is no error of Execute.
func (s *Session) Execute(ctx context.Context, text string) (*sessionpb.ExecuteReply, error) {
	return s.ExecuteAs(ctx, s.NewReference(), text)
}

// NewReference draws an execution reference.
func (s *Session) NewReference() string {
	return primitives.NewUUIDv7(s.world.Entropy(), s.world.Clock().Wall()).String()
}

// ExecuteAs is Execute under a given reference. While the outcome is unknown it
// asks again, with growing pauses, until the call's time is over.
func (s *Session) ExecuteAs(ctx context.Context, reference, text string) (*sessionpb.ExecuteReply, error) {
	return s.Do(ctx, Request{Reference: reference, Statements: text})
}

// Do runs a request.
func (s *Session) Do(ctx context.Context, r Request) (*sessionpb.ExecuteReply, error) {
	call, cancel := primitives.WithDeadline(ctx, s.world, s.world.Clock().Now().Add(s.options.CallTimeout))
	defer cancel()
	x := execution{s: s, request: r}
	for x.pause = backoffMin; ; {
		reply, err := x.once(call)
		if reply != nil || err != nil {
			return reply, err
		}
	}
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

// execution is one request on its way to an answer.
type execution struct {
	s       *Session
	request Request
	pause   time.Duration
	hops    int
	sent    bool // a node may have admitted it
}

// once asks one node. It returns neither reply nor error when the request is to
// be sent again.
func (x *execution) once(ctx context.Context) (*sessionpb.ExecuteReply, error) {
	s, l := x.s, x.s.link.Load()
	r := &sessionpb.ExecuteRequest{
		SessionId: l.welcome.GetSessionId(), Statements: x.request.Statements, ExecutionReference: x.request.Reference,
		Domain: s.domain, ExpectedPreview: x.request.Preview,
	}
	if s.tx.id != "" {
		r.ExpectedPosition = &s.tx.position
	}
	reply, err := s.attempt(ctx, l, r)
	switch {
	case err == nil:
		return x.answered(ctx, l, reply)
	case refusedForGood(err):
		return nil, err
	}
	x.sent = x.sent || !untaken(err)
	return nil, x.reopen(ctx, l, err)
}

// refusedForGood reports whether a node refused a call that no node will take. A
// session that its node does not know can be opened again, and what is
// unavailable can become available.
func refusedForGood(err error) bool {
	var answered *Error
	return errors.As(err, &answered) && answered.Code != NotFound && answered.Code != Unavailable
}

// untaken reports whether an error proves that no node took the request.
func untaken(err error) bool {
	var answered *Error
	return errors.As(err, &answered) || errors.Is(err, ErrNotConnected)
}

// answered takes a reply apart.
func (x *execution) answered(ctx context.Context, l *link, reply *sessionpb.ExecuteReply) (*sessionpb.ExecuteReply, error) {
	s := x.s
	switch reply.GetDisposition() {
	case sessionpb.Disposition_UNKNOWN:
		x.sent = true
		return nil, x.wait(ctx, fmt.Errorf("%w: %s", ErrOutcomeUnknown, reply.GetDetail()))
	case sessionpb.Disposition_REDIRECT:
		return nil, x.redirected(ctx, l, reply.GetRedirect())
	case sessionpb.Disposition_DETACHED:
		return x.attach(ctx, l)
	case sessionpb.Disposition_COMPLETED:
		s.selectDomain(x.request.Statements)
	}
	s.note(reply.GetTransaction())
	return reply, nil
}

// note keeps what the node says of the session's transaction.
func (s *Session) note(t *sessionpb.TransactionStatus) {
	if t == nil {
		return // the node does not know of it
	}
	s.tx = transaction{}
	if t.GetState() == sessionpb.TransactionStatus_OPEN {
		s.tx = transaction{id: t.GetId(), position: t.GetPending()}
	}
}

// redirected goes to the leader, if it is known, or waits until one is.
func (x *execution) redirected(ctx context.Context, l *link, to *sessionpb.Redirect) error {
	server := to.GetClientUrl()
	if server == "" || server == l.server || x.hops >= hopsMax {
		x.hops = 0
		return x.reopen(ctx, l, ErrNoLeader)
	}
	x.hops++
	if err := x.s.relink(ctx, l, server); err != nil {
		return x.reopen(ctx, l, err)
	}
	return nil
}

// reopen waits and then has the session live somewhere: where it is, if that node
// still holds it, else wherever it is welcome.
func (x *execution) reopen(ctx context.Context, l *link, cause error) error {
	if err := x.wait(ctx, cause); err != nil {
		return err
	}
	waiting := errors.Is(cause, ErrNoLeader) || errors.Is(cause, &Error{Code: Unavailable})
	if waiting && l.ended.Load() == nil {
		return nil
	}
	switch err := x.s.relink(ctx, l); {
	case err == nil:
	case refusedForGood(err) && !errors.Is(err, &Error{Code: ResourceExhausted}):
		return x.unknown(err)
	case ctx.Err() != nil:
		return x.unknown(errors.Join(cause, ctx.Err()))
	}
	return nil
}

// wait pauses before the next attempt, or ends the call when its time is over.
func (x *execution) wait(ctx context.Context, cause error) error {
	if err := primitives.Sleep(ctx, x.s.world, x.pause); err != nil {
		return x.unknown(errors.Join(cause, err))
	}
	x.pause = min(2*x.pause, backoffMax)
	return nil
}

// unknown is the end of a call without an answer.
func (x *execution) unknown(err error) error {
	if x.sent {
		return &UnknownError{Reference: x.request.Reference, Err: err}
	}
	return err
}

// attach binds the session to its transaction on a node that does not know of the
// two. A transaction that cannot be had any more is the request's failure: it was
// not executed, or else its reference would have been answered.
func (x *execution) attach(ctx context.Context, l *link) (*sessionpb.ExecuteReply, error) {
	s := x.s
	if s.tx.id == "" {
		return nil, x.wait(ctx, ErrNoLeader)
	}
	reply, err := l.transport.Attach(ctx, &sessionpb.AttachRequest{SessionId: l.welcome.GetSessionId(), Transaction: s.tx.id})
	if err != nil {
		return nil, x.reopen(ctx, l, err)
	}
	switch reply.GetDisposition() {
	case sessionpb.Disposition_COMPLETED:
		return nil, nil
	case sessionpb.Disposition_FAILED:
		s.tx = transaction{}
		return &sessionpb.ExecuteReply{
			ExecutionReference: x.request.Reference, Origin: sessionpb.Origin_EXECUTED, Disposition: sessionpb.Disposition_FAILED,
			Text: reply.GetText(), Diagnostics: reply.GetDiagnostics(), Transaction: reply.GetTransaction(),
		}, nil
	case sessionpb.Disposition_REDIRECT:
		return nil, x.redirected(ctx, l, reply.GetRedirect())
	}
	return nil, x.wait(ctx, ErrOutcomeUnknown)
}

// Attach binds the session to an open transaction of its user, from whichever
// session holds it.
func (s *Session) Attach(ctx context.Context, id string) (*sessionpb.AttachReply, error) {
	call, cancel := primitives.WithDeadline(ctx, s.world, s.world.Clock().Now().Add(s.options.CallTimeout))
	defer cancel()
	x := execution{s: s}
	for x.pause = backoffMin; ; {
		l := s.link.Load()
		reply, err := l.transport.Attach(call, &sessionpb.AttachRequest{SessionId: l.welcome.GetSessionId(), Transaction: id})
		switch {
		case err == nil && reply.GetDisposition() == sessionpb.Disposition_REDIRECT:
			err = x.redirected(call, l, reply.GetRedirect())
		case err == nil && reply.GetDisposition() == sessionpb.Disposition_UNKNOWN:
			err = x.wait(call, ErrOutcomeUnknown)
		case err == nil:
			s.note(reply.GetTransaction())
			return reply, nil
		case refusedForGood(err):
			return nil, err
		default:
			err = x.reopen(call, l, err)
		}
		if err != nil {
			return nil, err
		}
	}
}

// Probing of a server that takes long to answer: a command may take minutes, but
// a node that does not even answer questions is not worth waiting for.
const (
	probeEvery   = 10 * time.Second
	probeTimeout = 10 * time.Second
)

// attempt sends a request and gives it up when its server has gone silent.
func (s *Session) attempt(ctx context.Context, l *link, r *sessionpb.ExecuteRequest) (*sessionpb.ExecuteReply, error) {
	call, cancel := primitives.WithCancel(ctx, s.world)
	defer cancel()
	probes := primitives.NewGroup(call, s.world)
	silent := false
	probes.Go("server probe", func(ctx context.Context) error {
		for primitives.Sleep(ctx, s.world, probeEvery) == nil {
			probe, end := primitives.WithDeadline(ctx, s.world, s.world.Clock().Now().Add(probeTimeout))
			_, err := l.transport.Inspect(probe, &sessionpb.InspectRequest{SessionId: r.GetSessionId()})
			end()
			if err != nil && ctx.Err() == nil && !errors.As(err, new(*Error)) {
				silent = true
				cancel()
			}
		}
		return nil
	})
	reply, err := l.transport.Execute(call, r)
	cancel()
	_ = probes.Wait(context.Background()) // ended by the line above
	if err != nil && silent && ctx.Err() == nil {
		err = fmt.Errorf("%s: %w", l.server, errSilent)
	}
	return reply, err
}
