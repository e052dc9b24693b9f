package sim

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"
	"time"

	"plexus/primitives"
)

// lab is a client and a server machine on one network.
type lab struct {
	*Simulation
	t              testing.TB
	client, server *Host
}

func newLab(t testing.TB, seed uint64) *lab {
	s := open(t, Options{Seed: seed})
	return &lab{s, t, s.Host("client"), s.Host("server")}
}

func (l *lab) serve(handle func(primitives.Conn)) netip.AddrPort {
	addr := netip.AddrPortFrom(l.server.Addr(), 80)
	w := l.server.World()
	w.Tasks().Go("accept", func() {
		ln, err := w.Net().Listen(addr)
		if err != nil {
			l.t.Error(err)
			return
		}
		for {
			c, err := ln.Accept()
			if err != nil {
				return
			}
			w.Tasks().Go("serve", func() { handle(c) })
		}
	})
	return addr
}

func (l *lab) do(f func(w primitives.World)) {
	l.t.Helper()
	w := l.client.World()
	done := false
	w.Tasks().Go("test", func() {
		f(w)
		done = true
	})
	if err := l.RunUntil(func() bool { return done }, time.Hour); err != nil {
		l.t.Fatal(err)
	}
}

func (l *lab) dial(w primitives.World, addr netip.AddrPort) primitives.Conn {
	c, err := w.Net().Dial(bg, addr, primitives.Never)
	if err != nil {
		l.t.Fatal(err)
	}
	return c
}

func echo(c primitives.Conn) {
	io.Copy(c, struct{ io.Reader }{c})
	c.Close()
}

func TestStreamsCarryEveryByteInOrder(t *testing.T) {
	for seed := range uint64(30) {
		l := newLab(t, seed)
		link := Link{Latency: time.Millisecond, Jitter: time.Millisecond, LossPPM: 50_000, SpikePPM: 10_000, Fragment: true, Bandwidth: 10 << 20}
		l.Network().SetDefault(link)
		addr := l.serve(echo)
		sent := make([]byte, 300<<10)
		l.Stream("payload").Read(sent)
		var got bytes.Buffer
		l.do(func(w primitives.World) {
			c := l.dial(w, addr)
			w.Tasks().Go("writer", func() {
				if _, err := c.Write(sent); err != nil {
					t.Error(err)
				}
				c.CloseWrite()
			})
			if _, err := io.Copy(&got, c); err != nil {
				t.Error(err)
			}
			c.Close()
		})
		if !bytes.Equal(got.Bytes(), sent) {
			t.Fatalf("seed %d: %d of %d bytes came back, or others", seed, got.Len(), len(sent))
		}
		l.Run(time.Minute)
		if n := len(l.timers.heap); n != 0 {
			t.Fatalf("seed %d: %d timers left", seed, n)
		}
		for _, p := range []*wire{l.network.wire(l.client, l.server), l.network.wire(l.server, l.client)} {
			if len(p.streams) != 0 {
				t.Fatalf("seed %d: %d streams left", seed, len(p.streams))
			}
		}
		l.Close()
	}
}

func TestDialOutcomes(t *testing.T) {
	l := newLab(t, 1)
	addr := l.serve(echo)
	closedPort := netip.AddrPortFrom(l.server.Addr(), 81)
	l.do(func(w primitives.World) {
		dial := func(a netip.AddrPort, d time.Duration) (error, time.Duration) {
			start := w.Clock().Now()
			c, err := w.Net().Dial(bg, a, start.Add(d))
			if err == nil {
				c.Close()
			}
			return err, w.Clock().Now().Sub(start)
		}
		if err, _ := dial(addr, time.Second); err != nil {
			t.Error(err)
		}
		if err, _ := dial(closedPort, time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("closed port: %v", err)
		}
		if err, _ := dial(netip.MustParseAddrPort("192.0.2.1:80"), time.Second); !errors.Is(err, syscall.ENETUNREACH) {
			t.Errorf("unknown address: %v", err)
		}
		l.server.SetAnswer(AnswerBlackhole)
		if err, d := dial(addr, 5*time.Second); !errors.Is(err, os.ErrDeadlineExceeded) || d != 5*time.Second {
			t.Errorf("blackhole: %v after %v", err, d)
		}
		l.server.SetAnswer(AnswerRefuse)
		if err, _ := dial(addr, time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("refusing: %v", err)
		}
		l.server.SetAnswer(AnswerReset)
		c, err := w.Net().Dial(bg, addr, primitives.Never)
		if err == nil {
			_, err = c.Read(make([]byte, 1))
			c.Close()
		}
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("reset: %v", err)
		}
		l.server.SetAnswer(AnswerNormal)
		ctx, cancel := primitives.WithCancel(bg, w)
		l.Network().Cut(l.client, l.server)
		l.After(time.Second, cancel)
		if _, err := w.Net().Dial(ctx, addr, primitives.Never); err == nil {
			t.Error("a cancelled dial succeeded")
		}
	})
}

