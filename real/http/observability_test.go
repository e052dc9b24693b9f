package http

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plexus/engine/observe"
	"plexus/real"
)

type observed struct {
	reasons  []string
	registry *observe.Registry
}

func (o *observed) NotReady() []string        { return o.reasons }
func (o *observed) Samples() []observe.Sample { return o.registry.Snapshot() }

func TestObservability(t *testing.T) {
	w := real.NewWorld(real.Options{Log: slog.NewTextHandler(io.Discard, nil)})
	o := &observed{registry: observe.NewRegistry()}
	o.registry.Counter(&observe.Family{Name: "plexus_things_total", Help: "Things.", Kind: observe.KindCounter}).Add(2)
	s := NewObservabilityServer(w, netip.MustParseAddrPort("127.0.0.1:0"), o)
	if err := s.Start(); err != nil {
		t.Fatal(err)
	}
	get := func(path string) (int, string) {
		r, err := http.Get("http://" + s.Addr().String() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Fatal(err)
		}
		return r.StatusCode, string(body)
	}
	if status, body := get("/livez"); status != 200 || body != "live\n" {
		t.Error(status, body)
	}
	if status, body := get("/readyz"); status != 200 || body != "ready\n" {
		t.Error(status, body)
	}
	o.reasons = []string{"no leader", "stopping"}
	if status, body := get("/readyz"); status != 503 || body != "no leader\nstopping\n" {
		t.Error(status, body)
	}
	if status, _ := get("/nothing"); status != 404 {
		t.Error(status)
	}
	status, page := get("/metrics")
	for _, part := range []string{"plexus_things_total 2\n", "go_goroutines ", "process_start_time_seconds "} {
		if status != 200 || !strings.Contains(page, part) {
			t.Errorf("status %d; %q is missing", status, part)
		}
	}
	http.DefaultClient.CloseIdleConnections()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
}
