package vocab

import "slices"

// SourceCapabilities is what a source entity can do. The registry validates
// statements with it, completion and DESCRIBE show it, the host runs by it: one
// declaration, so they cannot disagree.
type SourceCapabilities struct {
	Head   string     // connector and noun, as statements write them
	Client ClientType // 0: the entity has no client
	// Names are the external names of the clause, in written order.
	Names []NameRule
	// Listener says that the source waits for others to connect: every live voter
	// executes it, and it has no owner.
	Listener bool

	Headers bool // read_header and read_headers are legal
	Scope   MetadataScope
	Quiesce []QuiesceBody
	// InstancesMax is the accepted upper bound; 1 where INSTANCES cannot be
	// written. InstancesRequired says that there is no default.
	InstancesMax      uint64
	InstancesRequired bool
	Modes             []SourceModeKind
	Position          PositionClass
	Confirmation      Confirmation
	Unadmitted        UnadmittedPolicy
	Grouping          IntakeGrouping
	Payload           PayloadFormat
}

// SinkCapabilities is what a sink entity can do.
type SinkCapabilities struct {
	Head   string
	Client ClientType
	Names  []NameRule

	Kind    SinkKind
	Headers HeaderSupport
	Modes   []SinkModeKind
	Batch   BatchRule
	Codec   CodecRule
}

// SourceModeKind is a mode without its numbers.
type SourceModeKind uint8

// The source modes.
const (
	NoAckSequential SourceModeKind = iota
	NoAckParallel
	AckSequential
	AckParallel
)

var sourceModeNames = [...]string{"NO_ACK SEQUENTIAL", "NO_ACK PARALLEL", "ACK SEQUENTIAL", "ACK PARALLEL"}

// String returns the words that follow MODE.
func (k SourceModeKind) String() string { return sourceModeNames[k] }

// Kind returns the mode without its numbers.
func (m SourceMode) Kind() SourceModeKind {
	switch {
	case m.Acknowledged && m.Parallel:
		return AckParallel
	case m.Acknowledged:
		return AckSequential
	case m.Parallel:
		return NoAckParallel
	}
	return NoAckSequential
}

// MetadataScope says which typed metadata.* fields an entity carries.
type MetadataScope uint8

// The metadata scopes.
const (
	ScopeNone MetadataScope = iota
	ScopeHeaders
	ScopeCursor
)

var metadataFields = [...][]Field{
	ScopeCursor: {
		{Name: "record_id", Type: Scalar(String), Optional: true},
		{Name: "origin_time", Type: Scalar(Datetime), Optional: true},
	},
}

// Fields lists the fields of the scope in declaration order.
func (s MetadataScope) Fields() []Field { return metadataFields[s] }

// PositionClass says what a position still means once the connection that
// delivered it is gone. The host implements each class once.
type PositionClass uint8

// The position classes.
const (
	// PositionNone: the transport has no acknowledged delivery.
	PositionNone PositionClass = iota
	// BrokerRedelivered: the position dies with its connection, and the external
	// system presents the message again by itself.
	BrokerRedelivered
	// HostState: the position is candidate state that the host persists before
	// the connector applies its staged work.
	HostState
)

var positionClassNames = [...]string{"none", "broker_redelivered", "host_state"}

// String returns the name DESCRIBE shows.
func (c PositionClass) String() string { return positionClassNames[c] }

// Confirmation is what a nil error of Acknowledge means.
type Confirmation uint8

// The confirmation levels.
const (
	ConfirmationNone Confirmation = iota
	BrokerConfirmed               // the broker answered that it recorded it
	StateApplied                  // the host persisted the state, the connector applied its staged work
)

var confirmationNames = [...]string{"none", "broker_confirmed", "state_applied"}

// String returns the name DESCRIBE shows.
func (c Confirmation) String() string { return confirmationNames[c] }

// UnadmittedPolicy is what happens to a live payload without acknowledgement
// that no extension worker can take.
type UnadmittedPolicy uint8

// The policies.
const (
	WaitForPlace UnadmittedPolicy = iota
	RefuseAndCount
)

// IntakeGrouping says whether consecutive payloads share an ingest group.
type IntakeGrouping uint8

// The groupings.
const (
	Grouped IntakeGrouping = iota
	FlushEachMessage
)

// PayloadFormat restricts the wire formats a codec of the entity may have.
type PayloadFormat uint8

// The payload formats.
const (
	AnyBytes PayloadFormat = iota
	JSONRows
)

// SinkKind is the shape in which a sink takes records.
type SinkKind uint8

// The sink kinds.
const (
	RecordKind SinkKind = iota
	HTTPRequestKind
)

