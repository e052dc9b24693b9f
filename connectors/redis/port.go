package redis

import (
	"context"
	"crypto/tls"
	"errors"

	"plexus/connectors/contract"
	"plexus/primitives"
)

// Driver connects to a Redis server. It retries nothing.
type Driver interface {
	// Connect dials, authenticates and selects the database.
	Connect(ctx context.Context, w primitives.World, to Target) (Conn, error)
}

// Target is where and how to connect.
type Target struct {
	Server   contract.Server
	Database int
	TLS      *tls.Config        // nil: plain
	Deadline primitives.Instant // of the whole
}

// Conn is one physical connection, used by one task at a time.
type Conn interface {
	// Publish returns once the server replied. A reply that is an error is a
	// *ReplyError; anything else means that the outcome is not known.
	Publish(ctx context.Context, channel string, payload []byte, deadline primitives.Instant) error
	// Close gives the connection up without waiting for the peer.
	Close()
}

// ErrConnectionLost says that the connection is gone for good.
var ErrConnectionLost = errors.New("connection lost")

// ReplyError is an error reply of the server. Text is the server's and stays
// external data: only its first word is shown.
type ReplyError struct{ Text string }

func (e *ReplyError) Error() string { return "error reply " + e.Code() }

// Code is the first word of the reply, such as OOM.
func (e *ReplyError) Code() string {
	for i := range len(e.Text) {
		if e.Text[i] == ' ' {
			return e.Text[:i]
		}
	}
	return e.Text
}
