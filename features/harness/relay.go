package harness

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"time"

	"plexus/primitives"
)

// relayDialWithin bounds the hop from a relay to its server.
const relayDialWithin = 5 * time.Second

// Relays are TCP hops between the nodes and one server, one per destination, so
// that damage to a destination hurts only the clients that came by its address.
type Relays struct {
	w       primitives.World
	listen  netip.Addr
	target  netip.AddrPort
	answers func([]byte) bool

	mu     sync.Mutex // never held while a task parks
	byName map[string]*relay
}

// NewRelays returns relays that listen on the address and lead to the target.
// answers reports whether bytes from the server hold the answer to a write.
func NewRelays(w primitives.World, listen netip.Addr, target netip.AddrPort, answers func([]byte) bool) *Relays {
	return &Relays{w: w, listen: listen, target: target, answers: answers, byName: map[string]*relay{}}
}

// Address returns where the relay of the destination listens; it is opened on
// first use.
func (r *Relays) Address(d Destination) (string, error) {
	hop, err := r.of(d)
	if err != nil {
		return "", err
	}
	return hop.address.String(), nil
}

func (r *Relays) of(d Destination) (*relay, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if hop, ok := r.byName[d.Name]; ok {
		return hop, nil
	}
	hop := &relay{relays: r, resumed: primitives.NewEvent(r.w)}
	if err := hop.open(netip.AddrPortFrom(r.listen, 0)); err != nil {
		return nil, err
	}
	r.byName[d.Name] = hop
	return hop, nil
}

// Break damages the way to one destination.
func (r *Relays) Break(d Destination, damage Damage) error {
	hop, err := r.of(d)
	if err != nil {
		return err
	}
	switch damage {
	case Refuse:
		hop.refuse()
	case Hang:
		hop.hang()
	case LoseAnswer:
		hop.loseAnswer()
	case Cut:
		hop.cut()
	default:
		return fmt.Errorf("a relay cannot do %s: it does not read payloads", damage)
	}
	return nil
}

// Heal makes the way to one destination good again.
func (r *Relays) Heal(d Destination) error {
	hop, err := r.of(d)
	if err != nil {
		return err
	}
	return hop.heal()
}

// HealAll makes every way good again.
func (r *Relays) HealAll() error {
	var errs []error
	for _, hop := range r.all() {
		errs = append(errs, hop.heal())
	}
	return errors.Join(errs...)
}

// Close ends every relay.
func (r *Relays) Close() {
	for _, hop := range r.all() {
		hop.close()
	}
}

func (r *Relays) all() []*relay {
	r.mu.Lock()
	defer r.mu.Unlock()
	var hops []*relay
	for _, name := range primitives.SortedKeys(r.byName) {
		hops = append(hops, r.byName[name])
	}
	return hops
}

// relay is the hop of one destination.
type relay struct {
	relays  *Relays
	address netip.AddrPort

	mu       sync.Mutex          // never held while a task parks
	listener primitives.Listener // nil while it refuses
	pairs    []*pair
	hanging  bool
	losing   bool
	closed   bool
	resumed  *primitives.Event // set when the present hang ends
}

// pair is one connection through the relay.
type pair struct{ client, server primitives.Conn }

func (p *pair) close() {
	p.client.Close()
	p.server.Close()
}

func (r *relay) open(at netip.AddrPort) error {
	listener, err := r.relays.w.Net().Listen(at)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.listener, r.address = listener, listener.Addr()
	r.mu.Unlock()
	r.relays.w.Tasks().Go("relay", func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			r.relays.w.Tasks().Go("relay connection", func() { r.connect(client) })
		}
	})
	return nil
}

func (r *relay) connect(client primitives.Conn) {
	w := r.relays.w
	server, err := w.Net().Dial(context.Background(), r.relays.target, w.Clock().Now().Add(relayDialWithin))
	if err != nil {
		client.Close()
		return
	}
	p := &pair{client: client, server: server}
	r.mu.Lock()
	refused := r.closed || r.listener == nil
	if !refused {
		r.pairs = append(r.pairs, p)
	}
	r.mu.Unlock()
	if refused {
		p.close()
		return
	}
	w.Tasks().Go("relay upstream", func() { r.copy(p, client, server, false) })
	r.copy(p, server, client, true)
	r.mu.Lock()
	r.pairs = slices.DeleteFunc(r.pairs, func(q *pair) bool { return q == p })
	r.mu.Unlock()
}

// copy moves bytes one way until either end closes.
func (r *relay) copy(p *pair, from, to primitives.Conn, fromServer bool) {
	defer p.close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		if n > 0 {
			if !r.pass(buffer[:n], fromServer) {
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

// pass waits while the relay hangs and reports whether the bytes may go on. The
// connection whose answer is lost ends with it: its stream has a hole.
func (r *relay) pass(bytes []byte, fromServer bool) bool {
	for {
		r.mu.Lock()
		hanging, resumed, closed := r.hanging, r.resumed, r.closed
		if fromServer && r.losing && !hanging && r.relays.answers(bytes) {
			r.losing = false
			closed = true
		}
		r.mu.Unlock()
		if closed || !hanging {
			return !closed
		}
		if resumed.Wait(context.Background()) != nil {
			return false
		}
	}
}

// refuse stops listening and breaks every connection.
func (r *relay) refuse() {
	r.mu.Lock()
	listener := r.listener
	r.listener = nil
	r.mu.Unlock()
	if listener != nil {
		listener.Close()
	}
	r.cut()
}

func (r *relay) cut() {
	r.mu.Lock()
	pairs := slices.Clone(r.pairs)
	r.mu.Unlock()
	for _, p := range pairs {
		p.close()
	}
}

func (r *relay) hang() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hanging {
		r.hanging = true
		r.resumed = primitives.NewEvent(r.relays.w)
	}
}

func (r *relay) loseAnswer() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.losing = true
}

// heal makes the relay behave. What hung is broken rather than let through: the
// peer has long given the exchange up, or will find the connection gone.
func (r *relay) heal() error {
	hung := r.resume()
	r.mu.Lock()
	r.losing = false
	refusing := r.listener == nil && !r.closed
	r.mu.Unlock()
	if hung {
		r.cut()
	}
	if refusing {
		return r.open(r.address)
	}
	return nil
}

func (r *relay) resume() (hung bool) {
	r.mu.Lock()
	hung, r.hanging = r.hanging, false
	resumed := r.resumed
	r.mu.Unlock()
	if hung {
		resumed.Set()
	}
	return hung
}

func (r *relay) close() {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	r.resume()
	r.refuse()
}
