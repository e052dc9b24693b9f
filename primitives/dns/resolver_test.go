package dns_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	wire "github.com/miekg/dns"

	"plexus/primitives"
	"plexus/primitives/dns"
)

func (p place) wants(r *dns.Resolver, host, want string) {
	p.Helper()
	addrs, err := r.Lookup(bg, host, p.in(10*time.Second))
	if got := fmt.Sprint(addrs); err != nil || got != want {
		p.Fatalf("%s: %s, %v; want %s", host, got, err, want)
	}
}

func (p place) fails(r *dns.Resolver, host string, failure dns.LookupFailure) {
	p.Helper()
	addrs, err := r.Lookup(bg, host, p.in(2*time.Second))
	var lookup *dns.LookupError
	if !errors.As(err, &lookup) || lookup.Failure != failure || lookup.Host != host {
		p.Fatalf("%s: %v, %v; want %q", host, addrs, err, failure)
	}
}

func TestAnswerOrder(t *testing.T) {
	inBothWorlds(t, func(p place) {
		a := p.serve(zone(
			"one.example. 60 IN A 10.0.0.1",
			"one.example. 60 IN AAAA fd00::1",
			"one.example. 60 IN A 10.0.0.2",
			"one.example. 60 IN A 10.0.0.1",
			"six.example. 60 IN AAAA fd00::6",
			"alias.example. 60 IN CNAME other.example.",
			"other.example. 60 IN CNAME one.example.",
			"text.example. 60 IN TXT nothing",
			"short.corp.example. 60 IN A 10.0.0.9",
			"under_score.example. 60 IN A 10.0.0.8",
		))
		defer a.close()
		r := p.resolver(func(c *dns.Config) {
			c.Search = []string{"corp.example", "example"}
			c.Hosts = map[string][]netip.Addr{"filed": {netip.MustParseAddr("10.1.1.1")}, "one.example.net": {netip.MustParseAddr("10.1.1.2")}}
		}, a)
		p.wants(r, "10.9.8.7", "[10.9.8.7]")
		p.wants(r, "fd00::7", "[fd00::7]")
		p.wants(r, "[fd00::7]", "[fd00::7]")
		p.wants(r, "FILED", "[10.1.1.1]")
		p.wants(r, "one.example.net", "[10.1.1.2]")
		p.wants(r, "localhost", "[127.0.0.1 ::1]")
		p.wants(r, "db.LOCALHOST", "[127.0.0.1 ::1]")
		for _, bad := range []string{"", ".", "a..b", "-a", "a-.b", "sp ace", "ü.example", strings.Repeat("a", 64), strings.Repeat("a.", 127) + "b", "[1.2.3"} {
			p.fails(r, bad, dns.InvalidName)
		}
		if len(a.questions()) != 0 {
			p.Fatalf("asked %v", a.questions())
		}
		p.wants(r, "one.example", "[10.0.0.1 10.0.0.2 fd00::1]")
		p.wants(r, "ONE.Example.", "[10.0.0.1 10.0.0.2 fd00::1]")
		p.wants(r, "six.example", "[fd00::6]")
		p.wants(r, "alias.example", "[10.0.0.1 10.0.0.2 fd00::1]")
		p.wants(r, "under_score.example", "[10.0.0.8]")
		p.wants(r, "short", "[10.0.0.9]")
		p.wants(r, "one", "[10.0.0.1 10.0.0.2 fd00::1]")
		p.fails(r, "text.example.", dns.NoAddresses)
		p.fails(r, "missing.example", dns.NameNotFound)
		p.fails(r, "one.", dns.NameNotFound)
	})
}

