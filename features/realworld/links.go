package realworld

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"plexus/features/harness"
	"plexus/primitives"
)

// membersMost is how many nodes a scenario with hurt links may have.
const membersMost = 9

// links are TCP hops between the nodes, one per ordered pair. Every node reads a
// hosts file of its own, in which the name of another node is the address of the
// hop between the two; all of them use one advertised port.
type links struct {
	w    primitives.World
	hops map[[2]int]*hop

	mu    sync.Mutex // never held while a task parks
	ways  map[[2]int]*way
	close bool
}

// way is one direction between two nodes.
type way struct {
	cut    bool
	breaks int // bytes until a connection breaks; 0 is never
	delay  time.Duration
	healed *primitives.Event // set when the present cut ends
}

// hop takes connections of one node to another.
type hop struct {
	listener primitives.Listener
	mu       sync.Mutex
	pairs    []primitives.Conn
	closed   bool
}

func newLinks(w primitives.World) *links {
	return &links{w: w, hops: map[[2]int]*hop{}, ways: map[[2]int]*way{}}
}

// ordinal is the number in a node's name.
func ordinal(name string) int {
	n := 0
	fmt.Sscanf(name, "node-%d", &n)
	return n
}

// hopAddress is where the connections of one node to another go through. The
// whole of 127.0.0.0/8 is loopback.
func hopAddress(from, to int) netip.Addr {
	return netip.AddrFrom4([4]byte{127, 77, byte(from), byte(to)})
}

// memberName is the host a node advertises to the others.
func memberName(number int) string { return fmt.Sprintf("node-%d.members.test", number) }

// linksMissing returns why this machine cannot have hops, or "".
func linksMissing() string {
	listener, err := net.Listen("tcp", net.JoinHostPort(hopAddress(1, 2).String(), "0"))
	if err != nil {
		return fmt.Sprintf("the machine has no loopback addresses for hops between nodes: %v", err)
	}
	listener.Close()
	return ""
}

// writeHosts writes the hosts file of a node, without the hidden one.
func writeHosts(file string, node, hidden int) error {
	var b strings.Builder
	for other := 1; other <= membersMost; other++ {
		if other == hidden {
			continue
		}
		fmt.Fprintf(&b, "%s %s\n", hopAddress(node, other), memberName(other))
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(b.String()), 0o600)
}

// open listens for everybody who dials a node by the port it advertises, and leads
// to where it listens.
func (l *links) open(to int, port uint16, target func() string) error {
	for from := 1; from <= membersMost; from++ {
		if from == to {
			continue
		}
		listener, err := l.w.Net().Listen(netip.AddrPortFrom(hopAddress(from, to), port))
		if err != nil {
			return errors.Join(err, l.shut(to))
		}
		h := &hop{listener: listener}
		l.hops[[2]int{from, to}] = h
		l.w.Tasks().Go("link", func() { l.accept(h, from, to, target) })
	}
	return nil
}

func (l *links) accept(h *hop, from, to int, target func() string) {
	for {
		client, err := h.listener.Accept()
		if err != nil {
			return
		}
		l.w.Tasks().Go("link connection", func() { l.connect(h, client, from, to, target) })
	}
}

// connect carries one connection. While either way is cut its handshake does not
// come to an end.
func (l *links) connect(h *hop, client primitives.Conn, from, to int, target func() string) {
	if !h.track(client) {
		client.Close()
		return
	}
	defer client.Close()
	if !l.pass(from, to) || !l.pass(to, from) {
		return
	}
	address, err := netip.ParseAddrPort(target())
	if err != nil {
		return
	}
	server, err := l.w.Net().Dial(context.Background(), address, l.w.Clock().Now().Add(dialWithin))
	if err != nil {
		return
	}
	if !h.track(server) {
		server.Close()
		return
	}
	defer server.Close()
	l.w.Tasks().Go("link upstream", func() { l.copy(client, server, from, to) })
	l.copy(server, client, to, from)
}

const dialWithin = 5 * time.Second

// track keeps a connection for the end and reports whether it may live.
func (h *hop) track(c primitives.Conn) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.pairs = append(h.pairs, c)
	return !h.closed
}

