package harness

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"plexus/real"
)

func TestReceiver(t *testing.T) {
	w := real.NewWorld(real.Options{Log: slog.NewTextHandler(io.Discard, nil)})
	receiver, err := NewReceiver(w, netip.MustParseAddrPort("127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	d := Destination{Kind: "http", Noun: "path", Name: "/orders"}
	origin, err := receiver.Address(d)
	if err != nil {
		t.Fatal(err)
	}
	address := strings.TrimPrefix(origin, "http://")
	post := func(body string) (int, error) {
		r, err := Exchange(ctx, w, address, Request{Method: "POST", Host: address, Path: "/orders?x=1", Body: body})
		if err != nil {
			return 0, err
		}
		return r.Status, nil
	}
	expect := func(body string, status int) {
		t.Helper()
		if got, err := post(body); err != nil || got != status {
			t.Fatalf("%s was answered %d, %v", body, got, err)
		}
	}
	expect("one", 200)
	receiver.Break(ctx, d, Refuse, "")
	expect("two", 503)
	receiver.Break(ctx, d, RejectSome, "bad")
	expect("three", 200)
	expect("bad", 422)
	receiver.Break(ctx, d, LoseAnswer, "")
	if status, err := post("four"); err == nil {
		t.Fatalf("the answer %d arrived", status)
	}
	expect("five", 200)
	receiver.Break(ctx, d, Hang, "")
	w.Clock().At(w.Clock().Now().Add(100*time.Millisecond), func() { go receiver.Heal(ctx, d) })
	if status, err := post("six"); err == nil {
		t.Fatalf("a hanging receiver answered %d", status)
	}
	records, err := receiver.Received(ctx, d, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(payloads(records), " "); got != "one three four five" {
		t.Error(got)
	}
	if err := receiver.Close(); err != nil {
		t.Error(err)
	}
	if err := w.Join(5 * time.Second); err != nil {
		t.Error(err)
	}
}
