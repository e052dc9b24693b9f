package http

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"plexus/connectors/contract"
	"plexus/primitives"
)

// Limits of the endpoint listener on one request, body aside.
const (
	endpointHeadBytesMax = 64 << 10
	endpointHeadTime     = 10 * time.Second
	endpointReadTime     = 2 * time.Minute // the whole request: 16 MiB on a slow line
	endpointIdleTime     = 90 * time.Second
)

// EndpointServer serves HTTP endpoints with net/http.
type EndpointServer struct {
	world  primitives.World
	addr   netip.AddrPort
	server *http.Server
	ended  context.CancelFunc // ends the requests that outlive Close

	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup
	serving  sync.WaitGroup
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
	s.addr = listener.Addr()
	base, cancel := context.WithCancel(context.Background())
	s.ended = cancel
	s.server = &http.Server{
		Handler: http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
			if s.enter() {
				defer s.requests.Done()
				answer(out, handler(in.Context(), request(in)))
			}
		}),
		BaseContext:       func(net.Listener) context.Context { return base },
		MaxHeaderBytes:    endpointHeadBytesMax,
		ReadHeaderTimeout: endpointHeadTime,
		ReadTimeout:       endpointReadTime,
		IdleTimeout:       endpointIdleTime,
		ErrorLog:          slog.NewLogLogger(s.world.Log().Handler(), slog.LevelDebug),
	}
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		s.server.Serve(netListener{listener})
	}()
	return nil
}

// enter counts a request that Close waits for; it refuses one that comes after.
func (s *EndpointServer) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.requests.Add(1)
	}
	return !s.closed
}

// Addr implements contract.EndpointServer.
func (s *EndpointServer) Addr() netip.AddrPort { return s.addr }

// Close implements contract.EndpointServer.
func (s *EndpointServer) Close(ctx context.Context) error {
	if s.server == nil {
		return nil
	}
	err := s.server.Shutdown(ctx)
	s.ended()
	s.server.Close()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.requests.Wait()
	s.serving.Wait()
	return err
}

func request(in *http.Request) *contract.EndpointRequest {
	return &contract.EndpointRequest{
		Method:  in.Method,
		Host:    contract.EndpointHost(in.Host),
		Path:    in.URL.Path,
		Headers: contract.EndpointHeaders(in.Host, in.Header),
		ReadBody: func() ([]byte, error) {
			return contract.ReadEndpointBody(in.Body, in.ContentLength)
		},
	}
}

func answer(out http.ResponseWriter, a contract.EndpointAnswer) {
	for _, field := range a.Fields() {
		out.Header().Set(field.Name, field.Value)
	}
	out.WriteHeader(a.Status)
	out.Write([]byte(a.Body))
}

// netListener lets net/http accept from a World.
type netListener struct{ primitives.Listener }

func (l netListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err // a nil Conn must not become a net.Conn that is not nil
	}
	return conn, nil
}

func (l netListener) Addr() net.Addr { return net.TCPAddrFromAddrPort(l.Listener.Addr()) }

var _ contract.EndpointServer = (*EndpointServer)(nil)
