package http

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"time"

	"plexus/primitives"
)

// Limits of every listener on one request, body aside.
const (
	headBytesMax = 64 << 10
	headTime     = 10 * time.Second
	idleTime     = 90 * time.Second
)

// listener is one address at which a net/http server answers.
type listener struct {
	world  primitives.World
	addr   netip.AddrPort
	server *http.Server       // nil before serve
	ended  context.CancelFunc // ends the requests that outlive close

	mu       sync.Mutex
	closed   bool
	requests sync.WaitGroup
	serving  sync.WaitGroup
}

// Addr is where the server listens once it started.
func (l *listener) Addr() netip.AddrPort { return l.addr }

// serve binds the address and answers with the server, whose own limits and
// handler are set; the others are the same everywhere.
func (l *listener) serve(server *http.Server) error {
	bound, err := l.world.Net().Listen(l.addr)
	if err != nil {
		return err
	}
	l.addr = bound.Addr()
	base, cancel := context.WithCancel(context.Background())
	l.server, l.ended = server, cancel
	handler := server.Handler
	server.Handler = http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if l.enter() {
			defer l.requests.Done()
			handler.ServeHTTP(out, in)
		}
	})
	server.BaseContext = func(net.Listener) context.Context { return base }
	server.MaxHeaderBytes, server.ReadHeaderTimeout, server.IdleTimeout = headBytesMax, headTime, idleTime
	server.ErrorLog = slog.NewLogLogger(l.world.Log().Handler(), slog.LevelDebug)
	l.serving.Add(1)
	go func() {
		defer l.serving.Done()
		server.Serve(netListener{bound})
	}()
	return nil
}

// enter counts a request that close waits for; it refuses one that comes after.
func (l *listener) enter() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.closed {
		l.requests.Add(1)
	}
	return !l.closed
}

// Close stops accepting, lets running requests end until ctx does, then ends them
// and waits.
func (l *listener) Close(ctx context.Context) error {
	if l.server == nil {
		return nil
	}
	err := l.server.Shutdown(ctx)
	l.ended()
	l.server.Close()
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.requests.Wait()
	l.serving.Wait()
	return err
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
