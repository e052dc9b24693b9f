package http

import (
	"bytes"
	"net/http"
	"net/netip"
	"strings"
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
	listener
	observed Observed
	process  *prometheus.Registry // the standard go_ and process_ collectors
}

// NewObservabilityServer returns a server for an address; port 0 picks a free
// one.
func NewObservabilityServer(w primitives.World, addr netip.AddrPort, observed Observed) *ObservabilityServer {
	process := prometheus.NewRegistry()
	process.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return &ObservabilityServer{listener: listener{world: w, addr: addr}, observed: observed, process: process}
}

// Start listens and serves.
func (s *ObservabilityServer) Start() error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(out http.ResponseWriter, _ *http.Request) { writeText(out, http.StatusOK, "live\n") })
	mux.HandleFunc("GET /readyz", s.ready)
	mux.HandleFunc("GET /metrics", s.metrics)
	return s.serve(&http.Server{Handler: mux, ReadTimeout: observabilityTime, WriteTimeout: observabilityTime})
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