// HeaderSupport is what INVOKE write_header does for a sink.
type HeaderSupport uint8

// The header rules.
const (
	HeadersNone            HeaderSupport = iota
	HeadersOrderedRepeated               // written order, repeated names kept
	HeadersReplace                       // a later write replaces an earlier one, compared without case
)

// BatchRule says whether BATCH may stand.
type BatchRule uint8

// The rules.
const (
	BatchForbidden BatchRule = iota
	BatchOptional
)

// CodecRule says what stands after MODE.
type CodecRule uint8

// The rules.
const (
	CodecRequired      CodecRule = iota // ENCODE USING
	CodecOrWithoutBody                  // ENCODE USING or WITHOUT BODY
)

// Allows reports whether the entity has the mode.
func (c *SourceCapabilities) Allows(k SourceModeKind) bool { return slices.Contains(c.Modes, k) }

// CanQuiesce reports whether the entity honours the ON QUIESCE body.
func (c *SourceCapabilities) CanQuiesce(b QuiesceBody) bool { return slices.Contains(c.Quiesce, b) }

// Allows reports whether the entity has the mode.
func (c *SinkCapabilities) Allows(k SinkModeKind) bool { return slices.Contains(c.Modes, k) }

// sources is indexed by entity - 1.
var sources = [...]SourceCapabilities{
	SourceHTTPEndpoint - 1: {
		Head: "HTTP ENDPOINT", Listener: true, Headers: true, Scope: ScopeHeaders,
		Quiesce: []QuiesceBody{QuiesceReject, QuiesceEndpointBuffer}, InstancesMax: 1,
		Modes:    []SourceModeKind{NoAckSequential},
		Position: PositionNone, Confirmation: ConfirmationNone, Unadmitted: RefuseAndCount,
	},
	SourceNATSSubject - 1: {
		Head: "NATS SUBJECT", Client: ClientNATS,
		Names:   []NameRule{{"SUBJECT", NATSSubjectPattern}, {"QUEUE GROUP", NATSQueueGroup}},
		Headers: true, Scope: ScopeHeaders,
		Quiesce: []QuiesceBody{QuiesceBuffer, QuiesceDrop}, InstancesMax: instancesMax, InstancesRequired: true,
		Modes:    []SourceModeKind{NoAckSequential},
		Position: PositionNone, Confirmation: ConfirmationNone, Unadmitted: WaitForPlace,
	},
	SourceNATSStream - 1: {
		Head: "NATS STREAM", Client: ClientNATS,
		Names:   []NameRule{{"STREAM", JetStreamName}, {"CONSUMER", JetStreamName}},
		Headers: true, Scope: ScopeHeaders,
		Quiesce: []QuiesceBody{QuiesceSuspend}, InstancesMax: instancesMax,
		Modes:    []SourceModeKind{AckSequential, AckParallel},
		Position: BrokerRedelivered, Confirmation: BrokerConfirmed, Unadmitted: RefuseAndCount,
	},
	SourceRandomSequence - 1: {
		Head: "RANDOM SEQUENCE", Scope: ScopeCursor,
		Quiesce: []QuiesceBody{QuiesceSuspend}, InstancesMax: 1,
		Modes:    []SourceModeKind{AckSequential},
		Position: HostState, Confirmation: StateApplied, Unadmitted: RefuseAndCount,
		Payload: JSONRows,
	},
}

// instancesMax bounds the instances of one ingestor on one node: each holds a
// connection and a task.
const instancesMax = 1024

// sinks is indexed by entity - 1.
var sinks = [...]SinkCapabilities{
	SinkNATSSubject - 1: {
		Head: "NATS SUBJECT", Client: ClientNATS, Names: []NameRule{{"SUBJECT", NATSSubject}},
		Kind: RecordKind, Headers: HeadersOrderedRepeated, Batch: BatchOptional,
		Modes: []SinkModeKind{SinkNoAck, SinkJetStreamAck},
	},
	SinkRedisChannel - 1: {
		Head: "REDIS CHANNEL", Client: ClientRedis, Names: []NameRule{{"CHANNEL", RedisChannel}},
		Kind: RecordKind, Headers: HeadersNone, Batch: BatchOptional,
		Modes: []SinkModeKind{SinkNoAck},
	},
	SinkHTTPRequest - 1: {
		Head: "HTTP REQUEST", Client: ClientHTTP,
		Kind: HTTPRequestKind, Headers: HeadersReplace, Batch: BatchForbidden, Codec: CodecOrWithoutBody,
		Modes: []SinkModeKind{SinkAckRequest},
	},
}
