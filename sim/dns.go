package sim

import (
	"context"
	"encoding/binary"
	"io"
	"net/netip"
	"strings"
	"time"

	message "github.com/miekg/dns"

	"plexus/primitives"
	"plexus/primitives/dns"
	"plexus/primitives/invariant"
)

// Resolver implements primitives.World: the node resolver, configured at the
// simulation's authority.
func (p *Process) Resolver() primitives.Resolver {
	if p.resolver == nil {
		c := dns.DefaultConfig()
		c.Servers = []netip.AddrPort{p.sim.DNS().address()}
		c.Hosts = p.host.hosts
		p.resolver = dns.New(p, c)
	}
	return p.resolver
}

// SetHostsFile gives the machine's next processes a hosts file. Addresses are
// IPv4 first.
func (h *Host) SetHostsFile(entries map[string][]netip.Addr) { h.hosts = entries }

// Trouble is what a name server does to a question instead of answering it.
type Trouble uint8

// The troubles.
const (
	TroubleNone     Trouble = iota
	TroubleAbsent           // NXDOMAIN
	TroubleEmpty            // no record of the type
	TroubleServFail         // SERVFAIL
	TroubleRefused          // REFUSED
	TroubleSilent           // no reply
	TroubleTruncate         // datagrams are cut, so that it is asked over TCP
	TroubleWrongID          // a reply to another question, then the right one
	TroubleMoved            // the address of a machine that refuses every connection
)

var troubleNames = [...]string{"none", "absent", "empty", "servfail", "refused", "silent", "truncate", "wrong-id", "moved"}

func (t Trouble) String() string { return troubleNames[t] }

// Authority is the name server of the simulated network. It knows every host by
// its name, unless told otherwise.
type Authority struct {
	sim   *Simulation
	host  *Host
	table map[string]*dnsEntry
	delay time.Duration
	asked map[string]int
}

type dnsEntry struct {
	addrs   []netip.Addr
	ttl     time.Duration
	trouble Trouble
	known   bool // addrs and ttl were set
}

const (
	dnsTTL  = 30 * time.Second
	dnsPort = 53
)

// DNS returns the name server; the first call starts it.
func (s *Simulation) DNS() *Authority {
	if s.dns == nil {
		s.dns = &Authority{sim: s, table: map[string]*dnsEntry{}, asked: map[string]int{}}
		s.dns.host = s.Host("dns", netip.AddrFrom4([4]byte{10, 255, 255, 53}))
		s.dns.host.Start("authority", s.dns.serve)
	}
	return s.dns
}

// Host returns the name server's machine, to cut, freeze or crash it.
func (a *Authority) Host() *Host { return a.host }

func (a *Authority) address() netip.AddrPort { return netip.AddrPortFrom(a.host.Addr(), dnsPort) }

func (a *Authority) entry(name string) *dnsEntry {
	name = strings.ToLower(strings.TrimSuffix(name, "."))
	e := a.table[name]
	if e == nil {
		e = &dnsEntry{}
		a.table[name] = e
	}
	return e
}

// Set gives a name its addresses.
func (a *Authority) Set(name string, ttl time.Duration, addrs ...netip.Addr) {
	e := a.entry(name)
	e.addrs, e.ttl, e.known = addrs, ttl, true
}

// Trouble makes questions for a name fail in the given way until TroubleNone.
func (a *Authority) Trouble(name string, t Trouble) { a.entry(name).trouble = t }

// SetDelay makes every reply late.
func (a *Authority) SetDelay(d time.Duration) { a.delay = d }

// Heal ends every trouble and delay.
func (a *Authority) Heal() {
	a.delay = 0
	for _, name := range primitives.SortedKeys(a.table) {
		a.table[name].trouble = TroubleNone
	}
}

// Asked returns how many questions for a name have come.
func (a *Authority) Asked(name string) int {
	return a.asked[strings.ToLower(strings.TrimSuffix(name, "."))]
}

