package http

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"time"

	"plexus/connectors/contract"
	"plexus/primitives"
)

// Limits of the listener on one request, body aside; they are those of the real
// build.
const (
	headTime = 10 * time.Second
	readTime = 2 * time.Minute
	idleTime = 90 * time.Second
	// lastWordTime is what net/http leaves a peer to read the last answer.
	lastWordTime = 500 * time.Millisecond
)

// EndpointServer serves HTTP endpoints on the simulated network.
type EndpointServer struct {
	world    primitives.World
	addr     netip.AddrPort
	listener primitives.Listener
	group    *primitives.Group // nil before Start
	closing  bool
	idle     []primitives.Conn // between two requests
	handler  contract.EndpointHandler
}

// NewEndpointServer returns a server for an address; port 0 picks a free one.
func NewEndpointServer(w primitives.World, addr netip.AddrPort) *EndpointServer {
	return &EndpointServer{world: w, addr: addr}
}

// Start implements contract.EndpointServer.
func (s *EndpointServer) Start(handler contract.EndpointHandler) error {
	listener, err := s.world.Net().Listen(s.addr)
	if err != nil {
		return err
	}
	s.listener, s.addr, s.handler = listener, listener.Addr(), handler
	s.group = primitives.NewGroup(context.Background(), s.world)
	s.group.Go("endpoint listener", func(context.Context) error {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return nil
			}
			s.group.Go("endpoint connection", func(ctx context.Context) error {
				s.serve(ctx, conn)
				return nil
			})
		}
	})
	return nil
}

// Addr implements contract.EndpointServer.
func (s *EndpointServer) Addr() netip.AddrPort { return s.addr }

// Close implements contract.EndpointServer.
func (s *EndpointServer) Close(ctx context.Context) error {
	if s.group == nil {
		return nil
	}
	s.closing = true
	s.listener.Close()
	for _, conn := range s.idle {
		conn.Close()
	}
	_, err := primitives.Select(ctx, s.world, s.group.OnDone())
	s.group.Cancel(primitives.ErrClosed)
	_ = s.group.Wait(context.Background()) // its tasks return no error
	return err
}

// serve answers the requests of one connection. The connection ends with ctx.
func (s *EndpointServer) serve(ctx context.Context, conn primitives.Conn) {
	stop := primitives.OnCancel(ctx, func() { conn.Close() })
	defer conn.Close()
	defer stop()
	reader := bufio.NewReader(conn)
	for !s.closing {
		s.idle = append(s.idle, conn)
		conn.ReadBy(s.world.Clock().Now().Add(idleTime))
		_, err := reader.Peek(1)
		s.idle = slices.DeleteFunc(s.idle, func(o primitives.Conn) bool { return o == conn })
		if err != nil {
			return
		}
		if !s.exchange(ctx, conn, reader) {
			s.partFrom(ctx, conn)
			return
		}
	}
}

// partFrom lets a peer that still sends read the answer: closing at once would
// reset the connection and take the answer with it.
func (s *EndpointServer) partFrom(ctx context.Context, conn primitives.Conn) {
	if conn.CloseWrite() == nil {
		_ = primitives.Sleep(ctx, s.world, lastWordTime) // cancelled: the connection is closed already
	}
}

// exchange answers one request, and reports whether another may follow.
func (s *EndpointServer) exchange(ctx context.Context, conn primitives.Conn, reader *bufio.Reader) bool {
	now := s.world.Clock().Now()
	conn.ReadBy(now.Add(headTime))
	in, err := http.ReadRequest(reader)
	if err != nil {
		_ = respond(conn, contract.EndpointAnswer{Status: http.StatusBadRequest, Body: "400 Bad Request"}, true) // the last word
		return false
	}
	conn.ReadBy(now.Add(readTime))
	body := &watchedBody{Reader: in.Body, left: in.ContentLength != 0}
	answer := s.handler(ctx, &contract.EndpointRequest{
		Method:  in.Method,
		Host:    contract.EndpointHost(in.Host),
		Path:    in.URL.Path,
		Headers: contract.EndpointHeaders(in.Host, in.Header),
		ReadBody: func() ([]byte, error) {
			return contract.ReadEndpointBody(body, in.ContentLength)
		},
	})
	// What is left of a body stands before the next request.
	last := in.Close || body.left || s.closing
	return respond(conn, answer, last) == nil && !last
}

// watchedBody notes whether a body was read to its end.
type watchedBody struct {
	io.Reader
	left bool
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if err == io.EOF {
		b.left = false
	}
	return n, err
}

func respond(conn primitives.Conn, a contract.EndpointAnswer, last bool) error {
	out := append([]byte("HTTP/1.1 "), strconv.Itoa(a.Status)+" "+http.StatusText(a.Status)+"\r\n"...)
	for _, field := range a.Fields() {
		out = append(out, field.Name+": "+field.Value+"\r\n"...)
	}
	if last {
		out = append(out, "Connection: close\r\n"...)
	}
	out = append(out, "Content-Length: "+strconv.Itoa(len(a.Body))+"\r\n\r\n"...)
	_, err := conn.Write(append(out, a.Body...))
	return err
}

var _ contract.EndpointServer = (*EndpointServer)(nil)