func TestSearchOrder(t *testing.T) {
	inBothWorlds(t, func(p place) {
		for _, c := range []struct {
			host  string
			ndots int
			want  string
		}{
			{"h", 1, "h.a.x h.b.x h"},
			{"h.i", 1, "h.i h.i.a.x h.i.b.x"},
			{"h.i", 2, "h.i.a.x h.i.b.x h.i"},
			{"h", 0, "h h.a.x h.b.x"},
			{"h.", 1, "h"},
		} {
			a := p.serve(zone())
			r := p.resolver(func(config *dns.Config) { config.Search, config.Ndots = []string{"a.x", "b.x"}, c.ndots }, a)
			p.fails(r, c.host, dns.NameNotFound)
			a.close()
			var names []string
			for _, asked := range a.questions() {
				if name, _, _ := strings.Cut(asked, " "); !slices.Contains(names, name) {
					names = append(names, name)
				}
			}
			if got := strings.Join(names, " "); got != c.want {
				p.Errorf("%s with ndots %d asked %s, want %s", c.host, c.ndots, got, c.want)
			}
		}
	})
}

func TestFailures(t *testing.T) {
	inBothWorlds(t, func(p place) {
		quick := func(c *dns.Config) { c.Timeout, c.Attempts = 50*time.Millisecond, 2 }
		for _, c := range []struct {
			name    string
			answers []reply
			failure dns.LookupFailure
		}{
			{"refused", []reply{code(wire.RcodeRefused)}, dns.Refused},
			{"server failure", []reply{code(wire.RcodeServerFailure)}, dns.Refused},
			{"silence", []reply{silent}, dns.Timeout},
			{"silence and refusal", []reply{silent, code(wire.RcodeRefused)}, dns.Refused},
			{"a denial is final", []reply{code(wire.RcodeNameError), silent}, dns.NameNotFound},
			{"no records", []reply{code(wire.RcodeSuccess)}, dns.NoAddresses},
		} {
			var servers []*authority
			for _, answer := range c.answers {
				servers = append(servers, p.serve(answer))
			}
			p.fails(p.resolver(quick, servers...), "h.example", c.failure)
			for _, s := range servers {
				s.close()
			}
		}
		p.fails(p.resolver(nil), "h.example", dns.Unreachable)
	})
}

func TestAnyServerIsEnough(t *testing.T) {
	inBothWorlds(t, func(p place) {
		good := zone("h.example. 60 IN A 10.0.0.1")
		for _, answers := range [][]reply{
			{silent, good}, {code(wire.RcodeRefused), good}, {silent, silent, good}, {code(wire.RcodeServerFailure), silent, silent, good},
		} {
			var servers []*authority
			for _, answer := range answers {
				servers = append(servers, p.serve(answer))
			}
			r := p.resolver(func(c *dns.Config) { c.Timeout = 100 * time.Millisecond }, servers...)
			p.wants(r, "h.example", "[10.0.0.1]")
			for _, s := range servers {
				s.close()
			}
		}
	})
}

func TestTruncatedAnswerIsAskedOverTCP(t *testing.T) {
	inBothWorlds(t, func(p place) {
		good := zone("h.example. 60 IN A 10.0.0.1", "h.example. 60 IN A 10.0.0.2")
		a := p.serve(func(request *wire.Msg, transport string) []*wire.Msg {
			out := good(request, transport)
			if transport == "udp" {
				out[0].Truncated, out[0].Answer = true, nil
			}
			return out
		})
		defer a.close()
		p.wants(p.resolver(nil, a), "h.example", "[10.0.0.1 10.0.0.2]")
	})
}

func TestForeignResponsesAreIgnored(t *testing.T) {
	inBothWorlds(t, func(p place) {
		good := zone("h.example. 60 IN A 10.0.0.1")
		a := p.serve(func(request *wire.Msg, transport string) []*wire.Msg {
			out := good(request, transport)
			wrongID, wrongName, notReply := out[0].Copy(), out[0].Copy(), out[0].Copy()
			wrongID.Id++
			wrongName.Question[0].Name = "other.example."
			notReply.Response = false
			return []*wire.Msg{wrongID, wrongName, notReply, out[0]}
		})
		defer a.close()
		p.wants(p.resolver(nil, a), "h.example", "[10.0.0.1]")
	})
}

