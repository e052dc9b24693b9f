package vocab

import (
	"strings"
	"time"
)

// Flush says when a route or an emitter hands over what it holds.
type Flush struct {
	Immediate bool          // FLUSH IMMEDIATE: a fixed physical window of 100 µs
	Each      time.Duration // FLUSH EACH, on the domain clock
	MaxBatch  Size          // MAX BATCH SIZE, logical bytes
}

// Size is a byte size as it was written; Bytes is what it means.
type Size struct {
	Bytes uint64
	Text  string // canonical spelling such as 1MiB
}

// Batch is the BATCH clause of an emitter: one payload of several records.
type Batch struct {
	MaxMessages uint64
	MaxSize     Size
}

// Retry is a backoff that starts at Backoff, doubles, and stops at Max.
type Retry struct{ Backoff, Max time.Duration }

// Window bounds the confirmations a sink may await: 1 for ACK SEQUENTIAL.
type Window struct {
	Parallel bool
	Max      uint64
}

// SourceMode is the delivery mode of a source.
type SourceMode struct {
	Acknowledged bool
	Parallel     bool
	Max          uint64        // ACK PARALLEL
	BatchTimeout time.Duration // ACK PARALLEL
	AckTimeout   time.Duration // ACK
	Retry        Retry         // ACK
}

// SinkModeKind is the word that follows MODE in a sink.
type SinkModeKind uint8

// The sink modes.
const (
	SinkNoAck        SinkModeKind = iota // NO_ACK retry
	SinkAckWindow                        // ACK window, ACK TIMEOUT, retry
	SinkAckRequest                       // ACK retry: request and response
	SinkJetStreamAck                     // JETSTREAM ACK window, ACK TIMEOUT, retry
	SinkQoS0                             // QOS 0 retry
	SinkQoS1                             // QOS 1 ACK window, ACK TIMEOUT, retry
	SinkQoS2                             // QOS 2 ACK window, ACK TIMEOUT, retry
	SinkSingle                           // SINGLE retry: one record per request
	SinkBatched                          // BATCH retry: several records per request
)

var sinkModeNames = [...]string{SinkNoAck: "NO_ACK", SinkAckWindow: "ACK", SinkAckRequest: "ACK", SinkJetStreamAck: "JETSTREAM ACK",
	SinkQoS0: "QOS 0", SinkQoS1: "QOS 1 ACK", SinkQoS2: "QOS 2 ACK", SinkSingle: "SINGLE", SinkBatched: "BATCH"}

// String returns the words that follow MODE, without a window.
func (k SinkModeKind) String() string { return sinkModeNames[k] }

// Windowed reports whether a window of confirmations and ACK TIMEOUT follow.
func (k SinkModeKind) Windowed() bool {
	switch k {
	case SinkAckWindow, SinkJetStreamAck, SinkQoS1, SinkQoS2:
		return true
	}
	return false
}

// SinkMode is the publishing mode of a sink.
type SinkMode struct {
	Kind       SinkModeKind
	Window     Window
	AckTimeout time.Duration
	Retry      Retry
}

// QuiesceBody is what ON QUIESCE does with a source.
type QuiesceBody uint8

// The quiesce bodies. The first three belong to connected sources, the last two
// to endpoints.
const (
	QuiesceSuspend QuiesceBody = iota
	QuiesceBuffer
	QuiesceDrop
	QuiesceReject
	QuiesceEndpointBuffer
)

var quiesceBodyNames = [...]string{"SUSPEND", "BUFFER MAX SIZE", "DROP", "REJECT RETRY AFTER", "BUFFER MAX SIZE"}

// String returns the words that follow ON QUIESCE, up to the first value.
func (b QuiesceBody) String() string { return quiesceBodyNames[b] }

// Quiesce is the ON QUIESCE clause.
type Quiesce struct {
	Body       QuiesceBody
	MaxSize    Size          // buffers
	DropOldest bool          // QuiesceBuffer
	RetryAfter time.Duration // QuiesceReject
}

// Cursor is the tail of a cursor source.
type Cursor struct {
	MaxRows uint64
	Every   time.Duration
}

// ConfigEntry is one CONFIG line of a client. The value is kept as text.
type ConfigEntry struct{ Key, Value string }

// Pool is the POOL SIZE clause.
type Pool struct{ Min, Max uint32 }

// MQTTSession is what an MQTT source asks of the broker.
type MQTTSession struct {
	Persistent bool
	QoS        uint8 // 0 or 1
}

// ExternalName is one name of the outside world that a statement writes, with
// the word that introduces it: ("STREAM", "orders").
type ExternalName struct{ Role, Text string }

// Label is the key under which results show the name: the role in lower snake
// case, without the words that only lead to it.
func (n ExternalName) Label() string {
	role := n.Role
	for _, lead := range []string{"INSERT TO ", "OFFSET BY ", "BY "} {
		role = strings.TrimPrefix(role, lead)
	}
	return strings.ReplaceAll(strings.ToLower(role), " ", "_")
}

// ExternalNames are the external names of one source or sink in written order.
type ExternalNames []ExternalName

// Get returns the text of a role, or "".
func (n ExternalNames) Get(role string) string {
	for i := range n {
		if n[i].Role == role {
			return n[i].Text
		}
	}
	return ""
}

// WireFormat is the document format of a wire schema.
type WireFormat uint8

// The wire formats.
const (
	WireJSON WireFormat = iota
	WireCBOR
	WireAvro
)

var wireFormatNames = [...]string{"JSON", "CBOR", "AVRO"}

// WireFormats lists every format, in declaration order.
func WireFormats() []WireFormat { return []WireFormat{WireJSON, WireCBOR, WireAvro} }

// String returns the keyword.
func (f WireFormat) String() string { return wireFormatNames[f] }

// Kind returns the kind of the wire schemas of the format.
func (f WireFormat) Kind() EntityKind { return EntityWireJSON + EntityKind(f) }

// Types lists the wire types of the format, in the order of the grammar.
func (f WireFormat) Types() []WireType {
	first, last := WireString, WireNull
	if f == WireAvro {
		first, last = AvroNull, AvroFixed
	}
	list := make([]WireType, 0, last-first+1)
	for t := first; t <= last; t++ {
		list = append(list, t)
	}
	return list
}

// WireType is the type of a member of a wire schema. JSON and CBOR share one
// list; AVRO has its own.
type WireType uint8

// The wire types of JSON and CBOR.
const (
	WireString WireType = iota
	WireNumber
	WireInteger
	WireBoolean
	WireArray
	WireBytes
	WireObject
	WireNull
)

// The wire types of AVRO.
const (
	AvroNull WireType = iota + WireNull + 1
	AvroBoolean
	AvroInt
	AvroLong
	AvroFloat
	AvroDouble
	AvroBytes
	AvroString
	AvroRecord
	AvroEnum
	AvroArray
	AvroMap
	AvroFixed
)

var wireTypeNames = [...]string{"string", "number", "integer", "boolean", "array", "bytes", "object", "null",
	"NULL", "BOOLEAN", "INT", "LONG", "FLOAT", "DOUBLE", "BYTES", "STRING", "RECORD", "ENUM", "ARRAY", "MAP", "FIXED"}

// String returns the canonical spelling: lower case for JSON and CBOR, upper case
// for AVRO.
func (t WireType) String() string { return wireTypeNames[t] }
