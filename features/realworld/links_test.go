package realworld

import (
	"context"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"plexus/features/harness"
	"plexus/primitives"
	"plexus/real"
)

// echoServer answers every byte with itself.
func echoServer(t *testing.T, w primitives.World) string {
	listener, err := w.Net().Listen(netip.AddrPortFrom(loopback, 0))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	w.Tasks().Go("echo", func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			w.Tasks().Go("echo connection", func() {
				io.Copy(c, c)
				c.Close()
			})
		}
	})
	return listener.Addr().String()
}

func TestLinksCarryCutAndHeal(t *testing.T) {
	if reason := linksMissing(); reason != "" {
		t.Skip(reason)
	}
	w := real.NewWorld(real.Options{Log: slog.NewTextHandler(io.Discard, nil)})
	l := newLinks(w)
	target := echoServer(t, w)
	port, err := freePort()
	if err != nil {
		t.Fatal(err)
	}
	if err := l.open(2, uint16(port), func() string { return target }); err != nil {
		t.Fatal(err)
	}
	one, two := &node{name: "node-1"}, &node{name: "node-2"}
	dial := func(from int) primitives.Conn {
		c, err := w.Net().Dial(context.Background(), netip.AddrPortFrom(hopAddress(from, 2), uint16(port)), w.Clock().Now().Add(time.Second))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		return c
	}
	echoes := func(c primitives.Conn, within time.Duration) bool {
		c.ReadBy(w.Clock().Now().Add(within))
		c.Write([]byte("x"))
		_, err := io.ReadFull(c, make([]byte, 1))
		return err == nil
	}
	c, other := dial(1), dial(3)
	if !echoes(c, time.Second) || !echoes(other, time.Second) {
		t.Fatal("a good link carries nothing")
	}
	for _, way := range [][2]harness.Node{{one, two}, {two, one}} {
		l.change(way[0], way[1], true, 0)
		if c := dial(1); echoes(c, 100*time.Millisecond) {
			t.Error("a connection came about over a cut link")
		}
		if echoes(c, 100*time.Millisecond) || !echoes(other, time.Second) {
			t.Error("the cut hurt another link, or none")
		}
		l.change(way[0], way[1], false, 0)
		// What was under way arrives.
		c.ReadBy(w.Clock().Now().Add(time.Second))
		if _, err := io.ReadFull(c, make([]byte, 1)); err != nil {
			t.Error("what was under way was lost: ", err)
		}
	}
	l.change(one, two, false, 50*time.Millisecond)
	began := time.Now()
	if !echoes(c, time.Second) || time.Since(began) < 50*time.Millisecond {
		t.Error("a slow link is fast")
	}
	l.change(two, one, true, 0)
	if err := l.end(); err != nil {
		t.Error(err)
	}
	if err := w.Close(joinWithin); err != nil {
		t.Error(err)
	}
}

func TestHostsLeadThroughTheOwnHop(t *testing.T) {
	file := t.TempDir() + "/hosts"
	if err := writeHosts(file, 3, 4); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(text); !strings.Contains(got, "127.77.3.2 node-2.members.test\n") {
		t.Error(got)
	} else if strings.Contains(got, "node-4") {
		t.Error("the hidden node is there")
	}
}