func TestCache(t *testing.T) {
	inBothWorlds(t, func(p place) {
		soa := "example. 1 IN SOA ns.example. root.example. 1 1 1 1 1"
		records := zone("short.example. 1 IN A 10.0.0.1", "long.example. 600 IN A 10.0.0.2", "never.example. 0 IN A 10.0.0.3")
		a := p.serve(func(request *wire.Msg, transport string) []*wire.Msg {
			out := records(request, transport)
			if out[0].Rcode == wire.RcodeNameError {
				rr, _ := wire.NewRR(soa)
				out[0].Ns = []wire.RR{rr}
			}
			return out
		})
		defer a.close()
		r := p.resolver(nil, a)
		asks := func(host string) int {
			p.Helper()
			before := len(a.questions())
			r.Lookup(bg, host, p.in(5*time.Second))
			count := 0
			for _, asked := range a.questions()[before:] {
				if strings.HasSuffix(asked, " A udp") {
					count++
				}
			}
			return count
		}
		for _, c := range []struct {
			host string
			want [2]int // questions of the first and the second lookup
		}{
			{"long.example", [2]int{1, 0}}, {"short.example", [2]int{1, 0}}, {"never.example", [2]int{1, 1}}, {"missing.example", [2]int{1, 0}},
		} {
			if got := [2]int{asks(c.host), asks(c.host)}; got != c.want {
				p.Errorf("%s asked %v, want %v", c.host, got, c.want)
			}
		}
		primitives.Sleep(bg, p.w, 1100*time.Millisecond)
		for _, c := range []struct {
			host string
			want int
		}{{"long.example", 0}, {"short.example", 1}, {"missing.example", 1}} {
			if got := asks(c.host); got != c.want {
				p.Errorf("%s asked %d times after a second, want %d", c.host, got, c.want)
			}
		}
	})
}

func TestBudgetCoversEverything(t *testing.T) {
	inBothWorlds(t, func(p place) {
		a := p.serve(silent)
		defer a.close()
		r := p.resolver(nil, a)
		at := p.in(100 * time.Millisecond)
		_, err := r.Lookup(bg, "h.example", at)
		var lookup *dns.LookupError
		if !errors.As(err, &lookup) || lookup.Failure != dns.Timeout || !errors.Is(err, context.DeadlineExceeded) {
			p.Fatalf("ended with %v", err)
		}
		if p.w.Clock().Now().Before(at) {
			p.Fatal("ended early")
		}
		if err.Error() != "cannot resolve 'h.example': no answer in time" {
			p.Fatalf("text %q", err)
		}
	})
}

func TestBoundOfLookups(t *testing.T) {
	inBothWorlds(t, func(p place) {
		a := p.serve(silent)
		defer a.close()
		r := p.resolver(nil, a)
		ctx, cancel := primitives.WithCancel(bg, p.w)
		g := primitives.NewGroup(bg, p.w)
		for i := range 70 {
			g.Go("lookup", func(context.Context) error {
				_, err := r.Lookup(ctx, fmt.Sprintf("h%d.example", i), p.in(time.Minute))
				if !errors.Is(err, context.Canceled) {
					p.Errorf("ended with %v", err)
				}
				return nil
			})
		}
		primitives.Sleep(bg, p.w, 300*time.Millisecond)
		var names []string
		for _, asked := range a.questions() {
			if name, _, _ := strings.Cut(asked, " "); !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		if len(names) != 64 {
			p.Errorf("%d names were asked at once", len(names))
		}
		cancel()
		g.Wait(bg)
		// Every slot is free again.
		p.wants(r, "10.0.0.1", "[10.0.0.1]")
		p.fails(p.resolver(func(c *dns.Config) { c.Timeout, c.Attempts = 10*time.Millisecond, 1 }, a), "h.example", dns.Timeout)
	})
}
