package ast

import "plexus/nspl/vocab"

// CreateIngestor is CREATE INGESTOR, with or without the connector in its head.
type CreateIngestor struct {
	Create
	Source       Source
	Decode       Name // of sources that have a codec
	Timestamp    *Timestamp
	Filter       Expr
	Routes       []Route
	GeneralError GeneralError
}

// Source is FROM of an ingestor up to its quiesce body. Which fields it has
// follows from the entity.
type Source struct {
	Entity vocab.SourceEntity
	// ByEndpoint says that FROM ENDPOINT was written without a protocol, so the
	// TYPE of the endpoint decides; until then Entity is HTTP ENDPOINT.
	ByEndpoint bool
	Client     Name
	Endpoint   Name
	Schema     Name // CLIENT SCHEMA
	Names      ExternalNames
	Seed       Uint // RANDOM SEED
	Instances  *Uint
	MQTT       *MQTTSession
	Postgres   *PostgresRead
	Query      *Text // ELASTICSEARCH … QUERY
	Range      *InfluxRange
	Push       *PushLimits
	Iggy       *IggyStart
	Every      *Duration // polled sources
	Cursor     *Cursor
	Mode       SourceMode
	Quiesce    Quiesce
	Span       vocab.Span
}

// MQTTSession is SESSION and QOS of an MQTT source, each nil where it was not
// written.
type MQTTSession struct {
	Persistent *bool
	QoS        *Uint
	Span       vocab.Span
}

// PostgresAction is what a Postgres source does with the rows it read.
type PostgresAction uint8

// The actions.
const (
	ReadByCursor  PostgresAction = iota // READ BY CURSOR column (AFTER string)? (KEY column)?
	ReadAndDelete                       // READ AND DELETE KEY column
	ReadAndMark                         // READ AND MARK column KEY column
)

// PostgresRead is COLUMNS and READ of a Postgres source. Column is the cursor or
// the mark.
type PostgresRead struct {
	Columns []Text
	Action  PostgresAction
	Column  Text
	After   *Text
	Key     *Text
	Span    vocab.Span
}

// InfluxRange is RANGE FROM, STEP and LAG.
type InfluxRange struct {
	From      Text
	Step, Lag Duration
}

// PushLimits is MAX PENDING and MAX SIZE of HTTP PUSH.
type PushLimits struct {
	Pending Uint
	Size    Size
}

// IggyOrigin is where a partition without state begins.
type IggyOrigin uint8

// The origins.
const (
	IggyFirst IggyOrigin = iota
	IggyLast
	IggyOffset
	IggyAt
)

// IggyStart is PARTITIONS, START and STORE OFFSET AS of an Iggy source. Offset
// and At belong to their origins.
type IggyStart struct {
	Partitions []Uint
	Origin     IggyOrigin
	Offset     Uint
	At         Text // RFC 3339
	Store      *Text
	Span       vocab.Span
}

// Timestamp is TIMESTAMP NOW, or TIMESTAMP AT field.
type Timestamp struct {
	Now  bool
	At   Name
	Span vocab.Span
}
