package dns_test

import (
	"context"
	"encoding/binary"
	"io"
	"log/slog"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	wire "github.com/miekg/dns"

	"plexus/primitives"
	"plexus/primitives/dns"
	"plexus/real"
	"plexus/sim"
)

var bg = context.Background()

// place is one world with a machine address.
type place struct {
	*testing.T
	w    primitives.World
	addr netip.Addr
}

// inBothWorlds runs a body on the operating system and in the simulator.
func inBothWorlds(t *testing.T, body func(place)) {
	t.Run("real", func(t *testing.T) {
		w := real.NewWorld(real.Options{Log: slog.DiscardHandler})
		defer func() {
			if err := w.Close(5 * time.Second); err != nil {
				t.Error(err)
			}
		}()
		body(place{t, w, netip.MustParseAddr("127.0.0.1")})
		if n := w.OpenSockets(); n > 0 {
			t.Errorf("%d sockets left open", n)
		}
	})
	t.Run("sim", func(t *testing.T) {
		for seed := range uint64(3) {
			s := sim.New(sim.Options{Seed: seed, Guard: true})
			h := s.Host("node-1")
			done := false
			w := h.World()
			w.Tasks().Go("test", func() {
				body(place{t, w, h.Addr()})
				done = true
			})
			err := s.RunUntil(func() bool { return done }, time.Hour)
			s.Close()
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
	})
}

// authority is a scripted name server.
type authority struct {
	addr  netip.AddrPort
	lock  *primitives.Mutex
	asked []string // "name type udp", in the order of arrival
	tasks *primitives.Group
	close func()
}

// questions returns what was asked so far.
func (a *authority) questions() []string {
	a.lock.Lock(bg)
	defer a.lock.Unlock()
	return slices.Clone(a.asked)
}

// reply makes the messages that answer a request; none is silence.
type reply func(request *wire.Msg, transport string) []*wire.Msg

// serve runs an authority until the function it returns is called.
func (p place) serve(answer reply) *authority {
	p.Helper()
	l, err := p.w.Net().Listen(netip.AddrPortFrom(p.addr, 0))
	if err != nil {
		p.Fatal(err)
	}
	c, err := p.w.Net().ListenPacket(l.Addr())
	if err != nil {
		p.Fatal(err)
	}
	a := &authority{addr: l.Addr(), lock: primitives.NewMutex(p.w), tasks: primitives.NewGroup(bg, p.w)}
	handle := func(packed []byte, transport string) (out [][]byte) {
		request := new(wire.Msg)
		if err := request.Unpack(packed); err != nil {
			return nil
		}
		a.lock.Lock(bg)
		q := request.Question[0]
		a.asked = append(a.asked, strings.TrimSuffix(q.Name, ".")+" "+wire.TypeToString[q.Qtype]+" "+transport)
		a.lock.Unlock()
		for _, m := range answer(request, transport) {
			packed, err := m.Pack()
			if err != nil {
				p.Error(err)
			}
			out = append(out, packed)
		}
		return out
	}
	a.tasks.Go("authority udp", func(context.Context) error {
		for buffer := make([]byte, 4096); ; {
			n, from, err := c.ReadFrom(buffer)
			if err != nil {
				return nil
			}
			for _, packed := range handle(buffer[:n], "udp") {
				c.WriteTo(packed, from)
			}
		}
	})
	a.tasks.Go("authority tcp", func(context.Context) error {
		for {
			conn, err := l.Accept()
			if err != nil {
				return nil
			}
			var size [2]byte
			io.ReadFull(conn, size[:])
			packed := make([]byte, binary.BigEndian.Uint16(size[:]))
			io.ReadFull(conn, packed)
			for _, packed := range handle(packed, "tcp") {
				conn.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(packed))), packed...))
			}
			conn.Close()
		}
	})
	a.close = func() {
		l.Close()
		c.Close()
		a.tasks.Wait(bg)
	}
	return a
}

// resolver asks the given authorities.
func (p place) resolver(change func(*dns.Config), servers ...*authority) *dns.Resolver {
	config := dns.DefaultConfig()
	for _, s := range servers {
		config.Servers = append(config.Servers, s.addr)
	}
	if change != nil {
		change(&config)
	}
	return dns.New(p.w, config)
}

func (p place) in(d time.Duration) primitives.Instant { return p.w.Clock().Now().Add(d) }

// zone answers from records in presentation form; a name that has none does not
// exist.
func zone(records ...string) reply {
	var all []wire.RR
	for _, text := range records {
		rr, err := wire.NewRR(text)
		if err != nil {
			panic(err)
		}
		all = append(all, rr)
	}
	return func(request *wire.Msg, _ string) []*wire.Msg {
		m := new(wire.Msg).SetReply(request)
		m.Rcode = wire.RcodeNameError
		name := request.Question[0].Name
		for range 5 { // aliases
			next := ""
			for _, rr := range all {
				h := rr.Header()
				if !strings.EqualFold(h.Name, name) {
					continue
				}
				m.Rcode = wire.RcodeSuccess
				if alias, ok := rr.(*wire.CNAME); ok {
					next = alias.Target
				}
				if h.Rrtype == request.Question[0].Qtype || next != "" {
					m.Answer = append(m.Answer, rr)
				}
			}
			if name = next; name == "" {
				break
			}
		}
		return []*wire.Msg{m}
	}
}

// code answers everything with a response code.
func code(rcode int) reply {
	return func(request *wire.Msg, _ string) []*wire.Msg {
		return []*wire.Msg{new(wire.Msg).SetRcode(request, rcode)}
	}
}

func silent(*wire.Msg, string) []*wire.Msg { return nil }
