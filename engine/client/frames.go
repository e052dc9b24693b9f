package client

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"time"

	"google.golang.org/protobuf/proto"

	"plexus/engine/session/sessionframe"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
)

// connectTimeout bounds dialling.
const connectTimeout = 10 * time.Second

// framesTransport speaks sessionframe over the sockets of a World, one connection
// for each call.
type framesTransport struct {
	world         primitives.World
	addr          netip.AddrPort
	authorization string
}

// DialFrames returns the transport to a node's frame listener. It connects when
// it is used.
func DialFrames(w primitives.World, addr netip.AddrPort, user, password string) Transport {
	return &framesTransport{world: w, addr: addr, authorization: BasicAuthorization(user, password)}
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
	conn, err := t.world.Net().Dial(ctx, t.addr, t.world.Clock().Now().Add(connectTimeout))
	if err != nil {
		return nil, fmt.Errorf("%w to %s: %w", ErrNotConnected, t.addr, err)
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

func (t *framesTransport) Inspect(ctx context.Context, r *sessionpb.InspectRequest) (*sessionpb.InspectReply, error) {
	reply := new(sessionpb.InspectReply)
	return reply, t.unary(ctx, "Inspect", r, reply)
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