func TestReadDeadline(t *testing.T) {
	l := newLab(t, 1)
	addr := l.serve(func(c primitives.Conn) { io.Copy(io.Discard, struct{ io.Reader }{c}); c.Close() })
	l.do(func(w primitives.World) {
		c := l.dial(w, addr)
		start := w.Clock().Now()
		c.ReadBy(start.Add(time.Second))
		_, err := c.Read(make([]byte, 1))
		if d := w.Clock().Now().Sub(start); !errors.Is(err, os.ErrDeadlineExceeded) || d != time.Second {
			t.Errorf("%v after %v", err, d)
		}
		c.SetReadDeadline(w.Clock().Wall().Add(time.Second))
		w.Tasks().Go("closer", func() { primitives.Sleep(bg, w, time.Millisecond); c.Close() })
		if _, err = c.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("closed under a reader: %v", err)
		}
	})
}

func TestKilledPeerResetsOrEnds(t *testing.T) {
	l := newLab(t, 1)
	addr := l.serve(func(c primitives.Conn) { c.Read(make([]byte, 1)); primitives.NewEvent(l.server.World()).Wait(bg) })
	l.do(func(w primitives.World) {
		c := l.dial(w, addr)
		c.Write([]byte("xy")) // the server reads one byte of two
		primitives.Sleep(bg, w, time.Second)
		l.server.Kill()
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("got %v", err)
		}
		if _, err := w.Net().Dial(bg, addr, primitives.Never); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("dial after the kill: %v", err)
		}
	})
}

func TestCrashedPeerLeavesAHalfOpenConnection(t *testing.T) {
	l := newLab(t, 1)
	addr := l.serve(echo)
	l.do(func(w primitives.World) {
		c := l.dial(w, addr)
		primitives.Sleep(bg, w, time.Second)
		l.server.Crash()
		c.ReadBy(w.Clock().Now().Add(time.Minute))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("an idle connection noticed the crash: %v", err)
		}
		c.ReadBy(primitives.Never)
		if _, err := c.Write([]byte("x")); err != nil {
			t.Errorf("write into the void: %v", err)
		}
		l.After(time.Second, func() { l.server.World() }) // it boots again
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("after the reboot: %v", err)
		}
	})
}

func TestPartitionDelaysAndThenGivesUp(t *testing.T) {
	l := newLab(t, 1)
	addr := l.serve(echo)
	l.do(func(w primitives.World) {
		c := l.dial(w, addr)
		both := func(f func(a, b *Host)) { f(l.client, l.server); f(l.server, l.client) }
		both(l.Network().Cut)
		c.Write([]byte("x"))
		l.After(10*time.Second, func() { both(l.Network().Heal) })
		start := w.Clock().Now()
		if _, err := c.Read(make([]byte, 1)); err != nil || w.Clock().Now().Sub(start) < 10*time.Second {
			t.Errorf("%v after %v", err, w.Clock().Now().Sub(start))
		}
		both(l.Network().Cut)
		c.Write([]byte("y"))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ETIMEDOUT) {
			t.Errorf("a lasting partition: %v", err)
		}
	})
}

