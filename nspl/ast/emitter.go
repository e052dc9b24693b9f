package ast

import "plexus/nspl/vocab"

// CreateEmitter is CREATE EMITTER, with or without the connector in its head.
type CreateEmitter struct {
	Create
	Attachment   Attachment
	Inputs       Inputs
	Sink         Sink
	Body         Body
	Batch        *Batch
	Flush        Flush
	OnError      MessageError
	GeneralError GeneralError
}

// Sink is TO of an emitter up to its mode. Method and Path belong to HTTP
// requests.
type Sink struct {
	Entity       vocab.SinkEntity
	Client       Name
	Names        ExternalNames
	Method, Path Expr
	Mode         SinkMode
	Span         vocab.Span
}

// Body is what an emitter sends: ENCODE USING with a construction, or WITHOUT
// BODY, where Codec is nil and the construction has at most WHERE.
type Body struct {
	Codec        *Name
	Construction Construction
	Invoke       []HeaderWrite
}

// HeaderWrite is one write_header of INVOKE.
type HeaderWrite struct {
	Name, Value Expr
	Span        vocab.Span
}
