package dns

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/miekg/dns"

	"plexus/primitives"
)

// exchange tries one server once, within the configured time: over UDP, and
// again over TCP when the answer did not fit. A failed try is a *failure; another
// error is that of ctx.
func (r *Resolver) exchange(ctx context.Context, q question, server netip.AddrPort) (answer, error) {
	until := r.world.Clock().Now().Add(r.config.Timeout)
	request := r.request(q)
	packed, err := request.Pack()
	if err != nil {
		return answer{}, &failure{Unreachable, err}
	}
	response, err := r.overUDP(ctx, request, packed, server, until)
	if err == nil && response.Truncated {
		response, err = r.overTCP(ctx, request, packed, server, until)
	}
	switch {
	case err == nil:
		return read(q, response)
	case ctx.Err() != nil:
		return answer{}, primitives.Canceled(ctx)
	case errors.Is(err, os.ErrDeadlineExceeded):
		return answer{}, &failure{Timeout, err}
	}
	return answer{}, &failure{Unreachable, err}
}

func (r *Resolver) request(q question) *dns.Msg {
	m := &dns.Msg{
		MsgHdr:   dns.MsgHdr{Id: uint16(r.entropy.Uint64()), RecursionDesired: true},
		Question: []dns.Question{{Name: q.name + ".", Qtype: q.kind, Qclass: dns.ClassINET}},
	}
	if r.config.EDNS0 {
		m.SetEdns0(datagramBytesMax, false)
	}
	return m
}

// overUDP sends the request from a socket of its own, whose port and id an
// outsider would have to guess, and waits for the response that fits.
func (r *Resolver) overUDP(ctx context.Context, request *dns.Msg, packed []byte, server netip.AddrPort, until primitives.Instant) (*dns.Msg, error) {
	from := netip.IPv4Unspecified()
	if server.Addr().Is6() {
		from = netip.IPv6Unspecified()
	}
	conn, err := r.world.Net().ListenPacket(netip.AddrPortFrom(from, 0))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer primitives.OnCancel(ctx, func() { conn.Close() })()
	if _, err := conn.WriteTo(packed, server); err != nil {
		return nil, err
	}
	conn.ReadBy(until)
	for buffer := make([]byte, receiveBytesMax); ; {
		n, sender, err := conn.ReadFrom(buffer)
		if err != nil {
			return nil, err
		}
		if sender != server {
			continue
		}
		if response := fitting(request, buffer[:n]); response != nil {
			return response, nil
		}
	}
}

// overTCP sends the request in a length-prefixed frame.
func (r *Resolver) overTCP(ctx context.Context, request *dns.Msg, packed []byte, server netip.AddrPort, until primitives.Instant) (*dns.Msg, error) {
	conn, err := r.world.Net().Dial(ctx, server, until)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	defer primitives.OnCancel(ctx, func() { conn.Close() })()
	conn.ReadBy(until)
	conn.WriteBy(until)
	frame := binary.BigEndian.AppendUint16(nil, uint16(len(packed)))
	if _, err := conn.Write(append(frame, packed...)); err != nil {
		return nil, err
	}
	var size [2]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return nil, err
	}
	body := make([]byte, binary.BigEndian.Uint16(size[:]))
	if _, err := io.ReadFull(conn, body); err != nil {
		return nil, err
	}
	response := fitting(request, body)
	if response == nil {
		return nil, errUnfitting
	}
	return response, nil
}

var errUnfitting = errors.New("response does not fit the question")

// fitting unpacks a response that belongs to the request, or returns nil.
func fitting(request *dns.Msg, packed []byte) *dns.Msg {
	m := new(dns.Msg)
	// A truncated message may end within a record; its header is what matters.
	if err := m.Unpack(packed); err != nil && !m.Truncated {
		return nil
	}
	if m.Id != request.Id || !m.Response || len(m.Question) != 1 {
		return nil
	}
	asked, echoed := request.Question[0], m.Question[0]
	if !strings.EqualFold(asked.Name, echoed.Name) || asked.Qtype != echoed.Qtype || asked.Qclass != echoed.Qclass {
		return nil
	}
	return m
}

// read takes the addresses or the denial from a response.
func read(q question, m *dns.Msg) (answer, error) {
	switch m.Rcode {
	case dns.RcodeSuccess:
		a := addresses(q, m.Answer)
		if len(a.addrs) == 0 {
			return answer{negative: &failure{kind: NoAddresses}, ttl: denialTTL(m.Ns)}, nil
		}
		return a, nil
	case dns.RcodeNameError:
		return answer{negative: &failure{kind: NameNotFound}, ttl: denialTTL(m.Ns)}, nil
	}
	return answer{}, &failure{kind: Refused}
}

// addresses follows the aliases of the asked name to its records. The answer
// lives as long as the shortest-lived record on the way.
func addresses(q question, records []dns.RR) answer {
	a := answer{ttl: positiveTTLMax}
	for name, hops := q.name+".", 0; hops <= aliasesMax; hops++ {
		next := ""
		for _, record := range records {
			h := record.Header()
			if h.Class != dns.ClassINET || !strings.EqualFold(h.Name, name) {
				continue
			}
			switch record := record.(type) {
			case *dns.CNAME:
				next = record.Target
			case *dns.A:
				a.add(q, dns.TypeA, record.A)
			case *dns.AAAA:
				a.add(q, dns.TypeAAAA, record.AAAA)
			default:
				continue
			}
			a.ttl = min(a.ttl, time.Duration(h.Ttl)*time.Second)
		}
		if len(a.addrs) > 0 || next == "" {
			break
		}
		name = next
	}
	return a
}

func (a *answer) add(q question, kind uint16, ip []byte) {
	if addr, ok := netip.AddrFromSlice(ip); ok && kind == q.kind {
		if kind == dns.TypeA {
			addr = addr.Unmap()
		}
		a.addrs = append(a.addrs, addr)
	}
}

// denialTTL is the time a denial may be remembered: that of the zone's SOA
// record (RFC 2308), or none without one.
func denialTTL(authority []dns.RR) time.Duration {
	for _, record := range authority {
		if soa, ok := record.(*dns.SOA); ok {
			return time.Duration(min(soa.Hdr.Ttl, soa.Minttl)) * time.Second
		}
	}
	return 0
}
