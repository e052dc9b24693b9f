package primitivestest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"os"
	"syscall"
	"time"

	"plexus/primitives"
)

// listen opens a listener on a free port.
func (t *test) listen() primitives.Listener {
	t.Helper()
	l, err := t.w.Net().Listen(netip.AddrPortFrom(t.Addr, 0))
	t.ok(err)
	return l
}

// pair returns the two ends of a connection. Both are closed at the end of use.
func (t *test) pair(use func(dialled, accepted primitives.Conn)) {
	t.Helper()
	l := t.listen()
	defer l.Close()
	var dialled primitives.Conn
	dialler := t.spawn(func(ctx context.Context) (err error) {
		dialled, err = t.w.Net().Dial(ctx, l.Addr(), t.far())
		return err
	})
	accepted, err := l.Accept()
	t.ok(err)
	defer accepted.Close()
	t.join(dialler)
	defer dialled.Close()
	dialled.ReadBy(t.far())
	accepted.ReadBy(t.far())
	use(dialled, accepted)
}

// closedPort returns an address that nobody listens on.
func (t *test) closedPort() netip.AddrPort {
	t.Helper()
	l := t.listen()
	t.ok(l.Close())
	return l.Addr()
}

func (t *test) reads(c primitives.Conn, want string) {
	t.Helper()
	got := make([]byte, len(want))
	_, err := io.ReadFull(c, got)
	t.ok(err)
	t.that(string(got) == want, "read %q, want %q", got, want)
}

func (t *test) writes(c primitives.Conn, text string) {
	t.Helper()
	n, err := c.Write([]byte(text))
	t.ok(err)
	t.that(n == len(text), "wrote %d of %d bytes", n, len(text))
}

func (t *test) readFails(c primitives.Conn, want error) {
	t.Helper()
	n, err := c.Read(make([]byte, 1))
	t.that(n == 0 && errors.Is(err, want), "read gave %d, %v; want %v", n, err, want)
}

// content is n bytes that show misplaced parts.
func content(n int) []byte {
	p := make([]byte, n)
	for i := range p {
		p[i] = byte(i*7 + i>>8 + i>>16)
	}
	return p
}

