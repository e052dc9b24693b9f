package harness

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"plexus/primitives"
)

// Receiver is the HTTP service that emitters of every world write to: one
// listener, a destination per path. It records a request once it decided to
// accept it, before it answers.
type Receiver struct {
	w        primitives.World
	listener primitives.Listener

	mu       sync.Mutex // never held while a task parks
	closed   bool
	open     []primitives.Conn
	received map[string][]Record
	damage   map[string]pathDamage
	// refused counts the requests each path turned down.
	refused map[string]int
}

type pathDamage struct {
	kind Damage
	text string
}

// NewReceiver listens on the address and serves until Close.
func NewReceiver(w primitives.World, at netip.AddrPort) (*Receiver, error) {
	listener, err := w.Net().Listen(at)
	if err != nil {
		return nil, err
	}
	r := &Receiver{w: w, listener: listener, received: map[string][]Record{}, damage: map[string]pathDamage{}, refused: map[string]int{}}
	w.Tasks().Go("http receiver", r.accept)
	return r, nil
}

func (r *Receiver) accept() {
	for {
		conn, err := r.listener.Accept()
		if err != nil {
			return
		}
		if !r.track(conn) {
			conn.Close()
			return
		}
		r.w.Tasks().Go("http receiver connection", func() {
			defer r.untrack(conn)
			r.serve(conn)
		})
	}
}

func (r *Receiver) track(conn primitives.Conn) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.closed {
		r.open = append(r.open, conn)
	}
	return !r.closed
}

func (r *Receiver) untrack(conn primitives.Conn) {
	r.mu.Lock()
	r.open = slices.DeleteFunc(r.open, func(c primitives.Conn) bool { return c == conn })
	r.mu.Unlock()
	conn.Close()
}

func (r *Receiver) serve(conn primitives.Conn) {
	in := bufio.NewReader(conn)
	for {
		request, err := http.ReadRequest(in)
		if err != nil {
			return
		}
		body, err := io.ReadAll(request.Body)
		if err != nil {
			return
		}
		status, answers := r.decide(request, string(body))
		if !answers {
			// Hold the connection until the peer or the heal closes it, or drop it now.
			if status == 0 {
				in.ReadByte()
			}
			return
		}
		if _, err := fmt.Fprintf(conn, "HTTP/1.1 %d %s\r\nContent-Length: 0\r\n\r\n", status, http.StatusText(status)); err != nil {
			return
		}
		if request.Close {
			return
		}
	}
}

// decide applies the damage of the path. Without an answer, status 0 means hold
// the connection and anything else means drop it.
func (r *Receiver) decide(request *http.Request, body string) (status int, answers bool) {
	path := request.URL.Path
	r.mu.Lock()
	defer r.mu.Unlock()
	d := r.damage[path]
	switch {
	case d.kind == Refuse, d.kind == RefuseSome && strings.Contains(body, d.text):
		r.refused[path]++
		return http.StatusServiceUnavailable, true
	case d.kind == RejectSome && strings.Contains(body, d.text):
		r.refused[path]++
		return http.StatusUnprocessableEntity, true
	case d.kind == Hang:
		return 0, false
	}
	r.received[path] = append(r.received[path], Record{Payload: body, Headers: headerLines(request.Header)})
	if d.kind == LoseAnswer {
		delete(r.damage, path)
		return http.StatusOK, false
	}
	return http.StatusOK, true
}

func headerLines(h http.Header) []string {
	var lines []string
	for _, name := range primitives.SortedKeys(h) {
		for _, value := range h[name] {
			lines = append(lines, name+": "+value)
		}
	}
	return lines
}

// Address is the origin; the path of the destination is the emitter's business.
func (r *Receiver) Address(Destination) (string, error) {
	return "http://" + r.listener.Addr().String(), nil
}

// Create has nothing to do: a path exists by being written to.
func (r *Receiver) Create(context.Context, Destination, map[string]string) error { return nil }

// Produce is refused: the receiver is no source.
func (r *Receiver) Produce(_ context.Context, d Destination, _ []Record) error {
	return fmt.Errorf("%s takes requests and sends none", d)
}

// Received returns the accepted requests of the path.
func (r *Receiver) Received(_ context.Context, d Destination, without int) ([]Record, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.received[d.Name][without:]), nil
}

// AcknowledgedThrough is refused: the receiver is no source.
func (r *Receiver) AcknowledgedThrough(_ context.Context, d Destination) (uint64, error) {
	return 0, fmt.Errorf("%s has no acknowledgements", d)
}

// Refused is how many requests of the path were turned down.
func (r *Receiver) Refused(d Destination) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.refused[d.Name]
}

// Break sets the damage of one path.
func (r *Receiver) Break(_ context.Context, d Destination, damage Damage, text string) error {
	if damage == Cut {
		r.cut()
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.damage[d.Name] = pathDamage{kind: damage, text: text}
	return nil
}

// Heal removes the damage; requests that hang end without an answer.
func (r *Receiver) Heal(_ context.Context, d Destination) error {
	r.mu.Lock()
	hung := r.damage[d.Name].kind == Hang
	delete(r.damage, d.Name)
	r.mu.Unlock()
	if hung {
		r.cut()
	}
	return nil
}

// HealAll removes every damage.
func (r *Receiver) HealAll() error {
	r.mu.Lock()
	clear(r.damage)
	r.mu.Unlock()
	r.cut()
	return nil
}

func (r *Receiver) cut() {
	r.mu.Lock()
	open := slices.Clone(r.open)
	r.mu.Unlock()
	for _, conn := range open {
		conn.Close()
	}
}

// Close stops listening and breaks what is open.
func (r *Receiver) Close() error {
	r.mu.Lock()
	r.closed = true
	r.mu.Unlock()
	err := r.listener.Close()
	r.cut()
	return err
}

var _ System = (*Receiver)(nil)
