package nats

import (
	"context"
	"crypto/tls"
	"time"

	"plexus/connectors/contract"
	"plexus/primitives"
)

// Driver connects to NATS servers. It retries nothing and reconnects nothing.
type Driver interface {
	Connect(ctx context.Context, w primitives.World, to Target) (Conn, error)
}

// Target is where and how to connect.
type Target struct {
	Servers []contract.Server // tried in this order
	TLS     *tls.Config       // nil: plain
	Name    string            // shown by the server
	// Deadline bounds lookup, dialling, TLS and the protocol's own handshake.
	Deadline primitives.Instant
	// PendingMax bounds the records that await the answer of a stream.
	PendingMax int
}

// Conn is one connection. One task uses it at a time. After its loss every method
// returns an error that is ErrConnectionLost.
type Conn interface {
	// Err is nil while the connection lives.
	Err() error
	// MaxPayload is the server's limit on headers and payload of one message.
	MaxPayload() int
	// Subscribe joins a queue group and returns once the server knows it. The
	// subscription keeps up to pendingMax messages that nobody has read and drops
	// newer ones.
	Subscribe(ctx context.Context, subject, group string, pendingMax int, deadline primitives.Instant) (Subscription, error)
	// Consumer looks a durable consumer up: *contract.MissingExternalError when
	// the stream or the consumer does not exist.
	Consumer(ctx context.Context, stream, consumer string, deadline primitives.Instant) (Consumer, error)
	// Publish writes one message. It may stay in a buffer until Flush. The
	// driver keeps nothing of the arguments.
	Publish(subject string, headers []contract.Header, payload []byte) error
	// PublishAwaited writes one message for a stream to answer. The driver forms
	// the answer with StreamAnswer.
	PublishAwaited(subject string, headers []contract.Header, payload []byte) (contract.Pending, error)
	// Flush returns once the server has taken everything published before.
	Flush(ctx context.Context, deadline primitives.Instant) error
	// Close ends the connection and its tasks. It waits for no peer.
	Close()
}

// Subscription delivers the messages of a subject.
type Subscription interface {
	// Next appends at least one and up to max messages, waiting for the first.
	// They stay valid until the next call.
	Next(ctx context.Context, max int, into []Message) ([]Message, error)
	// Dropped is the number of messages lost to the pending limit so far.
	Dropped() uint64
}

// Consumer is a durable pull consumer of a stream.
type Consumer interface {
	Config() ConsumerConfig
	// Pull appends up to max messages. It returns when it has max, or when wait
	// is over; a wait of zero takes what the server has. No message is no error.
	// Messages stay valid until the next call.
	Pull(ctx context.Context, max int, wait time.Duration, into []Message) ([]Message, error)
	// Acknowledge returns once the server has confirmed every token.
	Acknowledge(ctx context.Context, tokens []Token, deadline primitives.Instant) error
	// Refuse asks for the messages to be delivered again after the delay.
	Refuse(ctx context.Context, tokens []Token, delay time.Duration) error
	// Progress restarts the acknowledgement wait of the messages.
	Progress(ctx context.Context, tokens []Token) error
}

// ConsumerConfig is what the source checks of a consumer.
type ConsumerConfig struct {
	Explicit      bool // acknowledgement policy
	Push          bool
	Backoff       int // length of the delivery backoff list
	AckWait       time.Duration
	MaxAckPending int // 0: unlimited
	MaxDeliver    int // 0: unlimited
}

// Message is one delivery.
type Message struct {
	Payload   []byte
	Headers   []contract.Header // names in lexical order, values of a name in order
	Token     Token
	Delivered int // how often it has been delivered, this time included
}

// Token names one delivery of a stream to its driver; the driver uses the half
// that suits it.
type Token struct {
	Reply    string
	Sequence uint64
}
