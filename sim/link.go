package sim

import (
	"fmt"
	"net/netip"
	"time"

	"plexus/primitives/invariant"
)

// Link describes one direction between two hosts.
type Link struct {
	Latency time.Duration // least one-way delay
	Jitter  time.Duration // uniform, on top
	// SpikePPM of a million segments or datagrams take ten times as long.
	SpikePPM uint64
	// LossPPM are lost: a datagram for good, a segment until it is sent again.
	LossPPM uint64
	// DuplicatePPM and ReorderPPM of a million datagrams arrive twice, or late.
	DuplicatePPM uint64
	ReorderPPM   uint64
	Bandwidth    int64 // bytes per second; 0 is unlimited
	// Fragment lets written bytes arrive in pieces of arbitrary size.
	Fragment bool
}

// LinkDefault is a quiet local network.
var LinkDefault = Link{Latency: 100 * time.Microsecond, Jitter: 100 * time.Microsecond}

var linkLoopback = Link{Latency: 20 * time.Microsecond}

// Answer is how a host's kernel meets connection attempts.
type Answer uint8

// The answers.
const (
	AnswerNormal    Answer = iota
	AnswerRefuse           // refused at once
	AnswerBlackhole        // nothing comes back
	AnswerReset            // accepted, then reset
)

var answerNames = [...]string{"normal", "refuse", "blackhole", "reset"}

func (a Answer) String() string { return answerNames[a] }

// Limits of the transport.
const (
	windowBytes    = 64 << 10
	backlogMax     = 128
	datagramsMax   = 256
	ephemeralFirst = 32768
	retransmitMin  = 200 * time.Millisecond
	retransmitMax  = 3 * time.Second
	connectRetry   = time.Second
	connectRetries = 7
	// unackedMax is how long sent bytes may stay undeliverable before the sender
	// gives the connection up.
	unackedMax = 2 * time.Minute
)

// Network is what lies between the hosts. Its faults are calls on it.
type Network struct {
	sim         *Simulation
	byAddr      map[netip.Addr]*Host
	paths       [][]*wire // by the indexes of sender and receiver
	standard    Link
	connections uint64
	small       [][]byte // free stream buffers
}

// wire is one direction between two hosts.
type wire struct {
	from, to   *Host
	link       Link
	own        bool // link was set for this path
	cut        bool
	busyUntil  int64
	draw       Stream
	stalled    []*half // have something to deliver and cannot
	resetAfter int64   // bytes until a connection is reset; 0 is never
	streams    []*half // live directions, for resets
}

func (n *Network) init(s *Simulation) {
	n.sim = s
	n.byAddr = map[netip.Addr]*Host{}
	n.standard = LinkDefault
	n.paths = [][]*wire{nil}
}

// Network returns the network.
func (s *Simulation) Network() *Network { return &s.network }

// join adds a host's addresses.
func (n *Network) join(h *Host) {
	for _, a := range h.addrs {
		invariant.Thatf(n.byAddr[a] == nil, "two hosts have the address %v", a)
		n.byAddr[a] = h
	}
	n.paths = append(n.paths, nil)
}

func (n *Network) wire(from, to *Host) *wire {
	row := n.paths[from.index]
	if to.index < len(row) && row[to.index] != nil {
		return row[to.index]
	}
	for len(row) <= to.index {
		row = append(row, nil)
	}
	p := &wire{from: from, to: to, link: n.standard}
	if from == to {
		p.link, p.own = linkLoopback, true
	}
	p.draw.init(n.sim.opts.Seed, fmt.Sprintf("network/%s/%s", from.name, to.name))
	row[to.index] = p
	n.paths[from.index] = row
	return p
}

// SetDefault describes every direction that SetLink did not.
func (n *Network) SetDefault(l Link) {
	n.standard = l
	n.each(func(p *wire) {
		if !p.own {
			p.link = l
		}
	})
}

// SetLink describes one direction.
func (n *Network) SetLink(from, to *Host, l Link) {
	p := n.wire(from, to)
	p.link, p.own = l, true
}

// ResetLink returns one direction to the standard description.
func (n *Network) ResetLink(from, to *Host) {
	p := n.wire(from, to)
	p.link, p.own = n.standard, false
}

// LinkOf returns the description of one direction.
func (n *Network) LinkOf(from, to *Host) Link { return n.wire(from, to).link }

// Cut lets nothing pass in one direction until Heal.
func (n *Network) Cut(from, to *Host) {
	n.wire(from, to).cut = true
	n.sim.note(KindNet, uint64(netCut)<<32|uint64(from.index), uint64(to.index))
}

// Heal ends Cut in one direction: what the kernels kept is sent again.
func (n *Network) Heal(from, to *Host) {
	p := n.wire(from, to)
	if !p.cut {
		return
	}
	p.cut = false
	n.sim.note(KindNet, uint64(netHeal)<<32|uint64(from.index), uint64(to.index))
	n.release(p)
}

