package dial

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"plexus/primitives"
)

// scripted is a World whose clock only moves while a lookup or a silent address
// takes its time.
type scripted struct {
	primitives.World
	now      primitives.Instant
	lookup   time.Duration
	outcomes []outcome // by the last byte of the address
	shares   []time.Duration
}

type outcome uint8

const (
	refuses outcome = iota
	silent
	accepts
)

func (w *scripted) Clock() primitives.Clock       { return scriptedClock{w} }
func (w *scripted) Net() primitives.Net           { return scriptedNet{w: w} }
func (w *scripted) Resolver() primitives.Resolver { return w }

func (w *scripted) Lookup(context.Context, string, primitives.Instant) ([]netip.Addr, error) {
	w.now = w.now.Add(w.lookup)
	addrs := make([]netip.Addr, len(w.outcomes))
	for i := range addrs {
		addrs[i] = netip.AddrFrom4([4]byte{10, 0, 0, byte(i)})
	}
	return addrs, nil
}

type scriptedClock struct{ w *scripted }

func (c scriptedClock) Now() primitives.Instant                        { return c.w.now }
func (c scriptedClock) Wall() time.Time                                { return time.Time{} }
func (c scriptedClock) At(primitives.Instant, func()) primitives.Timer { return nil }

type scriptedNet struct {
	primitives.Net
	w *scripted
}

type scriptedConn struct {
	primitives.Conn
	to netip.AddrPort
}

func (n scriptedNet) Dial(_ context.Context, addr netip.AddrPort, deadline primitives.Instant) (primitives.Conn, error) {
	n.w.shares = append(n.w.shares, deadline.Sub(n.w.now))
	switch n.w.outcomes[addr.Addr().As4()[3]] {
	case accepts:
		return scriptedConn{to: addr}, nil
	case silent:
		n.w.now = max(n.w.now, deadline)
		return nil, &net.OpError{Op: "dial", Net: "tcp", Err: primitives.ErrDeadline}
	}
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
}

func TestSharesOfTheBudget(t *testing.T) {
	for _, c := range []struct {
		dial     func(context.Context, primitives.World, string, uint16, primitives.Instant) (primitives.Conn, error)
		lookup   time.Duration
		outcomes []outcome
		shares   string
	}{
		{Dial, 0, []outcome{accepts}, "[30s]"},
		{Dial, 6 * time.Second, []outcome{silent, silent, accepts}, "[8s 8s 8s]"},
		{Dial, 0, []outcome{refuses, refuses, silent}, "[10s 15s 30s]"},
		{Dial, 0, []outcome{silent, refuses, silent}, "[10s 10s 20s]"},
		{Undivided, 10 * time.Second, []outcome{refuses, silent, silent}, "[20s 20s 0s]"},
	} {
		w := &scripted{lookup: c.lookup, outcomes: c.outcomes}
		conn, err := c.dial(context.Background(), w, "h", 80, primitives.Instant(30*time.Second))
		if got := fmt.Sprint(w.shares); got != c.shares {
			t.Errorf("%v: shares %s, want %s", c.outcomes, got, c.shares)
		}
		if accepted := c.outcomes[len(c.outcomes)-1] == accepts; accepted != (conn != nil) || accepted != (err == nil) {
			t.Errorf("%v: %v, %v", c.outcomes, conn, err)
		}
	}
}

func TestErrorNamesEveryAddress(t *testing.T) {
	w := &scripted{outcomes: []outcome{refuses, silent}}
	_, err := Dial(context.Background(), w, "db.example", 5432, primitives.Instant(time.Second))
	var failed *Error
	if !errors.As(err, &failed) || len(failed.Attempts) != 2 {
		t.Fatalf("error %v", err)
	}
	if !errors.Is(err, syscall.ECONNREFUSED) || !errors.Is(err, primitives.ErrDeadline) {
		t.Errorf("causes are lost in %v", err)
	}
	for _, want := range []string{"cannot connect to 'db.example' port 5432", "10.0.0.0:5432", "10.0.0.1:5432"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %q", want, err)
		}
	}
}

func TestShareProperties(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		w := &scripted{
			lookup:   time.Duration(rapid.Int64Range(0, int64(time.Second)).Draw(r, "lookup")),
			outcomes: rapid.SliceOfN(rapid.SampledFrom([]outcome{refuses, silent, accepts}), 1, 8).Draw(r, "outcomes"),
		}
		budget := time.Duration(rapid.Int64Range(int64(w.lookup), int64(time.Minute)).Draw(r, "budget"))
		conn, _ := Dial(context.Background(), w, "h", 80, primitives.Instant(budget))
		left, used := budget-w.lookup, time.Duration(0)
		for i, share := range w.shares {
			if share < (left-used)/time.Duration(len(w.outcomes)-i) {
				r.Fatalf("attempt %d had %s of %s", i, share, left-used)
			}
			if w.outcomes[i] == silent {
				used += share
			}
		}
		if used > left {
			r.Fatalf("attempts used %s of %s", used, left)
		}
		if first := slices.Index(w.outcomes, accepts); (first >= 0) != (conn != nil) || first >= 0 && len(w.shares) != first+1 {
			r.Fatalf("%v: %d attempts, connection %v", w.outcomes, len(w.shares), conn)
		}
	})
}

func TestCancelledDialSaysSo(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := Dial(ctx, &scripted{outcomes: []outcome{refuses, accepts}}, "h", 80, primitives.Never)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("ended with %v", err)
	}
}

func TestNoBudgetIsNeverDivided(t *testing.T) {
	w := &scripted{outcomes: []outcome{refuses, accepts}}
	conn, err := Dial(context.Background(), w, "h", 80, primitives.Never)
	if err != nil || conn == nil || w.shares[0] != primitives.Never.Sub(0) {
		t.Fatalf("%v, %v, %v", conn, err, w.shares)
	}
}
