package brokers

import (
	"iter"
	"slices"
	"time"

	"plexus/connectors/contract"
	"plexus/primitives/invariant"
)

// Kind says what an event records.
type Kind uint8

// The kinds of events.
const (
	Stored       Kind = iota // the system took a message into a channel
	Answered                 // it told the producer so (the answer may still be lost on the way)
	Duplicate                // it had the message already, and told the producer so
	Refused                  // it told the producer no
	AnswerLost               // it kept its answer to itself
	Delivered                // it gave a message to a consumer
	Acknowledged             // a consumer's acknowledgement was recorded
	Rejected                 // a consumer gave the message back
	Progress                 // a consumer asked for more time
	Expired                  // a consumer let its time pass
	GivenUp                  // the last delivery was used up
	Dropped                  // a message reached no consumer and never will
)

var kindNames = [...]string{"stored", "answered", "duplicate", "refused", "answer lost", "delivered", "acknowledged",
	"rejected", "progress", "expired", "given up", "dropped"}

// String returns the words of reports.
func (k Kind) String() string { return kindNames[k] }

// Event is one thing that happened to one message.
type Event struct {
	At      time.Duration // virtual
	Channel *Channel
	Seq     uint64 // of the message in its channel, from 1; 0 when it was not stored
	Conn    uint32 // the connection involved
	Attempt uint16 // Delivered: how often by now
	Kind    Kind
	Status  uint16 // Refused, Answered: the code the producer was told, where there is one
}

// packed is an event as the ledger keeps it: there are many, and the garbage
// collector need not look at them.
type packed struct {
	at      time.Duration
	seq     uint64
	conn    uint32
	channel uint16
	attempt uint16
	status  uint16
	kind    Kind
}

// Channel is a stream, a subject, a Pub/Sub channel or all requests of an HTTP
// server.
type Channel struct {
	Name     string
	index    uint16
	messages chunks[Message]
}

// Message is what a channel holds.
type Message struct {
	At      time.Duration
	Payload []byte
	Headers []contract.Header
	// Method and Target belong to HTTP requests.
	Method, Target string
}

// Len returns the number of messages.
func (c *Channel) Len() int { return c.messages.len }

// Message returns a message by its sequence, from 1.
func (c *Channel) Message(seq uint64) *Message { return c.messages.at(int(seq) - 1) }

// chunks is a list that grows without moving what it holds.
type chunks[T any] struct {
	full [][]T
	len  int
}

// chunkLen is how many elements one allocation holds.
const chunkLen = 256

func (c *chunks[T]) add(v T) {
	if c.len%chunkLen == 0 {
		c.full = append(c.full, make([]T, 0, chunkLen))
	}
	last := &c.full[len(c.full)-1]
	*last = append(*last, v)
	c.len++
}

func (c *chunks[T]) at(i int) *T { return &c.full[i/chunkLen][i%chunkLen] }

// Ledger is everything one external system saw.
type Ledger struct {
	now      func() time.Duration
	channels []*Channel
	byName   map[string]*Channel
	events   chunks[packed]
	observe  func(Event)
	arena    []byte
}

// NewLedger returns an empty ledger that reads virtual time from now.
func NewLedger(now func() time.Duration) *Ledger {
	return &Ledger{now: now, byName: map[string]*Channel{}}
}

// Observe calls f with every later event, as it happens.
func (l *Ledger) Observe(f func(Event)) { l.observe = f }

// Events yields everything so far, in order.
func (l *Ledger) Events() iter.Seq2[int, Event] {
	return func(yield func(int, Event) bool) {
		for i := range l.events.len {
			p := l.events.at(i)
			event := Event{
				At: p.at, Channel: l.channels[p.channel], Seq: p.seq, Conn: p.conn,
				Attempt: p.attempt, Kind: p.kind, Status: p.status,
			}
			if !yield(i, event) {
				return
			}
		}
	}
}

// Channels returns every channel in the order of its first use.
func (l *Ledger) Channels() []*Channel { return l.channels }

// Channel returns a channel, making it at its first use.
func (l *Ledger) Channel(name string) *Channel {
	c := l.byName[name]
	if c == nil {
		c = &Channel{Name: name, index: uint16(len(l.channels))}
		invariant.That(int(c.index) == len(l.channels), "a ledger has at most 65,536 channels")
		l.byName[name] = c
		l.channels = append(l.channels, c)
	}
	return c
}

// Count returns how many events of a kind a channel has.
func (l *Ledger) Count(channel string, kind Kind) int {
	n := 0
	for _, e := range l.Events() {
		if e.Kind == kind && e.Channel.Name == channel {
			n++
		}
	}
	return n
}

// Store appends a message to a channel, with copies of its own, and returns its
// sequence.
func (l *Ledger) Store(c *Channel, conn uint32, m Message) uint64 {
	m.At = l.now()
	m.Payload = l.keep(m.Payload)
	m.Headers = slices.Clone(m.Headers)
	c.messages.add(m)
	seq := uint64(c.messages.len)
	l.Add(Event{Channel: c, Seq: seq, Conn: conn, Kind: Stored})
	return seq
}

// Add records an event now.
func (l *Ledger) Add(e Event) {
	e.At = l.now()
	l.events.add(packed{
		at: e.At, seq: e.Seq, conn: e.Conn, channel: e.Channel.index,
		attempt: e.Attempt, status: e.Status, kind: e.Kind,
	})
	if l.observe != nil {
		l.observe(e)
	}
}

// arenaBytes is how much memory messages are allocated in.
const arenaBytes = 64 << 10

func (l *Ledger) keep(b []byte) []byte {
	if len(b) > arenaBytes/8 {
		return append([]byte(nil), b...)
	}
	if len(l.arena)+len(b) > cap(l.arena) {
		l.arena = make([]byte, 0, arenaBytes)
	}
	start := len(l.arena)
	l.arena = append(l.arena, b...)
	return l.arena[start:len(l.arena):len(l.arena)]
}
