package dns

import (
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"
	"pgregory.net/rapid"

	"plexus/primitives"
)

// FuzzResponse gives the resolver any bytes as a response: it takes them or
// leaves them, and what it takes is bounded.
func FuzzResponse(f *testing.F) {
	q := question{"h.example", dns.TypeA}
	r := &Resolver{entropy: zeroEntropy{}, config: DefaultConfig()}
	request := r.request(q)
	reply := new(dns.Msg).SetReply(request)
	for _, text := range []string{"h.example. 60 IN CNAME h2.example.", "h2.example. 60 IN A 10.0.0.1", "h.example. 60 IN CNAME h.example."} {
		rr, err := dns.NewRR(text)
		if err != nil {
			f.Fatal(err)
		}
		reply.Answer = append(reply.Answer, rr)
		packed, err := reply.Pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packed)
	}
	f.Fuzz(func(t *testing.T, packed []byte) {
		m := fitting(request, packed)
		if m == nil {
			return
		}
		a, err := read(q, m)
		if err != nil {
			return
		}
		if (len(a.addrs) > 0) == (a.negative != nil) || a.ttl < 0 || len(a.addrs) > 0 && a.ttl > positiveTTLMax {
			t.Fatalf("answer %+v", a)
		}
		for _, addr := range a.addrs {
			if !addr.Is4() {
				t.Fatalf("an A record gave %s", addr)
			}
		}
	})
}

type zeroEntropy struct{ primitives.Entropy }

func (zeroEntropy) Uint64() uint64 { return 0 }

// TestCacheAgainstModel compares the cache with a map of everything ever put.
func TestCacheAgainstModel(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		c := newCache()
		type put struct {
			answer
			at time.Duration
		}
		model := map[question]put{}
		var now time.Duration
		names := rapid.SampledFrom([]string{"a", "b", "c"})
		r.Repeat(map[string]func(*rapid.T){
			"put": func(r *rapid.T) {
				q := question{names.Draw(r, "name"), 1}
				a := answer{ttl: time.Duration(rapid.Int64Range(0, int64(2*time.Hour)).Draw(r, "ttl")), addrs: []netip.Addr{netip.AddrFrom4([4]byte{byte(now)})}}
				if rapid.Bool().Draw(r, "negative") {
					a.addrs, a.negative = nil, &failure{kind: NoAddresses}
				}
				c.put(q, a, primitives.Instant(now))
				model[q] = put{a, now}
			},
			"wait": func(r *rapid.T) { now += time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(r, "time")) },
			"": func(r *rapid.T) {
				for _, name := range []string{"a", "b", "c"} {
					q := question{name, 1}
					got, ok := c.get(q, primitives.Instant(now))
					want, put := model[q]
					limit := positiveTTLMax
					if want.negative != nil {
						limit = negativeTTLMax
					}
					alive := put && now-want.at < min(want.ttl, limit)
					if ok != alive || ok && got.negative != want.negative {
						r.Fatalf("%s: found %v %+v, want %v %+v", name, ok, got, alive, want)
					}
				}
			},
		})
	})
}
