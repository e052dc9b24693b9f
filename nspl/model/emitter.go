package model

import (
	"plexus/nspl/ast"
	"plexus/nspl/vocab"
)

// Emitter writes the records of relays to a sink.
type Emitter struct {
	Name         string
	Attached     bool
	Inputs       ast.Inputs
	Sink         ast.Sink
	Body         ast.Body
	Batch        *ast.Batch // nil: one record, one payload
	Flush        ast.Flush
	OnError      ast.MessageError
	GeneralError ast.GeneralError
}

// Kind returns the kind.
func (*Emitter) Kind() vocab.EntityKind { return vocab.EntityEmitter }

// EntityName returns the name.
func (e *Emitter) EntityName() string { return e.Name }

// Refs returns the inputs, the client, the codec and the error relay.
func (e *Emitter) Refs() []Ref {
	refs := append(appendInputs(nil, e.Inputs), ref(vocab.EntityClient, e.Sink.Client))
	if e.Body.Codec != nil {
		refs = append(refs, ref(vocab.EntityCodec, *e.Body.Codec))
	}
	return appendError(refs, e.OnError)
}

func lowerEmitter(c *checker, d *ast.CreateEmitter) *Emitter {
	c.inputs(d.Inputs)
	c.sink(d.Sink, d.Body)
	if can := d.Sink.Entity.Capabilities(); d.Batch != nil && can.Batch == vocab.BatchForbidden {
		c.invalid(d.Batch.Span, "%s sends one record at a time: BATCH cannot stand here", d.Sink.Entity)
	} else if d.Batch != nil {
		c.bounds(d.Batch.MaxMessages, "BATCH MAX MESSAGES", 1, batchMessagesMax)
		c.size(d.Batch.MaxSize, "BATCH MAX SIZE")
	}
	c.flush(d.Flush)
	c.messageError(d.OnError)
	return &Emitter{
		Name: d.Name.Text, Attached: d.Attachment != ast.Detached, Inputs: d.Inputs, Sink: d.Sink, Body: d.Body,
		Batch: d.Batch, Flush: d.Flush, OnError: d.OnError, GeneralError: d.GeneralError,
	}
}

func (c *checker) sink(s ast.Sink, body ast.Body) {
	can := s.Entity.Capabilities()
	c.externalNames(s.Names, can.Names)
	if s.Mode.Kind == vocab.SinkAckWindow || s.Mode.Kind == vocab.SinkJetStreamAck {
		c.window(s.Mode.Window.Max)
		c.positive(s.Mode.AckTimeout, "ACK TIMEOUT")
	}
	c.retry(s.Mode.Retry)
	if len(body.Invoke) > 0 && can.Headers == vocab.HeadersNone {
		c.invalid(body.Invoke[0].Span, "%s carries no headers: INVOKE write_header cannot stand here", s.Entity)
	}
	if s.Entity == vocab.SinkHTTPRequest {
		c.httpRequest(s, body)
	}
}
