package sessionclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"

	"connectrpc.com/connect"

	"plexus/engine/client"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
	"plexus/primitives/dial"
)

// Path is where the procedures of the session protocol are.
const Path = "/plexus.session.v1.Session/"

const (
	// connectTime bounds reaching one server.
	connectTime = 10 * time.Second
	// ReplyBytesMax bounds one reply.
	ReplyBytesMax = 64 << 20
)

// codes maps the codes of the session protocol to those of Connect.
var codes = []struct {
	session string
	connect connect.Code
}{
	{client.Unauthenticated, connect.CodeUnauthenticated},
	{client.InvalidArgument, connect.CodeInvalidArgument},
	{client.NotFound, connect.CodeNotFound},
	{client.ResourceExhausted, connect.CodeResourceExhausted},
	{client.Unavailable, connect.CodeUnavailable},
	{client.ReplyTooLarge, connect.CodeOutOfRange},
	{client.Internal, connect.CodeInternal},
}

// ConnectCode returns the code of Connect for one of the session protocol.
func ConnectCode(code string) connect.Code {
	for _, c := range codes {
		if c.session == code {
			return c.connect
		}
	}
	return connect.CodeInternal
}

// sessionCode is the inverse of ConnectCode.
func sessionCode(code connect.Code) string {
	for _, c := range codes {
		if c.connect == code {
			return c.session
		}
	}
	return client.Internal
}

// transport is the procedures of one server.
type transport struct {
	url         string
	open        *connect.Client[sessionpb.OpenRequest, sessionpb.Event]
	subscribe   *connect.Client[sessionpb.SubscribeRequest, sessionpb.SubscriptionFrame]
	execute     *connect.Client[sessionpb.ExecuteRequest, sessionpb.ExecuteReply]
	inspect     *connect.Client[sessionpb.InspectRequest, sessionpb.InspectReply]
	attach      *connect.Client[sessionpb.AttachRequest, sessionpb.AttachReply]
	suggest     *connect.Client[sessionpb.SuggestRequest, sessionpb.SuggestReply]
	choices     *connect.Client[sessionpb.ChoicesRequest, sessionpb.ChoicesReply]
	close       *connect.Client[sessionpb.CloseRequest, sessionpb.CloseReply]
	unsubscribe *connect.Client[sessionpb.UnsubscribeRequest, sessionpb.UnsubscribeReply]
}

// New returns the dialer of nodes' client listeners.
func New(w primitives.World, user, password string) client.Dialer {
	web := &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, address string) (net.Conn, error) { return dialServer(ctx, w, address) },
		MaxIdleConnsPerHost: 4,
		DisableCompression:  true,
	}}
	options := []connect.ClientOption{
		connect.WithReadMaxBytes(ReplyBytesMax),
		connect.WithInterceptors(authorization(client.BasicAuthorization(user, password))),
	}
	return func(server string) (client.Transport, error) {
		host, port, err := client.SplitServer(server)
		if err != nil {
			return nil, err
		}
		base := "http://" + net.JoinHostPort(host, strconv.Itoa(int(port))) + Path
		return &transport{
			url:         server,
			open:        connect.NewClient[sessionpb.OpenRequest, sessionpb.Event](web, base+"Open", options...),
			subscribe:   connect.NewClient[sessionpb.SubscribeRequest, sessionpb.SubscriptionFrame](web, base+"Subscribe", options...),
			execute:     connect.NewClient[sessionpb.ExecuteRequest, sessionpb.ExecuteReply](web, base+"Execute", options...),
			inspect:     connect.NewClient[sessionpb.InspectRequest, sessionpb.InspectReply](web, base+"Inspect", options...),
			attach:      connect.NewClient[sessionpb.AttachRequest, sessionpb.AttachReply](web, base+"Attach", options...),
			suggest:     connect.NewClient[sessionpb.SuggestRequest, sessionpb.SuggestReply](web, base+"Suggest", options...),
			choices:     connect.NewClient[sessionpb.ChoicesRequest, sessionpb.ChoicesReply](web, base+"Choices", options...),
			close:       connect.NewClient[sessionpb.CloseRequest, sessionpb.CloseReply](web, base+"Close", options...),
			unsubscribe: connect.NewClient[sessionpb.UnsubscribeRequest, sessionpb.UnsubscribeReply](web, base+"Unsubscribe", options...),
		}, nil
	}
}

// dialServer connects through the World. What fails here was not sent.
func dialServer(ctx context.Context, w primitives.World, address string) (net.Conn, error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", client.ErrNotConnected, err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", client.ErrNotConnected, err)
	}
	conn, err := dial.Dial(ctx, w, host, uint16(port), w.Clock().Now().Add(connectTime))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", client.ErrNotConnected, err)
	}
	return conn, nil
}

// authorization sets the credentials of every call.
type authorization string

func (a authorization) WrapUnary(next connect.UnaryFunc) connect.UnaryFunc {
	return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
		r.Header().Set("Authorization", string(a))
		return next(ctx, r)
	}
}

func (a authorization) WrapStreamingClient(next connect.StreamingClientFunc) connect.StreamingClientFunc {
	return func(ctx context.Context, spec connect.Spec) connect.StreamingClientConn {
		conn := next(ctx, spec)
		conn.RequestHeader().Set("Authorization", string(a))
		return conn
	}
}

