package harness

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/real"
)

// echo answers every chunk with itself.
func echo(t *testing.T, w primitives.World) netip.AddrPort {
	listener, err := w.Net().Listen(netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	w.Tasks().Go("echo", func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			w.Tasks().Go("echo connection", func() {
				defer conn.Close()
				io.Copy(conn, conn)
			})
		}
	})
	return listener.Addr()
}

func TestRelayDamage(t *testing.T) {
	w := real.NewWorld(real.Options{Log: slog.NewTextHandler(io.Discard, nil)})
	relays := NewRelays(w, netip.MustParseAddr("127.0.0.1"), echo(t, w), func(b []byte) bool { return bytes.Contains(b, []byte("answer")) })
	t.Cleanup(relays.Close)
	d := Destination{Kind: "nats", Noun: "stream", Name: "orders"}

	dial := func() (primitives.Conn, error) {
		address, err := relays.Address(d)
		if err != nil {
			t.Fatal(err)
		}
		return w.Net().Dial(context.Background(), netip.MustParseAddrPort(address), w.Clock().Now().Add(time.Second))
	}
	says := func(conn primitives.Conn, text string) error {
		conn.ReadBy(w.Clock().Now().Add(300 * time.Millisecond))
		if _, err := io.WriteString(conn, text); err != nil {
			return err
		}
		_, err := io.ReadFull(conn, make([]byte, len(text)))
		return err
	}
	must := func(step string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}

	conn, err := dial()
	must("dial", err)
	must("echo", says(conn, "hello"))
	must("lose", relays.Break(d, LoseAnswer))
	must("another exchange", says(conn, "hello"))
	if err := says(conn, "answer"); err == nil {
		t.Fatal("the answer arrived")
	}
	conn, err = dial()
	must("dial after the loss", err)
	must("one answer only is lost", says(conn, "answer"))

	must("hang", relays.Break(d, Hang))
	if err := says(conn, "hello"); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("a hanging relay answered with %v", err)
	}
	must("heal", relays.Heal(d))
	conn, err = dial()
	must("dial after the hang", err)
	must("echo after the hang", says(conn, "hello"))

	must("refuse", relays.Break(d, Refuse))
	if err := says(conn, "hello"); err == nil {
		t.Fatal("an open connection survived")
	}
	if _, err := dial(); err == nil {
		t.Fatal("a refusing relay was reached")
	}
	must("heal", relays.Heal(d))
	conn, err = dial()
	must("dial after the refusal", err)
	must("echo after the refusal", says(conn, "hello"))
}
