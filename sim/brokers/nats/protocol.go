package nats

import "time"

// Frames of a client.
const (
	frameConnect  byte = iota + 1 // user, password
	frameSub                      // sid, subject, group
	framePing                     // number
	framePub                      // subject, headers, payload
	framePubAwait                 // id, subject, headers, payload
	frameLookup                   // stream, consumer
	framePull                     // id, stream, consumer, max, wait ns, heartbeat ns
	frameUnpull                   // id
	frameAck                      // id, stream, consumer, sequences
	frameNak                      // stream, consumer, delay ns, sequences
	frameProgress                 // stream, consumer, sequences
)

// Frames of the server.
const (
	frameInfo      byte = iota + 64 // max payload
	frameError                      // text
	framePong                       // number
	frameMessage                    // sid, headers, payload
	frameAnswer                     // id, code, text
	frameConsumer                   // found, config
	frameDeliver                    // pull id, then sequence, deliveries, headers, payload of each message
	framePullEnd                    // pull id, status
	frameHeartbeat                  // pull id
	frameAcked                      // id
)

// Codes of an answer to an awaited publish; anything else is a JetStream error.
const (
	answerStored       = 0
	answerNoResponders = 503
)

// What a lookup found.
const (
	foundConsumer = iota
	foundNoStream
	foundNoConsumer
)

// How a pull ended before it had all its messages.
const (
	pullNoMessages = iota
	pullExpired
	pullLeaderChange
	pullConsumerDeleted
)

const (
	// MsgIDHeader makes a publish idempotent within the duplicate window.
	MsgIDHeader = "Nats-Msg-Id"
	// duplicateWindow is the server's default.
	duplicateWindow = 2 * time.Minute
	// maxPayloadDefault is the server's default.
	maxPayloadDefault = 1 << 20
	// ackWaitDefault is the server's default.
	ackWaitDefault = 30 * time.Second
	// maxAckPendingDefault is the server's default.
	maxAckPendingDefault = 1000
	// codeTooLarge is the JetStream error of a message above the stream's limit.
	codeTooLarge = 10054
	// outBytesMax is what the server buffers for a client that does not read.
	outBytesMax = 16 << 20
)
