package client

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"time"

	"google.golang.org/protobuf/proto"

	"plexus/engine/session/sessionframe"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
	"plexus/primitives/dial"
)

// connectTimeout bounds dialling.
const connectTimeout = 10 * time.Second

// framesTransport speaks sessionframe over the sockets of a World, one connection
// for each call.
type framesTransport struct {
	world         primitives.World
	server        string
	host          string
	port          uint16
	authorization string
}

// Frames returns the dialer of nodes' frame listeners.
func Frames(w primitives.World, user, password string) Dialer {
	authorization := BasicAuthorization(user, password)
	return func(server string) (Transport, error) {
		host, port, err := SplitServer(server)
		if err != nil {
			return nil, err
		}
		return &framesTransport{world: w, server: server, host: host, port: port, authorization: authorization}, nil
	}
}

// SplitServer reads the URL of a server.
func SplitServer(server string) (host string, port uint16, err error) {
	at, err := url.Parse(server)
	if err != nil || at.Scheme != "http" || at.Hostname() == "" || at.Path != "" && at.Path != "/" || at.RawQuery != "" || at.User != nil {
		return "", 0, fmt.Errorf("%w %q: expected http://host:port", ErrServer, server)
	}
	n, err := strconv.ParseUint(at.Port(), 10, 16)
	if err != nil || n == 0 {
		return "", 0, fmt.Errorf("%w %q: expected http://host:port", ErrServer, server)
	}
	return at.Hostname(), uint16(n), nil
}

// BasicAuthorization is the value of the Authorization header.
func BasicAuthorization(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

// call sends a request and returns the stream of its answers.
func (t *framesTransport) call(ctx context.Context, method string, request proto.Message) (*frameStream, error) {
	body, err := proto.Marshal(request)
	if err != nil {
		return nil, fmt.Errorf("encode request: %w", err)
	}
	conn, err := dial.Dial(ctx, t.world, t.host, t.port, t.world.Clock().Now().Add(connectTimeout))
	if err != nil {
		return nil, fmt.Errorf("%w to %s: %w", ErrNotConnected, t.server, err)
	}
	s := &frameStream{ctx: ctx, conn: conn}
	s.stop = primitives.OnCancel(ctx, func() { _ = conn.Close() })
	call := &sessionpb.Call{Method: method, Authorization: t.authorization, Request: body}
	if err := sessionframe.Write(conn, sessionframe.Call, call); err != nil {
		return nil, errors.Join(s.failed(err), s.Close())
	}
	return s, nil
}

// frameStream reads the answers of one call.
type frameStream struct {
	ctx  context.Context
	conn primitives.Conn
	stop func() bool
}

func (s *frameStream) failed(err error) error {
	if ctxErr := s.ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	return err
}

// next returns the body of the next answer; io.EOF after the last.
func (s *frameStream) next() ([]byte, error) {
	kind, body, err := sessionframe.Read(s.conn, sessionframe.BytesMax)
	switch {
	case errors.Is(err, io.EOF):
		return nil, s.failed(io.ErrUnexpectedEOF)
	case err != nil:
		return nil, s.failed(err)
	case kind == sessionframe.Reply:
		return body, nil
	case kind != sessionframe.End:
		return nil, fmt.Errorf("%w: a call from the server", sessionframe.ErrFrame)
	}
	end := new(sessionpb.End)
	if err := proto.Unmarshal(body, end); err != nil {
		return nil, fmt.Errorf("%w: %w", sessionframe.ErrFrame, err)
	}
	if end.GetCode() != "" {
		return nil, &Error{Code: end.GetCode(), Message: end.GetMessage()}
	}
	return nil, io.EOF
}

// Close gives the connection up, which cancels a call that still runs.
func (s *frameStream) Close() error {
	s.stop()
	if err := s.conn.Close(); !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func (t *framesTransport) unary(ctx context.Context, method string, request, reply proto.Message) error {
	s, err := t.call(ctx, method, request)
	if err != nil {
		return err
	}
	body, err := s.next()
	if errors.Is(err, io.EOF) {
		err = fmt.Errorf("%w: an end without a reply", sessionframe.ErrFrame)
	}
	if closeErr := s.Close(); err != nil {
		return errors.Join(err, closeErr)
	}
	if err := proto.Unmarshal(body, reply); err != nil {
		return fmt.Errorf("%w: %w", sessionframe.ErrFrame, err)
	}
	return nil
}

// typedStream decodes the answers of a stream.
type typedStream[T proto.Message] struct {
	*frameStream
	empty T
}

func (s *typedStream[T]) Recv() (T, error) {
	body, err := s.next()
	if err != nil {
		return s.empty, err
	}
	m := s.empty.ProtoReflect().New().Interface().(T)
	if err := proto.Unmarshal(body, m); err != nil {
		return s.empty, fmt.Errorf("%w: %w", sessionframe.ErrFrame, err)
	}
	return m, nil
}

func (t *framesTransport) Open(ctx context.Context, r *sessionpb.OpenRequest) (Stream[*sessionpb.Event], error) {
	s, err := t.call(ctx, "Open", r)
	if err != nil {
		return nil, err
	}
	return &typedStream[*sessionpb.Event]{frameStream: s}, nil
}

func (t *framesTransport) Subscribe(ctx context.Context, r *sessionpb.SubscribeRequest) (Stream[*sessionpb.SubscriptionFrame], error) {
	s, err := t.call(ctx, "Subscribe", r)
	if err != nil {
		return nil, err
	}
	return &typedStream[*sessionpb.SubscriptionFrame]{frameStream: s}, nil
}

func (t *framesTransport) Execute(ctx context.Context, r *sessionpb.ExecuteRequest) (*sessionpb.ExecuteReply, error) {
	reply := new(sessionpb.ExecuteReply)
	return reply, t.unary(ctx, "Execute", r, reply)
}

func (t *framesTransport) Attach(ctx context.Context, r *sessionpb.AttachRequest) (*sessionpb.AttachReply, error) {
	reply := new(sessionpb.AttachReply)
	return reply, t.unary(ctx, "Attach", r, reply)
}

func (t *framesTransport) Inspect(ctx context.Context, r *sessionpb.InspectRequest) (*sessionpb.InspectReply, error) {
	reply := new(sessionpb.InspectReply)
	return reply, t.unary(ctx, "Inspect", r, reply)
}

func (t *framesTransport) Suggest(ctx context.Context, r *sessionpb.SuggestRequest) (*sessionpb.SuggestReply, error) {
	reply := new(sessionpb.SuggestReply)
	return reply, t.unary(ctx, "Suggest", r, reply)
}

func (t *framesTransport) Choices(ctx context.Context, r *sessionpb.ChoicesRequest) (*sessionpb.ChoicesReply, error) {
	reply := new(sessionpb.ChoicesReply)
	return reply, t.unary(ctx, "Choices", r, reply)
}

func (t *framesTransport) Close(ctx context.Context, r *sessionpb.CloseRequest) (*sessionpb.CloseReply, error) {
	reply := new(sessionpb.CloseReply)
	return reply, t.unary(ctx, "Close", r, reply)
}

func (t *framesTransport) Unsubscribe(ctx context.Context, r *sessionpb.UnsubscribeRequest) (*sessionpb.UnsubscribeReply, error) {
	reply := new(sessionpb.UnsubscribeReply)
	return reply, t.unary(ctx, "Unsubscribe", r, reply)
}

var _ Transport = (*framesTransport)(nil)
