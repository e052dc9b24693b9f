package vocab

import "slices"

// SourceCapabilities is what a source entity can do. The registry validates
// statements with it, completion and DESCRIBE show it, the host runs by it: one
// declaration, so they cannot disagree.
type SourceCapabilities struct {
	Head string // connector and noun, as statements write them
	// Lead are the words between FROM and the subject, and Subject says what
	// follows them.
	Lead    string
	Subject Subject
	Client  ClientType // of SubjectClient
	// Endpoint is the TYPE that the endpoint must have, of SubjectEndpoint.
	Endpoint EndpointType
	// Names are the external names of the clause, in written order.
	Names []NameRule
	// Pace says whether the clause ends in EVERY, in the tail of a cursor source or
	// in its MODE alone.
	Pace Pace
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
	Head string
	// Lead are the words between TO and the subject, and Subject says what follows
	// them.
	Lead    string
	Subject Subject
	Client  ClientType // of SubjectClient; 0 where the statement names the backend
	Names   []NameRule

	Kind    SinkKind
	Headers HeaderSupport
	Modes   []SinkModeKind
	Batch   BatchRule
	Codec   CodecRule
	Values  bool // VALUES maps columns or fields
	Group   bool // FIFO ordering group
	Commit  bool // takes COMMIT EACH
}

// Subject is what a source or sink clause names after its first words.
type Subject uint8

// The subjects.
const (
	SubjectClient Subject = iota
	SubjectEndpoint
	SubjectSchema
	SubjectNone
)

// EndpointType is the TYPE of an endpoint.
type EndpointType uint8

// The endpoint types.
const (
	EndpointHTTP EndpointType = iota
	EndpointWebSockets
)

var endpointTypeNames = [...]string{"HTTP", "WEBSOCKETS"}

// String returns the keyword.
func (t EndpointType) String() string { return endpointTypeNames[t] }

// Pace says who sets the rhythm of a source.
type Pace uint8

// The paces.
const (
	Pushed     Pace = iota // the external system: the clause ends in MODE
	Polled                 // EVERY, without a MODE
	CursorTail             // MAX ROWS, EVERY and MODE of a cursor source
)

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
	ScopeKafka
	ScopeSyslog
)

var metadataFields = [...][]Field{
	ScopeKafka: {
		{Name: "topic", Type: Scalar(String)}, {Name: "partition", Type: Scalar(I32)}, {Name: "offset", Type: Scalar(I64)},
	},
	ScopeSyslog: {{Name: "peer_addr", Type: Scalar(String), Optional: true}},
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
	// LogAddressed: the position names a place in a retained log and stays valid.
	LogAddressed
	// HostState: the position is candidate state that the host persists before
	// the connector applies its staged work.
	HostState
)

var positionClassNames = [...]string{"none", "broker_redelivered", "log_addressed", "host_state"}

// String returns the name DESCRIBE shows.
func (c PositionClass) String() string { return positionClassNames[c] }

// Confirmation is what a nil error of Acknowledge means.
type Confirmation uint8

// The confirmation levels.
const (
	ConfirmationNone Confirmation = iota
	HandedOver                    // it was written to the connection; the protocol answers nothing
	BrokerConfirmed               // the broker answered that it recorded it
	Replicated                    // every assigned live replica of the node's state holds it
	StateApplied                  // the host persisted the state, the connector applied its staged work
)

var confirmationNames = [...]string{"none", "handed_over", "broker_confirmed", "replicated", "state_applied"}

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
	AnyBytes    PayloadFormat = iota
	JSONRows                  // one JSON object per row
	NativeArrow               // Arrow batches of the schema, without a codec
)

// SinkKind is the shape in which a sink takes records.
type SinkKind uint8

// The sink kinds.
const (
	RecordKind      SinkKind = iota // records that a codec encoded
	RowKind                         // mapped columns, encoded by the connector
	RowRequestKind                  // mapped columns that become retained requests
	HTTPRequestKind                 // one request per record
	NativeKind                      // Arrow batches of the schema
)

// HeaderSupport is what INVOKE write_header does for a sink.
type HeaderSupport uint8

// The header rules.
const (
	HeadersNone            HeaderSupport = iota
	HeadersOrderedRepeated               // written order, repeated names kept
	HeadersLastWins                      // a later write replaces an earlier one
	HeadersReplace                       // a later write replaces an earlier one, compared without case
)

// BatchRule says whether BATCH may stand.
type BatchRule uint8

// The rules.
const (
	BatchForbidden BatchRule = iota
	BatchOptional
	BatchRequired
)

// CodecRule says what stands after MODE.
type CodecRule uint8

// The rules.
const (
	CodecRequired      CodecRule = iota // ENCODE USING
	CodecOrWithoutBody                  // ENCODE USING or WITHOUT BODY
	CodecNative                         // none: the record is built for the schema
	CodecDirect                         // none: VALUES map the row
)

// Allows reports whether the entity has the mode.
func (c *SourceCapabilities) Allows(k SourceModeKind) bool { return slices.Contains(c.Modes, k) }

// CanQuiesce reports whether the entity honours the ON QUIESCE body.
func (c *SourceCapabilities) CanQuiesce(b QuiesceBody) bool { return slices.Contains(c.Quiesce, b) }

// Allows reports whether the entity has the mode.
func (c *SinkCapabilities) Allows(k SinkModeKind) bool { return slices.Contains(c.Modes, k) }
