package session

import (
	"context"

	"plexus/engine/catalog"
	"plexus/engine/session/sessionpb"
	"plexus/nspl/ast"
)

// Attach binds the session to an open transaction of its user.
func (s *Service) Attach(ctx context.Context, user *catalog.User, r *sessionpb.AttachRequest) (*sessionpb.AttachReply, error) {
	if _, err := s.find(ctx, user, r.GetSessionId()); err != nil {
		return nil, err
	}
	failed := failedIn("", "", ast.Diagnostics{{Code: codeTxState, Message: "transaction " + r.GetTransaction() + " is unknown"}})
	return &sessionpb.AttachReply{Disposition: failed.GetDisposition(), Diagnostics: failed.GetDiagnostics(), Text: failed.GetText()}, nil
}
