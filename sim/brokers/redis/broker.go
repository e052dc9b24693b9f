package redis

import (
	"context"
	"net/netip"
	"slices"

	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
)

// Port is where the server listens.
const Port = 6379

// Frames of both sides.
const (
	frameConnect byte = iota + 1 // user, password, database
	framePublish                 // channel, payload
	frameReply                   // number of receivers
	frameError                   // text
)

// bulkBytesMaxDefault is proto-max-bulk-len.
const bulkBytesMaxDefault = 512 << 20

// Error replies, as the server writes them. Their index is the status of a
// Refused event.
const (
	replyReadOnly = iota + 1
	replyOOM
	replyLoading
	replyNoAuth
	replyWrongPass
	replyBulk
)

var replies = [...]string{
	replyReadOnly:  "READONLY You can't write against a read only replica.",
	replyOOM:       "OOM command not allowed when used memory > 'maxmemory'.",
	replyLoading:   "LOADING Redis is loading the dataset in memory",
	replyNoAuth:    "NOAUTH Authentication required.",
	replyWrongPass: "WRONGPASS invalid username-password pair or user is disabled.",
	replyBulk:      "ERR Protocol error: invalid bulk length",
}

// Broker is the server. Its methods are called by one task at a time.
type Broker struct {
	sim    *sim.Simulation
	host   *sim.Host
	ledger *brokers.Ledger

	user, password string // required where a password is set
	bulkMax        int
	subscribers    int // in-process receivers, as a reply counts them
	lastID         uint32

	world    primitives.World // of the running process
	group    *primitives.Group
	sessions []*session

	readOnly, oom, loading brokers.Until
	loginsRefused, silent  brokers.Until
	loseAnswers, swallow   brokers.Some
	refuse                 brokers.Some
}

type session struct {
	broker   *Broker
	id       uint32
	conn     primitives.Conn
	loggedIn bool
	out      brokers.Out
}

// New adds a server to a host. Start runs it.
func New(s *sim.Simulation, host *sim.Host) *Broker {
	u := brokers.NewUntil(s.Elapsed)
	return &Broker{
		sim: s, host: host, ledger: brokers.NewLedger(s.Elapsed), bulkMax: bulkBytesMaxDefault, subscribers: 1,
		readOnly: u, oom: u, loading: u, loginsRefused: u, silent: u,
	}
}

// Ledger returns what the server saw.
func (b *Broker) Ledger() *brokers.Ledger { return b.ledger }

// Host returns the machine, for faults of hosts and links.
func (b *Broker) Host() *sim.Host { return b.host }

// Addr is the value of a client's addr key.
func (b *Broker) Addr() string {
	return "redis://" + netip.AddrPortFrom(b.host.Addr(), Port).String()
}

// Start boots the server. After a crash of its host, Host().Restart() does.
func (b *Broker) Start() { b.host.Start("redis-server", b.main) }

// RequirePassword makes the server refuse other credentials. An empty user means
// the default one.
func (b *Broker) RequirePassword(user, password string) { b.user, b.password = user, password }

// SetBulkMax changes the largest argument the server takes.
func (b *Broker) SetBulkMax(bytes int) { b.bulkMax = bytes }

// Sessions returns the number of open connections.
func (b *Broker) Sessions() int { return len(b.sessions) }

func (b *Broker) main(ctx context.Context, w primitives.World) {
	b.world, b.sessions = w, nil
	b.group = primitives.NewGroup(context.Background(), w)
	brokers.Accept(ctx, w, b.sim, b.host, Port, b.serve)
	b.DropConnections()
	_ = b.group.Wait(context.Background()) // its tasks return no error
}

// serve takes a connection.
func (b *Broker) serve(conn primitives.Conn) {
	b.lastID++
	s := &session{broker: b, id: b.lastID, conn: conn, loggedIn: b.password == ""}
	b.sessions = append(b.sessions, s)
	b.group.Go("redis session", func(ctx context.Context) error {
		s.run(ctx)
		s.close()
		return nil
	})
}

func (s *session) close() {
	s.conn.Close()
	s.broker.sessions = slices.DeleteFunc(s.broker.sessions, func(o *session) bool { return o == s })
}

func (s *session) run(ctx context.Context) {
	frames := brokers.NewFrames(s.conn)
	for {
		in, more, err := frames.Next()
		switch {
		case err != nil:
			return
		case more && !s.handle(in):
			s.flush(ctx)
			return
		case more:
			continue
		}
		if !s.flush(ctx) || frames.Fill() != nil {
			return
		}
	}
}

// flush answers, once a silence is over.
func (s *session) flush(ctx context.Context) bool {
	if len(s.out.Bytes) == 0 {
		return true
	}
	if left := s.broker.silent.Left(); left > 0 {
		if primitives.Sleep(ctx, s.broker.world, left) != nil {
			return false
		}
	}
	_, err := s.conn.Write(s.out.Bytes)
	s.out.Bytes = s.out.Bytes[:0]
	return err == nil
}

// handle executes one command. False closes the connection.
func (s *session) handle(in brokers.In) bool {
	b := s.broker
	switch in.Kind {
	case frameConnect:
		if status := b.login(in.Text(), in.Text()); status != 0 {
			s.refuse(nil, status)
			break
		}
		s.loggedIn = true
		s.reply(0)
	case framePublish:
		name := in.Blob()
		channel := b.ledger.Channel(string(name))
		return s.publish(channel, in.Blob())
	default:
		return false
	}
	return !in.Bad
}

// login returns the refusal of credentials, or 0.
func (b *Broker) login(user, password string) int {
	switch {
	case b.loginsRefused.Holds():
		return replyWrongPass
	case b.password == "":
		return 0
	case password == "":
		return replyNoAuth
	case password != b.password || user != b.user:
		return replyWrongPass
	}
	return 0
}

func (s *session) publish(channel *brokers.Channel, payload []byte) bool {
	b := s.broker
	status := 0
	switch {
	case !s.loggedIn:
		status = replyNoAuth
	case len(payload) > b.bulkMax:
		status = replyBulk
	case b.loading.Holds():
		status = replyLoading
	case b.readOnly.Holds():
		status = replyReadOnly
	case b.oom.Holds():
		status = replyOOM
	case b.refuse.Take():
		status = replyBulk
	}
	if status != 0 {
		s.refuse(channel, status)
		return status != replyBulk // after a protocol error the server hangs up
	}
	seq := b.ledger.Store(channel, s.id, brokers.Message{Payload: payload}) // K2
	event := brokers.Event{Channel: channel, Seq: seq, Conn: s.id}
	if b.swallow.Take() {
		event.Kind = brokers.Dropped
		b.ledger.Add(event)
	}
	if b.loseAnswers.Take() {
		event.Kind = brokers.AnswerLost
		b.ledger.Add(event)
		return false // an answer is lost with its connection only
	}
	event.Kind = brokers.Answered
	b.ledger.Add(event)
	s.reply(uint64(b.subscribers))
	return true
}

func (s *session) reply(n uint64) {
	s.out.Begin(frameReply)
	s.out.Uint(n)
	s.out.End()
}

func (s *session) refuse(channel *brokers.Channel, status int) {
	if channel != nil {
		s.broker.ledger.Add(brokers.Event{Channel: channel, Conn: s.id, Kind: brokers.Refused, Status: uint16(status)})
	}
	s.out.Begin(frameError)
	s.out.Text(replies[status])
	s.out.End()
}
