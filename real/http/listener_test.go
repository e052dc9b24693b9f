package http

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/netip"
	"sync/atomic"
	"testing"
	"time"

	"plexus/real"
)

// Close cuts a request that outlives its context, and returns after its handler.
func TestCloseWaitsForHandlers(t *testing.T) {
	l := &listener{world: real.NewWorld(real.Options{Log: slog.NewTextHandler(io.Discard, nil)}), addr: netip.MustParseAddrPort("127.0.0.1:0")}
	begun := make(chan struct{})
	var ended atomic.Bool
	err := l.serve(&http.Server{Handler: http.HandlerFunc(func(_ http.ResponseWriter, in *http.Request) {
		close(begun)
		<-in.Context().Done()
		time.Sleep(20 * time.Millisecond) // letting go takes a while
		ended.Store(true)
	})})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if answer, err := http.Get("http://" + l.Addr().String()); err == nil {
			answer.Body.Close()
		}
	}()
	<-begun
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if l.Close(ctx) == nil {
		t.Error("nothing was cut")
	}
	if !ended.Load() {
		t.Error("a handler still runs")
	}
}
