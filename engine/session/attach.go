package session

import (
	"context"
	"errors"
	"fmt"

	"plexus/engine/catalog"
	"plexus/engine/catalog/catalogpb"
	"plexus/engine/client"
	"plexus/engine/control"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
	"plexus/primitives"
)

// bind makes a session the one that a transaction belongs to, from whichever
// session it belonged to.
func (s *Service) bind(ctx context.Context, t *tenure, x *session, id primitives.UUID) error {
	if err := s.lock.Lock(ctx); err != nil {
		return err
	}
	defer s.lock.Unlock()
	if s.tenure != t || s.sessions[x.id] != x {
		return nil // it is unbound, and its next request is told so
	}
	if other := t.holder[id]; other != nil && other != x {
		takenOver.Hit()
		other.displaced.Store(true)
		delete(t.bound, other)
	}
	if old, ok := t.bound[x]; ok {
		delete(t.holder, old)
	}
	t.bound[x], t.holder[id] = id, x
	x.displaced.Store(false)
	return nil
}

// unbind frees a session of its transaction.
func (s *Service) unbind(ctx context.Context, x *session) error {
	if err := s.lock.Lock(ctx); err != nil {
		return err
	}
	s.release(x)
	s.lock.Unlock()
	return nil
}

// release is unbind under the lock.
func (s *Service) release(x *session) (held primitives.UUID) {
	if s.tenure == nil {
		return held
	}
	held = s.tenure.bound[x]
	delete(s.tenure.bound, x)
	delete(s.tenure.holder, held)
	return held
}

// boundTo returns the transaction that a session holds, zero for none.
func (s *Service) boundTo(ctx context.Context, x *session) (id primitives.UUID, err error) {
	if err := s.lock.Lock(ctx); err != nil {
		return id, err
	}
	defer s.lock.Unlock()
	if s.tenure == nil {
		return id, nil
	}
	return s.tenure.bound[x], nil
}

// displaced tells a session once that another one took its transaction over.
func (s *Service) displaced(x *session) bool { return x.displaced.Swap(false) }

// tellTransaction adds what is known of the session's transaction. A node that does
// not hold what the client speaks of says nothing.
func (s *Service) tellTransaction(ctx context.Context, q *request, reply *sessionpb.ExecuteReply) error {
	if reply.Transaction != nil {
		return nil
	}
	held, err := s.boundTo(ctx, q.session)
	if err != nil {
		return err
	}
	if held == (primitives.UUID{}) {
		if q.position == 0 {
			reply.Transaction = &sessionpb.TransactionStatus{}
		}
		return nil
	}
	if x, ok := s.deps.Group.State().Transaction(held); ok {
		reply.Transaction = s.statusOf(x)
	}
	return nil
}

func (s *Service) statusOf(x *catalog.Transaction) *sessionpb.TransactionStatus {
	status := &sessionpb.TransactionStatus{
		State: transactionStates[x.State], Domain: x.Domain, Pending: x.Operations, Id: x.ID.String(),
	}
	if x.State == catalog.Open {
		status.Preview = s.preview(x.ID, x.Domain, x.Operations)
	}
	return status
}

var transactionStates = [...]sessionpb.TransactionStatus_State{
	catalog.Open: sessionpb.TransactionStatus_OPEN, catalog.Committing: sessionpb.TransactionStatus_COMMITTING,
	catalog.Committed: sessionpb.TransactionStatus_COMMITTED, catalog.Reverted: sessionpb.TransactionStatus_REVERTED,
	catalog.Failed: sessionpb.TransactionStatus_FAILED, catalog.Expired: sessionpb.TransactionStatus_EXPIRED,
}

