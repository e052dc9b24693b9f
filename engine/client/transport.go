package client

import (
	"context"
	"errors"
	"fmt"

	"plexus/engine/session/sessionpb"
)

// Transport carries calls to a node. Its errors are *Error where the node
// answered, and others where it may not have been reached.
type Transport interface {
	Open(ctx context.Context, r *sessionpb.OpenRequest) (Stream[*sessionpb.Event], error)
	Execute(ctx context.Context, r *sessionpb.ExecuteRequest) (*sessionpb.ExecuteReply, error)
	Attach(ctx context.Context, r *sessionpb.AttachRequest) (*sessionpb.AttachReply, error)
	Inspect(ctx context.Context, r *sessionpb.InspectRequest) (*sessionpb.InspectReply, error)
	Suggest(ctx context.Context, r *sessionpb.SuggestRequest) (*sessionpb.SuggestReply, error)
	Choices(ctx context.Context, r *sessionpb.ChoicesRequest) (*sessionpb.ChoicesReply, error)
	Close(ctx context.Context, r *sessionpb.CloseRequest) (*sessionpb.CloseReply, error)
	Subscribe(ctx context.Context, r *sessionpb.SubscribeRequest) (Stream[*sessionpb.SubscriptionFrame], error)
	Unsubscribe(ctx context.Context, r *sessionpb.UnsubscribeRequest) (*sessionpb.UnsubscribeReply, error)
}

// Dialer returns the transport to the server at a URL of the form
// http://host:port. The transport connects when it is used; an address that
// cannot be one is an [ErrServer].
type Dialer func(server string) (Transport, error)

// ErrServer says that the address of a server cannot be used.
var ErrServer = errors.New("server address")

// Stream is the answers of one call. It ends with io.EOF, and with the
// cancellation of the context it was opened with.
type Stream[T any] interface {
	Recv() (T, error)
	Close() error
}

// The codes of transport errors.
const (
	Unauthenticated   = "unauthenticated"
	InvalidArgument   = "invalid_argument"
	NotFound          = "not_found"
	ResourceExhausted = "resource_exhausted"
	Unavailable       = "unavailable"
	ReplyTooLarge     = "reply_too_large"
	Internal          = "internal"
)

// Error is the answer of a node that did not take the call.
type Error struct{ Code, Message string }

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Is matches errors of the same code.
func (e *Error) Is(target error) bool {
	other, ok := target.(*Error)
	return ok && other.Code == e.Code
}

// ErrNotConnected says that the node was not reached: nothing was sent.
var ErrNotConnected = errors.New("cannot connect")

// ErrNoLeader says that no node is known to lead: nothing was admitted.
var ErrNoLeader = errors.New("no leader is known")

// errSilent says that a server stopped answering while it held a request.
var errSilent = errors.New("the server stopped answering")

// ErrOutcomeUnknown says that a command may have been executed.
var ErrOutcomeUnknown = errors.New("outcome unknown")

// UnknownError names the reference by which the outcome can be asked for later.
type UnknownError struct {
	Reference string
	Err       error
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("outcome unknown; ask again with execution reference %s: %v", e.Reference, e.Err)
}

// Unwrap returns ErrOutcomeUnknown and the cause.
func (e *UnknownError) Unwrap() []error { return []error{ErrOutcomeUnknown, e.Err} }