func (l *links) copy(from, to primitives.Conn, a, b int) {
	defer from.Close()
	defer to.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !l.pass(a, b) || l.broken(a, b, n) {
				return
			}
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

func (l *links) way(from, to int) *way {
	w := l.ways[[2]int{from, to}]
	if w == nil {
		w = &way{healed: primitives.NewEvent(l.w)}
		l.ways[[2]int{from, to}] = w
	}
	return w
}

// pass waits until something may go that way and reports whether the links live.
func (l *links) pass(from, to int) bool {
	for {
		l.mu.Lock()
		w := l.way(from, to)
		cut, delay, healed, closed := w.cut, w.delay, w.healed, l.close
		l.mu.Unlock()
		if closed {
			return false
		}
		if !cut {
			return delay == 0 || primitives.Sleep(context.Background(), l.w, delay) == nil
		}
		if healed.Wait(context.Background()) != nil {
			return false
		}
	}
}

// broken counts bytes and reports whether their connection breaks with them.
func (l *links) broken(from, to, bytes int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := l.way(from, to)
	if w.breaks == 0 {
		return false
	}
	w.breaks = max(0, w.breaks-bytes)
	return w.breaks == 0
}

// change sets one direction.
func (l *links) change(from, to harness.Node, cut bool, delay time.Duration) {
	l.mu.Lock()
	w := l.way(ordinal(from.Name()), ordinal(to.Name()))
	was, healed := w.cut, w.healed
	w.cut, w.delay, w.breaks = cut, delay, 0
	if cut && !was {
		w.healed = primitives.NewEvent(l.w)
	}
	l.mu.Unlock()
	if was && !cut {
		healed.Set()
	}
}

// shut ends the hops to a node.
func (l *links) shut(to int) error {
	var errs []error
	for from := 1; from <= membersMost; from++ {
		h := l.hops[[2]int{from, to}]
		if h == nil {
			continue
		}
		delete(l.hops, [2]int{from, to})
		h.mu.Lock()
		h.closed = true
		pairs := h.pairs
		h.mu.Unlock()
		errs = append(errs, h.listener.Close())
		for _, c := range pairs {
			c.Close()
		}
	}
	return errors.Join(errs...)
}

// end ends everything, what waits for a cut way too.
func (l *links) end() error {
	l.mu.Lock()
	l.close = true
	var waiting []*primitives.Event
	for _, w := range l.ways { //plexus:orderfree every event is set
		waiting = append(waiting, w.healed)
	}
	l.mu.Unlock()
	for _, event := range waiting {
		event.Set()
	}
	var errs []error
	for to := 1; to <= membersMost; to++ {
		errs = append(errs, l.shut(to))
	}
	return errors.Join(errs...)
}

// CutLink implements harness.Links.
func (s *stage) CutLink(from, to harness.Node) error { return s.link(from, to, true, 0) }

// SlowLink implements harness.Links.
func (s *stage) SlowLink(from, to harness.Node, by time.Duration) error {
	return s.link(from, to, false, by)
}

// HealLink implements harness.Links.
func (s *stage) HealLink(from, to harness.Node) error { return s.link(from, to, false, 0) }

// BreakLink implements harness.Links.
func (s *stage) BreakLink(from, to harness.Node, bytes int) error {
	if s.links == nil {
		return errNoLinks
	}
	s.links.mu.Lock()
	defer s.links.mu.Unlock()
	s.links.way(ordinal(from.Name()), ordinal(to.Name())).breaks = bytes
	return nil
}

// HideName implements harness.Links.
func (s *stage) HideName(n harness.Node, hidden bool) error {
	if s.links == nil {
		return errNoLinks
	}
	var errs []error
	for _, other := range s.nodes {
		number := 0
		if hidden {
			number = ordinal(n.Name())
		}
		errs = append(errs, writeHosts(other.hostsFile(), ordinal(other.name), number))
	}
	return errors.Join(errs...)
}

var errNoLinks = errors.New("the scenario does not say @fault:link")

func (s *stage) link(from, to harness.Node, cut bool, delay time.Duration) error {
	if s.links == nil {
		return errNoLinks
	}
	s.links.change(from, to, cut, delay)
	return nil
}

var _ harness.Links = (*stage)(nil)
