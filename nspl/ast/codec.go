package ast

import "plexus/nspl/vocab"

// CreateCodec is CREATE CODEC. Wire and RFC3339 belong to the formats with a wire
// schema, Programs to those that run programs, Protobuf to PROTOBUF.
type CreateCodec struct {
	Create
	Format   vocab.CodecFormat
	Wire     Name
	Protobuf *Protobuf
	Schema   Name
	RFC3339  []Name // ENCODE name AS RFC3339
	Programs *Programs
}

// Protobuf is USING RESOURCE … of a codec.
type Protobuf struct {
	Binding
	Config       []ConfigEntry
	Message      Text
	BatchMessage *Text
}

// Programs is WITH JAQ TRANSFORMATIONS. At least one direction is there, and a
// batch program only beside one for emitting.
type Programs struct {
	Ingestion, Emitting, EmittingBatch *Text
	Span                               vocab.Span
}
