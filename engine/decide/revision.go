package decide

import (
	"time"

	"plexus/nspl/typed"
	"plexus/nspl/vocab"
)

// Revision is everything one node executes for one domain: typed, complete and
// immutable. It is published by replacing one pointer; a task loads the pointer
// between units of work and never sees a mixture of two.
type Revision struct {
	Domain string
	// Number is the runtime revision: the log index of the command that changed
	// what executes.
	Number uint64
	// Schedule is the log index of the command that set the schedule; zero while
	// there is none.
	Schedule uint64
	// Running is false for a stopped domain: nothing but subscriptions to its
	// relays exists then.
	Running bool

	Relays    []RelayPlan    // by name
	Ingestors []IngestorPlan // by name
	Junctions []JunctionPlan // by name
	Emitters  []EmitterPlan  // by name
	// Endpoints are all that the domain declares, bound to an ingestor or not.
	Endpoints []EndpointPlan // by name
}

// LeaveListeners leaves what every voter executes to the others, on a node that is
// none.
func (r *Revision) LeaveListeners() {
	for i := range r.Ingestors {
		if p := &r.Ingestors[i].Placement; p.Everywhere {
			*p = Placement{Owner: Nobody}
		}
	}
	r.Endpoints = nil
}

// Nobody is the Owner of an operator that no node executes: the schedule left it
// unassigned. It is no valid node id.
const Nobody = "?"

// Placement says where an operator executes.
type Placement struct {
	// Owner is the node that executes it; "" is whoever holds the plan, as on a
	// node that is alone; Nobody is no node.
	Owner string
	// Everywhere says that every voter executes it: listeners.
	Everywhere bool
}

// RelayPlan is a bounded buffer with one owner and any number of consumers.
type RelayPlan struct {
	Placement
	Name            string
	Schema          *vocab.Schema
	CapacityBatches int
}

// IngestorPlan is one source with its routes.
type IngestorPlan struct {
	Placement
	Name   string
	Source SourcePlan
	Codec  CodecPlan
	// TimestampField is the column of the decoded schema that is the event time,
	// or -1: the connector's own time, else the delivery instant.
	TimestampField int
	// TimestampNow says that every message takes the group's snapshot.
	TimestampNow bool
	Filter       *typed.Expr // nil keeps every row
	Routes       []RoutePlan
	GeneralError ErrorLogging
}

// SourcePlan is what a source connector is opened with.
type SourcePlan struct {
	Entity    vocab.SourceEntity
	Client    *ClientPlan   // nil for sources without a client
	Endpoint  *EndpointPlan // HTTP endpoints
	Names     vocab.ExternalNames
	Instances int
	Mode      vocab.SourceMode
	Quiesce   vocab.Quiesce
	Cursor    vocab.Cursor // cursor sources
	Seed      uint64       // RANDOM SEQUENCE
}

// ClientPlan is a client's resolved configuration.
type ClientPlan struct {
	Name   string
	Type   vocab.ClientType
	Config []vocab.ConfigEntry // in written order, mounts resolved
	Pool   *vocab.Pool
}

// EndpointPlan is where an HTTP endpoint listens.
type EndpointPlan struct {
	Name      string
	Hostnames []string
	Path      string
}

// CodecPlan joins a wire format to an internal schema.
type CodecPlan struct {
	Name   string
	Schema *vocab.Schema
	Wire   WirePlan
}

// WirePlan is a wire schema. Fields stand in wire order, which is encoding
// order.
type WirePlan struct {
	Format vocab.WireFormat
	Strict bool
	Fields []WireField
}

// WireField binds one member of a document to one column.
type WireField struct {
	Name    string
	Type    vocab.WireType
	Column  int // index in the internal schema
	RFC3339 bool
}

// RoutePlan builds records for one relay.
type RoutePlan struct {
	To        string
	Construct typed.Construction
	Flush     vocab.Flush
	OnError   MessageErrorPlan
}

// ErrorAction is what a route does with a row that fails.
type ErrorAction uint8

// The actions of ON MESSAGE ERROR.
const (
	ErrorIgnore ErrorAction = iota
	ErrorLog
	ErrorSendTo
)

// MessageErrorPlan handles rows that fail in one route.
type MessageErrorPlan struct {
	Action ErrorAction
	// To and Construct belong to ErrorSendTo; the construction reads input,
	// partial_output and error.
	To        string
	Construct typed.Construction
}

// ErrorLogging is ON GENERAL ERROR.
type ErrorLogging uint8

// The two policies.
const (
	GeneralIgnore ErrorLogging = iota
	GeneralLog
)

// InputPlan is one relay a node reads, with its own predicate.
type InputPlan struct {
	Relay string
	Where *typed.Expr
}

// CollectPlan gathers batches in front of a node; nil where absent.
type CollectPlan struct {
	For          time.Duration
	MaxBatchSize uint64 // logical bytes, 0 for none
}

// JunctionPlan reads relays and writes routes.
type JunctionPlan struct {
	Placement
	Name     string
	Attached bool
	Inputs   []InputPlan
	Collect  *CollectPlan
	Filter   *typed.Expr
	Routes   []RoutePlan
}

// EmitterPlan writes relays to a sink.
type EmitterPlan struct {
	Placement
	Name     string
	Attached bool
	Inputs   []InputPlan
	Collect  *CollectPlan
	Sink     SinkPlan
	// Codec and Construct belong to codec sinks; Codec nil is WITHOUT BODY, where
	// Construct.Where alone applies to the source row.
	Codec        *CodecPlan
	Construct    typed.Construction
	Invoke       []HeaderWrite
	Batch        *vocab.Batch
	Flush        vocab.Flush
	OnError      MessageErrorPlan
	GeneralError ErrorLogging
}

// HeaderWrite is one write_header call of INVOKE.
type HeaderWrite struct{ Name, Value *typed.Expr }

// SinkPlan is what a sink connector is opened with.
type SinkPlan struct {
	Entity vocab.SinkEntity
	Client *ClientPlan
	Names  vocab.ExternalNames
	Mode   vocab.SinkMode
	// Method and Path belong to HTTP requests.
	Method, Path *typed.Expr
}