// Partition cuts both directions between every host of a and every host of b.
func (n *Network) Partition(a, b []*Host) {
	for _, x := range a {
		for _, y := range b {
			if x != y {
				n.Cut(x, y)
				n.Cut(y, x)
			}
		}
	}
}

// HealAll ends every cut and returns every link to the standard description.
func (n *Network) HealAll() {
	n.each(func(p *wire) {
		if p.from != p.to {
			p.link, p.own = n.standard, false
		}
		p.resetAfter = 0
		n.Heal(p.from, p.to)
		n.Release(p.from, p.to)
	})
	for _, h := range n.sim.hosts {
		h.answer = AnswerNormal
	}
}

// ResetAfter resets the connection that carries the nth byte from now in this
// direction.
func (n *Network) ResetAfter(from, to *Host, bytes int64) {
	n.wire(from, to).resetAfter = max(bytes, 1)
}

// Reset resets every connection between two hosts now.
func (n *Network) Reset(a, b *Host) {
	for _, p := range []*wire{n.wire(a, b), n.wire(b, a)} {
		for _, h := range append([]*half(nil), p.streams...) {
			if h.from.dialing == nil && h.to.dialing == nil {
				h.from.reset(errReset)
				h.to.reset(errReset)
			}
		}
	}
}

// Hold keeps one established connection between two hosts, the nth modulo their
// number, from carrying anything from the first to the second until Release. It
// reports whether there is one.
func (n *Network) Hold(from, to *Host, nth int) bool {
	var established []*half
	for _, h := range n.wire(from, to).streams {
		if h.from.dialing == nil && h.to.dialing == nil && !h.held {
			established = append(established, h)
		}
	}
	if len(established) == 0 {
		return false
	}
	h := established[nth%len(established)]
	h.held = true
	n.sim.note(KindNet, uint64(netHold)<<32|h.from.id, uint64(to.index))
	return true
}

// Release ends every Hold in one direction: what the kernels kept is sent again.
func (n *Network) Release(from, to *Host) {
	p := n.wire(from, to)
	held := false
	for _, h := range p.streams {
		held = held || h.held
		h.held = false
	}
	if held {
		n.sim.note(KindNet, uint64(netRelease)<<32|uint64(from.index), uint64(to.index))
		n.release(p)
	}
}

// SetAnswer decides how the host meets connection attempts from now on.
func (h *Host) SetAnswer(a Answer) { h.answer = a }

func (n *Network) each(f func(*wire)) {
	for _, row := range n.paths {
		for _, p := range row {
			if p != nil {
				f(p)
			}
		}
	}
}

// open says whether something sent now arrives.
func (p *wire) open() bool { return !p.cut && !p.to.down }

// release delivers what was stalled on the path, after a retransmission delay.
func (n *Network) release(p *wire) {
	stalled := p.stalled
	p.stalled = nil
	for _, h := range stalled {
		h.stalled = false
		if !h.armed() {
			wait := min(time.Duration(n.sim.now-h.stalledAt), retransmitMax)
			n.sim.timers.arm(&h.timer, n.sim.now+p.draw.Between(0, int64(wait)))
		}
	}
}

// powered releases what waited for a host to come back.
func (n *Network) powered(h *Host) {
	for _, row := range n.paths {
		if h.index < len(row) && row[h.index] != nil {
			n.release(row[h.index])
		}
	}
}

// arrival draws when bytes sent now arrive over a stream.
func (p *wire) arrival(now int64, bytes int) int64 {
	l := &p.link
	at := p.transmit(now, bytes)
	if l.LossPPM > 0 {
		for wait := retransmitMin; p.draw.Chance(l.LossPPM); wait = min(2*wait, retransmitMax) {
			at += int64(wait)
		}
	}
	return at
}

// transmit draws when bytes sent now arrive if they are not lost.
func (p *wire) transmit(now int64, bytes int) int64 {
	l := &p.link
	d := int64(l.Latency)
	if l.Jitter > 0 {
		d += int64(p.draw.Below(uint64(l.Jitter)))
	}
	if l.SpikePPM > 0 && p.draw.Chance(l.SpikePPM) {
		d *= 10
	}
	if l.Bandwidth > 0 {
		p.busyUntil = max(p.busyUntil, now) + int64(bytes)*int64(time.Second)/l.Bandwidth
		return p.busyUntil + d
	}
	return now + d
}

// netAction is the first half of A in a KindNet record.
type netAction uint32

const (
	netConnect netAction = iota + 1
	netRefuse
	netArrive
	netClose
	netReset
	netDatagram
	netDrop
	netCut
	netHeal
	netHold
	netRelease
)

var netNames = [...]string{"", "connect", "refuse", "arrive", "close", "reset", "datagram", "drop", "cut", "heal", "hold", "release"}
