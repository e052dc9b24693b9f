package nats

import (
	"errors"
	"fmt"
)

var (
	// ErrConnectionLost says that the connection is gone for good.
	ErrConnectionLost = errors.New("connection lost")
	// ErrNoStream says that no stream captures the subject, or that none answered.
	ErrNoStream = errors.New("no stream answered for the subject")
	// ErrPullEnded says that the server ended the pull: the consumer was deleted
	// or recreated, its leader changed, or heartbeats stopped.
	ErrPullEnded = errors.New("pull request ended by the server")
	// ErrUnconfirmed says that the server did not confirm acknowledgements in
	// time; it may have recorded them.
	ErrUnconfirmed = errors.New("acknowledgement not confirmed in time")
)

// StreamError is the answer of a stream that did not store a message.
type StreamError struct {
	Code        int // JetStream error code
	Description string
}

func (e *StreamError) Error() string {
	return fmt.Sprintf("stream error %d: %s", e.Code, e.Description)
}

// codeMessageTooLarge is the one stream error that is about the record alone: it
// exceeds the stream's own limit and always will.
const codeMessageTooLarge = 10054

// SlowConsumerError reports messages that the pending limit of a subscription
// dropped.
type SlowConsumerError struct{ Dropped uint64 }

func (e *SlowConsumerError) Error() string {
	return fmt.Sprintf("slow consumer: %d messages dropped at the limit of %d pending", e.Dropped, pendingMessagesMax)
}
