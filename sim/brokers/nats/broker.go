package nats

import (
	"context"
	"net/netip"
	"time"

	"plexus/connectors/contract"
	connector "plexus/connectors/nats"
	"plexus/primitives"
	"plexus/sim"
	"plexus/sim/brokers"
)

// Port is where the server listens.
const Port = 4222

// Broker is the server. Its methods are called by driver tasks, by steps between
// runs, or by the server's own tasks: one at a time, like everything here.
type Broker struct {
	sim    *sim.Simulation
	host   *sim.Host
	ledger *brokers.Ledger
	draw   *sim.Stream

	streams   []*stream
	byName    map[string]*stream
	captures  map[string][]*stream // streams by published subject
	logins    []login
	password  bool
	maxBytes  int
	handling  *session // whose frame is being handled
	lastPrint uint32

	world    primitives.World // of the running process
	group    *primitives.Group
	sessions []*session
	subs     []*subscription
	interest map[string][]*subscription // subscriptions by published subject

	faults faults
}

type login struct{ user, password string }

// New adds a server to a host. Start runs it.
func New(s *sim.Simulation, host *sim.Host) *Broker {
	return &Broker{
		sim: s, host: host,
		ledger:   brokers.NewLedger(s.Elapsed),
		draw:     s.Stream("broker/" + host.Name()),
		byName:   map[string]*stream{},
		captures: map[string][]*stream{},
		maxBytes: maxPayloadDefault,
		faults:   newFaults(s.Elapsed),
	}
}

// Ledger returns what the server saw.
func (b *Broker) Ledger() *brokers.Ledger { return b.ledger }

// Host returns the machine, for faults of hosts and links.
func (b *Broker) Host() *sim.Host { return b.host }

// Addr is the value of a client's addr key.
func (b *Broker) Addr() string {
	return "nats://" + netip.AddrPortFrom(b.host.Addr(), Port).String()
}

// Start boots the server. After a crash of its host, Host().Restart() does.
func (b *Broker) Start() { b.host.Start("nats-server", b.main) }

// RequireLogin makes the server refuse other credentials than these.
func (b *Broker) RequireLogin(user, password string) {
	b.logins = append(b.logins, login{user, password})
}

// SetMaxPayload changes the announced limit for later connections, and enforces
// it on all.
func (b *Broker) SetMaxPayload(bytes int) { b.maxBytes = bytes }

// main is the server's process. What lived with earlier connections is gone.
func (b *Broker) main(ctx context.Context, w primitives.World) {
	b.world, b.sessions, b.subs, b.interest = w, nil, nil, map[string][]*subscription{}
	b.group = primitives.NewGroup(context.Background(), w)
	for _, s := range b.streams {
		for _, c := range s.consumers {
			c.restart()
		}
	}
	brokers.Accept(ctx, w, b.sim, b.host, Port, b.serve)
	b.DropConnections()
	_ = b.group.Wait(context.Background()) // its tasks return no error
}

// now reads the clock of the server's machine.
func (b *Broker) now() primitives.Instant { return b.world.Clock().Now() }

// Stream is a stream's configuration.
type Stream struct {
	Name     string
	Subjects []string // patterns
	// MaxMsgSize bounds headers and payload of one message; 0 for no bound.
	MaxMsgSize int
}

// CreateStream adds a stream.
func (b *Broker) CreateStream(config Stream) {
	s := &stream{broker: b, config: config, channel: b.ledger.Channel(config.Name), ids: map[string]uint64{}}
	b.streams = append(b.streams, s)
	b.byName[config.Name] = s
	clear(b.captures)
}

// DeleteStream removes a stream with its consumers.
func (b *Broker) DeleteStream(name string) {
	s := b.byName[name]
	if s == nil {
		return
	}
	for _, c := range s.consumers {
		c.endPulls(pullConsumerDeleted)
	}
	delete(b.byName, name)
	clear(b.captures)
	for i := range b.streams {
		if b.streams[i] == s {
			b.streams = append(b.streams[:i], b.streams[i+1:]...)
			break
		}
	}
}

// CreateConsumer adds a durable consumer with the server's defaults where the
// configuration says zero.
func (b *Broker) CreateConsumer(streamName, name string, config connector.ConsumerConfig) {
	if config.AckWait == 0 {
		config.AckWait = ackWaitDefault
	}
	if config.MaxAckPending == 0 {
		config.MaxAckPending = maxAckPendingDefault
	}
	s := b.byName[streamName]
	s.consumers = append(s.consumers, &consumer{stream: s, name: name, config: config, pending: map[uint64]*delivery{}})
}

// DeleteConsumer removes a durable consumer and all it remembers.
func (b *Broker) DeleteConsumer(streamName, name string) {
	s := b.byName[streamName]
	for i, c := range s.consumers {
		if c.name == name {
			c.endPulls(pullConsumerDeleted)
			c.disarm()
			s.consumers = append(s.consumers[:i], s.consumers[i+1:]...)
			return
		}
	}
}

// Produce publishes like a client that is never refused, and returns the
// sequence in the first stream that captures the subject, 0 without one.
func (b *Broker) Produce(subject string, headers []contract.Header, payload []byte) uint64 {
	first, _ := b.publish(subject, headers, payload, 0)
	return first
}

// Pending returns how many messages of a stream its consumer has not finished
// with.
func (b *Broker) Pending(streamName, name string) int {
	c := b.byName[streamName].consumer(name)
	return c.stream.channel.Len() - int(c.next) + len(c.pending)
}

// Sessions returns the number of open connections.
func (b *Broker) Sessions() int { return len(b.sessions) }

// publish takes a message from anyone: streams first, so that it is stored before
// anything can follow from it (J1).
func (b *Broker) publish(subject string, headers []contract.Header, payload []byte, from uint32) (first uint64, status int) {
	status = answerNoResponders
	for _, s := range b.capturing(subject) {
		seq, code := s.store(headers, payload, from)
		if first == 0 {
			first, status = seq, code
		}
	}
	b.distribute(subject, headers, payload, from)
	return first, status
}

func (b *Broker) capturing(subject string) []*stream {
	found, known := b.captures[subject]
	if !known {
		for _, s := range b.streams {
			for _, pattern := range s.config.Subjects {
				if matches(pattern, subject) {
					found = append(found, s)
					break
				}
			}
		}
		b.captures[subject] = found
	}
	return found
}

// after runs f on the server's clock, if its process still lives then.
func (b *Broker) after(d time.Duration, f func()) primitives.Timer {
	return b.world.Clock().At(b.now().Add(d), f)
}
