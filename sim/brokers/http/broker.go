package http

import (
	"bytes"
	"context"
	"net/netip"
	"strconv"
	"time"

	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
)

// Port is where the server listens.
const Port = 8080

// Broker is the server. Its methods are called by one task at a time.
type Broker struct {
	sim    *sim.Simulation
	host   *sim.Host
	ledger *brokers.Ledger
	status int           // answered when nothing goes wrong
	advice time.Duration // with it
	lastID uint32

	world primitives.World // of the running process
	group *primitives.Group

	failing, throttled, unauthorized brokers.Until
	slow                             brokers.Until
	retryAfter                       time.Duration
	lateness                         time.Duration
	rejections, redirects            brokers.Some
	resets, truncations, oversizes   brokers.Some
	interims, late                   brokers.Some
}

// New adds a server to a host. Start runs it.
func New(s *sim.Simulation, host *sim.Host) *Broker {
	u := brokers.NewUntil(s.Elapsed)
	return &Broker{
		sim: s, host: host, ledger: brokers.NewLedger(s.Elapsed), status: 204,
		failing: u, throttled: u, unauthorized: u, slow: u,
	}
}

// Requests is the ledger's channel of every request.
const Requests = "requests"

// Ledger returns what the server saw.
func (b *Broker) Ledger() *brokers.Ledger { return b.ledger }

// Host returns the machine, for faults of hosts and links.
func (b *Broker) Host() *sim.Host { return b.host }

// Origin is the value of a client's endpoint key.
func (b *Broker) Origin() string {
	return "http://" + netip.AddrPortFrom(b.host.Addr(), Port).String()
}

// Start boots the server. After a crash of its host, Host().Restart() does.
func (b *Broker) Start() { b.host.Start("http-server", b.main) }

// SetAnswer changes what is answered when nothing goes wrong: a status, and a
// Retry-After where it is above zero.
func (b *Broker) SetAnswer(status int, retryAfter time.Duration) {
	b.status, b.advice = status, retryAfter
}

func (b *Broker) main(ctx context.Context, w primitives.World) {
	b.world = w
	b.group = primitives.NewGroup(ctx, w)
	listener, err := w.Net().Listen(netip.AddrPortFrom(b.host.Addr(), Port))
	if err != nil {
		b.sim.Fail("http model", "cannot listen: "+err.Error())
		return
	}
	stop := primitives.OnCancel(ctx, func() { listener.Close() })
	defer stop()
	for {
		if left := b.slow.Left(); left > 0 && primitives.Sleep(ctx, w, left) != nil {
			break
		}
		conn, err := listener.Accept()
		if err != nil {
			break
		}
		b.lastID++
		id := b.lastID
		b.group.Go("http request", func(ctx context.Context) error {
			stop := primitives.OnCancel(ctx, func() { conn.Close() })
			b.serve(ctx, conn, id)
			stop()
			conn.Close()
			return nil
		})
	}
	_ = b.group.Wait(context.Background()) // its tasks return no error
}

// requestBudget bounds a request that never completes.
const requestBudget = time.Minute

func (b *Broker) serve(ctx context.Context, conn primitives.Conn, id uint32) {
	conn.ReadBy(b.world.Clock().Now().Add(requestBudget))
	req, ok := readRequest(conn)
	if !ok {
		return
	}
	channel := b.ledger.Channel(Requests)
	seq := b.ledger.Store(channel, id, brokers.Message{
		Payload: req.body, Headers: req.headers, Method: req.method, Target: req.target,
	})
	answer := b.answer()
	event := brokers.Event{Channel: channel, Seq: seq, Conn: id, Kind: brokers.Answered, Status: uint16(answer.status)}
	if answer.late > 0 && primitives.Sleep(ctx, b.world, answer.late) != nil {
		return
	}
	out := answer.bytes()
	switch {
	case answer.reset:
		event.Kind = brokers.AnswerLost
		b.ledger.Add(event)
		abort(conn)
		return
	case answer.truncated:
		event.Kind = brokers.AnswerLost
		out = out[:len(out)/2]
	case answer.status >= 300:
		event.Kind = brokers.Refused
	}
	b.ledger.Add(event)
	_, _ = conn.Write(out) // the caller may be gone; the ledger says what was answered
}

// abort closes a connection with a reset where the network offers it.
func abort(conn primitives.Conn) {
	if c, ok := conn.(interface{ SetLinger(int) error }); ok {
		_ = c.SetLinger(0) // a closed connection needs none
	}
	conn.Close()
}

// answer is one response.
type answer struct {
	status     int
	retryAfter time.Duration
	location   string
	interim    bool
	oversize   bool
	truncated  bool
	reset      bool
	late       time.Duration
}

// answer decides what becomes of a request.
func (b *Broker) answer() answer {
	a := answer{status: b.status, retryAfter: b.advice}
	switch {
	case b.throttled.Holds():
		a.status, a.retryAfter = 429, b.retryAfter
	case b.failing.Holds():
		a.status = 503
	case b.unauthorized.Holds():
		a.status = 401
	case b.rejections.Take():
		a.status = 422
	case b.redirects.Take():
		a.status, a.location = 302, "/elsewhere"
	case b.resets.Take():
		a.reset = true
	case b.truncations.Take():
		a.truncated = true
	case b.oversizes.Take():
		a.oversize = true
	}
	a.interim = b.interims.Take()
	if b.late.Take() {
		a.late = b.lateness
	}
	return a
}

// oversizeBytes is more than a client has to take as one head.
const oversizeBytes = 80 << 10

func (a answer) bytes() []byte {
	var out []byte
	if a.interim {
		out = append(out, "HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n"...)
	}
	out = append(out, "HTTP/1.1 "...)
	out = strconv.AppendInt(out, int64(a.status), 10)
	out = append(out, " \r\nConnection: close\r\n"...)
	if a.retryAfter > 0 {
		out = append(out, "Retry-After: "...)
		out = strconv.AppendInt(out, int64((a.retryAfter+time.Second-1)/time.Second), 10)
		out = append(out, "\r\n"...)
	}
	if a.location != "" {
		out = append(append(append(out, "Location: "...), a.location...), "\r\n"...)
	}
	if a.oversize {
		out = append(out, "X-Padding: "...)
		out = append(out, bytes.Repeat([]byte("x"), oversizeBytes)...)
		out = append(out, "\r\n"...)
	}
	if a.status != 204 {
		out = append(out, "Content-Length: 0\r\n"...)
	}
	return append(out, "\r\n"...)
}
