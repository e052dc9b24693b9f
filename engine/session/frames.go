package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"google.golang.org/protobuf/proto"

	"plexus/engine/catalog"
	"plexus/engine/client"
	"plexus/engine/session/sessionframe"
	"plexus/engine/session/sessionpb"
	"plexus/primitives"
)

// callTimeout is how long a connection may take to say what it calls.
const callTimeout = 10 * time.Second

// FrameServer serves sessions over the sockets of a World.
type FrameServer struct {
	world    primitives.World
	addr     netip.AddrPort
	service  *Service
	listener primitives.Listener
	tasks    *primitives.Group
}

// NewFrameServer returns a server for an address; port 0 picks a free one.
func NewFrameServer(w primitives.World, addr netip.AddrPort, service *Service) *FrameServer {
	return &FrameServer{world: w, addr: addr, service: service, tasks: primitives.NewGroup(context.Background(), w)}
}

// Start binds the address and serves until Close.
func (f *FrameServer) Start() error {
	listener, err := f.world.Net().Listen(f.addr)
	if err != nil {
		return fmt.Errorf("client listener %s: %w", f.addr, err)
	}
	f.listener, f.addr = listener, listener.Addr()
	f.tasks.Go("session listener", f.accept)
	return nil
}

// Addr is the bound address.
func (f *FrameServer) Addr() netip.AddrPort { return f.addr }

// Close ends every call and waits for its task.
func (f *FrameServer) Close(ctx context.Context) error {
	if f.listener == nil {
		return nil
	}
	err := f.listener.Close()
	f.tasks.Cancel(errStopping)
	if waitErr := f.tasks.Wait(ctx); waitErr != nil && ctx.Err() != nil {
		return errors.Join(err, waitErr)
	}
	return err
}

func (f *FrameServer) accept(context.Context) error {
	for {
		conn, err := f.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("client listener: %w", err)
		}
		f.tasks.Go("session connection", func(ctx context.Context) error {
			f.serve(ctx, conn)
			return nil
		})
	}
}

// serve runs the one call of a connection.
func (f *FrameServer) serve(ctx context.Context, conn primitives.Conn) {
	call, cancel := primitives.WithCancel(ctx, f.world)
	stop := primitives.OnCancel(call, func() { _ = conn.Close() })
	defer func() {
		stop()
		cancel()
		_ = conn.Close()
	}()
	conn.ReadBy(f.world.Clock().Now().Add(callTimeout))
	request, err := readCall(conn)
	if err != nil {
		return
	}
	conn.ReadBy(primitives.Never)
	f.tasks.Go("session watcher", func(context.Context) error {
		// A client sends nothing after its call: what ends this read is the end of
		// the connection, which cancels the call.
		var b [1]byte
		_, _ = conn.Read(b[:])
		cancel()
		return nil
	})
	end := &sessionpb.End{}
	if err := f.dispatch(call, conn, request); err != nil {
		end.Code, end.Message = CodeOf(err)
	}
	stop()
	// A client that is gone needs no end.
	_ = sessionframe.Write(conn, sessionframe.End, end)
}

func readCall(conn primitives.Conn) (*sessionpb.Call, error) {
	kind, body, err := sessionframe.Read(conn, requestBytesMax+1<<16)
	if err != nil {
		return nil, err
	}
	request := new(sessionpb.Call)
	if err := proto.Unmarshal(body, request); err != nil || kind != sessionframe.Call {
		return nil, sessionframe.ErrFrame
	}
	return request, nil
}

func (f *FrameServer) dispatch(ctx context.Context, conn primitives.Conn, r *sessionpb.Call) error {
	user, err := f.service.Authenticate(ctx, r.GetAuthorization())
	if err != nil {
		return err
	}
	send := func(m proto.Message) error { return sessionframe.Write(conn, sessionframe.Reply, m) }
	body := r.GetRequest()
	switch r.GetMethod() {
	case "Open":
		return streamed(ctx, user, body, &sessionpb.OpenRequest{}, f.service.Open, func(m *sessionpb.Event) error { return send(m) })
	case "Subscribe":
		return streamed(ctx, user, body, &sessionpb.SubscribeRequest{}, f.service.Subscribe,
			func(m *sessionpb.SubscriptionFrame) error { return send(m) })
	case "Execute":
		return unary(ctx, user, body, &sessionpb.ExecuteRequest{}, f.service.Execute, send)
	case "Attach":
		return unary(ctx, user, body, &sessionpb.AttachRequest{}, f.service.Attach, send)
	case "Inspect":
		return unary(ctx, user, body, &sessionpb.InspectRequest{}, f.service.Inspect, send)
	case "Suggest":
		return unary(ctx, user, body, &sessionpb.SuggestRequest{}, f.service.Suggest, send)
	case "Choices":
		return unary(ctx, user, body, &sessionpb.ChoicesRequest{}, f.service.Choices, send)
	case "Close":
		return unary(ctx, user, body, &sessionpb.CloseRequest{}, f.service.Close, send)
	case "Unsubscribe":
		return unary(ctx, user, body, &sessionpb.UnsubscribeRequest{}, f.service.Unsubscribe, send)
	}
	return refusal(client.InvalidArgument, "unknown method '%s'", r.GetMethod())
}

func unary[Q, A proto.Message](ctx context.Context, user *catalog.User, body []byte, request Q,
	method func(context.Context, *catalog.User, Q) (A, error), send func(proto.Message) error) error {
	if err := proto.Unmarshal(body, request); err != nil {
		return refusal(client.InvalidArgument, "the request does not decode")
	}
	answer, err := method(ctx, user, request)
	if err != nil {
		return err
	}
	return send(answer)
}

func streamed[Q, A proto.Message](ctx context.Context, user *catalog.User, body []byte, request Q,
	method func(context.Context, *catalog.User, Q, func(A) error) error, send func(A) error) error {
	if err := proto.Unmarshal(body, request); err != nil {
		return refusal(client.InvalidArgument, "the request does not decode")
	}
	return method(ctx, user, request, send)
}