func (a authorization) WrapStreamingHandler(next connect.StreamingHandlerFunc) connect.StreamingHandlerFunc {
	return next
}

// callError tells an answer of the node from a node that may not have been
// reached.
func callError(ctx context.Context, server string, err error) error {
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, client.ErrNotConnected):
		return fmt.Errorf("%s: %w", server, notConnected(err))
	}
	var refused *connect.Error
	answered := errors.As(err, &refused)
	switch wire := connect.IsWireError(err); {
	case answered && !wire && refused.Code() == connect.CodeUnimplemented:
		return fmt.Errorf("%s: what answers is not the client port of a node, which is 47391 unless --client-listen says otherwise: %w", server, err)
	case !answered || !wire:
		return fmt.Errorf("%s: %w", server, err)
	}
	return &client.Error{Code: sessionCode(refused.Code()), Message: refused.Message()}
}

// notConnected drops the layers above the dialler's own error: they repeat the
// address and the method.
func notConnected(err error) error {
	var network *net.OpError
	var binding *connect.Error
	switch {
	case errors.As(err, &network):
		return fmt.Errorf("%w: %w", client.ErrNotConnected, network.Err)
	case errors.As(err, &binding):
		return binding.Unwrap()
	}
	return err
}

// Open implements client.Transport. A stream shows that its server cannot be
// reached when its first message is asked for, so Open asks.
func (c *transport) Open(ctx context.Context, r *sessionpb.OpenRequest) (client.Stream[*sessionpb.Event], error) {
	events, err := stream(ctx, c.url, c.open, r)
	if err == nil {
		events.first, err = events.Recv()
	}
	if err != nil {
		return nil, err
	}
	return events, nil
}

// Subscribe implements client.Transport.
func (c *transport) Subscribe(ctx context.Context, r *sessionpb.SubscribeRequest) (client.Stream[*sessionpb.SubscriptionFrame], error) {
	frames, err := stream(ctx, c.url, c.subscribe, r)
	if err != nil {
		return nil, err
	}
	return frames, nil
}

// Execute implements client.Transport.
func (c *transport) Execute(ctx context.Context, r *sessionpb.ExecuteRequest) (*sessionpb.ExecuteReply, error) {
	return call(ctx, c.url, c.execute, r)
}

// Attach implements client.Transport.
func (c *transport) Attach(ctx context.Context, r *sessionpb.AttachRequest) (*sessionpb.AttachReply, error) {
	return call(ctx, c.url, c.attach, r)
}

// Inspect implements client.Transport.
func (c *transport) Inspect(ctx context.Context, r *sessionpb.InspectRequest) (*sessionpb.InspectReply, error) {
	return call(ctx, c.url, c.inspect, r)
}

// Suggest implements client.Transport.
func (c *transport) Suggest(ctx context.Context, r *sessionpb.SuggestRequest) (*sessionpb.SuggestReply, error) {
	return call(ctx, c.url, c.suggest, r)
}

// Choices implements client.Transport.
func (c *transport) Choices(ctx context.Context, r *sessionpb.ChoicesRequest) (*sessionpb.ChoicesReply, error) {
	return call(ctx, c.url, c.choices, r)
}

// Close implements client.Transport.
func (c *transport) Close(ctx context.Context, r *sessionpb.CloseRequest) (*sessionpb.CloseReply, error) {
	return call(ctx, c.url, c.close, r)
}

// Unsubscribe implements client.Transport.
func (c *transport) Unsubscribe(ctx context.Context, r *sessionpb.UnsubscribeRequest) (*sessionpb.UnsubscribeReply, error) {
	return call(ctx, c.url, c.unsubscribe, r)
}

func call[Req, Res any](ctx context.Context, server string, c *connect.Client[Req, Res], r *Req) (*Res, error) {
	reply, err := c.CallUnary(ctx, connect.NewRequest(r))
	if err != nil {
		return nil, callError(ctx, server, err)
	}
	return reply.Msg, nil
}

func stream[Req, Res any](ctx context.Context, server string, c *connect.Client[Req, Res], r *Req) (*streamOf[Res], error) {
	ctx, cancel := context.WithCancel(ctx)
	open, err := c.CallServerStream(ctx, connect.NewRequest(r))
	if err != nil {
		err = callError(ctx, server, err)
		cancel()
		return nil, err
	}
	return &streamOf[Res]{ctx: ctx, cancel: cancel, server: server, open: open}, nil
}

// streamOf reads the messages of one streaming call.
type streamOf[Res any] struct {
	ctx    context.Context
	cancel context.CancelFunc
	server string
	open   *connect.ServerStreamForClient[Res]
	first  *Res // received already
}

// Recv implements client.Stream.
func (s *streamOf[Res]) Recv() (*Res, error) {
	if first := s.first; first != nil {
		s.first = nil
		return first, nil
	}
	if s.open.Receive() {
		return s.open.Msg(), nil
	}
	if err := s.open.Err(); err != nil {
		return nil, callError(s.ctx, s.server, err)
	}
	if err := s.ctx.Err(); err != nil {
		return nil, err
	}
	return nil, io.EOF
}

// Close implements client.Stream: it cancels the call.
func (s *streamOf[Res]) Close() error {
	s.cancel()
	s.open.Close() // what the connection says about its end tells nobody anything
	return nil
}

var _ client.Transport = (*transport)(nil)
