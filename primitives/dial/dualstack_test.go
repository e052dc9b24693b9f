package dial_test

import (
	"context"
	"errors"
	"net/netip"
	"testing"
	"time"

	"plexus/primitives"
	"plexus/primitives/dial"
	"plexus/sim"
)

// TestDualStack dials a host with an address of each family whose machines answer
// in different ways.
func TestDualStack(t *testing.T) {
	const budget = 10 * time.Second
	for _, c := range []struct {
		name   string
		v4, v6 sim.Answer
		to     string // family of the connection, empty for none
		after  time.Duration
	}{
		{"the first family is preferred", sim.AnswerNormal, sim.AnswerNormal, "4", 0},
		{"a silent family costs its head start", sim.AnswerBlackhole, sim.AnswerNormal, "6", 300 * time.Millisecond},
		{"a refusing family costs nothing", sim.AnswerRefuse, sim.AnswerNormal, "6", 0},
		{"the first family wins late", sim.AnswerNormal, sim.AnswerRefuse, "4", 0},
		{"both refuse", sim.AnswerRefuse, sim.AnswerRefuse, "", 0},
		{"both are silent", sim.AnswerBlackhole, sim.AnswerBlackhole, "", budget},
		{"one silent, one refusing", sim.AnswerBlackhole, sim.AnswerRefuse, "", budget},
	} {
		t.Run(c.name, func(t *testing.T) {
			for seed := range uint64(10) {
				s := sim.New(sim.Options{Seed: seed, Guard: true})
				four := s.Host("four", netip.MustParseAddr("10.1.0.4"))
				six := s.Host("six", netip.MustParseAddr("fd00::6"))
				node := s.Host("node", netip.MustParseAddr("10.1.0.1"), netip.MustParseAddr("fd00::1"))
				four.SetAnswer(c.v4)
				six.SetAnswer(c.v6)
				for _, h := range []*sim.Host{four, six} {
					h.Start("server", func(ctx context.Context, w primitives.World) {
						l, err := w.Net().Listen(netip.AddrPortFrom(h.Addr(), 80))
						if err != nil {
							t.Error(err)
							return
						}
						defer l.Close()
						defer primitives.OnCancel(ctx, func() { l.Close() })()
						for {
							conn, err := l.Accept()
							if err != nil {
								return
							}
							conn.Read(make([]byte, 1))
							conn.Close()
						}
					})
				}
				s.DNS().Set("dual.example", time.Minute, four.Addr(), six.Addr())
				done := false
				node.Start("client", func(ctx context.Context, w primitives.World) {
					defer func() { done = true }()
					w.Resolver().Lookup(ctx, "dual.example", primitives.Never) // so that the lookup takes no time below
					start := w.Clock().Now()
					conn, err := dial.DualStack(ctx, w, "dual.example", 80, start.Add(budget))
					took := w.Clock().Now().Sub(start)
					if took < c.after || took > c.after+200*time.Millisecond {
						t.Errorf("seed %d: took %s, want %s", seed, took, c.after)
					}
					if c.to == "" {
						var failed *dial.Error
						if !errors.As(err, &failed) || len(failed.Attempts) != 2 {
							t.Errorf("seed %d: error %v", seed, err)
						}
						return
					}
					if err != nil {
						t.Errorf("seed %d: %v", seed, err)
						return
					}
					defer conn.Close()
					want := map[string]netip.Addr{"4": four.Addr(), "6": six.Addr()}[c.to]
					if got := netip.MustParseAddrPort(conn.RemoteAddr().String()).Addr(); got != want {
						t.Errorf("seed %d: connected to %s, want %s", seed, got, want)
					}
				})
				if err := s.RunUntil(func() bool { return done }, time.Minute); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
				if err := s.Run(time.Second); err != nil { // sockets of the client would be leaks now
					t.Errorf("seed %d: %v", seed, err)
				}
				s.Close()
			}
		})
	}
}
