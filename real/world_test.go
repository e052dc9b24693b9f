package real_test

import (
	"log/slog"
	"net/netip"
	"strings"
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

func TestATaskThatPanicsIsTold(t *testing.T) {
	type breakdown struct {
		task  string
		cause any
		stack string
	}
	told := make(chan breakdown, 1)
	w := real.NewWorld(real.Options{Panicked: func(task string, cause any, stack []byte) {
		told <- breakdown{task, cause, string(stack)}
	}})
	w.Tasks().Go("doomed", func() { panic("no way") })
	b := <-told
	if b.task != "doomed" || b.cause != "no way" || !strings.Contains(b.stack, "world_test.go") {
		t.Errorf("told of %q: %v\n%s", b.task, b.cause, b.stack)
	}
	if err := w.Join(time.Second); err != nil {
		t.Error(err)
	}
}