func TestResetAfterByte(t *testing.T) {
	l := newLab(t, 1)
	var got []byte
	addr := l.serve(func(c primitives.Conn) {
		var err error
		got, err = io.ReadAll(struct{ io.Reader }{c})
		if !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("server: %v", err)
		}
		c.Close()
	})
	l.Network().ResetAfter(l.client, l.server, 7)
	l.do(func(w primitives.World) {
		c := l.dial(w, addr)
		c.Write([]byte("0123456789"))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("client: %v", err)
		}
	})
	if string(got) != "0123456" {
		t.Errorf("server read %q", got)
	}
}

func TestSlowReaderHoldsTheWriter(t *testing.T) {
	l := newLab(t, 1)
	addr := l.serve(func(c primitives.Conn) { primitives.Sleep(bg, l.server.World(), time.Minute); echo(c) })
	l.do(func(w primitives.World) {
		c := l.dial(w, addr)
		start := w.Clock().Now()
		if _, err := c.Write(make([]byte, windowBytes)); err != nil || w.Clock().Now().Sub(start) > time.Second {
			t.Errorf("the window is closed: %v", err)
		}
		c.WriteBy(start.Add(10 * time.Second))
		if n, err := c.Write(make([]byte, 10)); n != 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("wrote %d past the window: %v", n, err)
		}
		c.WriteBy(primitives.Never)
		if _, err := c.Write(make([]byte, 10)); err != nil || w.Clock().Now().Sub(start) < 59*time.Second {
			t.Errorf("wrote before the reader read: %v", err)
		}
	})
}

func TestDatagramsMayBeLostDoubledAndReordered(t *testing.T) {
	l := newLab(t, 4)
	l.Network().SetDefault(Link{Latency: time.Millisecond, Jitter: time.Millisecond, LossPPM: 100_000, DuplicatePPM: 100_000, ReorderPPM: 100_000})
	counts, disordered, last := map[byte]int{}, 0, byte(0)
	w := l.server.World()
	to := netip.AddrPortFrom(l.server.Addr(), 514)
	w.Tasks().Go("receive", func() {
		u, err := w.Net().ListenPacket(to)
		if err != nil {
			t.Error(err)
			return
		}
		buf := make([]byte, 10)
		for {
			if _, _, err := u.ReadFrom(buf); err != nil {
				return
			}
			counts[buf[0]]++
			if buf[0] < last {
				disordered++
			}
			last = buf[0]
		}
	})
	l.do(func(w primitives.World) {
		u, err := w.Net().ListenPacket(netip.AddrPortFrom(netip.IPv4Unspecified(), 0))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 200 {
			u.WriteTo([]byte{byte(i)}, to)
			primitives.Sleep(bg, w, 100*time.Microsecond)
		}
		primitives.Sleep(bg, w, time.Second)
	})
	doubled := 0
	for _, n := range counts { //plexus:orderfree a count
		if n > 1 {
			doubled++
		}
	}
	if len(counts) == 200 || len(counts) < 150 || doubled == 0 || disordered == 0 {
		t.Errorf("%d arrived, %d doubled, %d out of order", len(counts), doubled, disordered)
	}
}

// BenchmarkExchange is one HTTP-like request on a fresh connection.
func BenchmarkExchange(b *testing.B) {
	l := newLab(b, 1)
	request, reply := make([]byte, 300), make([]byte, 150)
	addr := l.serve(func(c primitives.Conn) {
		var buf [1024]byte
		if _, err := c.Read(buf[:]); err == nil {
			c.Write(reply)
		}
		c.Close()
	})
	b.ReportAllocs()
	b.ResetTimer()
	l.do(func(w primitives.World) {
		var buf [1024]byte
		for range b.N {
			c, err := w.Net().Dial(bg, addr, w.Clock().Now().Add(5*time.Second))
			if err != nil {
				b.Error(err)
				return
			}
			c.ReadBy(w.Clock().Now().Add(5 * time.Second))
			c.Write(request)
			for {
				if _, err := c.Read(buf[:]); err != nil {
					break
				}
			}
			c.Close()
		}
	})
	b.ReportMetric(float64(l.Steps())/float64(b.N), "steps/op")
}