var streamCases = []testCase{
	{"both ends speak", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			t.that(a.RemoteAddr().String() == b.LocalAddr().String(), "addresses %s, %s", a.RemoteAddr(), b.LocalAddr())
			t.that(b.RemoteAddr().String() == a.LocalAddr().String(), "addresses %s, %s", b.RemoteAddr(), a.LocalAddr())
			t.writes(a, "question")
			t.reads(b, "question")
			t.writes(b, "answer")
			t.reads(a, "ans")
			t.reads(a, "wer")
			n, err := a.Write(nil)
			t.that(n == 0 && err == nil, "empty write: %d, %v", n, err)
		})
	}},
	{"much data both ways at once", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			sent := content(1 << 20)
			var groups []*primitives.Group
			for _, c := range []primitives.Conn{a, b} {
				groups = append(groups, t.spawn(func(context.Context) error {
					_, err := c.Write(sent)
					return err
				}), t.spawn(func(context.Context) error {
					got := make([]byte, len(sent))
					if _, err := io.ReadFull(c, got); err != nil {
						return err
					}
					t.that(bytes.Equal(got, sent), "bytes differ")
					return nil
				}))
			}
			t.join(groups...)
		})
	}},
	{"closing ends the stream after its last byte", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			t.writes(a, "last words")
			t.ok(a.Close())
			t.reads(b, "last words")
			t.readFails(b, io.EOF)
			t.readFails(b, io.EOF)
		})
	}},
	{"half close leaves the other half open", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			t.writes(a, "request")
			t.ok(a.CloseWrite())
			got, err := io.ReadAll(b)
			t.that(string(got) == "request" && err == nil, "read %q, %v", got, err)
			t.writes(b, "response")
			t.reads(a, "response")
			_, err = a.Write([]byte("more"))
			t.that(err != nil, "wrote after closing the half")
			t.ok(b.Close())
			t.readFails(a, io.EOF)
		})
	}},
	{"writing to a peer that left fails", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			t.ok(b.Close())
			a.WriteBy(t.far())
			var err error
			for i := 0; err == nil && i < 10_000; i++ {
				_, err = a.Write(content(1024))
			}
			t.that(errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET), "write gave %v", err)
		})
	}},
	{"closing with unread data resets", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			t.writes(a, "nobody reads this")
			t.reads(b, "nobody")
			t.ok(b.Close())
			_, err := a.Read(make([]byte, 1))
			t.that(errors.Is(err, syscall.ECONNRESET), "read gave %v", err)
		})
	}},
	{"own close is net.ErrClosed and wakes a read", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			reader := t.spawn(func(context.Context) error {
				_, err := a.Read(make([]byte, 1))
				return err
			})
			t.let()
			t.ok(a.Close())
			err := reader.Wait(bg)
			t.that(errors.Is(err, net.ErrClosed), "read ended with %v", err)
			_, err = a.Write([]byte("x"))
			t.that(errors.Is(err, net.ErrClosed), "write gave %v", err)
			t.readFails(a, net.ErrClosed)
			a.Close()
			a.ReadBy(t.far())
		})
	}},
	{"a read deadline ends the read and can be moved", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			at := t.soon()
			a.ReadBy(at)
			t.readFails(a, os.ErrDeadlineExceeded)
			t.that(!t.w.Clock().Now().Before(at), "ended early")
			t.readFails(a, os.ErrDeadlineExceeded)
			a.ReadBy(primitives.Never)
			t.writes(b, "late")
			t.reads(a, "late")
			reader := t.spawn(func(context.Context) error {
				_, err := a.Read(make([]byte, 1))
				return err
			})
			t.let()
			a.ReadBy(t.w.Clock().Now())
			err := reader.Wait(bg)
			t.that(errors.Is(err, os.ErrDeadlineExceeded), "pending read ended with %v", err)
			var timeout net.Error
			t.that(errors.As(err, &timeout) && timeout.Timeout(), "%v is no time-out for libraries", err)
		})
	}},
	{"a wall-clock deadline works for libraries", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			t.ok(a.SetReadDeadline(t.w.Clock().Wall().Add(moment)))
			t.readFails(a, os.ErrDeadlineExceeded)
			t.ok(a.SetDeadline(time.Time{}))
			t.writes(b, "late")
			t.reads(a, "late")
		})
	}},
	{"a peer that does not read holds the writer back", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			a.WriteBy(t.in(20 * moment))
			var err error
			for i := 0; err == nil && i < 1024; i++ {
				_, err = a.Write(content(64 << 10))
			}
			t.that(errors.Is(err, os.ErrDeadlineExceeded), "write gave %v", err)
		})
	}},
	{"nobody listens", func(t *test) {
		_, err := t.w.Net().Dial(bg, t.closedPort(), t.far())
		var op *net.OpError
		t.that(errors.Is(err, syscall.ECONNREFUSED) && errors.As(err, &op), "dial gave %v", err)
	}},
	{"a dial without time", func(t *test) {
		l := t.listen()
		defer l.Close()
		_, err := t.w.Net().Dial(bg, l.Addr(), t.w.Clock().Now())
		t.that(errors.Is(err, os.ErrDeadlineExceeded), "dial gave %v", err)
		ctx, cancel := primitives.WithCancel(bg, t.w)
		cancel()
		_, err = t.w.Net().Dial(ctx, l.Addr(), t.far())
		t.that(errors.Is(err, context.Canceled), "dial gave %v", err)
	}},
	{"an address in use", func(t *test) {
		l := t.listen()
		defer l.Close()
		t.that(l.Addr().Addr() == t.Addr && l.Addr().Port() != 0, "listening on %s", l.Addr())
		_, err := t.w.Net().Listen(l.Addr())
		t.that(errors.Is(err, syscall.EADDRINUSE), "second listen gave %v", err)
	}},
	{"closing a listener wakes accept", func(t *test) {
		l := t.listen()
		accepter := t.spawn(func(context.Context) error {
			_, err := l.Accept()
			return err
		})
		t.let()
		t.ok(l.Close())
		err := accepter.Wait(bg)
		t.that(errors.Is(err, net.ErrClosed), "accept ended with %v", err)
		again, err := t.w.Net().Listen(l.Addr())
		t.ok(err)
		t.ok(again.Close())
	}},
	{"connections outlive their listener", func(t *test) {
		t.pair(func(a, b primitives.Conn) {
			l := t.listen()
			t.ok(l.Close())
			t.writes(a, "still here")
			t.reads(b, "still here")
		})
	}},
}
