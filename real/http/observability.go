package http

import (
	"bytes"
	"context"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/common/expfmt"

	"plexus/engine/observe"
	"plexus/primitives"
)

// observabilityTime bounds one request of the observability listener.
const observabilityTime = 10 * time.Second

// Observed is what the observability listener shows of a node.
type Observed interface {
	// NotReady says why the node does not serve, one reason each; none when it
	// does.
	NotReady() []string
	Samples() []observe.Sample
}

// ObservabilityServer serves /livez, /readyz and /metrics.
type ObservabilityServer struct {
	world    primitives.World
	addr     netip.AddrPort
	observed Observed
	process  *prometheus.Registry // the standard go_ and process_ collectors
	server   *http.Server
	serving  sync.WaitGroup
}

// NewObservabilityServer returns a server for an address; port 0 picks a free
// one.
func NewObservabilityServer(w primitives.World, addr netip.AddrPort, observed Observed) *ObservabilityServer {
	process := prometheus.NewRegistry()
	process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &ObservabilityServer{world: w, addr: addr, observed: observed, process: process}
}

// Start listens and serves.
func (s *ObservabilityServer) Start() error {
	listener, err := s.world.Net().Listen(s.addr)
	if err != nil {
		return err
	}
	s.addr = listener.Addr()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(out http.ResponseWriter, _ *http.Request) { writeText(out, http.StatusOK, "live\n") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.metrics)
	s.server = &http.Server{
		Handler:           mux,
		MaxHeaderBytes:    endpointHeadBytesMax,
		ReadHeaderTimeout: observabilityTime,
		ReadTimeout:       observabilityTime,
		WriteTimeout:      observabilityTime,
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

// Addr is where the server listens once it started.
func (s *ObservabilityServer) Addr() netip.AddrPort { return s.addr }

// Close stops serving; requests in flight may end until the context does.
func (s *ObservabilityServer) Close(ctx context.Context) error {
	if s.server == nil {
		return nil
	}
	err := s.server.Shutdown(ctx)
	s.server.Close()
	s.serving.Wait()
	return err
}

func (s *ObservabilityServer) ready(out http.ResponseWriter, _ *http.Request) {
	reasons := s.observed.NotReady()
	if len(reasons) == 0 {
		writeText(out, http.StatusOK, "ready\n")
		return
	}
	writeText(out, http.StatusServiceUnavailable, strings.Join(reasons, "\n")+"\n")
}

func (s *ObservabilityServer) metrics(out http.ResponseWriter, _ *http.Request) {
	page := bytes.NewBuffer(observe.AppendText(nil, s.observed.Samples()))
	families, err := s.process.Gather()
	if err != nil {
		s.world.Log().Debug("a standard collector failed", "error", err)
	}
	encoder := expfmt.NewEncoder(page, expfmt.NewFormat(expfmt.TypeTextPlain))
	for _, family := range families {
		if err := encoder.Encode(family); err != nil {
			s.world.Log().Debug("a standard metric cannot be written", "metric", family.GetName(), "error", err)
		}
	}
	writeText(out, http.StatusOK, page.String())
}

func writeText(out http.ResponseWriter, status int, text string) {
	out.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	out.WriteHeader(status)
	out.Write([]byte(text))
}
