package http

import (
	"context"
	"errors"
	"net/http"
	"net/netip"

	"connectrpc.com/connect"

	"plexus/engine/catalog"
	"plexus/engine/session"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
	"plexus/real/http/sessionclient"
)

// sessionRequestBytesMax bounds one request of a session.
const sessionRequestBytesMax = 4 << 20

// Sessions is the transport-neutral session service.
type Sessions interface {
	Authenticate(ctx context.Context, authorization string) (*catalog.User, error)
	Open(ctx context.Context, user *catalog.User, r *sessionpb.OpenRequest, send func(*sessionpb.Event) error) error
	Execute(ctx context.Context, user *catalog.User, r *sessionpb.ExecuteRequest) (*sessionpb.ExecuteReply, error)
	Attach(ctx context.Context, user *catalog.User, r *sessionpb.AttachRequest) (*sessionpb.AttachReply, error)
	Inspect(ctx context.Context, user *catalog.User, r *sessionpb.InspectRequest) (*sessionpb.InspectReply, error)
	Suggest(ctx context.Context, user *catalog.User, r *sessionpb.SuggestRequest) (*sessionpb.SuggestReply, error)
	Choices(ctx context.Context, user *catalog.User, r *sessionpb.ChoicesRequest) (*sessionpb.ChoicesReply, error)
	Close(ctx context.Context, user *catalog.User, r *sessionpb.CloseRequest) (*sessionpb.CloseReply, error)
	Subscribe(ctx context.Context, user *catalog.User, r *sessionpb.SubscribeRequest, send func(*sessionpb.SubscriptionFrame) error) error
	Unsubscribe(ctx context.Context, user *catalog.User, r *sessionpb.UnsubscribeRequest) (*sessionpb.UnsubscribeReply, error)
}

// SessionServer serves sessions by Connect, over HTTP/1.1 and HTTP/2 without TLS.
// The service must have been stopped before Close, so that its sessions end by
// themselves.
type SessionServer struct {
	listener
	sessions Sessions
}

// NewSessionServer returns a server for an address; port 0 picks a free one.
func NewSessionServer(w primitives.World, addr netip.AddrPort, sessions Sessions) *SessionServer {
	return &SessionServer{listener{world: w, addr: addr}, sessions}
}

// Start listens and serves.
func (s *SessionServer) Start() error {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	return s.serve(&http.Server{Handler: s.authenticated(s.procedures()), Protocols: protocols})
}

// userKey carries the authenticated user to the procedures.
type userKey struct{}

func userOf(ctx context.Context) *catalog.User { return ctx.Value(userKey{}).(*catalog.User) }

// authenticated checks the credentials of every call before its body is read.
func (s *SessionServer) authenticated(next http.Handler) http.Handler {
	refusals := connect.NewErrorWriter()
	return http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		user, err := s.sessions.Authenticate(in.Context(), in.Header.Get("Authorization"))
		if err == nil {
			next.ServeHTTP(out, in.WithContext(context.WithValue(in.Context(), userKey{}, user)))
			return
		}
		refused := wireError(err)
		if connect.CodeOf(refused) == connect.CodeUnauthenticated {
			out.Header().Set("WWW-Authenticate", `Basic realm="plexus", charset="UTF-8"`)
		}
		if !refusals.IsSupported(in) {
			status := http.StatusServiceUnavailable
			if connect.CodeOf(refused) == connect.CodeUnauthenticated {
				status = http.StatusUnauthorized
			}
			writeText(out, status, refused.Message()+"\n")
			return
		}
		if err := refusals.Write(out, in, refused); err != nil {
			s.world.Log().Debug("a refusal did not reach the client", "error", err)
		}
	})
}

func (s *SessionServer) procedures() http.Handler {
	mux := http.NewServeMux()
	options := []connect.HandlerOption{connect.WithReadMaxBytes(sessionRequestBytesMax), connect.WithSendMaxBytes(sessionclient.ReplyBytesMax)}
	streaming(mux, "Open", options, s.sessions.Open)
	streaming(mux, "Subscribe", options, s.sessions.Subscribe)
	unary(mux, "Execute", options, s.sessions.Execute)
	unary(mux, "Attach", options, s.sessions.Attach)
	unary(mux, "Inspect", options, s.sessions.Inspect)
	unary(mux, "Suggest", options, s.sessions.Suggest)
	unary(mux, "Choices", options, s.sessions.Choices)
	unary(mux, "Close", options, s.sessions.Close)
	unary(mux, "Unsubscribe", options, s.sessions.Unsubscribe)
	return mux
}

func unary[Req, Res any](mux *http.ServeMux, name string, options []connect.HandlerOption,
	call func(context.Context, *catalog.User, *Req) (*Res, error),
) {
	mux.Handle(sessionclient.Path+name, connect.NewUnaryHandler(sessionclient.Path+name,
		func(ctx context.Context, r *connect.Request[Req]) (*connect.Response[Res], error) {
			reply, err := call(ctx, userOf(ctx), r.Msg)
			if err != nil {
				return nil, wireError(err)
			}
			return connect.NewResponse(reply), nil
		}, options...))
}

func streaming[Req, Res any](mux *http.ServeMux, name string, options []connect.HandlerOption,
	call func(context.Context, *catalog.User, *Req, func(*Res) error) error,
) {
	mux.Handle(sessionclient.Path+name, connect.NewServerStreamHandler(sessionclient.Path+name,
		func(ctx context.Context, r *connect.Request[Req], out *connect.ServerStream[Res]) error {
			if err := call(ctx, userOf(ctx), r.Msg, out.Send); err != nil {
				return wireError(err)
			}
			return nil
		}, options...))
}

// wireError turns an error of the service into one of the binding.
func wireError(err error) *connect.Error {
	code, message := session.CodeOf(err)
	return connect.NewError(sessionclient.ConnectCode(code), errors.New(message))
}

var _ Sessions = (*session.Service)(nil)
