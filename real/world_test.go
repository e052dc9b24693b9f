package real_test

import (
	"log/slog"
	"net/netip"
	"testing"
	"time"

	"plexus/primitives/primitivestest"
	"plexus/real"
)

func TestBehaviour(t *testing.T) {
	primitivestest.Run(t, func(t *testing.T, body func(primitivestest.Place)) {
		w := real.NewWorld(real.Options{Log: slog.DiscardHandler})
		defer func() {
			if n := w.OpenSockets(); n != 0 {
				t.Errorf("%d sockets left open", n)
			}
			if err := w.Join(5 * time.Second); err != nil {
				t.Error(err)
			}
		}()
		body(primitivestest.Place{World: w, Addr: loopback.Addr(), Dir: t.TempDir()})
	})
}

var loopback = netip.MustParseAddrPort("127.0.0.1:0")
