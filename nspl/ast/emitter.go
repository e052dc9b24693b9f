package ast

import "plexus/nspl/vocab"

// CreateEmitter is CREATE EMITTER, with or without the connector in its head.
type CreateEmitter struct {
	Create
	Attachment   Attachment
	Inputs       Inputs
	States       []StateDep
	Sink         Sink
	Body         Body
	Batch        *Batch
	Flush        Flush
	OnError      MessageError
	GeneralError GeneralError
}

// Sink is TO of an emitter up to its mode. Which fields it has follows from the
// entity.
type Sink struct {
	Entity       vocab.SinkEntity
	Client       Name
	Backend      Backend // ICEBERG ON …
	Schema       Name    // CLIENT SCHEMA
	Names        ExternalNames
	Method, Path Expr // HTTP requests
	Group        *Group
	Partition    *Partition
	Metric       *Metric
	Values       []Mapping
	Conflict     *Conflict
	Attributes   []Mapping
	Resource     []Mapping // values are literals, or lists of them
	Scope        *Instrumentation
	Lake         *Lake
	Mode         SinkMode
	Span         vocab.Span
}

// Backend is the object store of an Iceberg table.
type Backend struct {
	Type vocab.ClientType // 0 where there is none
	Span vocab.Span
}

// Mapping is one line of VALUES, ATTRIBUTES or RESOURCE.
type Mapping struct {
	Key   Text
	Value Expr
}

// Group is FIFO GROUP: a value, or the branch where it is nil.
type Group struct {
	By   Expr
	Span vocab.Span
}

// PartitionRule is how an Iggy sink picks a partition.
type PartitionRule uint8

// The rules.
const (
	PartitionBalanced PartitionRule = iota
	PartitionByBranch
	PartitionNumber
)

// Partition is PARTITION of an Iggy sink.
type Partition struct {
	Rule   PartitionRule
	Number Uint // PartitionNumber
	Span   vocab.Span
}

// Metric is METRIC with its unit and shape. Cumulative says it of a sum or a
// histogram, where DELTA is the other word.
type Metric struct {
	Name, Unit  Text
	Description *Text
	Instrument  vocab.Instrument
	Monotonic   bool
	Cumulative  bool
	Span        vocab.Span
}

// Instrumentation is SCOPE of OTEL.
type Instrumentation struct {
	Name    Text
	Version *Text
}

// Conflict is ON CONFLICT. Target is nil where none was written.
type Conflict struct {
	Target []Text
	Update bool // DO UPDATE, else DO NOTHING
	Span   vocab.Span
}

// Lake is LOCATION, CATALOG and COMMIT of an Iceberg table.
type Lake struct {
	Location Text
	Catalog  Name
	Commit   CommitEach
}

// CommitEach is COMMIT EACH … MAX SIZE ….
type CommitEach struct {
	Each    Duration
	MaxSize Size
	Span    vocab.Span
}

// Body is what an emitter sends: ENCODE USING with a construction, or WITHOUT
// BODY, where Codec is nil and the construction has at most WHERE. Sinks without
// a codec build the record of a schema, or map the row and have at most WHERE.
type Body struct {
	Codec        *Name
	Construction Construction
	Invoke       []HeaderWrite
	Span         vocab.Span
}

// HeaderWrite is one write_header of INVOKE.
type HeaderWrite struct {
	Name, Value Expr
	Span        vocab.Span
}