// Attach binds the session to an open transaction of its user. The session that
// held it is told with its next request.
func (s *Service) Attach(ctx context.Context, user *catalog.User, r *sessionpb.AttachRequest) (*sessionpb.AttachReply, error) {
	if !s.deps.Runtime.Admitted() {
		return nil, refusal(client.Unavailable, "the node has not been admitted yet; retry")
	}
	x, err := s.find(ctx, user, r.GetSessionId())
	if err != nil {
		return nil, err
	}
	leave, err := s.enter(ctx, x)
	if err != nil {
		return nil, err
	}
	defer leave()
	t, err := s.leading(ctx)
	if err != nil {
		return nil, err
	}
	if t == nil {
		reply := s.redirect()
		return &sessionpb.AttachReply{Disposition: reply.GetDisposition(), Redirect: reply.GetRedirect(), Text: reply.GetText()}, nil
	}
	id, err := parseReference(r.GetTransaction())
	if err != nil {
		return nil, refusal(client.InvalidArgument, "transaction: %v", err)
	}
	return s.attach(ctx, t, x, id)
}

// attach proposes that the transaction is used, which is how it is found out
// whether the user may.
func (s *Service) attach(ctx context.Context, t *tenure, x *session, id primitives.UUID) (*sessionpb.AttachReply, error) {
	touch := &catalogpb.Step{Body: &catalogpb.Step_TouchTransaction{TouchTransaction: &catalogpb.TouchTransaction{Id: id[:], Owner: x.user}}}
	result, err := s.deps.Group.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{touch}})
	switch {
	case errors.Is(err, control.ErrNotLeader):
		reply := s.redirect()
		return &sessionpb.AttachReply{Disposition: reply.GetDisposition(), Redirect: reply.GetRedirect(), Text: reply.GetText()}, nil
	case errors.Is(err, control.ErrOutcomeUnknown):
		return &sessionpb.AttachReply{Disposition: sessionpb.Disposition_UNKNOWN, Text: err.Error()}, nil
	case err != nil:
		return nil, refusal(client.Unavailable, "%v", err)
	}
	of, known := s.deps.Group.State().Transaction(id)
	if result.Refused != nil {
		failed := refused(result.Refused)
		reply := &sessionpb.AttachReply{Disposition: failed.GetDisposition(), Diagnostics: failed.GetDiagnostics(), Text: failed.GetText()}
		if known && of.Owner == x.user {
			reply.Transaction = s.statusOf(of)
		}
		return reply, nil
	}
	if err := s.bind(ctx, t, x, id); err != nil {
		return nil, err
	}
	return &sessionpb.AttachReply{
		Disposition: sessionpb.Disposition_COMPLETED, Transaction: s.statusOf(of),
		Text: fmt.Sprintf("attached to transaction %s on domain '%s', %d command(s)", id, of.Domain, of.Operations),
	}, nil
}

// Close ends a session and reverts its open transaction.
func (s *Service) Close(ctx context.Context, user *catalog.User, r *sessionpb.CloseRequest) (*sessionpb.CloseReply, error) {
	x, err := s.find(ctx, user, r.GetSessionId())
	if err != nil {
		return nil, err
	}
	leave, err := s.enter(ctx, x)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.lock.Lock(ctx); err != nil {
		return nil, err
	}
	held := s.release(x)
	s.lock.Unlock()
	reply := &sessionpb.CloseReply{}
	if of, ok := s.deps.Group.State().Transaction(held); ok && of.State == catalog.Open {
		revert := &catalogpb.Step{Body: &catalogpb.Step_RevertTransaction{RevertTransaction: &catalogpb.RevertTransaction{Id: held[:], Owner: x.user}}}
		// One that cannot be reverted now expires.
		if result, err := s.deps.Group.Propose(ctx, &catalogpb.Command{Steps: []*catalogpb.Step{revert}}); err == nil && result.Refused == nil {
			reply.DroppedCommands = of.Operations
		}
	}
	x.ended.Set()
	return reply, nil
}

// holds refuses what a session cannot do while it holds a transaction.
func (s *Service) holds(ctx context.Context, x *session, what string) error {
	held, err := s.boundTo(ctx, x)
	if err != nil || held == (primitives.UUID{}) {
		return err
	}
	return refuseStatement("", ast.Diagnostics{{Code: codeSessionRefused, Message: what + " while the session holds transaction " + held.String()}})
}