// serve is the name server's program.
func (a *Authority) serve(ctx context.Context, w primitives.World) {
	packets, err := w.Net().ListenPacket(a.address())
	invariant.Thatf(err == nil, "the name server: %v", err)
	listener, err := w.Net().Listen(a.address())
	invariant.Thatf(err == nil, "the name server: %v", err)
	w.Tasks().Go("tcp", func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			w.Tasks().Go("tcp client", func() { a.serveStream(w, c) })
		}
	})
	buf := make([]byte, 4096)
	for {
		n, from, err := packets.ReadFrom(buf)
		if err != nil {
			return
		}
		question := append([]byte(nil), buf[:n]...)
		answer := func() {
			for _, reply := range a.reply(question, true) {
				if _, err := packets.WriteTo(reply, from); err != nil {
					w.Log().Debug("reply not sent", "error", err)
				}
			}
		}
		if a.delay == 0 {
			answer()
			continue
		}
		w.Tasks().Go("late reply", func() {
			a.sim.sleep(a.delay, "late reply")
			answer()
		})
	}
}

func (a *Authority) serveStream(w primitives.World, c primitives.Conn) {
	defer c.Close()
	var size [2]byte
	for {
		if _, err := io.ReadFull(c, size[:]); err != nil {
			return
		}
		question := make([]byte, binary.BigEndian.Uint16(size[:]))
		if _, err := io.ReadFull(c, question); err != nil {
			return
		}
		if a.delay > 0 {
			a.sim.sleep(a.delay, "late reply")
		}
		for _, reply := range a.reply(question, false) {
			framed := binary.BigEndian.AppendUint16(nil, uint16(len(reply)))
			if _, err := c.Write(append(framed, reply...)); err != nil {
				return
			}
		}
	}
}

// reply returns the messages that answer a question, none to stay silent.
func (a *Authority) reply(question []byte, datagram bool) [][]byte {
	q := new(message.Msg)
	if err := q.Unpack(question); err != nil || len(q.Question) != 1 {
		return nil
	}
	name := strings.ToLower(strings.TrimSuffix(q.Question[0].Name, "."))
	a.asked[name]++
	addrs, ttl, trouble, known := a.lookup(name)
	m := new(message.Msg)
	m.SetReply(q)
	m.Authoritative = true
	switch trouble {
	case TroubleSilent:
		return nil
	case TroubleServFail:
		m.Rcode = message.RcodeServerFailure
	case TroubleRefused:
		m.Rcode = message.RcodeRefused
	case TroubleAbsent:
		m.Rcode = message.RcodeNameError
	case TroubleEmpty:
	default:
		if !known {
			m.Rcode = message.RcodeNameError
			break
		}
		if trouble == TroubleTruncate && datagram {
			m.Truncated = true
			break
		}
		if trouble == TroubleMoved {
			addrs = a.host.addrs
		}
		for _, addr := range addrs {
			if r := record(q.Question[0], addr, ttl); r != nil {
				m.Answer = append(m.Answer, r)
			}
		}
	}
	packed, err := m.Pack()
	invariant.Thatf(err == nil, "the name server: %v", err)
	if trouble != TroubleWrongID {
		return [][]byte{packed}
	}
	wrong := append([]byte(nil), packed...)
	binary.BigEndian.PutUint16(wrong, m.Id+1)
	return [][]byte{wrong, packed}
}

func (a *Authority) lookup(name string) (addrs []netip.Addr, ttl time.Duration, t Trouble, known bool) {
	if e := a.table[name]; e != nil {
		addrs, ttl, t, known = e.addrs, e.ttl, e.trouble, e.known
	}
	for _, h := range a.sim.hosts {
		if !known && h.name == name {
			addrs, ttl, known = h.addrs, dnsTTL, true
		}
	}
	return addrs, ttl, t, known
}

func record(q message.Question, addr netip.Addr, ttl time.Duration) message.RR {
	head := message.RR_Header{Name: q.Name, Rrtype: q.Qtype, Class: message.ClassINET, Ttl: uint32(ttl / time.Second)}
	switch {
	case q.Qtype == message.TypeA && addr.Is4():
		return &message.A{Hdr: head, A: addr.AsSlice()}
	case q.Qtype == message.TypeAAAA && addr.Is6():
		return &message.AAAA{Hdr: head, AAAA: addr.AsSlice()}
	}
	return nil
}
